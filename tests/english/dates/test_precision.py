"""What is no time expression, and two of them in one text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.english.dates import find_spans

NOW = datetime(2024, 5, 15, 10, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "May I come in?",
        "we march on, and he may go",
        "this may be the second option",
        "He sat down in the sun",
        "wait a second",
        "mark my words, April said June is nice",
        "room 12, 5 apples, version 3.5, build 10.2.3",
        "now and then",
        "I have 2000 pieces",
        "call 555-1234 or 020 7946 0958",
        "it costs $2020",
        "ratio 3:1, 1/2 cup of sugar, open 24/7",
        "at 192.168.1.1 port 8080",
        "the 3rd floor, and he came second",
        "a fall from grace; spring water",
        "two to four people",
        "see page 2015",
        "we play Model 2077",
        "the Christmas tree",
        "at last, for the first time, next to the door",
        "what is my current address now?",
        "every Monday and on Fridays, daily",
        "at 7 pm",
        "back on 15",
        "30 February 2021",
        "good morning and good night",
        "in 9999999999 years",
    ],
)
def test_everyday_words_and_numbers_are_no_dates(text: str) -> None:
    assert [span.text for span in find_spans(text, now=NOW)] == []


def test_spans_come_in_order_with_the_words_they_cover() -> None:
    text = "Since May 2020 she has run; last week she ran for two hours on Sunday."
    assert [span.text for span in find_spans(text, now=NOW)] == [
        "Since May 2020",
        "last week",
        "two hours",
        "Sunday",
    ]


def test_a_name_of_a_month_needs_a_place_of_a_month() -> None:
    assert [span.text for span in find_spans("What did Jan do in Jan, and June in June?", now=NOW)] == ["Jan", "June"]
