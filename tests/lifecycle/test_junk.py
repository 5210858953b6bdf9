"""Junk that was matched by mistake gets no more than any use gives, and goes when it is due (seed 001)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.db.memories import usage
from app.model import SpeechAct
from app.read.access import AccessTracker
from tests.lifecycle.aging import START, Aging

WEAK = {"speech_act": SpeechAct.HYPOTHETICAL}
"""Confidence .30: what is forgotten once it is expired for long enough."""


def tracker(old: Aging) -> AccessTracker:
    return AccessTracker(database=old.store.database, clock=old.clock)


async def test_matched_a_thousand_times_it_expires_and_is_forgotten_on_schedule(old: Aging) -> None:
    junk = await old.added("event", WEAK, event_description="user said sounds good")
    uses = tracker(old)
    for _ in range(1000):
        uses.note(old.store.tenant, [junk], at=old.clock.now, session="chat")
    await uses.flush()
    memory = await old.memory(junk)
    assert (memory.access_count, memory.usage.stability, memory.usage.sessions) == (1000, 0, 1)
    assert await old.run("promotion") == {"promoted": 0}
    # 30 days x log2(3 / .1): unmatched, an event that was boosted as far as can be goes in the 148th day.
    old.pass_(147)
    assert await old.run("freshness") == {"expired": 0}
    old.pass_(1)
    assert await old.run("freshness") == {"expired": 1}
    old.pass_(89.9)
    assert await old.run("gc") == {"purged": 0, "forgotten": 0}
    old.pass_(0.1)
    assert await old.run("gc") == {"purged": 0, "forgotten": 1}


async def test_matched_every_day_for_a_year_in_one_session_it_is_not_core(old: Aging) -> None:
    junk = await old.added("event", event_description="user said sounds good")
    uses = tracker(old)
    for _ in range(365):
        uses.note(old.store.tenant, [junk], at=old.pass_(1), session="chat")
        await uses.flush()
    assert await old.run("promotion") == {"promoted": 0}


async def test_what_is_taken_back_fades_as_if_it_had_never_been_used(old: Aging) -> None:
    junk = await old.added("event", event_description="user said sounds good")
    same = await old.added("event", event_description="user met the team in Berlin")
    uses = tracker(old)
    uses.note(old.store.tenant, [junk], at=old.pass_(60))
    await uses.flush()
    async with old.store.database.write(old.store.tenant) as session:
        await usage.take_back(session, tenant=old.store.tenant, memory=junk)
    old.pass_(40)
    assert await old.run("freshness") == {"expired": 2}
    assert await old.status(junk) == await old.status(same) == "expired"


async def test_a_match_that_does_not_revive_moves_no_date_of_forgetting(old: Aging) -> None:
    over = {**WEAK, "valid_until": START + timedelta(days=1)}
    junk = await old.added("event", over, event_description="user said sounds good")
    old.pass_(1)
    assert await old.run("validity") == {"ended": 1}
    uses = tracker(old)
    for _ in range(6):
        uses.note(old.store.tenant, [junk] * 50, at=old.pass_(15))
        await uses.flush()
    assert await old.status(junk) == "expired"
    assert await old.run("gc") == {"purged": 0, "forgotten": 1}


@pytest.mark.parametrize("confidence", [WEAK, {}])
async def test_a_historical_match_brings_it_back_and_the_schedule_begins_anew(
    old: Aging, confidence: dict[str, object]
) -> None:
    event = await old.added("event", confidence, event_description="user deployed the API")
    old.pass_(100)
    assert await old.run("freshness") == {"expired": 1}
    uses = tracker(old)
    uses.note(old.store.tenant, [event], at=old.pass_(80))
    await uses.flush()
    assert await old.status(event) == "active"
    # 30 days x log2(1.2 / .1): one use is worth eight days.
    old.pass_(107)
    assert await old.run("freshness") == {"expired": 0}
    old.pass_(1)
    assert await old.run("freshness") == {"expired": 1}
    assert await old.run("gc") == {"purged": 0, "forgotten": 0}
