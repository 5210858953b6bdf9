"""Times are those of the turn, in the speaker's zone, as exact as they were said."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tests.english.rules.said import WEDNESDAY, proposed, rendered

TIMES = [
    ("yesterday", "2026-05-19", "day"),
    ("three days ago", "2026-05-17", "day"),
    ("on May 9th", "2026-05-09", "day"),
    ("on Tuesday", "2026-05-19", "day"),
    ("last week", "2026-05-11", "week"),
    ("over the weekend", "2026-05-16", "week"),
    ("last month", "2026-04-01", "month"),
    ("two months ago", "2026-03-01", "month"),
    ("in June", "2025-06-01", "month"),
    ("last summer", "2025-07-16", "approximate"),
    ("recently", "2026-05-20", "approximate"),
    ("last night", "2026-05-19", "day"),
    ("on the 15th of last month", "2026-04-15", "day"),
]


@pytest.mark.parametrize(("words", "at", "precision"), TIMES)
def test_a_time_resolves_against_the_turn(words: str, at: str, precision: str) -> None:
    [event] = proposed(f"I bought a piano {words}")
    assert event.payload["event_description"] == "user bought a piano"
    assert (event.payload["event_at"], event.payload["event_at_precision"]) == (at, precision)


def test_a_time_before_the_subject_counts() -> None:
    for said in ("Yesterday, I bought a piano", "Last Tuesday I bought a piano", "In June we bought a piano"):
        [event] = proposed(said)
        assert event.payload["event_at_precision"] in {"day", "month"}


def test_a_year_is_kept_in_the_words_because_no_precision_covers_it() -> None:
    for said in ("I bought a piano in 2019", "I bought a piano seven years ago"):
        [event] = proposed(said)
        assert event.payload["event_description"] == "user bought a piano in 2019"
        assert event.payload["event_at_precision"] == "approximate"
        assert str(event.payload["event_at"]).startswith("2019-0")
        assert rendered(event) == "user bought a piano in 2019"


def test_a_few_years_name_no_year() -> None:
    [event] = proposed("I bought a piano a few years ago")
    assert event.payload["event_description"] == "user bought a piano"
    assert event.payload["event_at_precision"] == "approximate"


def test_what_is_earlier_than_something_unsaid_has_no_time() -> None:
    [event] = proposed("I've started biking to Bergen 20 minutes earlier")
    assert event.payload["event_at"] is None


def test_yesterday_is_the_speakers() -> None:
    just_after_midnight = datetime(2026, 5, 20, 22, 30, tzinfo=UTC)
    days = {
        zone: proposed("I bought a piano yesterday", at=just_after_midnight, zone=ZoneInfo(zone))[0].payload["event_at"]
        for zone in ("America/New_York", "Europe/Berlin", "Asia/Tokyo")
    }
    assert days == {
        "America/New_York": "2026-05-19",
        "Europe/Berlin": "2026-05-20",
        "Asia/Tokyo": "2026-05-20",
    }


def test_a_clock_time_is_exact_and_carries_its_offset() -> None:
    [event] = proposed("I have a dentist appointment tomorrow at 3pm")
    assert (event.payload["event_at"], event.payload["event_at_precision"]) == ("2026-05-21T15:00:00+02:00", "exact")


@pytest.mark.parametrize(
    ("when", "at", "precision"),
    [
        ("on Friday at 4", "2026-05-22", "day"),
        ("on Friday at half past five", "2026-05-22", "day"),
        ("tomorrow at 5:45", "2026-05-21", "day"),
        ("on Friday at 05:45", "2026-05-22T05:45:00+02:00", "exact"),
        ("on Friday at 5am", "2026-05-22T05:00:00+02:00", "exact"),
        ("on Friday at 5 in the morning", "2026-05-22T05:00:00+02:00", "exact"),
        ("on Friday at 4 in the afternoon", "2026-05-22T16:00:00+02:00", "exact"),
        ("on Friday at 9:15", "2026-05-22T09:15:00+02:00", "exact"),
    ],
)
def test_an_hour_that_may_be_of_the_afternoon_leaves_the_day(when: str, at: str, precision: str) -> None:
    [event] = proposed(f"I have a job interview {when}")
    assert (event.payload["event_at"], event.payload["event_at_precision"]) == (at, precision)


@pytest.mark.parametrize(
    ("what", "at", "precision"),
    [
        ("a dinner at 8", "2026-05-22", "day"),
        ("a party at half past seven", "2026-05-22", "day"),
        ("a concert at 9pm", "2026-05-22T21:00:00+02:00", "exact"),
        ("a concert at 09:30", "2026-05-22T09:30:00+02:00", "exact"),
        ("a job interview at 8", "2026-05-22T08:00:00+02:00", "exact"),
    ],
)
def test_an_hour_of_what_is_rarely_in_the_morning_leaves_the_day(what: str, at: str, precision: str) -> None:
    [event] = [one for one in proposed(f"I have {what} on Friday") if one.type == "event"]
    assert (event.payload["event_at"], event.payload["event_at_precision"]) == (at, precision)


@pytest.mark.parametrize(
    ("when", "at"),
    [
        ("this Wednesday", "2026-05-20"),
        ("next Wednesday", "2026-05-27"),
        ("on Thursday", "2026-05-21"),
        ("from June 3rd to the 12th", "2026-06-03"),
        ("from May 29 until June 2", "2026-05-29"),
        ("from Friday to Sunday", "2026-05-22"),
    ],
)
def test_a_plan_has_the_day_it_begins_on(when: str, at: str) -> None:
    [event] = proposed(f"I'm flying to Malta {when}")
    assert (event.payload["event_at"], event.payload["event_at_precision"]) == (at, "day")


@pytest.mark.parametrize("when", ["on Wednesday", "on Wednesday at 11am"])
def test_the_weekday_of_the_turn_dates_nothing(when: str) -> None:
    assert proposed(f"I'm flying to Malta {when}") == ()
    [past] = proposed(f"I bought a piano {when}")
    assert (past.payload["event_at"], past.payload["event_at_precision"]) == (None, "unknown")


def test_what_is_planned_lies_ahead() -> None:
    [event] = proposed("We're getting married in June")
    assert event.payload["event_at"] == "2026-06-01"
    [moved] = proposed("We moved house in June")
    assert moved.payload["event_at"] == "2025-06-01"


def test_a_day_of_a_month_named_elsewhere_stays_in_that_month() -> None:
    [event] = proposed("In March, I took a business trip to Chicago, flying out on the 10th")
    assert (event.payload["event_at"], event.payload["event_at_precision"]) == ("2026-03-01", "month")


def test_without_a_time_an_event_is_undated() -> None:
    [event] = proposed("I broke my leg")
    assert (event.payload["event_at"], event.payload["event_at_precision"]) == (None, "unknown")


@pytest.mark.parametrize(
    ("content", "at"),
    [
        ("I bought a desk I saw in 2019", None),
        ("I bought a desk, which was last Tuesday", None),
        ("I joined a choir, which my aunt left on March 3rd", None),
        ("I joined a choir in Ghent on March 3rd or April 4th", None),
        ("I joined a choir in Ghent from March 3rd to May 4th", None),
        ("I joined a choir in Ghent on the 10th of the month", None),
        ("I joined a choir in Ghent on May 30th", None),
        ("I recently joined a choir in Ghent on October 3rd", None),
        ("I bought a rare 1962 atlas", None),
        ("I attended the Friday matches in Ghent", None),
        ('I gave a talk on "Glass Trends for 2023" in Ghent', None),
        ("I got back from Ghent last week, which was in July", None),
        ("I recently bought a kite, which I found in March", None),
        ("I attended the jubilee weekend in Ghent", None),
        ("I attended a Sunday Social in Ghent", None),
        ("I hosted a dinner in Ghent the next day", None),
        ("I booked a table in Ghent for June 20th", "2026-06-20"),
        ("I booked a table in Ghent on March 3rd", "2026-03-03"),
    ],
)
def test_a_time_belongs_to_what_it_stands_with(content: str, at: str | None) -> None:
    [event] = [one for one in proposed(content) if one.type == "event"]
    assert event.payload["event_at"] == at


def test_words_of_a_time_that_is_not_certain_stay_in_the_description() -> None:
    [event] = proposed("I joined a choir in Ghent between March 3rd and May 4th")
    assert event.payload["event_description"] == "user joined a choir in Ghent between March 3rd and May 4th"


@pytest.mark.parametrize(
    "content",
    ["We plan to visit Ghent in June or July", "I joined a choir in Ghent two weeks ago on January 3rd"],
)
def test_a_time_from_now_that_is_not_certain_makes_no_event(content: str) -> None:
    assert not [one for one in proposed(content) if one.type == "event"]


def test_the_last_weekday_that_may_be_of_this_week_is_approximate() -> None:
    for day in ("Monday", "Mon", "Tues"):
        [event] = proposed(f"I bought a piano last {day}", at=WEDNESDAY.replace(day=23))
        assert event.payload["event_at_precision"] == "approximate"


def test_a_relation_begins_on_the_day_that_was_named() -> None:
    found = {one.type: one.payload for one in proposed("I joined the platform team on May 9th")}
    assert found["relation"]["since"] == "2026-05-09"
    assert found["event"]["event_at"] == "2026-05-09"


def test_the_turns_moment_is_what_counts_not_the_clock() -> None:
    long_ago = WEDNESDAY.replace(year=2011)
    [event] = proposed("I bought a piano yesterday", at=long_ago)
    assert event.payload["event_at"] == "2011-05-19"


def test_what_has_happened_is_never_dated_after_the_turn() -> None:
    [moved] = [one for one in proposed("This year I moved to Oslo") if one.type == "event"]
    assert moved.payload["event_at"] == "2026-03-11"
    assert moved.payload["event_at_precision"] == "approximate"


def test_another_clause_after_the_time_is_not_told_with_it() -> None:
    [one] = proposed("When I took Lola to the vet last week, the consultation fee was $50")
    assert one.payload["event_description"] == "user took Lola to the vet"
