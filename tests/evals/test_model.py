"""From recorded answers of a language model to beliefs: nothing untrue, and no failure unseen."""

from __future__ import annotations

from app.memory.registry import discover
from evals.model import load, measured, recorded

TYPES = discover()
LABELLED = load()


async def test_of_good_answers_nearly_everything_is_believed_and_nothing_untrue() -> None:
    figures = await measured(recorded(LABELLED, "good"), LABELLED, TYPES)
    assert (figures.untrue, figures.failures, figures.unusable) == ([], [], [])
    assert figures.found >= 0.9 * figures.expected, figures.missed


async def test_of_bad_answers_nothing_untrue_is_believed_and_every_failure_is_told() -> None:
    figures = await measured(recorded(LABELLED, "bad"), LABELLED, TYPES)
    assert figures.untrue == []
    broken = [one.turn.content for one in LABELLED if isinstance(one.answers["bad"], str)]
    assert all(any(words in told for told in figures.failures) for words in broken)
    assert [told.partition(": ")[2] for told in figures.unusable] == [
        "memories.0.payload.predicate (missing)",
        "memories.0.payload.object (missing)",
        "memories.1.payload.? (extra forbidden)",
        "memories.2.confidence (less than equal)",
    ]


def test_every_turn_has_an_answer_of_both_qualities() -> None:
    assert all(set(one.answers) == {"good", "bad"} for one in LABELLED)
    assert len({one.turn.content for one in LABELLED}) == len(LABELLED)
