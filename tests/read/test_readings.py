"""Questions that people put in more than one way, read as they are meant."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.memory.registry import discover
from app.model import ReadMode
from app.read.understand import parse_question
from app.read.values import QueryRequest, QuestionReading

SATURDAY = datetime(2026, 11, 21, 12, tzinfo=UTC)


def reading(text: str) -> QuestionReading:
    return parse_question(QueryRequest(query=text, now=SATURDAY), types=discover(), language="english")


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("what is coming up in December?", 2026),
        ("what will happen in December?", 2026),
        ("plans for December", 2026),
        ("what am I doing on 3 December?", 2026),
        ("where is Tom flying in December?", 2026),
        ("what happened in December?", 2025),
        ("what did I plan in December?", 2025),
    ],
)
def test_a_month_lies_where_the_question_looks(text: str, year: int) -> None:
    [window] = reading(text).windows
    assert window.lower is not None
    assert (window.lower.year, window.lower.month) == (year, 12)


def test_last_tuesday_has_a_second_reading() -> None:
    found = reading("what happened last Tuesday?")
    [window], [other] = found.windows, found.otherwise
    assert window.lower == datetime(2026, 11, 10, tzinfo=UTC)
    assert other.lower == datetime(2026, 11, 17, tzinfo=UTC)
    assert reading("what happened in May?").otherwise == reading("what happened in May?").windows


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("where did I work before Volkswagen?", ReadMode.HISTORICAL),
        ("who did Tom report to before Sarah?", ReadMode.HISTORICAL),
        ("what happened before March?", ReadMode.DEFAULT),
        ("where do I work?", ReadMode.DEFAULT),
        ("what should I do before leaving?", ReadMode.DEFAULT),
    ],
)
def test_what_came_before_something_is_history(text: str, mode: ReadMode) -> None:
    assert reading(text).mode is mode
