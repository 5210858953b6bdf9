"""Contradicting statements: what is generated, and how a block of them is judged."""

from __future__ import annotations

import pytest

from evals.chat.contradictions import judge_slot
from evals.chat.dialogues import Half
from evals.chat.statements import Slot, statements

SLOT = Slot(subject="Ann Lee", question="Where does Ann Lee live?", values=("Rome", "Oslo"))
NEW, OLD = "- Ann Lee lives in Oslo.", "- Ann Lee lives in Rome."


@pytest.mark.parametrize(
    ("lines", "newest_first", "stale_unmarked"),
    [
        ([NEW], True, False),
        ([NEW, OLD], True, True),
        ([OLD, NEW], False, True),
        ([f"{OLD} (replaced 2026-08-08)", NEW], False, False),
        ([NEW, f"{OLD} (replaced 2026-08-08)"], True, False),
        (["- Bo Lee lives in Rome.", NEW], True, False),
        ([OLD], False, True),
        ([], False, False),
    ],
)
def test_the_newest_line_must_stand_before_any_stale_one(
    lines: list[str], *, newest_first: bool, stale_unmarked: bool
) -> None:
    judged = judge_slot(SLOT, lines)
    assert (judged.newest_first, judged.stale_unmarked) == (newest_first, stale_unmarked)


@pytest.mark.parametrize("half", list(Half))
def test_statements_are_the_same_each_time_and_say_their_values_in_order(half: Half) -> None:
    told, twice = statements(half)
    assert statements(half) == (told, twice)
    assert len(told) == 202
    assert len({one.predicate for one in told}) == 12
    for slot in twice:
        said = [one.value for one in told if one.subject == slot.subject and one.value in slot.values]
        assert [value for value in said if value in slot.values][:1] == [slot.values[0]]
        assert set(slot.values) <= set(said)
        assert len(set(slot.values)) == 2
