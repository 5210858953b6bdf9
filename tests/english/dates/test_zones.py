"""Days follow the caller's clock, across clock changes too."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from app.english.dates import TemporalSpan, find_spans

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")


def only(text: str, now: datetime) -> TemporalSpan:
    (span,) = find_spans(text, now=now)
    return span


def utc(span: TemporalSpan) -> tuple[datetime, datetime]:
    assert span.lower
    assert span.upper
    return span.lower.astimezone(UTC), span.upper.astimezone(UTC)


def test_the_day_clocks_go_forward_has_23_hours() -> None:
    span = only("yesterday", datetime(2024, 4, 1, 12, tzinfo=BERLIN))
    assert utc(span) == (datetime(2024, 3, 30, 23, tzinfo=UTC), datetime(2024, 3, 31, 22, tzinfo=UTC))


def test_the_day_clocks_go_back_has_25_hours() -> None:
    span = only("today", datetime(2024, 11, 3, 12, tzinfo=NEW_YORK))
    assert utc(span) == (datetime(2024, 11, 3, 4, tzinfo=UTC), datetime(2024, 11, 4, 5, tzinfo=UTC))


def test_hours_are_real_hours_across_a_clock_change() -> None:
    span = only("3 hours ago", datetime(2024, 3, 31, 4, 30, tzinfo=BERLIN))
    assert span.lower == datetime(2024, 3, 31, 0, 30, tzinfo=BERLIN)


def test_a_time_inside_the_skipped_hour_still_has_a_length() -> None:
    span = only("today at 2:30", datetime(2024, 3, 31, 12, tzinfo=BERLIN))
    lower, upper = utc(span)
    assert lower == datetime(2024, 3, 31, 1, 30, tzinfo=UTC)
    assert upper - lower == timedelta(minutes=1)


def test_one_instant_is_another_day_elsewhere() -> None:
    instant = datetime(2024, 5, 15, 2, tzinfo=UTC)
    berlin, new_york = (only("yesterday", instant.astimezone(zone)) for zone in (BERLIN, NEW_YORK))
    assert berlin.lower == datetime(2024, 5, 14, tzinfo=BERLIN)
    assert new_york.lower == datetime(2024, 5, 13, tzinfo=NEW_YORK)


def test_bounds_are_in_the_zone_of_now() -> None:
    span = only("in July 2020", datetime(2024, 1, 10, 9, tzinfo=NEW_YORK))
    assert (span.lower, span.upper) == (
        datetime(2020, 7, 1, tzinfo=NEW_YORK),
        datetime(2020, 8, 1, tzinfo=NEW_YORK),
    )
    assert span.lower is not None
    assert span.lower.tzinfo is NEW_YORK
