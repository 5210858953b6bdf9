"""Choice of what an answer must heed: illnesses, diets and medicines, hard rules, and orders that stand.

A question for a restaurant shares no word with an allergy. So these memories are read with every question, and those
that it touches are shown: by the subject of the question (food or medicine), by the words of a rule,
and standing orders wherever the assistant is to write or do something. Of an allergy or a diet that nothing was
extracted from, the sentence that tells it is shown, in whatever language.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final
from uuid import UUID

from app.db.memories.heeded import HeededMemory
from app.english.changes import speaks_of_speaker
from app.english.questions import speaks_of_somebody
from app.english.requests import asks, makes, only_asks, told_beside
from app.english.word_lists import REPLIES
from app.english.word_lists import words as word_list
from app.lexical.bm25 import STOP_WORDS, terms, text_language
from app.lexical.tokens import normalise, sentence_spans, tokenize
from app.memory import vocabulary
from app.memory.registry import Registry
from app.memory.spec import Heed
from app.read.texts import WordNearness, is_english, is_request, kept, tokens_in
from app.read.values import HeededLine, HeedMode, Hit, QuestionReading

MOST: Final = 3
"""Most lines of the group."""

ANSWERS: Final = 0.85
"""Relevance of a match from which on it answers."""

NEAR: Final = 0.5
"""Least nearness of a word of the question to a word of a subject that touches it. Of 23 questions about food and
medicine in six languages the English ones have a word as near, of 25 about other things none has."""

SAME_ORDER: Final = 0.5
"""Least resemblance of two standing orders of which the later takes the place of the other: `use metric units` and `use
imperial units` have .62, `add a joke` and `add a summary` .42."""

ABOUT_IT: Final = 0.1
"""Least resemblance of a later turn to a standing order that it may have changed."""

_WORDS: Final = {kind: tuple(sorted(word_list("heed", kind))) for kind in (Heed.FOOD, Heed.MEDICINE)}
_WITHIN: Final = {kind: tuple(sorted(word_list("heed", f"{kind} within"))) for kind in _WORDS}
_TEXTS: Final = {
    kind: tuple(" ".join(words[at : at + 40]) for at in range(0, len(words), 40)) for kind, words in _WORDS.items()
}
"""The words of each subject as texts of as many words as are compared."""

_SAID: Final = {kind: {*words, *word_list("heed", f"{kind} abroad")} for kind, words in _WORDS.items()}
"""The words of each subject in any language."""

_TOLD: Final = {
    **{
        kind: "|".join(sorted(word_list("heed", "allergy told") | word_list("heed", f"{kind} told"))) for kind in _WORDS
    },
    Heed.ANSWERS: "|".join(sorted(word_list("heed", "answers told"))),
}
"""Patterns of turns that tell of what must be heeded, by subject."""

_OWN: Final = frozenset((vocabulary.USER, *vocabulary.MODALS))
"""Words of any rule."""

_NEVER: Final = " never "
"""What makes an order a prohibition, in the sentence of a belief."""

_OF_ORDERS: Final = frozenset({vocabulary.USER, "asks", "always", "your", *REPLIES})
"""Words of standing orders that tell nothing of what is asked for."""

_CONDITION: Final = re.compile("|".join(sorted(word_list("heed", "condition"))), re.IGNORECASE)
"""What makes an order one for some answers only: `use metric units when you give recipes`."""

_ADVISING: Final = re.compile("|".join(sorted(word_list("heed", "advising"))))
_ADVICE: Final = re.compile("|".join(sorted(word_list("heed", "advice"))), re.IGNORECASE)
"""What makes an order one for advice alone, and a question one that asks for it: `never suggest horror films`."""

_KNOWN_TO_ALL: Final = re.compile("|".join(sorted(word_list("heed", "known to all"))), re.IGNORECASE)
_ASKED: Final = re.compile("|".join(sorted(word_list("heed", "asked of the assistant"))), re.IGNORECASE)
_CLAUSE: Final = re.compile(r"[,;:\u2013\u2014\u3001\uff0c]\s*")

_WHY: Final[Mapping[Heed, str]] = {
    Heed.FOOD: "the question touches food or drink",
    Heed.MEDICINE: "the question touches illness or medicine",
    Heed.RULE: "the question touches what the rule is about",
    Heed.ANSWERS: "the assistant is asked to write or do something",
}
"""The kinds in the order in which one is shown of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSubject:
    """The subject of a question: what it touches, its words, and whether it asks for something to be done.

    `personal`: it speaks of somebody, so that nobody but memory has the answer; `general`: it surely does not, in a
    language whose pronouns are not left out. `advice`: it asks what to choose.
    """

    touches: frozenset[Heed]
    words: tuple[str, ...]
    personal: bool = False
    general: bool = False
    advice: bool = False

    def of_people(self) -> QuestionSubject:
        """Return the subject of a question that names somebody."""
        return replace(self, personal=True, general=False)


