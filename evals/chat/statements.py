"""Statements about made-up people, companies and places, of which many are told twice with different values."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from evals.chat.dialogues import FOLDER, Half

SLOTS: Final = 144
SHARE_TWICE: Final = 0.4
"""Share of the slots that are told twice."""

_WORDS: Final[Mapping[str, Sequence[str]]] = json.loads((FOLDER / "words.json").read_bytes())

Draw = Callable[[Random], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A sentence, and what it says as subject, predicate and value."""

    text: str
    subject: str
    predicate: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """What one can ask of a subject: the question, and the values in the order in which they were told."""

    subject: str
    question: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """A predicate: its sentence and question about a subject `{x}` and a value `{v}`, and where both come from."""

    name: str
    sentence: str
    question: str
    subject: Draw
    value: Draw


def statements(half: Half) -> tuple[Sequence[Statement], Sequence[Slot]]:
    """Return the statements of a half in the order in which they are told, and the slots that are told twice."""
    random = Random(f"statements, {half}")  # noqa: S311 - not for secrets
    told: list[tuple[float, Statement]] = []
    twice: list[Slot] = []
    for place, (kind, subject) in enumerate(_subjects(half, random)):
        number = 2 if place < SHARE_TWICE * SLOTS else 1
        values = _different(kind.value, number, random)
        times = sorted(random.random() for _ in values)
        for at, value in zip(times, values, strict=True):
            said = kind.sentence.format(x=subject, v=value)
            told.append((at, Statement(text=said, subject=subject, predicate=kind.name, value=value)))
        if number > 1:
            twice.append(Slot(subject=subject, question=kind.question.format(x=subject), values=tuple(values)))
    return [one for _, one in sorted(told, key=lambda pair: pair[0])], twice


def _subjects(half: Half, random: Random) -> Iterator[tuple[_Kind, str]]:
    """Yield a subject of its own for each slot, the predicates in turn."""
    kinds = _KINDS_OF[half]
    seen: set[tuple[str, str]] = set()
    while len(seen) < SLOTS:
        kind = kinds[len(seen) % len(kinds)]
        subject = kind.subject(random)
        if (kind.name, subject) not in seen:
            seen.add((kind.name, subject))
            yield kind, subject


def _different(draw: Draw, number: int, random: Random) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < number:
        found[draw(random)] = None
    return list(found)


def _one_of(*tables: str) -> Draw:
    """Return what draws a word of each of some tables and joins them."""
    return lambda random: " ".join(random.choice(_WORDS[table]) for table in tables)


_person, _company, _land = (
    _one_of("first names", "last names"),
    _one_of("brands", "companies"),
    _one_of("points", "lands"),
)
_work, _city, _club = _one_of("adjectives", "nouns"), _one_of("cities"), _one_of("cities", "clubs")


def _kind(name: str, sentence: str, question: str, subject: Draw, value: Draw) -> _Kind:
    return _Kind(name=name, sentence=sentence, question=question, subject=subject, value=value)


_ALL: Final = (
    _kind("headquartered in", "The headquarters of {x} is located in {v}.", "Where is {x} based?", _company, _city),
    _kind("married to", "{x} is married to {v}.", "Who is {x} married to?", _person, _person),
    _kind("has chief executive", "The chief executive officer of {x} is {v}.", "Who runs {x}?", _company, _person),
    _kind("plays for", "{x} plays for {v}.", "Which club does {x} play for?", _person, _club),
    _kind("has author", "The author of {x} is {v}.", "Who wrote {x}?", _work, _person),
    _kind("has capital", "The capital of {x} is {v}.", "What is the capital of {x}?", _land, _city),
    _kind("works in", "{x} works in the field of {v}.", "What field does {x} work in?", _person, _one_of("fields")),
    _kind("speaks", "{x} speaks the language of {v}.", "Which language does {x} speak?", _person, _one_of("languages")),
    _kind("founded by", "{x} was founded by {v}.", "Who founded {x}?", _company, _person),
    _kind("citizen of", "{x} is a citizen of {v}.", "Which country is {x} a citizen of?", _person, _one_of("lands")),
    _kind("has genre", "The genre of {x} is {v}.", "What genre is {x}?", _work, _one_of("genres")),
    _kind("employed by", "{x} is employed by {v}.", "Who employs {x}?", _person, _company),
    _kind("born in", "{x} was born in the city of {v}.", "In which city was {x} born?", _person, _city),
    _kind("plays instrument", "{x} plays the {v}.", "What does {x} play?", _person, _one_of("instruments")),
    _kind(
        "associated with",
        "{x} is associated with the sport of {v}.",
        "Which sport is {x} in?",
        _person,
        _one_of("sports"),
    ),
    _kind(
        "head of government", "The name of the current head of {x} is {v}.", "Who is the head of {x}?", _land, _person
    ),
)

_KINDS_OF: Final = {Half.DEV: _ALL[:12], Half.HELD: _ALL[4:]}
"""Twelve predicates a half."""
