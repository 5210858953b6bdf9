"""What is done by the clock: by one worker of several, whatever becomes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import pytest
from sqlalchemy import text

from app.jobs.schedule import SCHEDULES, Schedule
from app.runtime import Runtime
from tests.jobs.yard import Yard, eventually

EVERY_SECOND = "* * * * * *"


async def tick(runtime: Runtime) -> None:
    async with runtime.database.write(None) as session:
        await session.execute(text("INSERT INTO effects (name) VALUES ('tick')"))


async def ticks(yard: Yard) -> list[int]:
    rows = await yard.sql("SELECT extract(epoch FROM date_trunc('second', at))::int FROM effects ORDER BY at")
    return [row[0] for row in rows]


def ticked(yard: Yard, times: int) -> Callable[[], Awaitable[bool]]:
    async def enough() -> bool:
        return len(await ticks(yard)) >= times

    return enough


async def test_of_three_workers_one_does_it_each_time(yard: Yard) -> None:
    schedules = (Schedule(name="tick", cron=EVERY_SECOND, run=tick),)
    async with AsyncExitStack() as stack:
        for _ in range(3):
            await stack.enter_async_context(yard.worker(schedules=schedules))
        await eventually(ticked(yard, 3))
    seconds = await ticks(yard)
    assert len(seconds) == len(set(seconds))
    [(runs,)] = await yard.sql("SELECT count(*) FROM pgqueuer_schedules")
    assert runs == 1


async def test_one_that_fails_has_its_next_time(yard: Yard) -> None:
    tried = asyncio.Queue[int]()

    async def broken(runtime: Runtime) -> None:
        tried.put_nowait(1)
        raise ValueError("Wolkenkuckucksheim")

    async with asyncio.timeout(20), yard.worker(schedules=(Schedule(name="b", cron=EVERY_SECOND, run=broken),)):
        for _ in range(2):
            await tried.get()


async def test_a_time_that_was_missed_is_made_up_for_once(yard: Yard) -> None:
    weekly = (Schedule(name="weekly", cron="0 3 * * 1", run=tick),)
    async with yard.worker(schedules=weekly):
        await eventually(lambda: _known(yard))
    assert await ticks(yard) == []
    await yard.sql("UPDATE pgqueuer_schedules SET next_run = now() - interval '20 days'")
    async with yard.worker(schedules=weekly):
        await eventually(ticked(yard, 1))
        await asyncio.sleep(0.3)
    assert len(await ticks(yard)) == 1


async def _known(yard: Yard) -> bool:
    return bool((await yard.sql("SELECT count(*) FROM pgqueuer_schedules"))[0][0])


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda one: one.name)
async def test_ours_run_on_an_empty_store(yard: Yard, schedule: Schedule) -> None:
    await schedule.run(yard.runtime)
    assert await yard.tickets() == 0
