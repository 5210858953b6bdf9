"""The HTTP server: uvicorn with bounds on connections and their time, and several processes on one socket.

Requests that would be turned away are answered here, before they are parsed, and late: a service that is asked for
sixteen times what it can do spends its time on what it takes into work, not on saying no.

uvicorn's supervisor starts the processes and replaces them one by one on SIGHUP; ours also replaces one that dies,
hangs or cannot start. The parent serves nothing: it opens the store first, so that they find an embedded server and the
schema, and ends last.
"""

from __future__ import annotations

import asyncio
import json
import math
import multiprocessing
import os
import re
import signal
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, cast

import h11
import structlog
import uvicorn
from prometheus_client.multiprocess import mark_process_dead
from starlette.applications import Starlette
from uvicorn.config import STARTUP_FAILURE
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from app.assembly import build_runtime
from app.command_line.configuration import configure_logs, freeze_garbage_collector, owner_login
from app.command_line.terminal import CommandFailed
from app.errors import Overloaded
from app.http.admission import Admission
from app.http.problems import MEDIA_TYPE, URN
from app.main import create_app
from app.metrics import shared_metrics
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

_HEAD = re.compile(rb"(?:GET|POST|PATCH|PUT|DELETE) ([!-~]{1,2048}) HTTP/1\.1\r\n")
_AUTHORIZATION = re.compile(rb"\r\nauthorization:[ \t]*([!-~ ]*?)[ \t]*\r\n", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,12})[ \t]*\r\n", re.IGNORECASE)
_LINES = re.compile(rb"(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*\r\n)*")
"""Headers that every parser reads alike: a proxy in front must not see another end of the request than we do."""

_SPECIAL = re.compile(
    rb"\r\n(?:transfer-encoding|expect|upgrade|connection(?!:[ \t]*keep-alive[ \t]*\r)):", re.IGNORECASE
)
"""Headers of requests that are left to the parser."""

_END = b"\r\n\r\n"

_LARGEST_REFUSED = 1 << 20
"""Bytes of a request that are passed over; the body of a larger one is not waited for."""

_FEWEST_BYTES_A_SECOND = 500
"""Of a body, after its first seconds; slower ones keep a connection for nobody's good."""

_LONGEST_PAUSE = 4
"""Times the seconds that a request may begin late, after which a body that stopped is given up."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """The most connections, and the seconds for which one may stall, in a request or in its answer."""

    connections: int
    seconds: float


def bounded(admission: Admission, limits: ConnectionLimits) -> type[H11Protocol]:
    """Return uvicorn's protocol, within these limits."""

    class Bounded(BoundedConnection):
        def __init__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - as uvicorn makes it
            super().__init__(*given, **named)
            self.admission, self.limits = admission, limits

    return Bounded


