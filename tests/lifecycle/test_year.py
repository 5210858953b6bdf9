"""A year of five thousand memories by a clock of its own: every transition is the one that the seeds ask for."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import asyncpg
import pytest

from app.db.memories import usage
from app.db.memories.usage import Use
from app.model import Scope, ScopeKind
from tests.lifecycle.aging import Aging
from tests.lifecycle.reference import Known, World

pytestmark = pytest.mark.long

MEMORIES = 5_000
SLOTS = 120
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 365

TYPES = {
    "fact": ("semantic", 180.0, 0.0),
    "preference": ("semantic", 90.0, 0.0),
    "event": ("episodic", 30.0, 0.0),
    "entity": ("semantic", 365.0, 0.0),
    "relation": ("semantic", 180.0, 0.0),
    "decision": ("semantic", 180.0, 0.0),
    "episodic": ("episodic", 45.0, 0.02),
}
CATEGORIES: dict[str, tuple[float | None, float]] = {
    "episodic": (45.0, 0.02),
    "semantic": (120.0, 0.02),
    "procedural": (None, 0.0),
    "control": (None, 0.0),
    "core": (120.0, 0.6),
}

INSERT = """
WITH given AS (
    SELECT * FROM jsonb_to_recordset($3::jsonb) AS g(id uuid, type text, category text, half_life float8, floor float8,
        confidence float8, stated timestamptz, until timestamptz, slot text)
), stored AS (
    INSERT INTO memories (tenant_id, id, scope_id, type, category, status, content, identity, slot, slot_value,
        source_strength, extractor_confidence, prior, confidence, importance, half_life_days, floor, stated_at,
        valid_from, valid_until, recorded_at, updated_at)
    SELECT $1, id, $2, type, category, 'active', 'says ' || id, decode(md5(id::text), 'hex'), slot, id::text, .5, .5,
        .1, confidence, .5, half_life, floor, stated, stated, until, stated, stated FROM given
), used AS (
    INSERT INTO memory_usage (tenant_id, memory_id) SELECT $1, id FROM given
)
INSERT INTO memory_index (tenant_id, memory_id, part, kind, scope_id, type, status, confidence, valid_from, valid_until,
    recorded_at, stated_at, words, asks, model_id, embedding, tsv)
SELECT $1, id, 0, 'both', $2, type, 'active', confidence, stated, until, stated, stated, 2, false, 1, '[1,0,0]',
    to_tsvector('simple', 'says ' || id) FROM given
