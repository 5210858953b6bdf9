"""Workers that die, are stopped, lose their database: no job is lost, none is done twice; and tasks by the clock."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from multiprocessing.process import BaseProcess
from typing import Any
from uuid import UUID

import pytest

from app.db.session import statement
from app.jobs import worker
from app.jobs.executor import MOST_INTERRUPTED
from app.jobs.schedules import SCHEDULES, Schedule
from app.model import Actor, JobStatus
from app.runtime import Runtime
from tests.api.wire import wired
from tests.jobs.process import exit_code, started
from tests.jobs.yard import Yard, light_runtime
from tests.support.waiting import PATIENCE, eventually

TERMINATE = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""

Start = Callable[..., BaseProcess]

EVERY_SECOND = "* * * * * *"
WEEKLY = "0 3 * * 1"
MISSED = "UPDATE pgqueuer_schedules SET next_run = now() - interval '20 days'"


@pytest.fixture
def processes(yard: Yard) -> Iterator[Start]:
    """Start workers as processes, which end with the test."""
    running: list[BaseProcess] = []

    def start(**settings: Any) -> BaseProcess:
        running.append(started(yard.url, **settings))
        return running[-1]

    yield start
    for one in running:
        one.kill()
        one.join()


@pytest.mark.long
async def test_the_jobs_of_a_killed_worker_are_done_by_another_one_at_a_time(
    yard: Yard, actor: Actor, processes: Start
) -> None:
    made = [await yard.enqueue(actor, "note", seconds=0.5) for _ in range(3)]
    first = processes()
    for job in made:
        await yard.until(actor, job, lambda one: one.status is JobStatus.RUNNING)
    first.kill()
    await exit_code(first)
    processes()
    for job in made:
        done = await yard.ended(actor, job)
        assert (done.status, done.attempts, done.interrupted) == (JobStatus.SUCCEEDED, 2, 1)
        assert await yard.effects(job) == ["began", "began", "ended"]
    await yard.no_ticket_left()
    # Each may be what killed the first: the second takes none beside another of them.
    order = [row["name"] for row in await yard.sql("SELECT name FROM effects ORDER BY at")]
    assert order == ["began"] * 3 + ["began", "ended"] * 3


@pytest.mark.long
async def test_a_job_that_kills_its_workers_is_parked_alone(yard: Yard, actor: Actor, processes: Start) -> None:
    deadly = await yard.enqueue(actor, "deadly")
    harmless = await yard.enqueue(actor, "note")
    doomed = [processes() for _ in range(MOST_INTERRUPTED)]
    assert [await exit_code(one) for one in doomed] == [-signal.SIGKILL] * MOST_INTERRUPTED
    async with yard.worker() as runtime:
        parked = await yard.ended(actor, deadly)
        assert (await yard.ended(actor, harmless)).status is JobStatus.SUCCEEDED
        await yard.no_ticket_left()
    assert parked.status is JobStatus.FAILED
    assert f"its worker died {MOST_INTERRUPTED} times" in str(parked.error)
    assert await yard.effects(deadly) == ["tried"] * MOST_INTERRUPTED
    assert 'tm_job_seconds_count{kind="deadly",outcome="parked"} 1.0' in runtime.metrics.exposition().decode()


@pytest.mark.long
async def test_a_worker_that_was_only_frozen_changes_its_job_no_more(
    yard: Yard, actor: Actor, processes: Start
) -> None:
    job = await yard.enqueue(actor, "steps", steps=10)
    frozen = processes()
    await yard.until(actor, job, lambda one: one.progress_done >= 1)
    assert frozen.pid is not None
    os.kill(frozen.pid, signal.SIGSTOP)
    async with yard.worker():
        done = await yard.ended(actor, job)
    os.kill(frozen.pid, signal.SIGCONT)
    frozen.terminate()
    assert await exit_code(frozen) == 0
    assert await yard.runtime.jobs.get(actor, job) == done
    assert (done.status, done.attempts, done.progress_done) == (JobStatus.SUCCEEDED, 2, 10)
    # The first run found out at its next checkpoint. Without one it would have gone on to its end.
    assert await yard.effects(job) == ["began", "began", "ended"]


async def test_a_stop_lets_running_jobs_finish(yard: Yard, actor: Actor, processes: Start) -> None:
    job = await yard.enqueue(actor, "note", seconds=0.5)
    waiting = await yard.enqueue(await yard.tenant(), "note", seconds=0.5)
    process = processes()
    await yard.until(actor, job, lambda one: one.status is JobStatus.RUNNING)
    process.terminate()
    assert await exit_code(process) == 0
    assert (await yard.runtime.jobs.get(actor, job)).status is JobStatus.SUCCEEDED
    assert await yard.effects(job) == ["began", "ended"]
    assert await yard.effects(waiting) in ([], ["began", "ended"])


async def test_a_stop_puts_back_what_takes_too_long(yard: Yard, actor: Actor, processes: Start) -> None:
    job = await yard.enqueue(actor, "note", seconds=30)
    process = processes(worker_grace=0.2, worker_patience=30)
    await yard.until(actor, job, lambda one: one.status is JobStatus.RUNNING)
    process.terminate()
    assert await exit_code(process) == 0
    back = await yard.runtime.jobs.get(actor, job)
    assert (back.status, back.attempts, back.interrupted) == (JobStatus.QUEUED, 0, 0)
    await yard.sql("UPDATE jobs SET payload = '{}' WHERE id = $1", job)
    # At once, though the first worker would be waited for half a minute.
    async with yard.worker(worker_patience=30):
        done = await yard.ended(actor, job)
    assert (done.status, done.attempts) == (JobStatus.SUCCEEDED, 1)
    assert await yard.effects(job) == ["began", "began", "ended"]


async def test_a_worker_in_a_hurry_does_not_wait(yard: Yard, actor: Actor) -> None:
    job = await yard.enqueue(actor, "note", seconds=30)
    hurry = asyncio.Event()
    async with asyncio.timeout(PATIENCE), yard.worker(worker_grace=600, hurry=hurry):
        await yard.until(actor, job, lambda one: one.status is JobStatus.RUNNING)
        hurry.set()
    assert (await yard.runtime.jobs.get(actor, job)).status is JobStatus.QUEUED


async def test_a_job_begins_when_it_is_queued_rather_than_at_the_next_look(
    yard: Yard, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "POLL_SECONDS", 600.0)
    async with yard.worker():
        for _ in range(3):
            await yard.ended(actor, await yard.enqueue(actor, "note"))


async def _began(yard: Yard, job: UUID) -> bool:
    """Return whether the job waits by now: one that is cut off within a statement is tried again much later."""
    return await yard.effects(job) == ["began"]


@pytest.mark.long
async def test_terminated_connections_end_no_job_and_no_worker(
    yard: Yard, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "POLL_SECONDS", 600.0)
    job = await yard.enqueue(actor, "note", seconds=2)
    async with yard.worker(worker_patience=10) as runtime:
        await eventually(lambda: _began(yard, job))
        killed = await yard.sql(TERMINATE)
        assert len(killed) >= 3
        done = await yard.ended(actor, job)
        # Heard about, though it is never looked for: the worker listens again.
        later = await yard.ended(actor, await yard.enqueue(actor, "note"))
        await yard.no_ticket_left()
    assert (done.status, done.attempts, later.status) == (JobStatus.SUCCEEDED, 1, JobStatus.SUCCEEDED)
    assert await yard.effects(job) == ["began", "ended"]
    assert 'outcome="unrecorded"' not in runtime.metrics.exposition().decode()


@pytest.mark.long
async def test_a_worker_waits_for_a_database_that_is_away(yard: Yard, actor: Actor) -> None:
    job = await yard.enqueue(actor, "note", seconds=0.3)
    async with wired(yard.url) as wire:
        through = Yard(wire.through, light_runtime(wire.through))
        async with through.worker(worker_patience=20, database_pool_timeout=1) as runtime:
            await yard.until(actor, job, lambda one: one.status is JobStatus.RUNNING)
            await wire.cut()
            queued = await yard.enqueue(actor, "note")
            await asyncio.sleep(1.5)
            assert (await yard.runtime.jobs.get(actor, queued)).status is JobStatus.QUEUED
            await wire.mend()
            for one in (job, queued):
                assert (await yard.ended(actor, one)).status is JobStatus.SUCCEEDED
            assert runtime.metrics.exposition()
        await through.close()
    await eventually(lambda: _ended_once(yard, queued))


async def test_a_worker_can_be_stopped_while_its_database_is_away(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "CUT_SECONDS", 0.5)
    async with wired(yard.url) as wire:
        through = Yard(wire.through, light_runtime(wire.through))
        async with asyncio.timeout(PATIENCE), through.worker(worker_grace=0.5):
            await asyncio.sleep(0.5)
            await wire.cut()
            await asyncio.sleep(0.2)
        await wire.mend()
        await through.close()


async def _ended_once(yard: Yard, job: object) -> bool:
    return await yard.effects(job) == ["began", "ended"]  # type: ignore[arg-type]


async def tick(runtime: Runtime) -> None:
    async with runtime.database.write(None) as session:
        await session.change(statement("INSERT INTO effects (name) VALUES ('tick')"), {})


async def ticks(yard: Yard) -> int:
    return int((await yard.sql("SELECT count(*) FROM effects"))[0][0])


def ticked(yard: Yard, times: int) -> Callable[[], Awaitable[bool]]:
    async def enough() -> bool:
        return await ticks(yard) >= times

    return enough


@pytest.mark.long
async def test_of_three_workers_one_does_it_each_time(yard: Yard) -> None:
    schedules = (Schedule(name="tick", cron=WEEKLY, run=tick),)
    async with yard.worker(schedules=schedules):
        await eventually(lambda: _known(yard))
    for times in (1, 2, 3):
        await yard.sql(MISSED)
        async with AsyncExitStack() as stack:
            for _ in range(3):
                await stack.enter_async_context(yard.worker(schedules=schedules))
            await eventually(ticked(yard, times))
            await asyncio.sleep(0.3)
        assert await ticks(yard) == times
    [(runs,)] = await yard.sql("SELECT count(*) FROM pgqueuer_schedules")
    assert runs == 1


async def test_one_that_fails_has_its_next_time(yard: Yard) -> None:
    tried = asyncio.Queue[int]()

    async def broken(runtime: Runtime) -> None:
        tried.put_nowait(1)
        raise ValueError("Wolkenkuckucksheim")

    async with asyncio.timeout(PATIENCE), yard.worker(schedules=(Schedule(name="b", cron=EVERY_SECOND, run=broken),)):
        for _ in range(2):
            await tried.get()


async def test_a_time_that_was_missed_is_made_up_for_once(yard: Yard) -> None:
    weekly = (Schedule(name="weekly", cron=WEEKLY, run=tick),)
    async with yard.worker(schedules=weekly):
        await eventually(lambda: _known(yard))
    assert await ticks(yard) == 0
    await yard.sql(MISSED)
    async with yard.worker(schedules=weekly):
        await eventually(ticked(yard, 1))
        await asyncio.sleep(0.3)
    assert await ticks(yard) == 1


async def _known(yard: Yard) -> bool:
    return bool((await yard.sql("SELECT count(*) FROM pgqueuer_schedules"))[0][0])


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda one: one.name)
async def test_ours_run_on_an_empty_store(yard: Yard, schedule: Schedule) -> None:
    await schedule.run(yard.runtime)
    assert await yard.tickets() == 0
