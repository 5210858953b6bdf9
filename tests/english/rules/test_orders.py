"""Orders that stand, told from requests of the moment by their own words."""

from __future__ import annotations

import pytest

from tests.english.rules.said import sentences


@pytest.mark.parametrize(
    ("said", "order"),
    [
        ("Don't recommend horror films, I can't stand them", "never recommend horror films"),
        ("Don't explain basics to me", "never explain basics"),
        ("Do not write to clients without asking me", "never write to clients without asking"),
        ("only use British spelling", "only use British spelling"),
        ("please list prices in euros only", "list prices in euros only"),
        ("Never suggest anything containing pork", "never suggest anything containing pork"),
    ],
)
def test_an_order_about_its_speaker_or_all_answers_stands(said: str, order: str) -> None:
    assert sentences(said) == [f"preference: user asks: {order}"]


@pytest.mark.parametrize(
    "said",
    [
        "don't write the intro, I have one",
        "Only use the first two columns",
        "show errors only",
        "don't add my name to the email, I will",
        "don't use that with me",
        "Never say never",
    ],
)
def test_a_request_of_the_moment_does_not(said: str) -> None:
    assert sentences(said) == []
