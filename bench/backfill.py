"""What a backfill costs: memories a second, the longest transaction, what a question feels of it; and that it is exact.

Among facts of many users a part tell of medicines, half of them of a second dosage. The preview of what becomes
medications is held against what the commit then changes, and every other memory against itself, to the byte.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, cast
from uuid import UUID

from app.db.session import Database
from app.features.backfill import sql as db_backfill
from app.features.backfill.service import BackfillRequest, Backfills
from app.features.backfill.sql import Backfill, BackfillItem
from app.memory.backfill import BackfillStatus, ItemState
from app.memory.registry import discover
from app.model import Actor
from bench.figures import Book, Spread
from bench.stage import Stage
from bench.workers import SCOPE, Timed, question_times
from bench.world import tenant_id

_FACTS = """
    WITH told AS (
        SELECT m.tenant_id, m.id, row_number() OVER (PARTITION BY m.scope_id ORDER BY m.id) AS place,
            EXISTS (SELECT FROM memory_entities e WHERE e.tenant_id = m.tenant_id AND e.memory_id = m.id
                    AND e.role = 'subject') AND m.type = 'fact' AS whole
        FROM memories m WHERE m.tenant_id = $1
    ), said AS (
        SELECT *, whole AND place % 4 = 0 AS medicine FROM told
    ), now_facts AS (
        UPDATE memories m SET type = 'fact', slot = NULL, slot_value = NULL, contested = false, status = 'active',
            speech_act = 'assertion', superseded_by = NULL, supersedes = NULL, ended_at = NULL, retired_at = NULL,
            review_reason = NULL, review_note = NULL, review_since = NULL, half_life_days = 180, floor = 0,
            category = 'semantic', updated_at = m.recorded_at, payload = jsonb_build_object(
                'subject', CASE WHEN s.whole THEN m.payload ->> 'subject' ELSE 'user' END,
                'predicate', CASE WHEN s.medicine THEN 'takes' ELSE 'visited' END,
                'object', CASE WHEN s.medicine
                    THEN format('substance%smycin %s mg daily', s.place / 8, 100 + 100 * (s.place / 4 % 2))
                    ELSE 'place ' || s.place END,
                'stateful', false),
            content = CASE WHEN s.medicine THEN 'takes a medicine' ELSE m.content END
        FROM said s WHERE m.tenant_id = $1 AND m.id = s.id
    )
    UPDATE memory_index SET type = 'fact', status = 'active' WHERE tenant_id = $1
"""

_SUMS = """
    SELECT m.id, md5(m::text || coalesce((
        SELECT string_agg(md5(i::text), '' ORDER BY i.part) FROM memory_index i
        WHERE i.tenant_id = m.tenant_id AND i.memory_id = m.id), '')) AS sum
    FROM memories m WHERE m.tenant_id = $1
