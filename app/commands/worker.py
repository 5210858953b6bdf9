"""`typed-memory worker`: does background jobs in a process of its own."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import typer

from app.commands.configuration import configure_logs, load_settings, warn_of_unknown_settings
from app.commands.terminal import CommandFailed, say
from app.jobs.handler import discover
from app.jobs.worker import run_worker
from app.runtime import Runtime, build_runtime
from app.settings import Settings


def worker() -> None:
    """Do background jobs until Ctrl-C.

    Each `serve` does jobs as well, unless it runs with TM_WORKER=off. Any number of workers share the queue.
    Told to stop, a worker finishes what it is doing for TM_WORKER_GRACE seconds and puts the rest back; told
    again, it puts everything back at once.

    For example:

      TM_DATABASE_URL=postgresql://user:password@host/memories typed-memory worker

      TM_WORKER_CONCURRENCY=32 TM_WORKER_METRICS_PORT=9100 typed-memory worker
    """
    warn_of_unknown_settings()
    settings = load_settings()
    configure_logs(settings)
    asyncio.run(_run(settings))


async def _run(settings: Settings) -> None:
    stop, hurry = asyncio.Event(), asyncio.Event()
    task = cast("asyncio.Task[Any]", asyncio.current_task())
    opening = True

    def asked() -> None:
        # As in `serve`: an embedded server that is starting is waited for, what is over the network is given up.
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
                _announce(runtime)
                await run_worker(runtime, handlers=discover(), stop=stop, hurry=hurry)
    except asyncio.CancelledError:
        if not stop.is_set():
            raise


@contextmanager
def _measured(settings: Settings, runtime: Runtime) -> Iterator[None]:
    """Tell the metrics for as long as the block, if they are wanted."""
    port = settings.worker_metrics_port
    if port is None:
        yield
        return
    try:
        end = runtime.metrics.serve(settings.host, port)
    except OSError as error:
        raise CommandFailed(
            f"can't tell metrics on port {port} of {settings.host}: {error.strerror}; choose another port with "
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


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(worker)
