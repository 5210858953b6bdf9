"""Zones that a text names count, and figures are in the order that dots or the asker's zone imply."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from app.english.dates import find_spans
from tests.english.rules.said import proposed

MADRID, DENVER = "Europe/Madrid", "America/Denver"


def found(text: str, zone: str) -> list[tuple[str, str | None, str]]:
    now = datetime(2026, 3, 4, 12, tzinfo=ZoneInfo(zone))
    spans = find_spans(text, now=now, prefer="future")
    return [(one.text, None if one.lower is None else f"{one.lower:%m-%d %H:%M}", one.precision.value) for one in spans]


@pytest.mark.parametrize(
    ("text", "zone", "day"),
    [
        ("paid 7.11.2026", DENVER, "11-07"),
        ("paid 7.11.26", MADRID, "11-07"),
        ("paid 11/7/2026", DENVER, "11-07"),
        ("paid 7/11/2026", MADRID, "11-07"),
        ("paid on 7/11", "Asia/Kolkata", "11-07"),
        ("paid on 11/7", "UTC", "11-07"),
        ("paid 11-7-2026", "America/Indiana/Knox", "11-07"),
        ("paid 7/11/2026", "America/Bogota", "11-07"),
        ("paid 11/23/2026", MADRID, "11-23"),
        ("paid 2026-11-07", MADRID, "11-07"),
    ],
)
def test_figures_are_in_the_order_of_the_place(text: str, zone: str, day: str) -> None:
    [(_, at, _)] = found(text, zone)
    assert at == f"{day} 00:00"


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("tomorrow at 6pm EDT", "03-05 23:00"),
        ("tomorrow at 18:00 (JST)", "03-05 10:00"),
        ("at 8am MSK tomorrow", "03-05 06:00"),
        ("tomorrow at 07:15 UTC-4", "03-05 12:15"),
        ("tomorrow at 7.30pm GMT+5:30", "03-05 15:00"),
        ("tomorrow at 9am Tokyo time", "03-05 01:00"),
        ("tomorrow at 9am Pacific time", "03-05 18:00"),
        ("tomorrow at noon Sao Paulo time", "03-05 16:00"),
        ("tomorrow at 9pm my time", "03-05 21:00"),
        ("2026-03-05T08:00:00+00:00", "03-05 09:00"),
        ("tomorrow at 9am for the last time", "03-05 09:00"),
    ],
)
def test_a_time_of_day_is_of_the_zone_that_is_named(text: str, at: str) -> None:
    [(words, lower, precision)] = found(text, MADRID)
    assert (lower, precision) == (at, "exact")
    assert words == text.removesuffix(" for the last time")


def test_a_range_is_wholly_of_its_zone() -> None:
    now = datetime(2026, 3, 4, 12, tzinfo=ZoneInfo(MADRID))
    [span] = find_spans("tomorrow from 1pm to 3pm CST6CDT time", now=now, prefer="future")[:1]
    assert span.upper is not None
    [span] = find_spans("tomorrow from 1pm EST to 3pm EST", now=now, prefer="future")
    assert (f"{span.lower:%H:%M}", f"{span.upper:%H:%M}", span.text[-3:]) == ("19:00", "21:00", "EST")


@pytest.mark.parametrize("name", ["CST", "IST"])
def test_of_a_name_with_several_zones_the_day_alone_is_known(name: str) -> None:
    assert found(f"tomorrow at 6pm {name}", MADRID) == [(f"tomorrow at 6pm {name}", "03-05 00:00", "day")]


@pytest.mark.parametrize(("name", "zone"), [("CST", "America/Chicago"), ("IST", "Asia/Kolkata")])
def test_unless_one_is_the_askers_own(name: str, zone: str) -> None:
    assert found(f"tomorrow at 6pm {name}", zone) == [(f"tomorrow at 6pm {name}", "03-05 18:00", "exact")]


@pytest.mark.parametrize("zone", ["PST", "(CET)", "UTC+8", "New York time", "IST"])
def test_no_zone_becomes_a_word_of_an_event(zone: str) -> None:
    [event] = proposed(f"I met Ana yesterday at 3pm {zone}")
    assert event.payload["event_description"] == "user met Ana"
    assert event.payload["participants"] == ["user", "Ana"]


@pytest.mark.parametrize(
    ("offset", "at"), [("UTC+9", "03-05 09:30"), ("UTC-3:30", "03-05 22:00"), ("(UTC)", "03-05 18:30")]
)
def test_an_offset_counts_for_who_is_in_utc_as_well(offset: str, at: str) -> None:
    assert found(f"tomorrow at 6:30pm {offset}", "UTC") == [(f"tomorrow at 6:30pm {offset}", at, "exact")]