"""

_STATES = "SELECT id, to_jsonb(m) AS state FROM memories m WHERE m.tenant_id = $1 AND m.id = ANY($2::uuid[])"


async def backfill(stage: Stage, book: Book) -> None:
    """Measure a preview, a commit beside questions, and an undoing."""
    users = [f"patient-{number}" for number in range(max(1, stage.sizes.adopted // SCOPE))]
    await stage.have_tenants((0,))
    await stage.have_users(dict.fromkeys(users, SCOPE))
    await _as_facts(stage)
    database = Database(stage.world.url, pool_size=2, statement_timeout=120.0)
    timed = Timed(database)
    work = Backfills(database=cast("Database", timed), types=discover(), clock=lambda: datetime.now(UTC))
    actor = Actor(tenant_id=tenant_id(0), key_id=None, name="bench")
    try:
        table, felt = await _measured(stage, book, work, actor, users[0])
    finally:
        await database.close()
    columns = ("step", "memories", "seconds", "memories a second", "longest transaction ms")
    book.table("Backfill", columns, table, "Facts to medications. The commit ran beside questions, the rest alone.")
    book.table("POST /query beside a backfill", ("what", "clients", "p50 ms", "p95 ms", "p99 ms", "a second"), felt)


async def _measured(
    stage: Stage, book: Book, work: Backfills, actor: Actor, user: str
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    before = await _sums(stage)
    timed = cast("Timed", work.database)
    began = perf_counter()
    one = await work.preview(actor, BackfillRequest(type="medication"), wait=True)
    table = [_row("preview", int(one.counts["looked_at"]), perf_counter() - began, timed)]
    book.check("memories that a preview changes", _differing(before, await _sums(stage)), "==", 0)
    planned = {item.memory_id: item async for item in _items(work, actor, one)}
    alone = await question_times(stage, user)
    beside = list[Spread]()
    running = asyncio.create_task(_stepped(stage, work, actor, one, BackfillStatus.COMMITTING, "commit"))
    while not running.done():
        beside.append(await question_times(stage, user))
    table.append(_row("commit", len(planned), await running, timed))
    after = await _sums(stage)
    book.check("memories that a commit changes and its preview did not tell", _untold(before, after, planned), "==", 0)
    book.check("memories that are not as the preview said", await _strays(stage, planned), "==", 0)
    table.append(
        _row("undo", len(planned), await _stepped(stage, work, actor, one, BackfillStatus.UNDOING, "undo"), timed)
    )
    joined = Spread.joined(beside)
    book.check("/query p95 beside a backfill's commit over without", joined.p95 / alone.p95, "<=", 2.5)
    return table, [("without", "1", *alone.cells()), ("beside a commit", "1", *joined.cells())]


async def _as_facts(stage: Stage) -> None:
    """Make every memory of the main tenant a fact, past the guards of the table."""
    owner = stage.world.owner
    stage.progress("make facts of the memories", 0, 0)
    async with owner.transaction():
        await owner.execute("SET LOCAL session_replication_role = replica")
        await owner.execute(_FACTS, tenant_id(0))
    await owner.execute("VACUUM (ANALYZE)")


async def _stepped(
    stage: Stage, work: Backfills, actor: Actor, one: Backfill, status: BackfillStatus, what: str
) -> float:
    """Take a step in this process, past the queue; return its seconds."""
    async with work.database.write(actor.tenant_id) as session:
        await db_backfill.change(session, await _there(session, one), status=status)
    began = perf_counter()
    async for done, total in work.run(actor.tenant_id, one.id, actor.name):
        stage.progress(what, done, total or 0)
    return perf_counter() - began


async def _there(session: Any, one: Backfill) -> Backfill:  # noqa: ANN401 - a session that times itself
    found = await db_backfill.lock(session, one.tenant_id, one.id)
    assert found is not None  # noqa: S101 - it was made above
    return found


async def _items(work: Backfills, actor: Actor, one: Backfill) -> AsyncIterator[BackfillItem]:
    after: UUID | None = None
    more = True
    while more:
        async with cast("Timed", work.database).database.read(actor.tenant_id) as session:
            found = await db_backfill.item_page(
                session, actor.tenant_id, one.id, state=ItemState.PLANNED, after=after, limit=5_000
            )
        for listed in found:
            yield listed.item
        more, after = bool(found), found[-1].item.memory_id if found else None


async def _sums(stage: Stage) -> dict[UUID, str]:
    return {row["id"]: row["sum"] for row in await stage.world.owner.fetch(_SUMS, tenant_id(0))}


def _differing(before: dict[UUID, str], after: dict[UUID, str]) -> int:
    return sum(before[one] != after.get(one) for one in before)


def _untold(before: dict[UUID, str], after: dict[UUID, str], planned: dict[UUID, BackfillItem]) -> int:
    """Return how many memories changed untold, or were told of and did not change."""
    return sum((before[one] != after.get(one)) != (one in planned) for one in before)


async def _strays(stage: Stage, planned: dict[UUID, BackfillItem]) -> int:
    """Return how many memories differ in a column from what the preview said."""
    wrong = 0
    for row in await stage.world.owner.fetch(_STATES, tenant_id(0), list(planned)):
        item, state = planned[row["id"]], json.loads(row["state"])
        wrong += any(_plain(state[name]) != _plain(value) for name, value in item.after.items())
    return wrong


def _plain(value: object) -> object:
    """Return a value as it compares: instants are written in more than one way."""
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _row(what: str, memories: int, seconds: float, timed: Timed) -> tuple[str, ...]:
    longest, timed.longest = timed.longest, 0.0
    return (what, f"{memories:,}", f"{seconds:.2f}", f"{memories / seconds:,.0f}", f"{longest * 1000:.0f}")
