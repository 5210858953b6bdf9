"""Which turns are extracted together."""

from __future__ import annotations

import pytest

from app.memory.extraction import TenantPolicy
from app.memory.instructions import ExtractionInstructions
from app.write.turn_states import TurnState, windows
from tests.write.turns import turn


@pytest.mark.long
def test_turns_of_a_session_that_are_to_be_extracted_otherwise_are_extracted_apart() -> None:
    own = (ExtractionInstructions(exclude=("trips",)),)
    said = [turn(f"Point {n}.", session_id="s", instructions=own if n == 2 else ()) for n in range(4)]
    policy = TenantPolicy(extraction=ExtractionInstructions(include=("dates",)))
    works = [TurnState(turn=policy.instructed(one), context=[]) for one in said]
    found = [[one.turn.content for one in window] for window in windows(works, 4)]
    assert found == [["Point 0.", "Point 1."], ["Point 2."], ["Point 3."]]
