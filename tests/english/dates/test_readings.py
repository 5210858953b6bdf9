"""What expressions mean, each with its literal range, on Wednesday 15 May 2024 at 10:30 in Berlin."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from app.english.dates import TemporalSpan, find_spans
from app.english.dates.periods import Prefer
from app.model import Precision

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2024, 5, 15, 10, 30, tzinfo=BERLIN)


def only(text: str, prefer: Prefer = "past") -> TemporalSpan:
    spans = find_spans(text, now=NOW, prefer=prefer)
    assert len(spans) == 1, spans
    return spans[0]


def local(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN) if text else None


@pytest.mark.parametrize(
    ("text", "lower", "upper"),
    [
        ("What did she cook yesterday?", "2024-05-14", "2024-05-15"),
        ("the day after tomorrow, then", "2024-05-17", "2024-05-18"),
        ("we spoke on 3 February 2021", "2021-02-03", "2021-02-04"),
        ("signed on the twenty-third of June, 2019", "2019-06-23", "2019-06-24"),
        ("due 2023-11-09", "2023-11-09", "2023-11-10"),
        ("due 31/12/2020", "2020-12-31", "2021-01-01"),
        ("posted 9 Apr '18", "2018-04-09", "2018-04-10"),
        ("it was last Tuesday", "2024-05-07", "2024-05-08"),
        ("it was this past Friday", "2024-05-10", "2024-05-11"),
        ("the flight is next Thursday", "2024-05-23", "2024-05-24"),
        ("Tuesday of last week", "2024-05-07", "2024-05-08"),
        ("the last Friday of March", "2024-03-29", "2024-03-30"),
        ("the second Sunday of next month", "2024-06-09", "2024-06-10"),
        ("the Monday before 1 March 2024", "2024-02-26", "2024-02-27"),
        ("she called two weeks ago", "2024-05-01", "2024-05-02"),
        ("three days after Christmas 2022", "2022-12-28", "2022-12-29"),
        ("on the 20th of last month", "2024-04-20", "2024-04-21"),
        ("at Easter 2024 we met", "2024-03-31", "2024-04-01"),
        ("during Thanksgiving 2023", "2023-11-23", "2023-11-24"),
    ],
)
def test_days_run_from_midnight_to_midnight(text: str, lower: str, upper: str) -> None:
    span = only(text)
    assert (span.lower, span.upper) == (local(lower), local(upper))
    assert span.kind == "day"


@pytest.mark.parametrize(
    ("text", "lower", "upper"),
    [
        ("last week", "2024-05-06", "2024-05-13"),
        ("the weekend before last", "2024-05-04", "2024-05-06"),
        ("the week of June 5, 2023", "2023-06-05", "2023-06-12"),
        ("week 10 of 2022", "2022-03-07", "2022-03-14"),
        ("the first week of October 2021", "2021-10-04", "2021-10-11"),
        ("in May 2023", "2023-05-01", "2023-06-01"),
        ("June of last year", "2023-06-01", "2023-07-01"),
        ("Q3 2021", "2021-07-01", "2021-10-01"),
        ("the second half of 2020", "2020-07-01", "2021-01-01"),
        ("summer 2022", "2022-06-01", "2022-09-01"),
        ("last winter", "2023-12-01", "2024-03-01"),
        ("back in 2017", "2017-01-01", "2018-01-01"),
        ("in the 90s", "1990-01-01", "2000-01-01"),
        ("in the early eighties", "1980-01-01", "1985-01-01"),
        ("the 19th century", "1800-01-01", "1900-01-01"),
        ("end of last month", "2024-04-16", "2024-05-01"),
        ("late 2019", "2019-07-01", "2020-01-01"),
        ("earlier this year", "2024-01-01", "2024-05-15"),
        ("the rest of the week", "2024-05-15", "2024-05-20"),
        ("in the last 3 months", "2024-02-15", "2024-05-15"),
        ("over the next ten days", "2024-05-16", "2024-05-26"),
        ("from 4 to 22 January 1995", "1995-01-04", "1995-01-22"),
        ("between March 3 and April 5", "2024-03-03", "2024-04-05"),
        ("from Nov 20 to Jan 10, 2022", "2021-11-20", "2022-01-10"),
        ("between 2010 and 2015", "2010-01-01", "2015-01-01"),
        ("from April 2020 to the end of 2021", "2020-04-01", "2022-01-01"),
        ("nineteen eighty-four was in nineteen eighty four", "1984-01-01", "1985-01-01"),
        ("this morning", "2024-05-15T08:00", "2024-05-15T12:00"),
        ("last night", "2024-05-14T20:00", "2024-05-15"),
        ("Friday afternoon between 2 and 4", "2024-05-10T14:00", "2024-05-10T16:00"),
        ("yesterday from 9am to 12:30", "2024-05-14T09:00", "2024-05-14T12:30"),
    ],
)
def test_periods_are_half_open(text: str, lower: str, upper: str) -> None:
    span = only(text)
    assert (span.lower, span.upper) == (local(lower), local(upper))
    assert span.kind == "period"


@pytest.mark.parametrize(
    ("text", "lower", "upper"),
    [
        ("since March", "2024-03-01", None),
        ("since two weeks ago", "2024-05-01", None),
        ("from 2010 onwards", "2010-01-01", None),
        ("after June 2020", "2020-07-01", None),
        ("no earlier than 2017", "2017-01-01", None),
        ("before 2019", None, "2019-01-01"),
        ("until next Friday", None, "2024-05-24"),
        ("by the end of 2023", None, "2024-01-01"),
        ("prior to 5 May 2021", None, "2021-05-05"),
        ("more than two weeks ago", None, "2024-05-01"),
    ],
)
def test_one_sided_expressions_are_open(text: str, lower: str | None, upper: str | None) -> None:
    span = only(text)
    assert (span.lower, span.upper) == (local(lower), local(upper))
    assert span.kind == "open"


@pytest.mark.parametrize(
    ("text", "past", "future"),
    [
        ("on Monday", "2024-05-13", "2024-05-20"),
        ("in March", "2024-03-01", "2025-03-01"),
        ("on Oct 2", "2023-10-02", "2024-10-02"),
        ("on the 27th", "2024-04-27", "2024-05-27"),
        ("Feb 29th", "2024-02-29", "2028-02-29"),
        ("at Christmas", "2023-12-25", "2024-12-25"),
        ("on Friday the 13th", "2023-10-13", "2024-09-13"),
    ],
)
def test_what_comes_round_takes_the_preferred_reading(text: str, past: str, future: str) -> None:
    assert only(text, "past").lower == local(past)
    assert only(text, "future").lower == local(future)


@pytest.mark.parametrize(
    ("text", "lower", "upper"),
    [
        ("on Monday", "2024-05-20", "2024-05-21"),
        ("on Wednesday", "2024-05-15", "2024-05-16"),
        ("on the 15th", "2024-05-15", "2024-05-16"),
        ("on the 14th", "2024-06-14", "2024-06-15"),
        ("in May", "2024-05-01", "2024-06-01"),
        ("in April", "2025-04-01", "2025-05-01"),
        ("on 15 May", "2024-05-15", "2024-05-16"),
        ("on 14 May", "2025-05-14", "2025-05-15"),
        ("in spring", "2024-03-01", "2024-06-01"),
        ("in spring?", "2024-03-01", "2024-06-01"),
    ],
)
def test_what_is_ahead_may_have_begun_but_is_not_over(text: str, lower: str, upper: str) -> None:
    span = only(text, "ahead")
    assert (span.lower, span.upper) == (local(lower), local(upper))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("tomorrow at 8", "2024-05-16T08:00"),
        ("tonight at 8", "2024-05-15T20:00"),
        ("May 5 at 6:45 pm", "2024-05-05T18:45"),
        ("2023-07-01 14:05", "2023-07-01T14:05"),
        ("at half past nine yesterday evening", "2024-05-14T21:30"),
        ("in 90 minutes", "2024-05-15T12:00"),
        ("an hour ago", "2024-05-15T09:30"),
    ],
)
def test_a_moment_lasts_a_minute(text: str, moment: str) -> None:
    span = only(text)
    assert span.lower == local(moment)
    assert span.upper == local(moment + ":00") + timedelta(minutes=1)  # type: ignore[operator]
    assert (span.kind, span.precision) == ("moment", Precision.EXACT)


@pytest.mark.parametrize(
    ("text", "lower", "upper"),
    [
        ("from 4 to 22 January 1995", "1995-01-04", "1995-01-23"),
        ("from March to May 2020", "2020-03-01", "2020-06-01"),
        ("in the last 3 days", "2024-05-12", "2024-05-16"),
        ("two weeks ago", "2024-04-29", "2024-05-06"),
        ("five months ago", "2023-12-01", "2024-01-01"),
        ("three years ago", "2021-01-01", "2022-01-01"),
        ("last night", "2024-05-14T17:00", "2024-05-15T06:00"),
        ("until June 3, 2023", None, "2023-06-04"),
        ("yesterday", "2024-05-14", "2024-05-15"),
    ],
)
def test_the_window_to_search_takes_in_what_people_mean(text: str, lower: str | None, upper: str) -> None:
    assert only(text).window == (local(lower), local(upper))


@pytest.mark.parametrize(
    ("text", "precision"),
    [
        ("yesterday at noon", Precision.EXACT),
        ("on 5 May", Precision.DAY),
        ("last week", Precision.WEEK),
        ("three weeks ago", Precision.WEEK),
        ("in May 2023", Precision.MONTH),
        ("two months ago", Precision.MONTH),
        ("in 2019", Precision.APPROXIMATE),
        ("a few days ago", Precision.APPROXIMATE),
        ("since March", Precision.APPROXIMATE),
    ],
)
def test_precision_says_how_exactly_the_time_is_known(text: str, precision: Precision) -> None:
    assert only(text).precision is precision


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("she stayed for three weeks", timedelta(weeks=3)),
        ("two and a half hours", timedelta(hours=2, minutes=30)),
        ("it took 1 year, 2 months and 3 days", timedelta(days=365 + 60 + 3)),
        ("half an hour", timedelta(minutes=30)),
        ("a couple of days", timedelta(days=2)),
        ("90 min", timedelta(minutes=90)),
    ],
)
def test_a_duration_has_a_length_and_no_bounds(text: str, duration: timedelta) -> None:
    span = only(text)
    assert span.duration == duration
    assert (span.lower, span.upper, span.kind) == (None, None, "duration")


@pytest.mark.parametrize(
    ("text", "lower", "upper"),
    [
        ("we met two weekends ago", "2024-05-04", "2024-05-06"),
        ("a weekend ago", "2024-05-11", "2024-05-13"),
        ("3 weekends ago", "2024-04-27", "2024-04-29"),
        ("in two weekends", "2024-05-25", "2024-05-27"),
    ],
)
def test_weekends_are_counted_as_weekends(text: str, lower: str, upper: str) -> None:
    span = only(text)
    assert span.window == (local(lower), local(upper))
    assert span.precision is Precision.WEEK
