"""From when and until when an extracted memory holds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from app.memory.candidate import Candidate
from app.memory.extraction import Proposal
from app.memory.registry import discover
from app.model import SpeechAct
from app.write.candidates import ProposalTrust, candidate
from tests.write.turns import turn

TRUST = ProposalTrust(source=0.9, grounding=1.0, speech_act=SpeechAct.ASSERTION)
STATE = {"type": "transient_state", "payload": {"state": "on crutches"}}
PLAN = {"type": "plan", "payload": {"plan": "move to Genoa"}}
WORK = {"type": "fact", "payload": {"predicate": "works-at", "object": "Figma"}}
EVENT = {"type": "event", "payload": {"event_description": "the wedding", "event_at": "2026-12-19"}}


def made(given: dict[str, Any], **bounds: Any) -> Candidate:
    said = turn("I said so.", zone=ZoneInfo("Europe/Rome"))
    return candidate(Proposal(quote="I said so", **given, **bounds), said, TRUST, discover(), "test")


def instant(month: int, day: int, hour: int = 22) -> datetime:
    return datetime(2026, month, day, hour, tzinfo=UTC)


def test_a_date_until_which_it_holds_is_included_in_the_speakers_zone() -> None:
    assert made(STATE, valid_until="2026-07-20").valid_until == instant(7, 20)


def test_a_length_counts_from_the_turn_or_from_its_beginning() -> None:
    assert made(STATE, ttl_days=42).valid_until == datetime(2026, 6, 20, 12, tzinfo=UTC)
    later = made(STATE, ttl_days=1, valid_from="2026-06-01")
    assert (later.valid_from, later.valid_until) == (instant(5, 31), instant(6, 1))


def test_what_begins_later_does_not_hold_yet() -> None:
    assert made(WORK, valid_from="2026-10-01").valid_from == instant(9, 30)


def test_an_intention_holds_before_its_time() -> None:
    found = made(PLAN, valid_from="2026-09-01", valid_until="2026-09-30")
    assert (found.valid_from, found.valid_until) == (None, instant(9, 30))


@pytest.mark.parametrize("wrong", ["2026-05-01", "soon", "20 July", "2026-13-40"])
def test_an_end_before_the_turn_and_what_is_no_date_bound_nothing(wrong: str) -> None:
    assert made(STATE, valid_until=wrong).valid_until is None


def test_what_happens_at_a_time_has_no_bounds() -> None:
    found = made(EVENT, valid_from="2026-12-19", valid_until="2026-12-19", ttl_days=3)
    assert (found.valid_from, found.valid_until) == (None, None)
