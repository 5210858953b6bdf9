"""Freshness as Postgres computes it is freshness as we do; a dry run changes nothing."""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta
from typing import Any

import pytest

from app.db.memories import fading
from app.db.session import statement
from app.features.lifecycle.sql import sweeps
from app.memory.freshness import EXPIRY, Decay, boost, freshness
from app.memory.lifecycle import FadeState
from tests.lifecycle.aging import START, Aging

COMPUTED = statement(
    f"""
    SELECT {fading.FADE_COLUMNS}, {sweeps.FADED} AS faded
    FROM jsonb_to_recordset(CAST(:given AS jsonb)) AS m(
        place int, stated_at timestamptz, half_life_days float8, floor float8, confidence float8)
    JOIN jsonb_to_recordset(CAST(:given AS jsonb)) AS u(place int, last_accessed_at timestamptz, access_count int)
        USING (place)
    ORDER BY place
    """  # noqa: S608 - composed of constants
)


def numbers(faded: FadeState) -> dict[str, object]:
    return {name: value for name, value in faded.detail().items() if value is not None}


def fade(one: dict[str, Any]) -> FadeState:
    """Return the state of a memory at the start, by the formula."""
    since = datetime.fromisoformat(one["last_accessed_at"] or one["stated_at"])
    days = max(0.0, (START - since) / timedelta(days=1))
    decay = Decay(half_life_days=one["half_life_days"], floor=one["floor"])
    return FadeState(
        freshness=freshness(days=days, decay=decay, access_count=one["access_count"]),
        days=days,
        half_life_days=decay.half_life_days,
        floor=decay.floor,
        boost=boost(one["access_count"]),
        access_count=one["access_count"],
        confidence=one["confidence"],
    )


def ago(days: float) -> str:
    return (START - timedelta(days=days)).isoformat()


async def test_both_come_to_the_same_numbers(old: Aging) -> None:
    chance = random.Random(1)  # noqa: S311
    given: list[dict[str, Any]] = [
        {
            "place": place,
            "stated_at": ago(chance.choice((0, 1, 30, 99.6, 1e4, -3)) * chance.random()),
            "last_accessed_at": chance.choice((None, ago(chance.uniform(-1, 900)))),
            "half_life_days": chance.choice((None, 0.001, 3, 14, 30, 90, 180, 365)),
            "floor": chance.choice((0.0, 0.02, 0.6)),
            "access_count": chance.choice((0, 1, 6, 7, 64, 65, 10**9)),
            "confidence": 0.5,
        }
        for place in range(2_000)
    ]
    async with old.store.database.read(old.store.tenant) as session:
        rows = await session.fetch(COMPUTED, {"given": json.dumps(given), "now": START})
    assert len(rows) == len(given)
    assert {row["faded"] for row in rows} == {True, False}
    for one, row in zip(given, rows, strict=True):
        ours = fade(one)
        theirs = fading.fade_of(row)
        assert numbers(theirs) == pytest.approx(numbers(ours), rel=1e-9, abs=1e-12), one
        assert row["faded"] == (ours.half_life_days is not None and ours.freshness < EXPIRY), one


async def test_a_dry_run_changes_nothing_and_says_what_the_run_then_does(old: Aging) -> None:
    for number in range(3):
        until = {"valid_until": START + timedelta(days=50)} if number == 0 else {}
        await old.added("event", until, event_description=f"deployed version {number}")
    old.pass_(101)
    for worker in ("validity", "freshness", "gc", "promotion", "lexical-statistics", "mention-counts"):
        before = await everything(old)
        foreseen = await old.run(worker, dry_run=True)
        assert await everything(old) == before, worker
        assert await old.run(worker) == foreseen


async def everything(old: Aging) -> list[object]:
    tables = ("memories", "memory_index", "memory_usage", "audit_events", "scopes", "lexical_terms", "worker_runs")
    return [await old.store.sql(f"SELECT * FROM {name} ORDER BY {name}::text") for name in tables]  # noqa: S608 - ours


async def test_what_lies_ahead_does_not_fade_before_its_day_nor_at_once_after_it(old: Aging) -> None:
    wedding = (old.clock.now + timedelta(days=314)).date().isoformat()
    ahead = await old.added("event", event_description="wedding of Clara", event_at=wedding)
    over = await old.added("event", event_description="moved the desk", event_at=old.clock.now.date().isoformat())
    plan = await old.added("plan", {"valid_until": old.clock.now + timedelta(days=170)}, plan="visit Tokyo in June")
    old.pass_(150)
    await old.run("freshness")
    assert [await old.status(one) for one in (ahead, over, plan)] == ["active", "expired", "active"]
    old.pass_(170)
    await old.run("freshness")
    assert await old.status(ahead) == "active"
    old.pass_(200)
    await old.run("freshness")
    assert await old.status(ahead) == "expired"


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("The tenancy of the allotment runs out on 30 June 2027.", "active"),
        ("Our school reunion is next summer, in August 2027", "active"),
        ("The warranty of the boiler ends in May 2028.", "active"),
        ("We bought the boiler on 3 May 2019.", "expired"),
        ("We went skiing in February.", "expired"),
        ("The boiler hums.", "expired"),
    ],
)
async def test_a_note_whose_words_name_a_day_ahead_does_not_fade_before_it(old: Aging, words: str, status: str) -> None:
    note = await old.added("episodic", content=words, session_id="s1")
    old.pass_(200)
    dry = await old.run("freshness", dry_run=True)
    assert await old.run("freshness") == dry
    assert await old.status(note) == status
    if status == "active":
        old.pass_(1_000)
        await old.run("freshness")
        assert await old.status(note) == "expired"
