"""A worker in a process of its own, forked from one that has everything imported; SIGTERM stops it."""

from __future__ import annotations

import asyncio
import signal
from multiprocessing.process import BaseProcess
from typing import Any

from app.jobs import worker
from tests.jobs.handlers import HANDLERS
from tests.jobs.yard import light_runtime
from tests.support.forked import CONTEXT


async def _main(url: str, settings: dict[str, Any]) -> None:
    worker.POLL_SECONDS = 0.2
    runtime = light_runtime(url, **settings)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await worker.run_worker(runtime, handlers=HANDLERS, stop=stop)
    await runtime.database.close()


def _run(url: str, settings: dict[str, Any]) -> None:
    asyncio.run(_main(url, settings))


def started(url: str, **settings: Any) -> BaseProcess:
    """Start a worker on a database."""
    process = CONTEXT.Process(target=_run, args=(url, settings), daemon=True)
    process.start()
    return process


async def exit_code(process: BaseProcess) -> int:
    """Wait until a process has ended."""
    await asyncio.to_thread(process.join, 30)
    assert process.exitcode is not None, "the worker goes on"
    return process.exitcode
