"""Jobs of a scope that wait are done together; whatever goes wrong, each of them is done once more by itself."""

from __future__ import annotations

import signal
from typing import Any
from uuid import UUID, uuid4

import pytest

from app.db import joint_runs
from app.jobs import worker
from app.model import Actor, JobStatus
from tests.jobs.process import exit_code, started
from tests.jobs.yard import Yard

ONE_AT_A_TIME: dict[str, Any] = {"worker_tenant_concurrency": 1}


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "POLL_SECONDS", 0.1)


async def _all_done(yard: Yard, actor: Actor, made: list[UUID], *, attempts: int, interrupted: int = 0) -> None:
    for job in made:
        done = await yard.ended(actor, job)
        assert (done.status, done.attempts, done.interrupted) == (JobStatus.SUCCEEDED, attempts, interrupted)
        assert done.result == {"done": done.payload["turns"]}
        assert done.progress_done == done.progress_total
    await yard.no_ticket_left()


async def test_those_that_wait_for_a_scope_are_done_in_one_run(yard: Yard, actor: Actor) -> None:
    scope, other = uuid4(), uuid4()
    made = [await yard.gathered(actor, scope) for _ in range(4)]
    apart = [await yard.gathered(actor, other), await yard.gathered(actor, scope, key="another sender")]
    large = await yard.gathered(actor, scope, turns=joint_runs.MOST)
    stopped = await yard.gathered(actor, scope)
    await yard.runtime.jobs.cancel(actor, stopped)
    async with yard.worker(**ONE_AT_A_TIME) as runtime:
        await _all_done(yard, actor, [*made, *apart, large], attempts=1)
    assert [await yard.effects(job) for job in made] == [["together"]] * 4
    assert [await yard.effects(job) for job in (*apart, large)] == [["alone"]] * 3
    assert (await yard.runtime.jobs.get(actor, stopped)).status is JobStatus.CANCELLED
    assert 'tm_jobs_started_total{kind="gathered"} 7.0' in runtime.metrics.exposition().decode()


async def test_those_of_a_run_that_failed_are_done_one_by_one(yard: Yard, actor: Actor) -> None:
    scope = uuid4()
    made = [await yard.gathered(actor, scope, how="wrong") for _ in range(3)]
    async with yard.worker(**ONE_AT_A_TIME):
        await _all_done(yard, actor, made, attempts=2)
    assert [await yard.effects(job) for job in made] == [["together", "alone"]] * 3


async def test_those_of_a_worker_that_was_killed_are_done_one_by_one(yard: Yard, actor: Actor) -> None:
    scope = uuid4()
    made = [await yard.gathered(actor, scope, how="deadly") for _ in range(3)]
    first = started(yard.url, **ONE_AT_A_TIME)
    assert await exit_code(first) == -signal.SIGKILL
    assert {(await yard.runtime.jobs.get(actor, job)).status for job in made} == {JobStatus.RUNNING}
    async with yard.worker(**ONE_AT_A_TIME):
        await _all_done(yard, actor, made, attempts=2, interrupted=1)
    assert [await yard.effects(job) for job in made] == [["together", "alone"]] * 3


async def test_a_stop_puts_them_back_as_if_they_had_not_begun(yard: Yard, actor: Actor) -> None:
    scope = uuid4()
    made = [await yard.gathered(actor, scope, how="slow") for _ in range(3)]
    async with yard.worker(worker_grace=0.1, worker_patience=30, **ONE_AT_A_TIME):
        for job in made:
            await yard.until(actor, job, lambda one: one.status is JobStatus.RUNNING)
    back = [await yard.runtime.jobs.get(actor, job) for job in made]
    assert [(one.status, one.attempts, one.interrupted) for one in back] == [(JobStatus.QUEUED, 0, 0)] * 3
    assert await yard.tickets() == 3
    await yard.sql("UPDATE jobs SET payload = payload - 'how'")
    async with yard.worker(**ONE_AT_A_TIME):
        await _all_done(yard, actor, made, attempts=1)
