"""Changes of memories whose rows somebody else changes at the same moment, without holding their scope."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from app.db.apply.memories import Restatement, RowChange, change_memories
from tests.support import owner
from tests.support.stores import Store


async def people(store: Store) -> list[RowChange]:
    """Store what is to expire."""
    written = [await store.write("fact", subject=name, predicate="works-at", object="Audi") for name in ("Ana", "Bo")]
    return [RowChange(id=one.memory.id, values={"status": "expired"}) for one in written if one.memory is not None]


@pytest.mark.parametrize("plan", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE memory_index SET ann = NOT ann WHERE tenant_id = $1",
        "UPDATE memory_index SET status = 'expired' WHERE tenant_id = $1",
        "UPDATE memories SET importance = importance / 2 WHERE tenant_id = $1",
        "UPDATE memories SET status = 'expired' WHERE tenant_id = $1",
        "UPDATE entities SET mention_count = mention_count + 1 WHERE tenant_id = $1",
    ],
)
async def test_a_change_waits_for_another_one_of_its_rows_and_is_made(store: Store, change: str, plan: str) -> None:
    changes = await people(store)
    restated = [Restatement(id=one.id, mentions=2, named={}) for one in changes]

    async def expire() -> None:
        async with store.database.write(store.tenant, plan_cache_mode=plan) as session:
            await change_memories(session, store.tenant, changes, at=datetime.now(UTC), restated=restated)

    async with owner.connected(store.url) as connection:
        async with connection.transaction():
            await connection.execute(change, store.tenant)
            expiring = asyncio.create_task(expire())
            await store.until_a_session_waits()
        await expiring
    rows = await store.sql(
        "SELECT m.status, i.status FROM memories m "
        "JOIN memory_index i ON i.tenant_id = m.tenant_id AND i.memory_id = m.id WHERE m.tenant_id = $1",
        store.tenant,
    )
    assert {tuple(row) for row in rows} == {("expired", "expired")}
