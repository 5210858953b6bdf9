"""Choice of what an answer must heed: illnesses, diets and medicines, hard rules, and orders that stand.

A question for a restaurant shares no word with an allergy. So these memories are read with every question, and those
that it touches are shown: by the subject of the question (health: food, drink and medicine), by the words of a rule,
and standing orders wherever the assistant is to write or do something.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from app.db.memories.heeded import HeededMemory
from app.english.requests import requests
from app.english.word_lists import words as word_list
from app.lexical.bm25 import STOP_WORDS, terms
from app.lexical.tokens import normalise, tokenize
from app.memory import vocabulary
from app.memory.registry import Registry
from app.memory.spec import Heed
from app.read.values import HeededLine, HeedMode, ParsedQuery, WordNearness

MOST: Final = 3
"""Most lines of the group."""

NEAR: Final = 0.5
"""Least nearness of a word of the question to a word of a subject that touches it. Of 23 questions about food and
medicine in six languages the English ones have a word as near, of 25 about other things none has."""

_HEALTH: Final = tuple(sorted(word_list("heed", "health")))
_WITHIN: Final = tuple(sorted(word_list("heed", "health within")))

_HEALTH_TEXTS: Final = tuple(" ".join(_HEALTH[at : at + 40]) for at in range(0, len(_HEALTH), 40))
"""The words of health as texts of as many words as are compared."""

_ORDER: Final = (Heed.HEALTH, Heed.RULE, Heed.ANSWERS)
_WHY: Final[Mapping[Heed, str]] = {
    Heed.HEALTH: "the question touches food, drink or health",
    Heed.RULE: "the question touches what the rule is about",
    Heed.ANSWERS: "the assistant is asked to write or do something",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSubject:
    """The subject of a question: whether it touches health, its words, and whether it asks for something to be done."""

    health: bool
    words: tuple[str, ...]
    task: bool


def choose_heeded(
    known: Sequence[HeededMemory],
    query: ParsedQuery,
    *,
    types: Registry,
    mode: HeedMode,
    shown: Collection[UUID],
    words: WordNearness | None,
) -> tuple[HeededLine, ...]:
    """Return what the answer must heed of what is `known`, at most three, that which is not `shown` as an answer.

    The most important first, and of each kind one before a second of another. `shown` empty means that memory has no
    answer, so that the assistant has to find one itself.
    """
    if mode is HeedMode.NONE or not known:
        return ()
    subject = _subject_of(query, words, answered=bool(shown))
    kinds: dict[Heed, list[HeededMemory]] = {kind: [] for kind in _ORDER}
    for one in known:
        found = types.find(one.type)
        kind = None if found is None or found.heed is None else found.heed.kind
        if one.id in shown or kind is None:
            continue
        if mode is HeedMode.ALL or _touches(kind, one, subject, words):
            kinds[kind].append(one)
    return tuple(
        HeededLine(memory=one.id, type=one.type, content=one.content, stated_at=one.stated_at, why=_WHY[kind])
        for kind, one in list(_in_turn(kinds))[:MOST]
    )


def _in_turn(kinds: Mapping[Heed, Sequence[HeededMemory]]) -> Iterable[tuple[Heed, HeededMemory]]:
    longest = max(map(len, kinds.values()))
    for place in range(longest):
        yield from ((kind, found[place]) for kind, found in kinds.items() if place < len(found))


def _subject_of(query: ParsedQuery, words: WordNearness | None, *, answered: bool) -> QuestionSubject:
    text = query.reading.text
    stop = STOP_WORDS.get(query.reading.language, frozenset())
    said = [word for word in dict.fromkeys(tokenize(normalise(text))) if word not in stop]
    health = any(one in text for one in _WITHIN) or not set(said).isdisjoint(_HEALTH)
    if not health and words is not None and said:
        health = float(words.nearest(said, _HEALTH_TEXTS).max()) >= NEAR
    return QuestionSubject(health=health, words=tuple(said), task=requests(text) or not answered)


def _touches(kind: Heed, one: HeededMemory, subject: QuestionSubject, words: WordNearness | None) -> bool:
    match kind:
        case Heed.HEALTH:
            return subject.health
        case Heed.ANSWERS:
            return subject.task
        case Heed.RULE:
            return _shares(one.content, subject.words, words)


def _shares(content: str, asked: Sequence[str], words: WordNearness | None) -> bool:
    """Tell whether a rule has a word of the question, or one that is near to it."""
    own = {vocabulary.USER, *vocabulary.MODALS}
    said = [word for word in asked if word not in own]
    if not said:
        return False
    if words is None:
        return not {*terms(content)}.isdisjoint(terms(" ".join(said)))
    rest = " ".join(word for word in tokenize(normalise(content)) if word not in own)
    return float(words.nearest(said, [rest]).max()) >= NEAR
