"""A worker of backfills in a process of its own, that is killed in the middle of a transaction."""

from __future__ import annotations

import asyncio
import os
import signal
from multiprocessing.process import BaseProcess
from typing import Any, cast

from app.bootstrap import now
from app.features.backfill import jobs as backfill
from app.features.backfill import steps
from app.features.backfill.service import Backfills
from app.jobs import worker
from app.memory.registry import discover
from app.runtime import Runtime
from tests.jobs.yard import light_runtime
from tests.support.forked import CONTEXT

HANDLERS = {"backfill": backfill.HANDLER}
BATCH = 7


def runtime_on(url: str, **settings: Any) -> Runtime:
    found = light_runtime(url, **settings)
    cast("Any", found).offered[Backfills] = Backfills(database=found.database, types=discover(), clock=now)
    return found


async def _main(url: str, dies_at: int) -> None:
    worker.POLL_SECONDS = 0.2
    patched = cast("Any", steps)
    patched.BATCH = BATCH
    write, calls = patched.apply, 0

    async def apply(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        done = await write(*args, **kwargs)
        if calls == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    patched.apply = apply
    runtime = runtime_on(url)
    await worker.run_worker(runtime, handlers=HANDLERS, stop=asyncio.Event())


def _run(url: str, dies_at: int) -> None:
    asyncio.run(_main(url, dies_at))


def started(url: str, dies_at: int) -> BaseProcess:
    """Start a worker that is killed when it has written a batch for the n-th time, before that is committed."""
    process = CONTEXT.Process(target=_run, args=(url, dies_at), daemon=True)
    process.start()
    return process
