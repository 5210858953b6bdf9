"""The rows of the table of rules (`data/rules.txt`), and the moods of the clauses that they read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from app.english.names import ORGANIZATION, kind_of
from app.english.rules.clause import Clause, SpeakerContext, Tense
from app.english.rules.drafts import Draft
from app.english.rules.event_time import SINCE
from app.english.rules.values import Value
from app.english.word_lists import lines, pattern, word_set

Rule = Callable[[Clause, SpeakerContext], Iterator[Draft]]
"""Reads a clause in its own way, where a row's fields do not suffice."""

TextRule = Callable[[str, Clause, SpeakerContext], Iterator[Draft]]
"""Reads a whole sentence, whatever its clauses; the clause says who speaks."""

CHOSEN: Final = word_set("now always currently mostly mainly only primarily usually typically exclusively")
"""Adverbs that make what is used a choice."""

_FOR_A_WHILE: Final = pattern("leads", "for a while", re.IGNORECASE)
_UNMET: Final = 0.75
"""Precision of rules that the development conversations do not meet often enough to measure it."""

Mood = Callable[[Clause], bool]


def is_now(clause: Clause) -> bool:
    """Tell whether the clause says what holds now: `works`, `is working`, `has worked since May`."""
    over = clause.perfect and not (clause.progressive or SINCE.search(clause.rest) or _FOR_A_WHILE.search(clause.rest))
    return clause.holds and not (over or clause.copula or clause.passive)


def _is(clause: Clause) -> bool:
    """Tell whether the clause says what somebody is."""
    return clause.holds and clause.copula


def _is_undergone(clause: Clause) -> bool:
    """Tell whether the clause says what was done to somebody: `was hired`."""
    return clause.passive and not clause.negated and clause.modal is None


def _is_general(clause: Clause) -> bool:
    """Tell whether the clause says what somebody does in general, and not by choice."""
    return is_now(clause) and not (clause.progressive or clause.adverbs & CHOSEN)


def _was(clause: Clause) -> bool:
    """Tell whether the clause says in what state somebody was: `was married`."""
    return _is_undergone(clause) and clause.tense is Tense.PAST and not clause.perfect


_MOODS: Final[Mapping[str, Mood]] = {
    "any": lambda clause: clause.sure > 0,
    "now": is_now,
    "is": _is,
    "done": lambda clause: clause.happened and not (clause.passive or clause.copula),
    "undergone": _is_undergone,
    "general": _is_general,
    "own": lambda clause: is_now(clause) and clause.subject.own and not clause.subject.plural,
    "others": lambda clause: _is_general(clause) and not clause.subject.own,
    "is one": lambda clause: _is(clause) and not clause.subject.plural,
    "is somebody": lambda clause: _is(clause) and kind_of(clause.subject.name) != ORGANIZATION,
    "is or was": lambda clause: clause.copula and not clause.negated and clause.modal is None,
    "introduced": lambda clause: (
        _is(clause) and clause.subject.own and not clause.subject.plural and not clause.adverbs
    ),
    "married": lambda clause: not (clause.negated or clause.modal or clause.progressive or _was(clause)),
    "was": _was,
}
"""Who does, is or has done what, by the mood of a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A rule: of clauses with one of its `verbs` in its `mood`, what follows `lead` is read as `value`.

    `data/rules.txt` explains the options. A row without a predicate has a `read` instead.
    """

    name: str
    verbs: tuple[str, ...]
    mood: Mood
    lead: str
    value: Value | None
    read: Rule | None
    predicate: str
    options: frozenset[str]
    precision: float
    unless: str
    noun: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRow:
    """A rule that reads whole sentences."""

    name: str
    read: TextRule
    options: frozenset[str]
    precision: float


def clause_rows(title: str, functions: Mapping[str, Any]) -> tuple[Row, ...]:
    """Return the rows of a section that read clauses; `functions` are those that they may name."""
    return tuple(_row(name, line, functions) for name, line in lines("rules", title))


def _row(name: str, line: str, functions: Mapping[str, Any]) -> Row:
    cells = ["" if cell == "-" else cell for cell in line.split(" | ")]
    verbs, mood, lead, function, predicate, options = (*cells, "", "", "")[:6]
    words, with_values = _options(options)
    return Row(
        name=name, verbs=tuple(verbs.split()), mood=_MOODS[mood], lead=lead, predicate=predicate, options=words,
        value=functions[function] if predicate else None, read=None if predicate else functions[function],
        precision=float(with_values.get("sure", _UNMET)), unless=with_values.get("unless", ""),
        noun=with_values.get("noun", ""),
    )  # fmt: skip


def text_rows(title: str, functions: Mapping[str, Any]) -> tuple[TextRow, ...]:
    """Return the rows of a section that read whole sentences."""
    found = ((name, *line.partition(" | ")[::2]) for name, line in lines("rules", title))
    return tuple(
        TextRow(
            name=name, read=functions[function], options=_options(options)[0],
            precision=float(_options(options)[1].get("sure", _UNMET)),
        )
        for name, function, options in found
    )  # fmt: skip


def _options(text: str) -> tuple[frozenset[str], Mapping[str, str]]:
    """Return the options of a row that are words, and those that have a value."""
    options = [option.partition(" ") for option in text.split(", ")]
    return (
        frozenset(word for word, _, given in options if not given),
        {word: given for word, _, given in options if given},
    )
