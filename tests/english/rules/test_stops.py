"""A full stop that belongs to the last word stays with it, also in a sentence that the rules word themselves."""

from __future__ import annotations

import pytest

from tests.english.rules.said import proposed


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I met Ruth Okafor Jr.", "user met Ruth Okafor Jr."),
        ("I visited Meridian Ltd. yesterday.", "user visited Meridian Ltd."),
        ("I flew to the U.S. last week.", "user flew to the U.S."),
        ("I met Ruth at the station.", "user met Ruth at the station"),
    ],
)
def test_an_event_keeps_the_stop_of_an_abbreviation(text: str, told: str) -> None:
    assert [one.payload["event_description"] for one in proposed(text) if one.type == "event"] == [told]
