"""Numbers and what they count."""

from __future__ import annotations

import pytest

from app.amounts import amount


@pytest.mark.parametrize(
    ("number", "things", "said"),
    [
        (0, "memories", "0 memories"),
        (1, "memories", "1 memory"),
        (2, "memories", "2 memories"),
        (1, "other turns", "1 other turn"),
        (1, "aliases", "1 alias"),
        (1, "statuses", "1 status"),
        (1, "times", "1 time"),
        (1, "matches", "1 match"),
    ],
)
def test_one_thing_is_named_in_the_singular(number: int, things: str, said: str) -> None:
    assert amount(number, things) == said