NO_SUBJECT: Final = QuestionSubject(touches=frozenset(), words=())


def choose_heeded(
    known: Sequence[HeededMemory],
    subject: QuestionSubject,
    *,
    types: Registry,
    mode: HeedMode,
    told: Sequence[HeededMemory],
    shown: Mapping[UUID, float],
    words: WordNearness | None,
) -> tuple[HeededLine, ...]:
    """Return what the answer must heed of what is `known` and `told`, at most three, that which is not `shown` already.

    The most important first, beliefs before turns, and of each kind one before a second of another. Where nothing
    `shown`, with its relevance, surely answers, the assistant has to find an answer itself, unless the question is
    personal.
    """
    if mode is HeedMode.NONE or not (known or told):
        return ()
    asked = Heed.ANSWERS in subject.touches
    if not subject.personal and max(shown.values(), default=0.0) < ANSWERS:
        subject = replace(subject, touches=subject.touches | {Heed.ANSWERS})
    found: dict[Heed, list[HeededMemory]] = {kind: [] for kind in _WHY}
    for one in known:
        kind = _reason(one, types, subject, words, mode)
        if one.id not in shown and kind is not None:
            found[kind].append(one)
    found[Heed.ANSWERS] = _latest_orders(found[Heed.ANSWERS], words)
    for one in told:
        for kind in _kinds_told(subject.touches, mode):
            said = _telling(one.content, kind)
            if kind is Heed.ANSWERS and not asked and (not subject.general or _CONDITION.search(said)):
                continue
            if said and one.id not in shown and all(one.id != other.id for each in found.values() for other in each):
                found[kind].append(replace(one, content=f"user: {said}"))
    return tuple(
        HeededLine(memory=one.id, type=one.type, content=one.content, stated_at=one.stated_at, why=_WHY[kind])
        for kind, one in list(_in_turn(found))[:MOST]
    )


def without_changed(
    known: Sequence[HeededMemory], hits: Sequence[Hit], types: Registry, words: WordNearness | None
) -> list[HeededMemory]:
    """Return what must be heeded without standing orders of a turn that a later one, which is about them, may change.

    `hits` are the turns that are shown. What was read from a turn was stated when it was.
    """
    said = {one.memory.id: one.memory.content for one in hits}
    changed = {one.memory.stated_at: [said[turn] for turn in one.later if turn in said] for one in hits if one.later}

    def changes(one: HeededMemory) -> bool:
        later, kind = changed.get(one.stated_at, ()), types.find(one.type)
        if words is None or kind is None or kind.heed is None or Heed.ANSWERS not in kind.heed.kinds:
            return False
        return max(words.resemblance(one.content, later), default=0.0) >= ABOUT_IT

    return [one for one in known if not changes(one)]


def _latest_orders(orders: list[HeededMemory], words: WordNearness | None) -> list[HeededMemory]:
    """Return standing orders without those that a later one takes the place of.

    What is never to be done adds up, and orders for some answers only may hold for different ones.
    """
    if words is None:
        return orders
    general = [one for one in orders if not _CONDITION.search(one.content)]
    gone: set[UUID] = set()
    for one in general:
        later = [each for each in general if each.stated_at > one.stated_at and each.type == one.type]
        later = [each for each in later if _NEVER not in one.content or _NEVER not in each.content]
        alike = words.resemblance(_asked_for(one), [_asked_for(each) for each in later])
        if max(alike, default=0.0) >= SAME_ORDER:
            gone.add(one.id)
    return [one for one in orders if one.id not in gone]


def _asked_for(order: HeededMemory) -> str:
    """Return the words of a standing order without those that all such orders have."""
    return " ".join(word for word in tokenize(normalise(order.content)) if word not in _OF_ORDERS)