class BoundedConnection(H11Protocol):
    """A connection that is closed when it is one too many, when its request comes too slowly, or its answer stalls."""

    admission: Admission
    limits: ConnectionLimits
    _timer: asyncio.TimerHandle | None = None
    _watched: str = ""
    _received: int = 0
    _held: bool = False
    _unread: int = 0
    _refused: bool = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, unless there are too many already."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.write(_refusal(_TOO_MANY, close=True))
            transport.close()
        else:
            self._watch("head", self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._unwatch()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Turn a request away unparsed where that is certain, else parse it; then watch for the rest of it."""
        if self._unread:
            data, self._unread = data[self._unread :], max(0, self._unread - len(data))
            if not data:
                return
        if self._between_requests() and (size := self._refused_size(data)) is not None:
            self._refuse(data, size)
            return
        self._received += len(data)
        super().data_received(data)
        self._held = self._held or self.flow.read_paused
        self._watch_the_rest()

    def shutdown(self) -> None:
        """End, once what is in work is answered; a request that was turned away is answered now."""
        if self._refused:
            self._close_refused()
        else:
            super().shutdown()

    def pause_writing(self) -> None:
        """Watch a client that does not read its answer."""
        super().pause_writing()
        self._watch("answer", self.transport.abort)

    def resume_writing(self) -> None:
        """Go on."""
        super().resume_writing()
        self._unwatch()

    def _between_requests(self) -> bool:
        return self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]

    def _refused_size(self, data: bytes) -> int | None:
        """Return the bytes of a request that would be turned away, body included; None for one that is to be parsed."""
        end = data.find(_END)
        if end < 0 or (head := _HEAD.match(data)) is None or _SPECIAL.search(data, 0, end + 2):
            return None
        lengths = data[: end + 2].lower().count(b"\r\ncontent-length:")
        length = _LENGTH.search(data, 0, end + 2)
        if lengths != (length is not None) or not _LINES.fullmatch(data, head.end(), end + 2):
            return None
        size = end + len(_END) + (int(length[1]) if length else 0)
        if size < len(data) or size > _LARGEST_REFUSED:
            return None
        authorization = _AUTHORIZATION.search(data, 0, end + 2)
        path = head[1].partition(b"?")[0].decode("ascii")
        return size if self.admission.refuses(path, authorization[1] if authorization else b"") else None

    def _refuse(self, data: bytes, size: int) -> None:
        """Answer late, and read nothing until then; close the connection where too many wait for that already."""
        self._unwatch()
        self._unset_keepalive_if_required()
        self._unread = size - len(data)
        self._refused = self.admission.refusals.hold(self._answer_refused)
        if self._refused:
            self.transport.pause_reading()
        else:
            self._close_refused()

    def _answer_refused(self) -> None:
        """Answer, keep the connection, and pass over what is still to come of the body."""
        self._refused = False
        if self.transport.is_closing():
            return
        self.transport.write(_refusal(_TOO_MUCH))
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)
        self.transport.resume_reading()

    def _close_refused(self) -> None:
        self.transport.write(_refusal(_TOO_MUCH, close=True))
        self.transport.close()

    def _watch_the_rest(self) -> None:
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            if self._watched != "body":
                self._received, self._held = 0, self.flow.read_paused
                self._watch("body", self._look_at_the_body)
        elif state is not h11.IDLE:
            self._unwatch()
        elif not self._watched and not self._between_requests():
            self._watch("head", self._give_up)

    def _look_at_the_body(self) -> None:
        """Give up a body that comes too slowly, unless it is the service that does not read it.

        What came since the last look gives it time, but however much came, a sender that stops is given up.
        """
        bought = self.limits.seconds
        if not self._held:
            bought = min(_LONGEST_PAUSE * bought, self._received / _FEWEST_BYTES_A_SECOND)
        self._received, self._held = 0, self.flow.read_paused
        if bought:
            self._watch("body", self._look_at_the_body, bought)
        else:
            self._give_up()

    def _give_up(self) -> None:
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self.transport.write(_answer(408, "Request timeout", "request-timeout", _TOO_SLOW, close=True))
        self.transport.close()

    def _watch(self, what: str, late: Callable[[], None], seconds: float | None = None) -> None:
        self._unwatch()
        self._watched = what
        self._timer = self.loop.call_later(self.limits.seconds if seconds is None else seconds, late)

    def _unwatch(self) -> None:
        self._watched = ""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


_TOO_MANY = "too many connections are open: retry after a moment"

_TOO_MUCH = "the service has more to do than it can: retry after a moment"

_TOO_SLOW = "the request came too slowly: send it in one go"


@cache
def _refusal(detail: str, *, close: bool = False) -> bytes:
    return _answer(503, Overloaded.title, Overloaded.code, detail, close=close)


def _answer(status: int, title: str, code: str, detail: str, *, close: bool) -> bytes:
    """Return a problem as the bytes of a whole answer, without what only a parsed request can tell."""
    problem = {"type": URN + code, "title": title, "status": status, "detail": detail, "instance": "", "request_id": ""}
    body = json.dumps(problem).encode()
    headers = [
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
        f"Content-Type: {MEDIA_TYPE}",
        f"Content-Length: {len(body)}",
        *(["Retry-After: 1"] if status == HTTPStatus.SERVICE_UNAVAILABLE else []),
        *(["Connection: close"] if close else []),
    ]
    return "\r\n".join(headers).encode() + _END + body
