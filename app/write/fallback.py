"""The last way from a name to an entity: a model is asked about names that are near known ones or that several have.

Pure but for `ask`. The writer asks between reading and writing, outside every transaction:

    questions = open_questions(resolved, known)
    known = answered(known, questions, await ask(judge, questions))

and resolves again with what came of it.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from app.errors import ProviderError
from app.memory import normalise
from app.model import Mention
from app.providers.extraction import Judge
from app.write.resolve import KnownName, compatible, similarity
from app.write.values import Prepared, Resolved

MOST_QUESTIONS = 5
"""Names of one write that are asked about; further ones become entities of their own."""

MOST_OPTIONS = 5
"""Entities that a name is compared with."""

MOST_NOMINATED = 25
"""Known names that share a word with an unknown one and are looked at."""

NEAR = 0.6
"""Least likeness of two spellings that is worth a question."""

SHORTEST_WORD = 3
"""Letters of a word that two names may share."""

BEFORE = 300
"""Characters of what came before that go along with the sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A name that would become a new entity, the sentence it stands in, and entities it may mean instead."""

    wanted: str
    name: str
    sentence: str
    options: tuple[KnownName, ...]

    def told(self) -> list[str]:
        """Return the options as they are put to a model."""
        return [
            f"{one.canonical} ({one.entity_type})"
            if normalise.name(one.canonical) == one.alias
            else f"{one.canonical} ({one.entity_type}), also known as {one.alias}"
            for one in self.options
        ]


def nominated(names: Collection[str], aliases: Collection[str]) -> dict[str, list[str]]:
    """Return, for each unknown name that has any, the known ones that share a word with it; both normalised.

    Spelling alone misses them: `lindqvist` is far from `sarah lindqvist`. Takes time linear in the words.
    """
    by_word: dict[str, list[str]] = defaultdict(list)
    for alias in aliases:
        for word in _words(alias):
            by_word[word].append(alias)
    found = {}
    for name in names:
        sharing = (alias for word in _words(name) for alias in by_word.get(word, ()) if alias != name)
        near = list(dict.fromkeys(islice(sharing, MOST_NOMINATED)))
        if near:
            found[name] = near
    return found


def open_questions(resolved: Sequence[Resolved], known: Mapping[str, Sequence[KnownName]]) -> list[Question]:
    """Return what is worth asking about names that nothing known was found for, each name once.

    `known` holds, by the normalised name they were looked up for, the names that are spelled alike or share a
    word. A name that a payload declares is meant as it is; numbers and types that differ leave nothing to ask.
    """
    questions: dict[str, Question] = {}
    for one in resolved:
        for mention in _created(one):
            wanted = normalise.name(mention.name)
            options = _options(mention, wanted, known.get(wanted, ()))
            if options and wanted not in questions:
                questions[wanted] = Question(
                    wanted=wanted, name=mention.name, sentence=_sentence(one.prepared), options=options
                )
    return list(questions.values())[:MOST_QUESTIONS]


async def ask(judge: Judge, questions: Sequence[Question]) -> list[int | None]:
    """Return for each question the place of the option that is meant; None for none, and when nobody answered.

    All are asked at once. A model that fails leaves names to themselves: they become entities, which can be merged.
    """
    return list(await asyncio.gather(*(_answer(judge, one) for one in questions)))


def answered(
    known: Mapping[str, Sequence[KnownName]], questions: Sequence[Question], answers: Sequence[int | None]
) -> dict[str, list[KnownName]]:
    """Return what is known together with what the answers say: those names lead to the options meant.

    An answer that is no option's place says nothing.
    """
    found = {name: list(rows) for name, rows in known.items()}
    for question, answer in zip(questions, answers, strict=True):
        if answer is not None and 0 <= answer < len(question.options):
            meant = replace(question.options[answer], wanted=question.wanted, alias=question.wanted, meant=True)
            found.setdefault(question.wanted, []).append(meant)
    return found


async def _answer(judge: Judge, question: Question) -> int | None:
    try:
        return await judge.which(question.name, question.sentence, question.told())
    except ProviderError:
        return None


def _created(resolved: Resolved) -> Iterator[Mention]:
    for mention in resolved.prepared.mentions:
        ref = resolved.refs.get(mention.role)
        if ref is not None and ref.created and not mention.declares:
            yield mention


def _options(mention: Mention, wanted: str, known: Sequence[KnownName]) -> tuple[KnownName, ...]:
    fitting = [
        (_likeness(wanted, one.alias), one)
        for one in known
        if compatible(mention.entity_type, one.entity_type)
        and normalise.numbers(wanted) == normalise.numbers(one.alias)
    ]
    fitting.sort(key=lambda pair: (-pair[0], -pair[1].mention_count, str(pair[1].entity_id)))
    nearest: dict[object, KnownName] = {}
    for likeness, one in fitting:
        if likeness >= NEAR:
            nearest.setdefault(one.entity_id, one)
    return tuple(nearest.values())[:MOST_OPTIONS]


def _likeness(wanted: str, alias: str) -> float:
    """Return how near two names are: by spelling, or wholly where one has all the words of the other."""
    first, second = set(_words(wanted)), set(_words(alias))
    contained = bool(first and second) and (first <= second or second <= first)
    return 1.0 if contained else similarity(wanted, alias)


def _words(name: str) -> list[str]:
    return [word for word in name.replace(".", " ").replace("-", " ").split() if len(word) >= SHORTEST_WORD]


def _sentence(prepared: Prepared) -> str:
    candidate = prepared.candidate
    quote = next((one.quote for one in candidate.evidence if one.quote), None)
    before = "" if candidate.context is None else candidate.context[-BEFORE:]
    return " ".join(f"{before} {quote or prepared.content}".split())
