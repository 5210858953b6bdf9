"""The queue of background jobs: tickets that hold a tenant and a job, and pgqueuer's reconnecting driver.

Tickets are pgqueuer's rows, written in the caller's own transaction. They are not under row-level security, as a
worker takes tickets of all tenants; the job itself, with its payload and result, is a row of `jobs`, which is.

The driver has two connections of its own and reopens them when they are lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Self, TypeVar
from uuid import UUID

import asyncpg
import structlog
from pgqueuer.adapters.persistence.qb import QueryBuilderEnvironment, QueryQueueBuilder, QuerySchedulerBuilder
from pgqueuer.adapters.persistence.queries import Queries
from pgqueuer.core.tm import TaskManager
from pgqueuer.domain.settings import DBSettings, Durability
from pgqueuer.domain.types import Channel
from pgqueuer.ports.driver import Driver, NotifyCallback

from app.db.session import PLANNED_BY_KEY, Database, ReadSession, WriteSession, statement
from app.errors import DatabaseUnavailable

BUCKETS = 64
"""Entrypoints that tenants are spread over. Running jobs are limited by bucket, so that one tenant can't take every
worker. Lowering it strands tickets of the removed buckets."""

DEEPEST = 1000
"""Places of a tenant's backlog with a priority of their own; jobs behind them run in the order of arrival."""

CHANNEL: Final = Channel("ch_pgqueuer")

# All settings are given, because pgqueuer reads missing ones from environment variables with names like CHANNEL.
NAMES: Final = DBSettings(
    prefix="",
    db_schema=None,
    channel=CHANNEL,
    function="fn_pgqueuer_changed",
    statistics_table="pgqueuer_statistics",
    queue_status_type="pgqueuer_status",
    queue_table="pgqueuer",
    queue_table_log="pgqueuer_log",
    trigger="tg_pgqueuer_changed",
    schedules_table="pgqueuer_schedules",
    durability=Durability.durable,
    widen_id=False,
)

_BACKLOG = statement(
    """
    SELECT
        coalesce(extract(epoch FROM now() - (
            SELECT min(oldest.execute_after) FROM unnest(CAST(:entrypoints AS text[])) bucket
            CROSS JOIN LATERAL (
                SELECT q.execute_after FROM pgqueuer q
                WHERE q.status = 'queued' AND q.entrypoint = bucket AND q.execute_after <= now()
                ORDER BY q.execute_after LIMIT 1
            ) oldest
        )), 0) AS oldest_seconds,
        (SELECT count(*) FROM pgqueuer q WHERE q.status = 'queued') AS depth
    """
)

TICKETS: Final = """
    waiting AS (
        SELECT count(*) AS jobs
        FROM (SELECT id FROM jobs WHERE tenant_id = :tenant AND status = 'queued' LIMIT :deepest) backlog
    ),
    ticket AS (
        INSERT INTO pgqueuer (priority, entrypoint, payload, headers, status, execute_after)
        SELECT -least(waiting.jobs + given.place - 1, :deepest), CAST(:entrypoint AS text), given.content, 'null',
            'queued', now() + make_interval(secs => :delay)
        FROM waiting CROSS JOIN given
        RETURNING id, priority, entrypoint, payload
    ),
    logged AS (
        INSERT INTO pgqueuer_log (job_id, status, entrypoint, priority)
        SELECT id, 'queued', entrypoint, priority FROM ticket
    )
"""
"""Clauses of a WITH that write tickets, with the parameters of `make_tickets`; `ticket.id` is the number of each.

`given`, a clause before, has the payload of each as `content`, and its `place` from 1. The more of the tenant's jobs
wait before it, the lower its priority. They do what pgqueuer's `enqueue` does, but in the statement that writes jobs.
"""

TICKET: Final = f"given AS (SELECT CAST(:content AS bytea) AS content, 1 AS place), {TICKETS}"
"""The same for one job."""

_DROP = statement("DELETE FROM pgqueuer WHERE id = :ticket")

# Priorities are recomputed, so that new tickets of other tenants don't overtake a busy tenant's old ones for ever: the
# thousandth ticket of a tenant becomes its first in time.
_MOVE_UP = statement(
    """
    UPDATE pgqueuer q SET priority = line.priority
    FROM (
        SELECT id, -least(:deepest, row_number() OVER tenant - 1) AS priority FROM pgqueuer WHERE status = 'queued'
        WINDOW tenant AS (PARTITION BY substring(payload FOR 32) ORDER BY id)
    ) line
    WHERE q.id = line.id AND q.status = 'queued' AND q.priority < line.priority
    """
)

