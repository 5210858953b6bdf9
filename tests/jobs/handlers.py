"""Kinds of jobs that only tests have. What they do they write into `effects`, each in a transaction of its own."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from uuid import UUID

from app.db.jobs import Job
from app.db.session import statement
from app.errors import InvalidInput, NotFound, ProviderUnavailable
from app.features.lifecycle import jobs as worker
from app.features.lifecycle.runner import Counts, RunProgress, Worker, WorkerContext
from app.jobs.handler import Handler, ProgressCallback
from app.runtime import Runtime

TABLE = """
CREATE TABLE effects (tenant_id uuid, job_id uuid, name text, pid int, at timestamptz DEFAULT clock_timestamp());
GRANT SELECT, INSERT ON effects TO typed_memory_runtime
"""


async def mark(runtime: Runtime, job: Job, name: str) -> None:
    """Leave a trace that the test can count."""
    async with runtime.database.write(job.tenant_id) as session:
        await session.change(
            statement("INSERT INTO effects (tenant_id, job_id, name, pid) VALUES (:tenant, :job, :name, :pid)"),
            {"tenant": job.tenant_id, "job": job.id, "name": name, "pid": os.getpid()},
        )


async def count(runtime: Runtime, job: Job, name: str) -> int:
    async with runtime.database.read(job.tenant_id) as session:
        [[found]] = await session.fetch(
            statement("SELECT count(*) FROM effects WHERE job_id = :job AND name = :name"),
            {"job": job.id, "name": name},
        )
        return int(found)


async def note(runtime: Runtime, job: Job, progress: ProgressCallback) -> Mapping[str, object]:
    """Begin, take `seconds`, end."""
    await mark(runtime, job, "began")
    await asyncio.sleep(job.payload.get("seconds", 0))
    await mark(runtime, job, "ended")
    return {"said": job.payload.get("say")}


async def steps(runtime: Runtime, job: Job, progress: ProgressCallback) -> None:
    """Take `steps` of a twentieth of a second, and a checkpoint after each."""
    await mark(runtime, job, "began")
    for done in range(job.payload["steps"]):
        await asyncio.sleep(0.05)
        await progress(done + 1, job.payload["steps"])
    await mark(runtime, job, "ended")


async def flaky(runtime: Runtime, job: Job, progress: ProgressCallback) -> None:
    """Fail as a provider does, `failures` times."""
    await mark(runtime, job, "tried")
    if await count(runtime, job, "tried") <= job.payload["failures"]:
        raise ProviderUnavailable("the model does not answer", retry_after=job.payload.get("retry_after"))


async def wrong(runtime: Runtime, job: Job, progress: ProgressCallback) -> None:
    """Fail for good."""
    await mark(runtime, job, "tried")
    match job.payload["how"]:
        case "input":
            raise InvalidInput("no such thing can be")
        case "gone":
            raise NotFound("it is gone")
        case "cancelled":
            raise asyncio.CancelledError
        case _:
            raise ValueError("Wolkenkuckucksheim")


async def strange(runtime: Runtime, job: Job, progress: ProgressCallback) -> Mapping[str, object]:
    """Return what no row can hold."""
    return {"nul": "\x00"} if job.payload["how"] == "nul" else {"object": object()}


async def deadly(runtime: Runtime, job: Job, progress: ProgressCallback) -> None:
    """End the worker, whatever it is doing besides."""
    await mark(runtime, job, "tried")
    os.kill(os.getpid(), signal.SIGKILL)
    await asyncio.sleep(60)


async def alone(runtime: Runtime, job: Job, progress: ProgressCallback) -> Mapping[str, object]:
    """Be done by itself."""
    await mark(runtime, job, "alone")
    return {"done": job.payload["turns"]}


async def together(runtime: Runtime, jobs: Sequence[Job]) -> Sequence[Mapping[str, object]]:
    """Be done with others, unless that is to go wrong."""
    for job in jobs:
        await mark(runtime, job, "together")
    match jobs[0].payload.get("how"):
        case "deadly":
            os.kill(os.getpid(), signal.SIGKILL)
        case "slow":
            await asyncio.sleep(30)
        case "wrong":
            raise ValueError("Wolkenkuckucksheim")
    return [{"done": job.payload["turns"]} for job in jobs]


async def counted(context: WorkerContext, tenant: UUID, *, dry_run: bool, progress: RunProgress) -> Counts:
    """Count the tenant's jobs, and take a checkpoint after each."""
    query = statement("SELECT count(*) FROM jobs WHERE tenant_id = :tenant")
    async with context.database.read(tenant) as session:
        [[found]] = await session.fetch(query, {"tenant": tenant})
    for done in range(found):
        await progress(done + 1, found)
        await asyncio.sleep(0.05)
    return {"counted": found}


WORKERS = {"counting": Worker(name="counting", cron="0 5 * * *", summary="Counts jobs.", run=counted)}

HANDLERS = {
    one.kind: one
    for one in (
        worker.HANDLER,
        Handler(kind="note", run=note),
        Handler(kind="steps", run=steps),
        Handler(kind="flaky", run=flaky),
        Handler(kind="wrong", run=wrong),
        Handler(kind="strange", run=strange),
        Handler(kind="deadly", run=deadly),
        Handler(kind="gathered", run=alone, together=together),
    )
}
