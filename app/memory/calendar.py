"""From a stated time and its precision to the range it covers."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache
from typing import Annotated
from zoneinfo import available_timezones

from pydantic import AfterValidator, BeforeValidator

from app.model import Precision

_DATED = re.compile(r"\d{4}-\d{2}-\d{2}(?:$|[T ])")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

EARLIEST_YEAR = 1000
LATEST_YEAR = 2200
APPROXIMATE_DAYS = 15
"""An approximate date covers this many days on either side."""


def plausible(value: date | datetime) -> date | datetime:
    """Return the date if a memory could mean it, or raise ValueError."""
    if not EARLIEST_YEAR <= value.year <= LATEST_YEAR:
        raise ValueError(f"must lie between the years {EARLIEST_YEAR} and {LATEST_YEAR}")
    return value


def known_zone(name: str) -> str:
    """Return the name of a time zone, or raise ValueError where IANA has none of that name."""
    if name not in _zones():
        raise ValueError("must be an IANA time zone, such as Europe/Berlin")
    return name


_THIS_MACHINES = frozenset({"localtime", "posixrules", "Factory"})
"""Names that zone databases hold beside those of IANA, and that mean another zone on another machine, or none."""


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones()) - _THIS_MACHINES


def _date_alone(value: object) -> object:
    """Read `2026-05-09` as a date, so that it is not taken for its midnight; a number is no date."""
    if isinstance(value, int | float) or (isinstance(value, str) and not _DATED.match(value)):
        raise ValueError("must be a date such as 2026-05-09, or a date and time such as 2026-05-09T14:00:00Z")
    return date.fromisoformat(value) if isinstance(value, str) and _DATE.fullmatch(value) else value


StatedTime = Annotated[datetime | date, BeforeValidator(_date_alone), AfterValidator(plausible)]
"""A payload's time: a date, or a date and time, of a year a memory could mean."""


def day_start(value: date | datetime, zone: tzinfo) -> datetime:
    """Return an aware instant: a date is its midnight in the zone, a naive time is read in the zone."""
    if not isinstance(value, datetime):
        return datetime.combine(value, time.min, tzinfo=zone)
    return value if value.tzinfo is not None else value.replace(tzinfo=zone)


def date_of(value: date | datetime) -> date:
    """Return the calendar date as it was written, whatever its offset."""
    return value.date() if isinstance(value, datetime) else value


def covered(at: datetime, precision: Precision, zone: tzinfo) -> tuple[datetime | None, datetime | None]:
    """Return the half-open range [lower, upper) in UTC that an instant of this precision covers.

    A day, week (from Monday) or month is a calendar one in the zone; unknown covers nothing.
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
