"""A timestamped occurrence: `joined platform team, on 2026-05-09`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo
from typing import Self

from pydantic import Field, model_validator

from app.english import questions
from app.english.joins import unfinished
from app.memory import vocabulary
from app.memory.calendar import StatedTime, covered, date_of, day_start, whole_minutes
from app.memory.fields import Name, Sentence
from app.memory.slots import accumulate
from app.memory.spec import EndingKey, Example, MemoryType, Payload, Standing
from app.model import Category, EventTime, Mention, Precision

_PHRASES = {
    Precision.EXACT: "at {:%Y-%m-%d %H:%M}",
    Precision.DAY: "on {:%Y-%m-%d}",
    Precision.WEEK: "in the week of {:%Y-%m-%d}",
    Precision.MONTH: "in {:%B %Y}",
    Precision.APPROXIMATE: "around {:%Y-%m-%d}",
}

_PLANNED = re.compile(r"^(?:plans|(?:is|are) (?:going|planning|about)) to (?=[a-z])")
"""Words that only say that the event is to come."""


class Event(Payload):
    """An event, its time as far as known, and its participants."""

    event_description: Sentence = Field(description="What happened.", examples=["joined platform team"])
    event_at: StatedTime | None = Field(
        default=None,
        description="When: a date, or a date and time; without an offset it is in the request's time zone.",
        examples=["2026-05-09"],
    )
    event_at_precision: Precision | None = Field(
        default=None, description="How exactly the time is known; by default as exact as it is written."
    )
    participants: tuple[Name, ...] = Field(default=(), max_length=50, description="Who took part.")

    @model_validator(mode="after")
    def _dated(self) -> Self:
        if self.event_at is None and self.event_at_precision not in {
            None,
            Precision.UNKNOWN,
            Precision.APPROXIMATE,
        }:
            raise ValueError(f"event_at is needed for event_at_precision {self.event_at_precision}")
        return self

    @property
    def precision(self) -> Precision:
        """Return the precision of the time."""
        if self.event_at is None:
            return self.event_at_precision or Precision.UNKNOWN
        if self.event_at_precision is not None:
            return self.event_at_precision
        return Precision.EXACT if isinstance(self.event_at, datetime) else Precision.DAY

    def render(self) -> str:
        """Return the event with its time as a sentence; the middle of a year that the description names is not told."""
        phrase = _PHRASES.get(self.precision)
        if self.event_at is None or phrase is None or self._tells_year():
            return self.event_description
        return f"{unfinished(self.event_description)}, {phrase.format(self.event_at)}"

    def _tells_year(self) -> bool:
        named = self.event_at is not None and re.search(rf"\b{self.event_at.year}$", self.event_description)
        return self.precision is Precision.APPROXIMATE and bool(named)

    def mentions(self) -> tuple[Mention, ...]:
        """Return the participants."""
        return tuple(Mention(role=f"participant_{place}", name=who) for place, who in enumerate(self.participants))

    def intended(self, said: datetime) -> tuple[str, str] | None:
        """Return an event that was still to come, with the one that its sentence begins with."""
        if self.event_at is None or day_start(self.event_at, said.tzinfo or UTC) <= said:
            return None
        names = (vocabulary.USER, *self.participants)
        subject = next((one for one in names if self.event_description.startswith(f"{one} ")), "")
        return subject, _PLANNED.sub("", self.event_description.removeprefix(subject).strip())

    def happened(self) -> str:
        """Return the description."""
        return self.event_description

    def distinct_by(self) -> tuple[str, ...]:
        """Return the time, because the same words on another day are another event."""
        exact = self.precision is Precision.EXACT
        when = None if self.event_at is None else (self.event_at if exact else date_of(self.event_at))
        return (str(when), self.precision)

    def questions(self) -> tuple[str, ...]:
        """Return questions about the time, the event and its participants."""
        what = questions.shorten(self.event_description)
        return (f"When was it that {what}?", f"What happened when {what}?", f"Who {what}?")

    def stored(self, event: EventTime | None) -> dict[str, object]:
        """Return the fields, with the time as an instant."""
        found = super().stored(event)
        if event is not None and event.at is not None:
            found["event_at"] = whole_minutes(event.at).isoformat()
        return found if event is None else {**found, "event_at_precision": str(event.precision)}

    def event_time(self, zone: tzinfo) -> EventTime | None:
        """Return the range that the event covers, by its precision, in the caller's time zone."""
        if self.event_at is None:
            return EventTime(at=None, precision=self.precision, lower=None, upper=None)
        exact = self.precision is Precision.EXACT
        at = day_start(self.event_at if exact else date_of(self.event_at), zone)
        lower, upper = covered(at, self.precision, zone)
        return EventTime(at=at, precision=self.precision, lower=lower, upper=upper)


TYPE = MemoryType(
    name="event",
    definition="Something that happened at a time, or will; two events never replace one another.",
    payload=Event,
    prior=0.08,
    half_life_days=30,
    category=Category.EPISODIC,
    on_conflict=accumulate,
    likeness_merges=False,
    held=EndingKey(under="event_description", value="event_description"),
    group="Events",
    standing=Standing.CURRENT,
    asked_by_questions=True,
    folds=True,
    intends=True,
    hints=("event", "events", "happen", "happened", "happening", "occurred"),
    examples=(
        Example(
            utterance="I joined the platform team on May 9th, 2026.",
            payloads=({"event_description": "user joined the platform team", "event_at": "2026-05-09"},),
        ),
    ),
)
