"""What is done by the clock: by one worker of several, whatever becomes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import pytest
from sqlalchemy import text

from app.jobs.schedule import SCHEDULES, Schedule
from app.runtime import Runtime
from tests.jobs.yard import Yard
from tests.support.waiting import PATIENCE, eventually

EVERY_SECOND = "* * * * * *"
WEEKLY = "0 3 * * 1"
MISSED = "UPDATE pgqueuer_schedules SET next_run = now() - interval '20 days'"


async def tick(runtime: Runtime) -> None:
    async with runtime.database.write(None) as session:
        await session.execute(text("INSERT INTO effects (name) VALUES ('tick')"))


async def ticks(yard: Yard) -> int:
    return int((await yard.sql("SELECT count(*) FROM effects"))[0][0])


def ticked(yard: Yard, times: int) -> Callable[[], Awaitable[bool]]:
    async def enough() -> bool:
        return await ticks(yard) >= times

    return enough


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