_RELEASE = statement(
    """
    UPDATE pgqueuer SET status = 'queued', execute_after = now(), updated = now(), queue_manager_id = NULL
    WHERE status = 'failed'
    """
)

_PRUNE = statement(
    """
    DELETE FROM pgqueuer_log WHERE id IN (
        SELECT id FROM pgqueuer_log WHERE created < now() - CAST(:kept AS interval) ORDER BY created LIMIT :limit
    )
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """The waiting tickets: the age of the oldest one that is due, in seconds, and their number."""

    oldest_seconds: float
    depth: int


class PlainDriver(Driver):
    """The parts of pgqueuer's driver interface besides SQL: no tasks, and nothing to open or close."""

    @property
    def tm(self) -> TaskManager:
        """Return a manager of no tasks."""
        return TaskManager()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Keep the connections open: pgqueuer leaves a driver before it has recorded its last jobs."""


def queries(driver: Driver) -> Queries:
    """Return pgqueuer's queries for our table names and this driver."""
    return Queries(
        driver,
        qbe=QueryBuilderEnvironment(settings=NAMES),
        qbq=QueryQueueBuilder(settings=NAMES),
        qbs=QuerySchedulerBuilder(settings=NAMES),
    )


def entrypoint(tenant: UUID) -> str:
    """Return the bucket of a tenant."""
    return f"jobs.{tenant.int % BUCKETS:02}"


def entrypoints() -> list[str]:
    """Return every bucket."""
    return [f"jobs.{number:02}" for number in range(BUCKETS)]


def payload(tenant: UUID, job: UUID) -> bytes:
    """Return the payload of a ticket for a job."""
    return f"{tenant.hex} {job.hex}".encode()


def read_payload(content: bytes | None) -> tuple[UUID, UUID]:
    """Return tenant and job of a ticket's payload; raise ValueError when it has another format."""
    tenant, _, job = (content or b"").decode().partition(" ")
    return UUID(hex=tenant), UUID(hex=job)


def make_ticket(tenant: UUID, job: UUID, delay: float = 0.0) -> dict[str, object]:
    """Return the parameters of `TICKET`; the job runs after `delay` seconds at the earliest."""
    return {**make_tickets(tenant, delay), "content": payload(tenant, job)}


def make_tickets(tenant: UUID, delay: float = 0.0) -> dict[str, object]:
    """Return the parameters of `TICKETS`."""
    return {"delay": delay, "tenant": tenant, "entrypoint": entrypoint(tenant), "deepest": DEEPEST}


async def drop(session: WriteSession, ticket: int) -> None:
    """Remove a ticket from the queue."""
    await session.change(_DROP, {"ticket": ticket})


async def backlog(session: ReadSession) -> Backlog:
    """Return the backlog of all tenants together."""
    [row] = await session.fetch(_BACKLOG, {"entrypoints": entrypoints()})
    return Backlog(oldest_seconds=float(row["oldest_seconds"]), depth=row["depth"])


async def move_up(session: WriteSession) -> None:
    """Recompute the priorities of waiting tickets, after those before them have gone."""
    await session.change(_MOVE_UP, {"deepest": DEEPEST})


async def release(session: WriteSession) -> int:
    """Return tickets whose run could not be recorded to the queue; return how many."""
    return await session.change(_RELEASE, {})


async def prune(session: WriteSession, *, kept: timedelta, limit: int) -> int:
    """Remove up to `limit` rows of pgqueuer's log that are older than `kept`; return how many."""
    return await session.change(_PRUNE, {"kept": kept, "limit": limit})


_T = TypeVar("_T")

ANSWER_SECONDS = 45.0
"""A connection without an answer for so long counts as lost: the statement timeout is shorter."""

PROBE_SECONDS = 10.0
"""The interval of probes of the listening connection."""

_BEYOND_USE = (TimeoutError, asyncpg.InternalClientError)
"""Errors after which an open connection is unusable: its next answer may belong to another query."""

_DELAYS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)

log = structlog.get_logger("typed_memory.jobs")


