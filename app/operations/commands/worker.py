"""`typed-memory worker`: process background jobs; `typed-memory worker run`: run one lifecycle worker now."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, cast

import typer

from app import feature, logs
from app.assembly import build_runtime
from app.command_line.configuration import (
    configure_logs,
    freeze_garbage_collector,
    settings_of_a_store,
)
from app.command_line.terminal import CommandFailed, say
from app.db.jobs import Job
from app.db.tenants import Tenant
from app.features.lifecycle.runner import Workers
from app.jobs.worker import run_worker
from app.model import Actor, JobStatus
from app.runtime import Runtime
from app.settings import Settings

_LOOK_SECONDS = 0.1

app = typer.Typer(invoke_without_command=True)


@app.callback()
def worker(context: typer.Context) -> None:
    """Process background jobs until Ctrl-C.

    Each `serve` processes jobs too, unless it runs with TM_WORKER=off. Any number of workers share the queue. A
    worker that is stopped has TM_WORKER_GRACE seconds to finish its jobs and returns the others to the queue; on
    a second signal it returns all at once.

    For example:

      TM_DATABASE_URL=postgresql://user:password@host/memories typed-memory worker
      TM_WORKER_CONCURRENCY=32 TM_WORKER_METRICS_PORT=9100 typed-memory worker
    """
    if context.invoked_subcommand is not None:
        return
    settings = settings_of_a_store()
    configure_logs(settings)
    asyncio.run(_run(settings))


@app.command()
def run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The worker's name: freshness, gc, ...")],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; print the counts of a run.")] = False,
    tenant: Annotated[str | None, typer.Option(help="A tenant's name; without it, every tenant.")] = None,
) -> None:
    """Run one of the scheduled workers now, and print its counts.

    It runs once at a time for a tenant: if a run is queued or running already, the command waits for that one.

    For example:

      typed-memory worker run freshness --dry-run
      typed-memory worker run gc --tenant default
    """
    logs.configure("console", "WARNING")
    asyncio.run(_run_now(settings_of_a_store(), name, tenant, dry_run=dry_run))


async def _run_now(settings: Settings, name: str, tenant: str | None, *, dry_run: bool) -> None:
    async with build_runtime(settings) as runtime:
        runtime.service(Workers).named(name)
        owners = await runtime.tenants.list() if tenant is None else [await runtime.tenants.by_name(tenant)]
        started = [(one, (await runtime.service(Workers).start(one.id, name, dry_run=dry_run))[0]) for one in owners]
        stop = asyncio.Event()
        working = asyncio.create_task(run_worker(runtime, handlers=feature.handlers(), stop=stop, schedules=()))
        try:
            ended = [(one, await _wait(runtime, one, job)) for one, job in started]
        finally:
            stop.set()
            await working
    for one, job in ended:
        say(f"{one.name}: {_result(job)}")
    failed = [one.name for one, job in ended if job.status is not JobStatus.SUCCEEDED]
    if failed:
        raise CommandFailed(f"{name} failed for {', '.join(failed)}")


async def _wait(runtime: Runtime, tenant: Tenant, job: Job) -> Job:
    actor = Actor(tenant_id=tenant.id, key_id=None, name="cli")
    while not job.finished:
        await asyncio.sleep(_LOOK_SECONDS)
        job = await runtime.jobs.get(actor, job.id)
    return job


def _result(job: Job) -> str:
    if job.status is not JobStatus.SUCCEEDED or job.result is None:
        return f"{job.status}: {job.error or 'see the log of the worker'}"
    counts = ", ".join(f"{what} {count}" for what, count in job.result["counts"].items()) or "nothing to do"
    return f"{counts} (a dry run: nothing was changed)" if job.result["dry_run"] else counts


async def _run(settings: Settings) -> None:
    stop, hurry = asyncio.Event(), asyncio.Event()
    task = cast("asyncio.Task[Any]", asyncio.current_task())
    opening = True

    def asked() -> None:
        # As in `serve`: the start of an embedded server is awaited, waiting for the network is cancelled.
        if opening and (settings.database_url is not None or stop.is_set()):
            task.cancel()
        if stop.is_set():
            hurry.set()
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, asked)
    try:
        async with build_runtime(settings) as runtime:
            opening = False
            with _measured(settings, runtime):
                freeze_garbage_collector()
                _announce(runtime)
                await run_worker(
                    runtime,
                    handlers=feature.handlers(),
                    schedules=feature.schedules(runtime),
                    stop=stop,
                    hurry=hurry,
                )
    except asyncio.CancelledError:
        if not stop.is_set():
            raise


@contextmanager
def _measured(settings: Settings, runtime: Runtime) -> Iterator[None]:
    """Serve the metrics during the block, if a port is configured."""
    port = settings.worker_metrics_port
    if port is None:
        yield
        return
    try:
        end = runtime.metrics.serve(settings.host, port)
    except OSError as error:
        raise CommandFailed(
            f"can't serve metrics on port {port} of {settings.host}: {error.strerror}; choose another port with "
            f"TM_WORKER_METRICS_PORT"
        ) from error
    try:
        yield
    finally:
        end()


def _announce(runtime: Runtime) -> None:
    say("The worker is ready.")
    if runtime.first_key is not None:
        say(f"This is the first start: the API key is {runtime.first_key}. It is not shown again.")
