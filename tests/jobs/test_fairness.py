"""A tenant with many jobs waits for itself; what others queue is done meanwhile."""

from __future__ import annotations

import pytest

from app.bootstrap import now
from app.db import job_queue, jobs
from app.jobs import schedules, worker
from app.jobs.schedules import BATCH
from app.model import Actor, JobStatus
from tests.jobs.yard import Yard

pytestmark = pytest.mark.long

MANY = 200


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "POLL_SECONDS", 0.1)


async def filled(yard: Yard, actor: Actor, count: int = MANY, seconds: float = 0.02) -> None:
    async with yard.runtime.database.write(actor.tenant_id) as session:
        for _ in range(count):
            await jobs.enqueue(session, tenant=actor.tenant_id, kind="note", payload={"seconds": seconds}, now=now())


async def test_one_job_does_not_wait_for_two_hundred_of_another_tenant(yard: Yard, actor: Actor) -> None:
    other = await yard.tenant()
    await filled(yard, actor)
    single = await yard.enqueue(other, "note")
    async with yard.worker(worker_concurrency=4):
        await yard.ended(other, single)
        [(before,)] = await yard.sql(
            "SELECT count(*) FROM effects "
            "WHERE name = 'began' AND at < (SELECT min(at) FROM effects WHERE job_id = $1)",
            single,
        )
    # What ran when it was looked at, and a batch or two: not the backlog.
    assert before <= 12


@pytest.mark.parametrize("limit", [1, 3])
async def test_no_more_jobs_of_a_tenant_run_at_once_than_allowed(yard: Yard, actor: Actor, limit: int) -> None:
    await filled(yard, actor, count=24)
    async with yard.worker(worker_tenant_concurrency=limit), yard.worker(worker_tenant_concurrency=limit):
        await yard.no_ticket_left()
    events = await yard.sql("SELECT name FROM effects ORDER BY at")
    running = most = 0
    for event in events:
        running += 1 if event["name"] == "began" else -1
        most = max(most, running)
    assert len(events) == 48
    assert most == limit


async def test_old_jobs_move_up_as_those_before_them_are_done(yard: Yard, actor: Actor) -> None:
    await filled(yard, actor, count=5)
    other = await yard.tenant()
    await filled(yard, other, count=2)
    await yard.sql("DELETE FROM pgqueuer WHERE id IN (SELECT id FROM pgqueuer ORDER BY id LIMIT 3)")
    await schedules.tend(yard.runtime)
    rows = await yard.sql("SELECT priority FROM pgqueuer ORDER BY id")
    assert [row["priority"] for row in rows] == [0, -1, 0, -1]


async def test_the_end_of_a_long_line_is_not_told_apart(
    yard: Yard, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_queue, "DEEPEST", 3)
    await filled(yard, actor, count=6)
    rows = await yard.sql("SELECT priority FROM pgqueuer ORDER BY id")
    assert [row["priority"] for row in rows] == [0, -1, -2, -3, -3, -3]
    await schedules.tend(yard.runtime)
    assert [row["priority"] for row in await yard.sql("SELECT priority FROM pgqueuer ORDER BY id")] == [
        0, -1, -2, -3, -3, -3,
    ]  # fmt: skip


async def test_a_ticket_whose_run_could_not_be_recorded_comes_back(yard: Yard, actor: Actor) -> None:
    job = await yard.enqueue(actor, "note")
    await yard.sql("UPDATE pgqueuer SET status = 'failed'")
    await schedules.tend(yard.runtime)
    async with yard.worker():
        assert (await yard.ended(actor, job)).status is JobStatus.SUCCEEDED


async def test_what_finished_long_ago_is_removed_and_nothing_else(yard: Yard, actor: Actor) -> None:
    waiting = await yard.enqueue(actor, "other")
    recent = await yard.enqueue(actor, "note")
    await yard.runtime.jobs.cancel(actor, recent)
    await yard.sql(
        "INSERT INTO jobs (tenant_id, id, kind, status, created_at, finished_at) "
        "SELECT $1, gen_random_uuid(), 'note', 'succeeded', now() - interval '40 days', now() - interval '31 days' "
        "FROM generate_series(1, $2)",
        actor.tenant_id,
        BATCH + 5,
    )
    await yard.sql("UPDATE pgqueuer_log SET created = now() - interval '2 days' WHERE status = 'queued'")
    await yard.enqueue(actor, "other")
    await schedules.prune(yard.runtime)
    left = await yard.sql("SELECT id FROM jobs ORDER BY id")
    assert [row["id"] for row in left][:2] == [waiting, recent]
    assert len(left) == 3
    assert (await yard.sql("SELECT count(*) FROM pgqueuer_log"))[0][0] == 1


async def test_the_backlog_is_what_waits_and_is_due(yard: Yard, actor: Actor) -> None:
    empty = await yard.runtime.jobs.backlog()
    assert (empty.depth, empty.oldest_seconds) == (0, 0.0)
    await filled(yard, actor, count=3)
    await yard.sql("UPDATE pgqueuer SET execute_after = now() - interval '100 seconds' WHERE id = 1")
    await yard.sql("UPDATE pgqueuer SET execute_after = now() + interval '1 hour' WHERE id = 2")
    async with yard.runtime.database.read(None) as session:
        found = await job_queue.backlog(session)
    assert found.depth == 3
    assert 100 <= found.oldest_seconds < 200
    # Looked up every few seconds at most.
    assert await yard.runtime.jobs.backlog() == empty