"""


def made(chance: random.Random, stated: datetime, slot: str | None = None) -> Known:
    type_name = chance.choice(list(TYPES))
    category, half_life, floor = TYPES[type_name]
    found: tuple[float | None, float] = (half_life, floor)
    if chance.random() < 0.5:
        category = chance.choice(list(CATEGORIES))
        found = CATEGORIES[category]
    return Known(
        id=UUID(int=chance.getrandbits(128), version=4),
        type="preference" if slot else type_name,
        category=category,
        half_life=found[0],
        floor=found[1],
        confidence=chance.choice((0.2, 0.3, 0.300001, 0.31, 0.5, 0.9)),
        stated=stated,
        until=stated + timedelta(hours=chance.uniform(1, 6000)) if chance.random() < 0.15 else None,
        slot=slot,
    )


def population(chance: random.Random) -> tuple[list[Known], dict[int, list[Known]]]:
    """Return the memories of the first day, and those that want to take a slot later, by day."""
    first = [made(chance, BEGIN - timedelta(days=chance.uniform(0, 60))) for _ in range(MEMORIES - 2 * SLOTS)]
    later = defaultdict(list)
    for number in range(SLOTS):
        first.append(made(chance, BEGIN - timedelta(days=chance.uniform(0, 60)), slot=f"slot {number}"))
        day = chance.randrange(60, 360)
        later[day].append(made(chance, BEGIN + timedelta(days=day, hours=15), slot=f"slot {number}"))
    return first, later


def accesses(chance: random.Random, memories: Sequence[Known]) -> dict[int, list[tuple[UUID, int, str]]]:
    """Return who is used how often in which session, by day: most never, some now and then, some every week."""
    found: dict[int, list[tuple[UUID, int, str]]] = defaultdict(list)
    for one in memories:
        kind = chance.random()
        if kind < 0.5:
            continue
        days = chance.sample(range(DAYS), chance.randrange(1, 5))
        if kind > 0.85:
            begin, every = chance.randrange(0, 200), chance.choice((3, 7, 14, 30))
            days = list(range(begin, min(DAYS, begin + every * chance.randrange(5, 25)), every))
        for day in days:
            found[day].append((one.id, chance.choice((1, 1, 1, 4)), f"s{chance.randrange(6)}"))
    return found


async def insert(old: Aging, memories: Sequence[Known]) -> None:
    given = [
        {
            "id": str(one.id),
            "type": one.type,
            "category": one.category,
            "half_life": one.half_life,
            "floor": one.floor,
            "confidence": one.confidence,
            "stated": one.stated.isoformat(),
            "until": None if one.until is None else one.until.isoformat(),
            "slot": one.slot,
        }
        for one in memories
    ]
    scope = Scope(kind=ScopeKind.GLOBAL).id(old.store.tenant)
    await old.store.sql(
        "INSERT INTO scopes (tenant_id, id, kind) VALUES ($1, $2, 'global') ON CONFLICT DO NOTHING",
        old.store.tenant,
        scope,
    )
    await old.store.sql(INSERT, old.store.tenant, scope, json.dumps(given))


async def use(old: Aging, used: Sequence[tuple[UUID, int, str]]) -> None:
    now = old.clock()
    uses = [Use(memory=one, count=count, last=now, sessions=(session,)) for one, count, session in used]
    async with old.store.database.write(old.store.tenant) as session:
        await usage.record(session, tenant=old.store.tenant, uses=uses)


async def day_of(old: Aging, world: World, day: int) -> None:
    """Let the workers of a day run, here and there."""
    today = BEGIN + timedelta(days=day)
    for hour, worker, due in (
        (1, "validity", True),
        (2, "promotion", True),
        (3, "freshness", today.weekday() == 6),
        (4, "gc", today.day == 1),
    ):
        if due:
            old.clock.now = today + timedelta(hours=hour)
            foreseen = await old.run(worker, dry_run=True) if worker in {"freshness", "gc"} else None
            done = await old.run(worker)
            getattr(world, worker)(old.clock.now)
            assert foreseen in (None, done)


@pytest.mark.timeout(600)
async def test_a_year_goes_by_the_seeds(old: Aging) -> None:
    chance = random.Random(2026)  # noqa: S311
    first, later = population(chance)
    world = World()
    world.add(first)
    await insert(old, first)
    assert (await old.run("lexical-statistics"))["corrected"] == 1
    used = accesses(chance, first)
    inserted = False
    for day in range(DAYS):
        await day_of(old, world, day)
        old.clock.now = BEGIN + timedelta(days=day, hours=12)
        there = [one for one in used.get(day, ()) if world.known[one[0]].status != "purged"]
        await use(old, there)
        for memory, count, session in there:
            world.use(memory, count, session, old.clock.now)
        await old.revive(*(memory for memory, _, _ in there))
        world.revive(sorted(memory for memory, _, _ in there), old.clock.now)
        held = {one.slot for one in world.of("active")}
        new = [one for one in later.get(day, ()) if one.slot not in held]
        if new:
            inserted = True
            await insert(old, new)
            world.add(new)
    assert inserted
    await compared(old, world)


async def compared(old: Aging, world: World) -> None:
    """Hold the store to the reference: what happened when, and how everything ended."""
    told = sorted((when, memory.hex, action) for when, memory, _, _, action in world.told)
    events = await old.events()
    assert sorted((one["occurred_at"], one["memory_id"].hex, one["action"]) for one in events) == told
    kinds = Counter(action for _, _, action in told)
    assert set(kinds) == {f"memory.{one}" for one in ("expired", "ended", "forgotten", "purged", "promoted", "revived")}
    assert min(kinds.values()) > 20, kinds
    rows: list[asyncpg.Record] = await old.store.sql(
        """SELECT m.*, i.status AS indexed FROM memories m
           JOIN memory_index i ON i.tenant_id = m.tenant_id AND i.memory_id = m.id WHERE m.tenant_id = $1""",
        old.store.tenant,
    )
    assert {
        row["id"]: (row["status"], row["category"], row["half_life_days"], row["floor"], row["status_since"])
        for row in rows
    } == {
        one.id: (one.status, one.category, one.half_life, one.floor, one.since)
        for one in world.known.values()
        if one.status != "purged"
    }
    assert all(row["status"] == row["indexed"] for row in rows)
    assert all(row["retired_at"] is None and row["ended_at"] is None for row in rows)
