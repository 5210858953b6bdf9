"""The HTTP server: uvicorn's options, and several processes on one socket.

uvicorn's supervisor starts the processes and replaces them one by one on SIGHUP; ours also replaces one that dies,
hangs or cannot start. The parent serves nothing: it opens the store first, so that they find an embedded server and the
schema, and ends last.
"""

from __future__ import annotations

import asyncio
import math
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, cast

import structlog
import uvicorn
from prometheus_client.multiprocess import mark_process_dead
from starlette.applications import Starlette
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from app.assembly import build_runtime
from app.command_line.configuration import configure_logs, freeze_garbage_collector, owner_login
from app.command_line.terminal import CommandFailed
from app.http.admission import Admission
from app.main import create_app
from app.metrics import shared_metrics
from app.operations.commands.connections import ConnectionLimits, bounded
from app.settings import Settings

log = structlog.get_logger("typed_memory.start")

LARGEST_HEAD = 65_536
"""Most bytes of a request's line and headers."""

FEWEST_CONNECTIONS = 4
"""Database connections that each process has at least."""

HANG_SECONDS = 60
"""Seconds without an answer, its imports included, after which a process counts as hung and is killed."""

RESTART_SECONDS = 5.0
"""Seconds between the starts of processes that could not start."""

JOB_LOCK = "jobs.lock"

_ACCEPTED_AT_ONCE = 16
"""Connections that a process accepts in one round of its event loop: enough that the kernel does not hold them back,
where nobody refuses them, and so few that they don't hold up the requests in work."""


def http_options(settings: Settings) -> Mapping[str, Any]:
    """Return uvicorn's options that do not depend on the number of processes."""
    return {
        "h11_max_incomplete_event_size": LARGEST_HEAD,
        "ws": "none",
        "log_config": None,
        "log_level": "error",  # h11 warns about every offered upgrade.
        "access_log": False,
        "server_header": False,
        "timeout_graceful_shutdown": math.ceil(settings.shutdown_grace),
    }


def http_protocol(settings: Settings, admission: Admission) -> Any:  # noqa: ANN401 - uvicorn's type for it is a string
    """Return the class of connections. httptools loses the body of a request that offers an upgrade (uvicorn 2722)."""
    return bounded(admission, ConnectionLimits(connections=settings.connections, seconds=settings.connection_timeout))


def acceptors(listeners: Sequence[socket.socket]) -> list[socket.socket]:
    """Return the listeners several times, because libuv accepts one connection of each in a round of the loop."""
    return [*listeners, *(one.dup() for one in listeners for _ in range(_ACCEPTED_AT_ONCE - 1))]


