"""Workers as jobs: one run at a time for a tenant, by the clock or when asked, and what it came to is told."""

from __future__ import annotations

import asyncio
from collections import Counter
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from app.errors import ConfigurationError, Conflict, NotFound
from app.features.lifecycle.jobs import schedules
from app.features.lifecycle.runner import Workers, checked_crons
from app.model import Actor, JobStatus
from tests.jobs.handlers import WORKERS
from tests.jobs.yard import Yard


async def test_a_run_is_done_and_its_counts_are_kept(yard: Yard, actor: Actor) -> None:
    job, new = await yard.runtime.service(Workers).start(actor.tenant_id, "counting", dry_run=False)
    assert new
    async with yard.worker():
        ended = await yard.ended(actor, job.id)
    assert ended.status is JobStatus.SUCCEEDED
    assert ended.result == {"worker": "counting", "dry_run": False, "counts": {"counted": 1}}
    [planned] = await yard.runtime.service(Workers).list(actor.tenant_id)
    assert planned.cron == "0 5 * * *"
    assert planned.latest is not None
    assert (planned.latest.job, planned.latest.status) == (job.id, JobStatus.SUCCEEDED)
    assert planned.latest.counts == {"counted": 1}
    assert planned.latest.ended_at is not None


async def test_a_run_that_had_ended_when_its_worker_died_is_not_done_again(yard: Yard, actor: Actor) -> None:
    async def told(_done: int, _total: int | None) -> None:
        return None

    job, _ = await yard.runtime.service(Workers).start(actor.tenant_id, "counting", dry_run=False)
    perform = yard.runtime.service(Workers).perform
    assert await perform(actor.tenant_id, job.id, job.payload, told) == {"counted": 1}
    await yard.enqueue(actor, "other")
    assert await perform(actor.tenant_id, job.id, job.payload, told) == {"counted": 1}


async def test_a_dry_run_leaves_no_latest_run(yard: Yard, actor: Actor) -> None:
    job, _ = await yard.runtime.service(Workers).start(actor.tenant_id, "counting", dry_run=True)
    async with yard.worker():
        ended = await yard.ended(actor, job.id)
    assert ended.result == {"worker": "counting", "dry_run": True, "counts": {"counted": 1}}
    [planned] = await yard.runtime.service(Workers).list(actor.tenant_id)
    assert planned.latest is None


async def test_many_who_ask_at_once_get_one_job(yard: Yard, actor: Actor) -> None:
    other = await yard.tenant()
    start = yard.runtime.service(Workers).start
    asked = await asyncio.gather(*(start(actor.tenant_id, "counting", dry_run=False) for _ in range(8)))
    assert len({job.id for job, _ in asked}) == 1
    assert sum(new for _, new in asked) == 1
    assert await yard.tickets() == 1
    # Another tenant's, and a dry run, are other things.
    assert (await start(other.tenant_id, "counting", dry_run=False))[1]
    assert (await start(actor.tenant_id, "counting", dry_run=True))[1]


async def test_a_run_that_ended_makes_room_for_the_next(yard: Yard, actor: Actor) -> None:
    first, _ = await yard.runtime.service(Workers).start(actor.tenant_id, "counting", dry_run=False)
    await yard.runtime.jobs.cancel(actor, first.id)
    second, new = await yard.runtime.service(Workers).start(actor.tenant_id, "counting", dry_run=False)
    assert new
    assert second.id != first.id
    with pytest.raises(Conflict, match="waits or runs already"):
        await yard.runtime.jobs.retry(actor, first.id)


async def test_a_run_stops_where_it_is_asked_to(yard: Yard, actor: Actor) -> None:
    for _ in range(20):
        await yard.enqueue(actor, "other")
    job, _ = await yard.runtime.service(Workers).start(actor.tenant_id, "counting", dry_run=False)
    async with yard.worker():
        await yard.until(actor, job.id, lambda one: one.progress_done > 0)
        await yard.runtime.jobs.cancel(actor, job.id)
        ended = await yard.ended(actor, job.id)
    assert ended.status is JobStatus.CANCELLED
    [planned] = await yard.runtime.service(Workers).list(actor.tenant_id)
    assert planned.latest is not None
    assert planned.latest.status is JobStatus.CANCELLED
    assert planned.latest.ended_at is None


async def test_the_clock_starts_it_for_every_tenant_that_has_written(yard: Yard, actor: Actor) -> None:
    await yard.tenant()
    await yard.sql("INSERT INTO scopes (tenant_id, id, kind) VALUES ($1, gen_random_uuid(), 'global')", actor.tenant_id)
    [schedule] = [one for one in schedules(yard.runtime) if one.name == "worker-counting"]
    assert schedule.cron == "0 5 * * *"
    await schedule.run(yard.runtime)
    await schedule.run(yard.runtime)
    rows = await yard.sql("SELECT tenant_id, payload FROM jobs")
    assert [row["tenant_id"] for row in rows] == [actor.tenant_id]


@pytest.mark.parametrize("failures", [1, 2])
async def test_a_tenant_that_fails_is_tried_again_and_keeps_no_other_from_its_run(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    tenants = [(await yard.tenant()).tenant_id for _ in range(3)]
    for tenant in tenants:
        await yard.sql("INSERT INTO scopes (tenant_id, id, kind) VALUES ($1, gen_random_uuid(), 'global')", tenant)
    broken, tries, start = tenants[0], Counter[UUID](), Workers.start_scheduled

    async def failing(self: Workers, tenant: UUID, name: str) -> None:
        tries[tenant] += 1
        if tenant == broken and tries[tenant] <= failures:
            raise RuntimeError("the connection was lost")
        await start(self, tenant, name)

    monkeypatch.setattr(Workers, "start_scheduled", failing)
    [schedule] = [one for one in schedules(yard.runtime) if one.name == "worker-counting"]
    with capture_logs() as logged:
        await schedule.run(yard.runtime)
    queued = {row["tenant_id"] for row in await yard.sql("SELECT tenant_id FROM jobs")}
    assert {*tenants} - queued == ({broken} if failures > 1 else set())
    assert [tries[tenant] for tenant in tenants] == [2, 1, 1]
    left = [one["tenants"] for one in logged if "tenants" in one]
    assert left == ([[str(broken)]] if failures > 1 else [])


async def test_an_unknown_worker_is_told_with_the_known_ones(yard: Yard, actor: Actor) -> None:
    with pytest.raises(NotFound, match=r"no such worker: 'nothing'; there are counting"):
        await yard.runtime.service(Workers).start(actor.tenant_id, "nothing", dry_run=False)


async def test_a_job_of_a_worker_that_is_gone_fails_and_says_so(yard: Yard, actor: Actor) -> None:
    job = await yard.enqueue(actor, "worker", worker="gone", dry_run=False)
    async with yard.worker():
        ended = await yard.ended(actor, job)
    assert ended.status is JobStatus.FAILED
    assert "no such worker: 'gone'" in str(ended.error)


def test_times_are_checked_when_they_are_set() -> None:
    assert checked_crons({"counting": "off"}, WORKERS) == {"counting": "off"}
    assert checked_crons({"counting": "*/5 * * * *"}, WORKERS)
    for wrong in ({"counting": "* * *"}, {"counting": "0 99 * * *"}, {"nothing": "off"}, {"counting": "* * * * * *"}):
        with pytest.raises(ConfigurationError, match="TM_WORKER_SCHEDULES"):
            checked_crons(wrong, WORKERS)