class ReconnectingDriver(PlainDriver):
    """A driver that waits for the database instead of failing, so that an outage ends no running job.

    Every query of pgqueuer can be repeated. One connection runs queries, one at a time; the other listens. After
    `stop_waiting` a lost connection is an error. Queries are planned once, to find rows through indexes: to plan the
    one that takes jobs takes longer than to run it, and a plan for an empty queue would read all of one that fills.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = asyncio.Lock()
        self._line: AsyncExitStack | None = None
        self._connection: asyncpg.Connection | None = None
        self._listeners: dict[str, list[NotifyCallback]] = {}
        self._listening = asyncio.Event()
        self._stirred = asyncio.Event()
        self._give_up = asyncio.Event()

    @classmethod
    @asynccontextmanager
    async def open(cls, database: Database) -> AsyncIterator[Self]:
        """Yield a driver; its connections close with the block."""
        driver = cls(database)
        listening = asyncio.create_task(driver._listen())
        try:
            yield driver
        finally:
            listening.cancel()
            with suppress(asyncio.CancelledError):
                await listening
            await driver._drop()

    def stop_waiting(self) -> None:
        """Raise errors of the connection from now on instead of waiting for the database."""
        self._give_up.set()

    async def fetch(self, query: str, *args: object) -> list[dict[str, object]]:
        """Return the rows of a query."""
        rows = await self._patiently(lambda connection: connection.fetch(query, *args))
        return [dict(row) for row in rows]

    async def execute(self, query: str, *args: object) -> str:
        """Run a statement."""
        return str(await self._patiently(lambda connection: connection.execute(query, *args)))

    async def notify(self, channel: str, payload: str) -> None:
        """Send a notification, once the listening connection is open."""
        await self._listening.wait()
        await self.execute("SELECT pg_notify($1, $2)", channel, payload)

    async def add_listener(self, channel: str, callback: NotifyCallback) -> None:
        """Call `callback` with every notification on a channel, also after reconnections."""
        self._listeners.setdefault(channel, []).append(callback)
        self._stirred.set()

    async def remove_listener(self, channel: str, callback: NotifyCallback) -> None:
        """Stop calling `callback` with notifications."""
        self._listeners[channel].remove(callback)

    @property
    def shutdown(self) -> asyncio.Event:
        """Return the event that is set when the driver stops waiting."""
        return self._give_up

    async def _patiently(self, ask: Callable[[asyncpg.Connection], Awaitable[_T]]) -> _T:
        async with self._lock:
            tries = 0
            while True:
                try:
                    return await self._once(ask)
                except DatabaseUnavailable:
                    if self._give_up.is_set():
                        raise
                    if tries == 0:
                        log.warning("the worker waits for the database")
                    await self._pause(tries)
                    tries += 1

    async def _once(self, ask: Callable[[asyncpg.Connection], Awaitable[_T]]) -> _T:
        if self._connection is None:
            self._line = AsyncExitStack()
            self._connection = await self._line.enter_async_context(self._database.dedicated(**PLANNED_BY_KEY))
        connection: asyncpg.Connection = self._connection
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await ask(connection)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, *_BEYOND_USE) as error:
            if not connection.is_closed() and not isinstance(error, _BEYOND_USE):
                raise
            await self._drop()
            raise DatabaseUnavailable("the worker lost its connection to the database") from error

    async def _drop(self) -> None:
        if self._line is not None:
            with suppress(Exception):
                await self._line.aclose()
        self._line = self._connection = None

    async def _pause(self, tries: int) -> None:
        """Wait before the next attempt, or until the driver stops waiting."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_DELAYS[min(tries, len(_DELAYS) - 1)]):
                await self._give_up.wait()

    async def _listen(self) -> None:
        """Keep a connection listening, until cancelled."""
        tries = 0
        while True:
            try:
                async with self._database.dedicated() as connection:
                    await self._hear(connection)
            except (DatabaseUnavailable, asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError) as error:
                if self._listening.is_set():
                    log.warning("the worker's listening connection was lost", error=type(error).__name__)
                    tries = 0
                self._listening.clear()
                await asyncio.sleep(_DELAYS[min(tries, len(_DELAYS) - 1)])
                tries += 1

    async def _hear(self, connection: asyncpg.Connection) -> None:
        """Listen until the connection is lost."""
        connection.add_termination_listener(lambda _: self._stirred.set())
        heard: set[str] = set()
        while True:
            self._stirred.clear()
            for channel in self._listeners.keys() - heard:
                await connection.add_listener(channel, self._hand_on)
                heard.add(channel)
                self._listening.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(PROBE_SECONDS):
                    await self._stirred.wait()
            async with asyncio.timeout(PROBE_SECONDS):
                await connection.execute("SELECT 1")

    def _hand_on(self, _connection: object, _pid: object, channel: str, payload: Any) -> None:  # noqa: ANN401
        for callback in tuple(self._listeners.get(channel, ())):
            callback(payload)
