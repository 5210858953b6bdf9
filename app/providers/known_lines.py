"""The numbered lines of what is stored, as a model is shown them and refers to them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from types import MappingProxyType
from typing import Final

from app.memory.extraction import EntityNames, KnownBelief, KnownExcerpt
from app.model import SpeechAct
from app.providers.schemas import TYPE

KNOWN_LENGTH: Final = 3_200
"""Characters of what is known that are shown, some 900 tokens' worth."""

_LONGEST_LINE: Final = 400
"""Characters of a line; a longer one would cost more than it tells."""

_SUPPOSED: Final[Mapping[SpeechAct, str]] = MappingProxyType(
    {
        SpeechAct.HYPOTHETICAL: "supposed",
        SpeechAct.ROLEPLAY: "played",
        SpeechAct.QUOTATION: "reported",
        SpeechAct.SARCASM: "joked",
        SpeechAct.QUESTION: "asked",
    }
)
"""Marks of what is not believed as stated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownLine:
    """A line of what is known: its number, from 1, its text, and the memory or entity that it shows."""

    number: int
    text: str
    of: KnownBelief | EntityNames


def known_lines(known: KnownExcerpt) -> tuple[KnownLine, ...]:
    """Return what is known, memories before entities and the nearest first, as far as it fits."""
    lines: list[KnownLine] = []
    room = KNOWN_LENGTH
    shown: tuple[KnownBelief | EntityNames, ...] = (*known.beliefs, *known.entities)
    for of in shown:
        told = _belief(of) if isinstance(of, KnownBelief) else _entity(of)
        line = KnownLine(number=len(lines) + 1, text=f"[{len(lines) + 1}] {told}", of=of)
        if len(told) > _LONGEST_LINE:
            continue
        room -= len(line.text)
        if room < 0:
            break
        lines.append(line)
    return tuple(lines)


def _belief(one: KnownBelief) -> str:
    marks = ", ".join(_marks(one))
    return f"{compact({TYPE: one.type, **one.fields})}{f' ({marks})' if marks else ''}"


def _entity(one: EntityNames) -> str:
    return compact({"entity": one.name, "type": one.entity_type, "aliases": one.aliases})


def _marks(one: KnownBelief) -> Iterator[str]:
    """Yield when it was said, from when until when it holds, and how it was meant if not as stated."""
    said = _day(one.said)
    for name, at in (("said", said), ("since", _day(one.since)), ("until", _day(one.until))):
        if at is not None and not (name == "since" and at == said):
            yield f"{name} {at}"
    if one.speech_act in _SUPPOSED:
        yield _SUPPOSED[one.speech_act]


def _day(at: datetime | None) -> date | None:
    return None if at is None else at.date()


def compact(value: object) -> str:
    """Return a value as JSON without spaces, on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
