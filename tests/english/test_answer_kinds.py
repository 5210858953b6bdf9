"""Whether a text may hold the kind of answer that a question asks for."""

from __future__ import annotations

import pytest

from app.english.answer_kinds import kind_asked


@pytest.mark.parametrize(
    ("question", "text", "may"),
    [
        ("How much is the berth?", "The harbour wants 40 a night.", True),
        ("How much is the berth?", "We painted the barge.", False),
        ("When do we sail?", "They sail on Thursdays.", True),
        ("When do we sail?", "The sails were torn.", False),
        ("Which size is my jib?", "Only three fits the mast.", True),
        ("Who is the skipper?", "It is Torill who steers.", True),
        ("Who is the skipper?", "Anna steers.", True),
        ("Who is the skipper?", "the rudder is stuck", False),
        ("Where is the barge?", "the rudder is stuck", None),
    ],
)
def test_a_number_or_a_name_is_asked_for(question: str, text: str, *, may: bool | None) -> None:
    kind = kind_asked(question)
    assert (None if kind is None else kind.is_in(text)) is may
