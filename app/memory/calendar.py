"""Stated times: validation, and the range that a time of some precision covers."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import cache
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, BeforeValidator

from app.model import Precision

_DATED = re.compile(r"\d{4}-\d{2}-\d{2}(?:$|[T ])")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_OFFSET_WITH_SECONDS = re.compile(r"\d[+-]\d{2}:\d{2}:\d{2}$")

EARLIEST_YEAR = 1000
LATEST_YEAR = 2200
APPROXIMATE_DAYS = 15
"""Days on either side that an approximate date covers."""


def plausible(value: date | datetime) -> date | datetime:
    """Return the date if it is between the earliest and the latest year, or raise ValueError."""
    if not EARLIEST_YEAR <= value.year <= LATEST_YEAR:
        raise ValueError(f"must lie between the years {EARLIEST_YEAR} and {LATEST_YEAR}")
    return value


def known_zone(name: str) -> str:
    """Return the name of a time zone, or raise ValueError where IANA has none of that name."""
    if name not in _zones():
        raise ValueError("must be an IANA time zone, such as Europe/Berlin")
    return name


_OFFSET = re.compile(r"UTC(?P<sign>[+-])(?P<hours>\d{2}):(?P<minutes>[0-5]\d)")


def zone_of(name: str) -> tzinfo:
    """Return the zone of a stored name: one of IANA's, or an offset as Python writes it, `UTC+05:30`."""
    found = _OFFSET.fullmatch(name)
    if found is None:
        return ZoneInfo(name)
    offset = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"]))
    return timezone(offset if found["sign"] == "+" else -offset)


def known_zone_or_offset(name: str) -> str:
    """Return the name of a zone or an offset, or raise ValueError for another."""
    if _OFFSET.fullmatch(name) is None:
        return known_zone(name)
    zone_of(name)
    return name


def offset_of(at: datetime) -> tzinfo:
    """Return the offset of an aware time as a zone, in whole minutes."""
    return whole_minutes(at).tzinfo or UTC


_THIS_MACHINES = frozenset({"localtime", "posixrules", "Factory"})
"""Names in zone databases that are not IANA's and whose meaning depends on the machine."""


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones()) - _THIS_MACHINES


def _date_alone(value: object) -> object:
    """Read `2026-05-09` as a date rather than as its midnight; raise ValueError for a number."""
    if isinstance(value, int | float) or (isinstance(value, str) and not _DATED.match(value)):
        raise ValueError("must be a date such as 2026-05-09, or a date and time such as 2026-05-09T14:00:00Z")
    if not isinstance(value, str):
        return value
    if _OFFSET_WITH_SECONDS.search(value):
        return whole_minutes(datetime.fromisoformat(value))
    return date.fromisoformat(value) if _DATE.fullmatch(value) else value


def whole_minutes(at: datetime) -> datetime:
    """Return the same instant with an offset of whole minutes, as pydantic and RFC 3339 want it.

    Offsets have seconds in a zone's local mean time, before it had a standard time. They are rounded up, so that the
    start of a day stays in that day.
    """
    minutes = -(-(at.utcoffset() or timedelta()) // timedelta(minutes=1))
    return at.astimezone(timezone(timedelta(minutes=minutes)))


StatedTime = Annotated[datetime | date, BeforeValidator(_date_alone), AfterValidator(plausible)]
"""A payload's time: a date, or a date and time, between the earliest and the latest year."""


def day_start(value: date | datetime, zone: tzinfo) -> datetime:
    """Return an aware time: midnight in the zone for a date; a time without offset is read in the zone."""
    if not isinstance(value, datetime):
        return datetime.combine(value, time.min, tzinfo=zone)
    return value if value.tzinfo is not None else value.replace(tzinfo=zone)


def date_of(value: date | datetime) -> date:
    """Return the calendar date as written, whatever its offset."""
    return value.date() if isinstance(value, datetime) else value


def covered(at: datetime, precision: Precision, zone: tzinfo) -> tuple[datetime | None, datetime | None]:
    """Return the half-open range [lower, upper) in UTC that a time of this precision covers.

    A day, week (from Monday) or month is a calendar one in the zone; an unknown precision covers nothing.
    """
    local = at.astimezone(zone)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    match precision:
        case Precision.EXACT:
            return at.astimezone(UTC), (at + timedelta(seconds=1)).astimezone(UTC)
        case Precision.DAY:
            lower, upper = midnight, midnight + timedelta(days=1)
        case Precision.WEEK:
            lower = midnight - timedelta(days=local.weekday())
            upper = lower + timedelta(days=7)
        case Precision.MONTH:
            lower = midnight.replace(day=1)
            upper = (lower + timedelta(days=32)).replace(day=1)
        case Precision.APPROXIMATE:
            lower, upper = (
                midnight - timedelta(days=APPROXIMATE_DAYS),
                midnight + timedelta(days=APPROXIMATE_DAYS + 1),
            )
        case Precision.UNKNOWN:
            return None, None
    return lower.astimezone(UTC), upper.astimezone(UTC)
