"""What holds for any text and any moment."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.english.dates import find_spans
from app.english.dates.lexicon import WORDS
from app.english.dates.periods import Prefer

NOW = datetime(2024, 5, 15, 10, 30, tzinfo=ZoneInfo("Europe/Berlin"))
FIGURES = [
    "1",
    "2",
    "3rd",
    "15th",
    "31",
    "99",
    "1999",
    "2024",
    "9999",
    "2/29",
    "5-6",
    "1/1/2020",
    "12:30",
    "8.15",
    "'98",
]
pieces = st.sampled_from([*WORDS, *FIGURES, "'98", "christmas", "easter", "Q3", "H1", "?", "x"])
near_grammar = st.lists(pieces, max_size=12).map(" ".join)
zones = st.sampled_from(["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Apia", "UTC"]).map(ZoneInfo)
moments = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=zones)  # noqa: DTZ001 - bounds are naive
prefers = st.sampled_from(["past", "future", "ahead"])


def check(text: str, now: datetime, prefer: Prefer) -> None:
    position = 0
    for span in find_spans(text, now=now, prefer=prefer):
        assert position <= span.start < span.end <= len(text)
        assert text[span.start : span.end] == span.text
        position = span.end
        for lower, upper in ((span.lower, span.upper), span.window):
            if lower and upper:
                assert lower.astimezone(UTC) < upper.astimezone(UTC)
        assert (span.duration is not None) == (span.lower is None and span.upper is None)


@given(text=st.text(max_size=300), now=moments, prefer=prefers)
def test_any_text_is_read_without_error(text: str, now: datetime, prefer: Prefer) -> None:
    check(text, now, prefer)


@settings(max_examples=300)
@given(text=near_grammar, now=moments, prefer=prefers)
def test_any_mix_of_its_own_words_keeps_bounds_in_order(text: str, now: datetime, prefer: Prefer) -> None:
    check(text, now, prefer)


@given(day=st.dates(), zone=zones)
def test_a_written_date_is_that_local_day(day: datetime, zone: ZoneInfo) -> None:
    (span,) = find_spans(f"on {day.year:04}-{day.month:02}-{day.day:02}", now=NOW.astimezone(zone))
    bound = span.lower or span.upper
    assert bound is not None
    if span.lower:
        assert (span.lower.year, span.lower.month, span.lower.day) == (day.year, day.month, day.day)


@pytest.mark.parametrize(
    "unit",
    [
        "1",
        "1-",
        "12/",
        "one ",
        "one hundred and ",
        "3 weeks and ",
        "the ",
        " ",
        "12:30 ",
        "last Tuesday ",
        "may ",
        "'98 ",
    ],
)
def test_time_grows_with_the_length_of_the_text_not_its_square(unit: str) -> None:
    text = (unit * 32_000)[:32_000]
    started = time.thread_time()
    find_spans(text, now=NOW)
    assert time.thread_time() - started < 2
