"""Time zones: those that a text names after a time of day, and the order of day and month that one implies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta, timezone, tzinfo
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from app.english.dates.lexicon import MONTH_FIRST, ZONES

_SIGNED: Final = r"[+\-\u2212]\s?(?P<hours>\d{1,2})(?::?(?P<minutes>[0-5]\d))?(?![\d:])"

_CLOCK: Final = r"""(?:(?<![\d:.])\d{1,2}(?:(?:[:.]|\s?h\s?)[0-5]\d(?::[0-5]\d(?:\.\d+)?)?)?(?:\s?[ap]\.?m\b\.?)?
    |(?<=[tT])\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?
    |\b(?:noon|midday|midnight|o['\u2019]?clock))(?:\s?h(?:ours|rs)?\b)?"""

_PLACE: Final = r"[^\W\d_][\w'\u2019.-]*(?:\s[^\W\d_][\w'\u2019.-]*){0,2}?"

_ZONE: Final = re.compile(
    rf"""(?P<clock>{_CLOCK})(?P<gap>\s*,?\s*\(?)
    (?:(?P<short>(?-i:UTC|GMT|utc|gmt))\s?{_SIGNED}
      |(?P<iso>(?<=:\d\d)[+](?P<h>\d{{2}}):?(?P<m>[0-5]\d)(?!\d))
      |(?:in\s)?(?P<place>{_PLACE})\s(?:(?:standard|daylight|summer|winter|local)\s)?time\b
      |(?P<name>[^\W\d_]{{1,4}})(?![\w'\u2019])
      |(?P<long>(?-i:[A-Z][a-z]{{4,8}}))(?=\s*(?:[.,;:!?)]|$)))(?P<close>\)?)""",
    re.IGNORECASE | re.VERBOSE,
)

_SURE: Final = re.compile(r"[ap]\.?m\.?$|:\d\d$|^(?:noon|mid)", re.IGNORECASE)

_LOCAL: Final = frozenset({"local", "my", "our", "your", "my local", "our local", "your local"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedZone:
    """A zone after a time of day: where its words stand, and the zone; None where they may mean several."""

    start: int
    end: int
    zone: tzinfo | None
    local: bool = False


def month_is_first(zone: tzinfo | None) -> bool:
    """Return whether a date in figures has its month before its day, as is usual in this zone, or by default."""
    name = getattr(zone, "key", None)
    if name is None:
        return True
    return any(name == one or name.startswith(f"{one}/") for one in MONTH_FIRST)


def named_zones(text: str) -> list[NamedZone]:
    """Return the time zones that a text names, each directly after a time of day."""
    if not any(map(str.isdigit, text)) and "no" not in text and "id" not in text:
        return []
    found = (_named(one) for one in _ZONE.finditer(text))
    return [one for one in found if one is not None]


def without_zones(text: str, zones: Sequence[NamedZone]) -> str:
    """Return the text with as many spaces in their places."""
    for one in zones:
        text = f"{text[: one.start]}{' ' * (one.end - one.start)}{text[one.end :]}"
    return text


def _named(found: re.Match[str]) -> NamedZone | None:
    opened = "(" in found["gap"]
    start, end = found.end("clock"), found.end() if opened or not found["close"] else found.start("close")
    if found["short"] or found["iso"]:
        hours, minutes = (found["hours"], found["minutes"]) if found["short"] else (found["h"], found["m"])
        back = found["short"] and not found[0][found.end("short") - found.start() :].lstrip().startswith("+")
        zone = _offset((int(hours) + int(minutes or 0) / 60) * (-1 if back else 1))
        return None if zone is None else NamedZone(start=start, end=end, zone=zone)
    name = " ".join((found["place"] or found["long"] or found["name"]).casefold().split())
    if found["place"] is not None:
        if name in _LOCAL:
            return NamedZone(start=start, end=end, zone=None, local=True)
        zone = _listed(name) or _of_city(name)
        return None if zone is None else NamedZone(start=start, end=end, zone=zone)
    told = found["name"] or found["long"]
    spelt = (
        told.isupper()
        or bool(found["long"])
        or (name.endswith(("st", "dt", "utc", "gmt", "cet")) and _SURE.search(found["clock"]))
    )
    if name not in ZONES or not spelt or (name == "z" and found["gap"]):
        return None
    return NamedZone(start=start, end=end, zone=_listed(name))


@cache
def _listed(name: str) -> tzinfo | None:
    told = ZONES.get(name, "?")
    if told == "?":
        return None
    return ZoneInfo(told) if told[0].isalpha() else _offset(float(told))


def _offset(hours: float) -> tzinfo | None:
    return timezone(timedelta(hours=hours)) if abs(hours) <= 14 else None  # noqa: PLR2004 - the farthest there is


def _of_city(name: str) -> tzinfo | None:
    found = _cities().get(name)
    return None if found is None else ZoneInfo(found)


@cache
def _cities() -> dict[str, str]:
    """Return the zones by the cities that they are named for."""
    named = sorted(one for one in available_timezones() if "/" in one and not one.startswith(("Etc/", "SystemV/")))
    return {one.rpartition("/")[2].replace("_", " ").casefold(): one for one in reversed(named)}