def told_pattern(subject: QuestionSubject, mode: HeedMode) -> str:
    """Return the regular expression of turns that an answer may have to heed; empty where there are none."""
    touches = {*subject.touches, Heed.ANSWERS} if subject.general else subject.touches
    return "|".join(_TOLD[kind] for kind in _kinds_told(touches, mode))


def _kinds_told(touches: Collection[Heed], mode: HeedMode) -> list[Heed]:
    return [kind for kind in _TOLD if kind in touches or mode is HeedMode.ALL]


def _telling(content: str, kind: Heed) -> str:
    """Return the sentences of a turn that tell what is to be heeded; none of which the clause for it only asks.

    Orders may be put as tasks, and as questions to the assistant.
    """
    spans = [content[start:end] for start, end in sentence_spans(content)]
    found = re.compile(_TOLD[kind], re.IGNORECASE)

    def tells(sentence: str) -> bool:
        if kind is Heed.ANSWERS:
            return found.search(sentence) is not None and not (asks(sentence) and not _ASKED.search(sentence))
        clauses = _CLAUSE.split(sentence) if only_asks(sentence) else [sentence]
        if any(found.search(one) and not only_asks(one) for one in clauses):
            return True
        return found.search(told_beside(sentence)) is not None

    return " ".join(filter(tells, spans))


def _in_turn(kinds: Mapping[Heed, Sequence[HeededMemory]]) -> Iterable[tuple[Heed, HeededMemory]]:
    longest = max(map(len, kinds.values()))
    for place in range(longest):
        yield from ((kind, found[place]) for kind, found in kinds.items() if place < len(found))


def subject_of(reading: QuestionReading, words: WordNearness | None) -> QuestionSubject:
    """Return the subject of a question; `words` compares single words, where the embedding model can."""
    text = reading.text
    stop = STOP_WORDS.get(reading.language, frozenset())
    parts = (part for token in tokenize(normalise(text)) for part in (token, *token.split("-")))
    said = [word for word in dict.fromkeys(parts) if word not in stop]
    lower = text.lower()
    touches = {kind for kind in _WORDS if any(one in lower for one in _WITHIN[kind])}
    touches |= {kind for kind, about in _SAID.items() if not about.isdisjoint(said)}
    if words is not None and text_language(text) == words.language:
        touches = touches.union(*(_subjects_near(words, word) for word in said))
    personal, advice = speaks_of_somebody(text) or speaks_of_speaker(text), _ADVICE.search(text) is not None
    if not (personal or advice) and _KNOWN_TO_ALL.search(text):
        touches = set()
    task = {Heed.ANSWERS} if is_request(text) or makes(text) else set()
    return QuestionSubject(
        touches=frozenset(touches | task),
        words=tuple(said),
        personal=personal,
        general=is_english(text) and not personal,
        advice=advice,
    )


@lru_cache(maxsize=20_000)
def _subjects_near(words: WordNearness, word: str) -> frozenset[Heed]:
    """Return the subjects that a word of a question is near to; questions have few words."""
    return frozenset(kind for kind, texts in _TEXTS.items() if float(words.nearest([word], texts).max()) >= NEAR)


def _reason(
    one: HeededMemory, types: Registry, subject: QuestionSubject, words: WordNearness | None, mode: HeedMode
) -> Heed | None:
    """Return the kind for which a memory must be heeded, None where it need not be."""
    found = types.find(one.type)
    kinds = () if found is None or found.heed is None else found.heed.kinds

    def touches(kind: Heed) -> bool:
        if kind is Heed.RULE or (kind is Heed.ANSWERS and _CONDITION.search(one.content)):
            return _shares(one.content, subject.words, words)
        if kind is Heed.ANSWERS and _ADVISING.match(one.content):
            return subject.advice
        return kind in subject.touches

    touched = filter(touches, kinds)
    return next(touched, kinds[0] if kinds and mode is HeedMode.ALL else None)


def _shares(content: str, asked: Sequence[str], words: WordNearness | None) -> bool:
    """Tell whether a rule has a word of the question, or one that is near to it."""
    said = [word for word in asked if word not in _OWN]
    if not said:
        return False
    if words is None:
        return not {*terms(content)}.isdisjoint(terms(" ".join(said)))
    return float(words.nearest(said, [_rule_in(content)]).max()) >= NEAR


@kept
def _rule_in(content: str) -> str:
    """Return the words by which one rule differs from another."""
    return " ".join(word for word in tokens_in(content) if word not in _OWN)