class ProcessConfig(uvicorn.Config):
    """The configuration of each process, which builds its own application. It is pickled."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings, self.folder = settings, folder
        super().__init__(
            "app.main:create_app",
            workers=settings.web_workers,
            lifespan="on",
            timeout_worker_healthcheck=HANG_SECONDS,
            **http_options(settings),
        )

    def configure_logging(self) -> None:
        """Write logs as a single process does."""
        configure_logs(self.settings)

    def load(self) -> None:
        """Build the application in the running event loop of its process."""
        app = create_app(_share(self.settings), job_lock=self.folder / JOB_LOCK)
        app.router.lifespan_context = _lifespan(app)
        self.app = app
        self.http = http_protocol(self.settings, app.state.admission)
        super().load()


class Supervisor(Multiprocess):
    """uvicorn's supervisor, which also announces the start, drains before it stops, and tidies metrics."""

    def __init__(self, config: ProcessConfig, listeners: list[socket.socket], announce: Callable[[], None]) -> None:
        super().__init__(config, listeners)
        self._drain_seconds = config.settings.pre_stop_delay
        self._announce: Callable[[], None] | None = announce
        self._draining = False
        self._known: set[int | None] = set()
        self._restarting = False
        self._next_restart = 0.0
        self.failed = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)

    def keep_subprocess_alive(self) -> None:
        """Replace processes that died or hang, and announce the start when all are ready.

        Before that, a process that cannot start ends the service. Later it is started again, because the database may
        be away; uvicorn's own supervisor would end the service then, too.
        """
        if self.should_exit.is_set():
            return
        for place, process in enumerate(self.processes):
            # With the parent's copy open, a process that dies before it answers looks like one that is slow to.
            process.child_conn.close()
            if process.is_alive(timeout=self.config.timeout_worker_healthcheck):
                continue
            process.kill()
            process.join()
            if self.should_exit.is_set():
                return
            if process.exitcode == STARTUP_FAILURE and self._announce is not None:
                self.failed = True
                self.should_exit.set()
                return
            if process.exitcode != STARTUP_FAILURE or self._may_restart(process):
                self.processes[place] = Process(self.config, self.sockets)
                self.processes[place].start()
        present = {process.pid for process in self.processes}
        for pid in self._known - present:
            mark_process_dead(pid)  # type: ignore[no-untyped-call]
        self._known = present
        if self._announce is not None and all(process.is_ready() for process in self.processes):
            self._announce()
            self._announce = None

    def _may_restart(self, process: Process) -> bool:
        """Return whether a process that could not start is started again now, or at a later look."""
        now = time.monotonic()
        if now < self._next_restart:
            return False
        self._next_restart = now + RESTART_SECONDS
        log.error("a process could not start and is started again", pid=process.pid)
        return True

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        """Queue a signal to stop, which also ends a restart of all processes."""
        self.signal_queue.append(number)
        if self._restarting:
            self.should_exit.set()

    def restart_all(self) -> None:
        """Replace the processes one by one, until a signal to stop."""
        self._restarting = True
        try:
            super().restart_all()
        finally:
            self._restarting = False

    def handle_term(self) -> None:
        """Let balancers look elsewhere for the configured time, then stop; stop at once on a second signal."""
        if self._draining or not self._drain_seconds or self._announce is not None:
            self.should_exit.set()
            return
        self._draining = True
        for process in self.processes:
            if process.exitcode is None:
                os.kill(cast("int", process.pid), signal.SIGUSR1)
        threading.Timer(self._drain_seconds, self.should_exit.set).start()


async def serve_by_processes(
    settings: Settings, listeners: list[socket.socket], announce: Callable[[str | None], None]
) -> None:
    """Open and migrate the store, then serve by several processes until a signal arrives.

    `announce` takes the first key, if this start made it. Raises CommandFailed when a process could not start.
    """
    task, loop = cast("asyncio.Task[Any]", asyncio.current_task()), asyncio.get_running_loop()
    stopped = asyncio.Event()

    def stop() -> None:
        # The start of an embedded server is awaited, because its release needs it.
        if settings.database_url is not None or stopped.is_set():
            task.cancel()
        stopped.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        async with owner_login(settings):
            async with build_runtime(settings) as runtime:
                first_key = runtime.first_key
            if not stopped.is_set():
                _supervise(settings, listeners, lambda: announce(first_key))
    except asyncio.CancelledError:
        if not stopped.is_set():
            raise


def _supervise(settings: Settings, listeners: list[socket.socket], announce: Callable[[], None]) -> None:
    """Run the processes until a signal arrives. Blocks: the event loop has nothing else to do."""
    with TemporaryDirectory(prefix="typed-memory-") as folder, shared_metrics(Path(folder)):
        supervisor = Supervisor(ProcessConfig(settings, Path(folder)), acceptors(listeners), announce)
        supervisor.run()
    if supervisor.failed:
        raise CommandFailed("a process could not start: the log says why")


def _share(settings: Settings) -> Settings:
    """Return the settings of one process: a part of the connections, and nothing that the parent has done."""
    connections = max(FEWEST_CONNECTIONS, math.ceil(settings.database_pool_size / settings.web_workers))
    return settings.model_copy(update={"database_pool_size": connections, "auto_migrate": False})


def _lifespan(app: Starlette) -> Callable[[Any], Any]:
    opened = app.router.lifespan_context
    loop = asyncio.get_running_loop()
    parent = multiprocessing.parent_process()

    def drain() -> None:
        app.state.admission.draining = True

    def orphaned() -> None:
        loop.remove_reader(parent.sentinel)  # type: ignore[union-attr]
        os.kill(os.getpid(), signal.SIGTERM)

    @asynccontextmanager
    async def lifespan(given: Starlette) -> AsyncIterator[Any]:
        loop.add_signal_handler(signal.SIGUSR1, drain)
        if parent is not None:
            loop.add_reader(parent.sentinel, orphaned)
        async with opened(given) as state:
            freeze_garbage_collector()
            yield state

    return lifespan
