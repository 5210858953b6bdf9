"""A worker that is killed in the middle of a commit, or of an undoing: the next one goes on, each memory once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, cast
from uuid import UUID

import pytest

from app.features.backfill.service import BackfillRequest, Backfills
from app.features.backfill.sql import Backfill
from app.memory.backfill import BackfillStatus
from tests.backfill.clinic import Clinic
from tests.backfill.worker import BATCH, HANDLERS, runtime_on, started
from tests.jobs.process import exit_code
from tests.jobs.yard import Yard
from tests.support.stores import Store, open_store

pytestmark = pytest.mark.long

TOLD = 30


@pytest.fixture
async def alone(fresh_database_url: str, embedder: Any) -> AsyncIterator[Clinic]:
    """A clinic in a database of its own, so that no other test's worker takes its jobs."""
    store: Store = await open_store(fresh_database_url, embedder)
    runtime = runtime_on(fresh_database_url)
    yield Clinic(store=store, backfills=runtime.service(Backfills))
    await store.database.close()
    await runtime.database.close()


async def finished(clinic: Clinic, job: UUID) -> None:
    """Have another worker do the rest."""
    runtime = runtime_on(clinic.store.url)
    yard = Yard(clinic.store.url, runtime)
    async with yard.worker(handlers=HANDLERS) as working:
        cast("Any", working).offered[Backfills] = runtime.service(Backfills)
        ended = await yard.ended(clinic.store.actor, job)
    assert ended.status == "succeeded", ended.error
    await runtime.database.close()


async def told(clinic: Clinic, action: str) -> list[int]:
    rows = await clinic.store.sql(
        "SELECT count(*) FROM audit_events WHERE tenant_id = $1 AND action = $2 GROUP BY memory_id",
        clinic.store.tenant,
        action,
    )
    return [row["count"] for row in rows]


async def test_killed_in_the_middle_each_memory_is_changed_once_and_put_back_once(alone: Clinic) -> None:
    actor = alone.store.actor
    facts = [
        alone.store.candidate("fact", predicate="takes", object=f"{name} {dose} mg", stateful=False)
        for name in ("metformin", "lisinopril", "insulin")
        for dose in range(10, 10 + TOLD // 3)
    ]
    await alone.store.write_all(facts)
    before = await alone.snapshot(whole=False)
    one: Backfill = await alone.backfills.preview(actor, BackfillRequest(type="medication"), wait=True)
    assert one.counts["flagged"] == TOLD > 2 * BATCH
    for step, action, status in (
        (alone.backfills.commit, "memory.reclassified", BackfillStatus.COMMITTED),
        (alone.backfills.undo, "memory.reclassification_undone", BackfillStatus.UNDONE),
    ):
        asked = await step(actor, one.id)
        assert asked.job_id is not None
        assert await exit_code(started(alone.store.url, dies_at=2)) < 0
        halfway = await told(alone, action)
        assert 0 < len(halfway) < TOLD
        await finished(alone, asked.job_id)
        assert await told(alone, action) == [1] * TOLD
        done = await alone.backfills.get(actor, one.id)
        assert (done.status, done.counts[status]) == (status, TOLD)
    assert await alone.snapshot(whole=False) == before
