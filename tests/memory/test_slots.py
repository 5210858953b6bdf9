from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory.slots import TOLERANCE, SlotClaim, SlotVerdict, latest_statement_wins
from app.model import SpeechAct

NOW = datetime(2026, 5, 9, tzinfo=UTC)
OLD = SlotClaim(value="dark", stated_at=NOW, confidence=0.65)

claims = st.builds(
    SlotClaim,
    value=st.sampled_from(["dark", "light"]),
    stated_at=st.datetimes(timezones=st.just(UTC)),
    confidence=st.floats(0, 1),
    speech_act=st.sampled_from(SpeechAct),
)


@pytest.mark.parametrize(
    ("new", "verdict"),
    [
        (SlotClaim(value="light", stated_at=NOW + timedelta(days=60), confidence=0.65), SlotVerdict.SUPERSEDE),
        (SlotClaim(value="light", stated_at=NOW, confidence=0.65), SlotVerdict.SUPERSEDE),
        (SlotClaim(value="light", stated_at=NOW + timedelta(days=1), confidence=0.51), SlotVerdict.SUPERSEDE),
        (SlotClaim(value="light", stated_at=NOW + timedelta(days=1), confidence=0.49), SlotVerdict.CONTRADICT),
        (SlotClaim(value="light", stated_at=NOW - timedelta(seconds=1), confidence=1.0), SlotVerdict.HISTORY),
        (SlotClaim(value="dark", stated_at=NOW - timedelta(days=9), confidence=0.1), SlotVerdict.MERGE),
        (
            SlotClaim(
                value="light", stated_at=NOW + timedelta(days=1), confidence=1.0, speech_act=SpeechAct.HYPOTHETICAL
            ),
            SlotVerdict.CONTRADICT,
        ),
    ],
)
def test_who_wins_a_slot(new: SlotClaim, verdict: SlotVerdict) -> None:
    assert latest_statement_wins(OLD, new) is verdict


@given(claims, claims)
def test_only_a_newer_trusted_assertion_ever_supersedes(old: SlotClaim, new: SlotClaim) -> None:
    if latest_statement_wins(old, new) is SlotVerdict.SUPERSEDE:
        assert new.value != old.value
        assert new.speech_act is SpeechAct.ASSERTION
        assert new.stated_at >= old.stated_at
        assert new.confidence >= old.confidence - TOLERANCE
