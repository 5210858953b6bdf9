"""Backfills beside everything else: writes of the same slots, two commits at once, jobs that are cancelled."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from app.db import jobs
from app.db.apply.scope import ScopeMoved
from app.db.memories import rivals
from app.features.backfill import steps
from app.memory.backfill import BackfillStatus, ItemState
from app.memory.candidate import WriteOutcome
from app.model import MemoryStatus
from tests.backfill.clinic import DAY, Clinic
from tests.support.stores import USER


async def test_writes_of_the_same_slots_while_it_commits(clinic: Clinic) -> None:
    names = [f"medicine{number}mycin" for number in range(40)]
    await clinic.store.write_all(
        [clinic.store.candidate("fact", predicate="takes", object=f"{name} 100 mg", stateful=False) for name in names]
    )
    one = await clinic.preview()
    await clinic.backfills.commit(clinic.store.actor, one.id)

    async def prescribe(name: str) -> None:
        about = {"stated_at": DAY + timedelta(days=300)}
        told = clinic.store.candidate("medication", USER, about, medication_name=name, dosage="250 mg")
        [result] = await clinic.store.memories.write_all(clinic.store.actor, [told])
        assert isinstance(result, WriteOutcome), result

    committing = asyncio.create_task(clinic.run(one))
    await asyncio.gather(*(prescribe(name) for name in names[::4]))
    done = await committing
    items = await clinic.items(one)
    assert done.status is BackfillStatus.COMMITTED
    assert {item.state for item in items.values()} <= {ItemState.COMMITTED, ItemState.SKIPPED}
    for memory, item in items.items():
        assert ((await clinic.memory(memory)).type == "medication") == (item.state is ItemState.COMMITTED)
    taken = await clinic.store.sql(
        "SELECT count(*) FROM memories WHERE tenant_id = $1 AND status = 'active' AND slot IS NOT NULL "
        "AND NOT contested GROUP BY scope_id, type, slot",
        clinic.store.tenant,
    )
    assert {row["count"] for row in taken} == {1}


async def test_two_workers_on_one_backfill_change_each_memory_once(clinic: Clinic) -> None:
    for number in range(12):
        await clinic.says("takes", f"medicine{number}mycin 100 mg")
    one = await clinic.preview()
    await clinic.backfills.commit(clinic.store.actor, one.id)
    before, steps.BATCH = steps.BATCH, 2
    try:
        done, _ = await asyncio.gather(clinic.run(one), clinic.run(one))
    finally:
        steps.BATCH = before
    assert done.status is BackfillStatus.COMMITTED
    assert (await clinic.backfills.get(clinic.store.actor, one.id)).counts["committed"] == 12
    told = await clinic.store.sql(
        "SELECT count(*) FROM audit_events WHERE tenant_id = $1 AND action = 'memory.reclassified' GROUP BY memory_id",
        clinic.store.tenant,
    )
    assert [row["count"] for row in told] == [1] * 12


async def test_a_commit_whose_job_was_cancelled_goes_on_or_is_undone(clinic: Clinic) -> None:
    fact = await clinic.says("takes", "metformin 500 mg")
    one = await clinic.preview()
    actor = clinic.store.actor
    first = await clinic.backfills.commit(actor, one.id)
    assert first.job_id is not None
    async with clinic.store.database.write(actor.tenant_id) as session:
        job = await jobs.lock(session, actor.tenant_id, first.job_id)
        assert job is not None
        await jobs.cancel(session, job, DAY)
    second = await clinic.backfills.commit(actor, one.id)
    assert second.job_id not in {None, first.job_id}
    assert (await clinic.run(one)).status is BackfillStatus.COMMITTED
    await clinic.undo(one)
    assert (await clinic.memory(fact)).status is MemoryStatus.ACTIVE


async def test_a_preview_beside_the_commit_of_another_does_not_let_a_belief_replace_itself(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    fact = await clinic.says("takes", "metformin 500 mg", day=3)
    await clinic.says("takes", "metformin 1000 mg", day=1)
    first = await clinic.preview()
    look = rivals.read_rivals

    async def late(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.undo()
        await clinic.commit(first)
        return await look(*args, **kwargs)

    monkeypatch.setattr(rivals, "read_rivals", late)
    second = await clinic.preview()
    before = await clinic.snapshot()
    await clinic.commit(second)
    assert await clinic.snapshot() == before
    assert {item.state for item in (await clinic.items(second)).values()} == {ItemState.SKIPPED}
    row = await clinic.row(fact)
    assert (row["status"], row["type"], row["superseded_by"]) == ("active", "medication", None)


async def test_a_batch_that_met_a_moved_scope_is_committed_again(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    fact = await clinic.says("takes", "metformin 500 mg")
    one = await clinic.preview()

    async def moved(*_: object, **__: object) -> None:
        monkeypatch.undo()
        raise ScopeMoved

    monkeypatch.setattr(steps, "apply", moved)
    assert (await clinic.commit(one)).status is BackfillStatus.COMMITTED
    assert (await clinic.items(one))[fact].state is ItemState.COMMITTED
