"""Dates in the lines of the context block: the day and time of a statement, and days that a turn names by its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta, tzinfo

from app.english.dates import TemporalSpan, find_spans
from app.memory.calendar import zone_of
from app.model import Memory, MemoryStatus

_INSTANT = timedelta(microseconds=1)


def stated_since(memory: Memory) -> datetime:
    """Return the time at the head of a memory's line: when it was stated.

    What ended has the time from which on it held, because it was stated last when it was said to have ended.
    """
    return min(memory.stated_at, memory.valid_from) if memory.status is MemoryStatus.EXPIRED else memory.stated_at


def days_with_times(
    memories: Sequence[Memory], zone: tzinfo | None, *, verbatim: Callable[[Memory], bool]
) -> frozenset[date]:
    """Return the days on whose lines the time of day tells which of two statements is the later.

    That is where a turn stands beside another statement, which it may contradict, and where two memories had one slot.
    """
    stated: dict[date, list[tuple[str, Memory]]] = defaultdict(list)
    for one in memories:
        at = stated_since(one).astimezone(zone)
        stated[at.date()].append((f"{at:%H:%M}", one))
    return frozenset(day for day, said in stated.items() if _may_contradict(said, verbatim))


def _may_contradict(said: Sequence[tuple[str, Memory]], verbatim: Callable[[Memory], bool]) -> bool:
    if len({at for at, _ in said}) < 2:  # noqa: PLR2004 - two times of one day
        return False
    if any(verbatim(one) for _, one in said):
        return True
    slots: dict[tuple[object, ...], set[str]] = defaultdict(set)
    for at, one in said:
        if one.slot is not None:
            slots[one.scope, one.type, one.slot].add(at)
    return any(len(times) > 1 for times in slots.values())


def as_day(instant: datetime, zone: tzinfo | None, timed: frozenset[date] = frozenset()) -> str:
    """Return the day of an instant in a zone, with the time of day where it is one of the `timed` days."""
    local = instant.astimezone(zone)
    return f"{local:%Y-%m-%d %H:%M}" if local.date() in timed else local.date().isoformat()


def with_own_days(text: str, memory: Memory, zone: tzinfo | None) -> str:
    """Return what a turn says with the days that it names by its own, where its day is another one in the zone.

    The day at the head of its line is that of the zone, from which a reader would count: `yesterday (2026-09-01)`.
    """
    timezone = next((one.timezone for one in memory.evidence if one.timezone is not None), None)
    if timezone is None:
        return text
    own, here = memory.stated_at.astimezone(zone_of(timezone)), memory.stated_at.astimezone(zone)
    if own.date() == here.date():
        return text
    counted = {one.start: _days(one) for one in find_spans(text, now=here)}
    ahead = {one.start: _days(one) for one in find_spans(text, now=own, prefer="future")}
    for span in reversed(find_spans(text, now=own)):
        days = _days(span)
        if days is not None and days != counted.get(span.start) and days == ahead.get(span.start):
            text = f"{text[: span.end]} ({days}){text[span.end :]}"
    return text


def _days(span: TemporalSpan) -> str | None:
    """Return the first and the last day of a span; None where it is open."""
    if span.lower is None or span.upper is None:
        return None
    first, last = span.lower.date(), (span.upper - _INSTANT).date()
    return f"{first}" if first == last else f"{first} to {last}"
