"""Tickets and the reconnecting driver.

The queue of background jobs: tickets that say which tenant and which job, and nothing else.

Tickets are pgqueuer's rows, written in the caller's own transaction. They lie in no tenant's keeping: a worker
takes them for all. What a job is, and what became of it, stands in `jobs`, under row-level security.

pgqueuer's way to the database: two connections of its own that come back whenever they were lost.
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
from sqlalchemy import text

from app.db.session import Database, ReadSession, WriteSession
from app.errors import DatabaseUnavailable

BUCKETS = 64
"""Entrypoints that tenants are spread over; running jobs are limited by bucket, which is what keeps one tenant
from taking every worker. Fewer than this leaves tickets behind."""

DEEPEST = 1000
"""Places of a tenant's backlog that are told apart; further back it is first come, first served."""

CHANNEL: Final = Channel("ch_pgqueuer")

# All of them, because pgqueuer takes what isn't given from the environment, by names as plain as CHANNEL.
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

_BACKLOG = text(
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

TICKET: Final = """
    waiting AS (
        SELECT count(*) AS jobs
        FROM (SELECT FROM jobs WHERE tenant_id = :tenant AND status = 'queued' LIMIT :deepest) backlog
    ),
    ticket AS (
        INSERT INTO pgqueuer (priority, entrypoint, payload, headers, status, execute_after)
        SELECT -waiting.jobs, CAST(:entrypoint AS text), CAST(:content AS bytea), 'null', 'queued',
            now() + make_interval(secs => :delay)
        FROM waiting
        RETURNING id, priority, entrypoint
    ),
    logged AS (
        INSERT INTO pgqueuer_log (job_id, status, entrypoint, priority)
        SELECT id, 'queued', entrypoint, priority FROM ticket
    )
"""
"""Clauses of a WITH that write a ticket, with the parameters of `ticket`: its number is `id` in `ticket`.

The more of the tenant's jobs wait before it, the later its turn among all. It is what pgqueuer's own `enqueue`
comes to, in the statement that writes the job.
"""

_DROP = text("DELETE FROM pgqueuer WHERE id = :ticket")

# Tickets are put back by worth alone, so that a busy tenant's old ones aren't overtaken for ever by new ones
# of others: what was the thousandth in its line is the first by and by.
_MOVE_UP = text(
    """
    UPDATE pgqueuer q SET priority = line.priority
    FROM (
        SELECT id, -least(:deepest, row_number() OVER tenant - 1) AS priority FROM pgqueuer WHERE status = 'queued'
        WINDOW tenant AS (PARTITION BY substring(payload FOR 32) ORDER BY id)
    ) line
    WHERE q.id = line.id AND q.status = 'queued' AND q.priority < line.priority
    """
)

_RELEASE = text(
    """
    UPDATE pgqueuer SET status = 'queued', execute_after = now(), updated = now(), queue_manager_id = NULL
    WHERE status = 'failed'
    """
)

_PRUNE = text(
    """
    DELETE FROM pgqueuer_log WHERE id IN (
        SELECT id FROM pgqueuer_log WHERE created < now() - CAST(:kept AS interval) ORDER BY created LIMIT :limit
    )
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """What waits: how long the oldest ticket that is due has, in seconds, and how many there are."""

    oldest_seconds: float
    depth: int


class PlainDriver(Driver):
    """What pgqueuer asks of a driver besides SQL: nothing is opened with it, and nothing runs inside."""

    @property
    def tm(self) -> TaskManager:
        """Return a manager of no tasks."""
        return TaskManager()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stay open: pgqueuer leaves a driver before it has recorded its last jobs."""


def queries(driver: Driver) -> Queries:
    """Return pgqueuer's queries by our names, through a driver."""
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
    """Return what a ticket says."""
    return f"{tenant.hex} {job.hex}".encode()


def read_payload(content: bytes | None) -> tuple[UUID, UUID]:
    """Return tenant and job of a ticket; ValueError when it is none of ours."""
    tenant, _, job = (content or b"").decode().partition(" ")
    return UUID(hex=tenant), UUID(hex=job)


def make_ticket(tenant: UUID, job: UUID, delay: float = 0.0) -> dict[str, object]:
    """Return the parameters of `TICKET`; its turn comes after `delay` seconds at the earliest."""
    return {
        "delay": delay,
        "tenant": tenant,
        "entrypoint": entrypoint(tenant),
        "content": payload(tenant, job),
        "deepest": DEEPEST,
    }


async def drop(session: WriteSession, ticket: int) -> None:
    """Take a ticket out of the queue."""
    await session.execute(_DROP, {"ticket": ticket})


async def backlog(session: ReadSession) -> Backlog:
    """Return how much waits and for how long, of all tenants together."""
    row = (await session.execute(_BACKLOG, {"entrypoints": entrypoints()})).one()
    return Backlog(oldest_seconds=float(row.oldest_seconds), depth=int(row.depth))


async def move_up(session: WriteSession) -> None:
    """Give tickets the places that they have now: those before them are gone."""
    await session.execute(_MOVE_UP, {"deepest": DEEPEST})


async def release(session: WriteSession) -> int:
    """Put back the tickets whose run could not be recorded; return how many there were."""
    return int((await session.execute(_RELEASE)).rowcount)


async def prune(session: WriteSession, *, kept: timedelta, limit: int) -> int:
    """Remove some of what the queue wrote down longer ago than `kept`; return how many rows."""
    return int((await session.execute(_PRUNE, {"kept": kept, "limit": limit})).rowcount)


_T = TypeVar("_T")

ANSWER_SECONDS = 45.0
"""After this a connection counts as lost: the server ends statements before."""

PROBE_SECONDS = 10.0
"""How often the listening connection shows that it is alive."""

_BEYOND_USE = (TimeoutError, asyncpg.InternalClientError)
"""After these a connection is lost although it is open: what it will say next answers something else."""

_DELAYS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)

log = structlog.get_logger("typed_memory.jobs")


class ReconnectingDriver(PlainDriver):
    """A driver that waits for the database rather than fail, so that an outage ends no running job.

    Everything pgqueuer asks of it can be asked twice. One connection takes queries, one at a time; the other
    listens. `impatient` ends the waiting: from then on a lost connection is an error.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = asyncio.Lock()
        self._line: AsyncExitStack | None = None
        self._connection: asyncpg.Connection | None = None
        self._listeners: dict[str, list[NotifyCallback]] = {}
        self._listening = asyncio.Event()
        self._stirred = asyncio.Event()
        self._impatient = asyncio.Event()

    @classmethod
    @asynccontextmanager
    async def opened(cls, database: Database) -> AsyncIterator[Self]:
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

    def impatient(self) -> None:
        """Wait for the database no longer."""
        self._impatient.set()

    async def fetch(self, query: str, *args: object) -> list[dict[str, object]]:
        """Return the rows of a query."""
        rows = await self._patiently(lambda connection: connection.fetch(query, *args))
        return [dict(row) for row in rows]

    async def execute(self, query: str, *args: object) -> str:
        """Run a statement."""
        return str(await self._patiently(lambda connection: connection.execute(query, *args)))

    async def notify(self, channel: str, payload: str) -> None:
        """Send a notification, once there is somebody here who hears it."""
        await self._listening.wait()
        await self.execute("SELECT pg_notify($1, $2)", channel, payload)

    async def add_listener(self, channel: str, callback: NotifyCallback) -> None:
        """Hand every notification on a channel to `callback`, now and after every reconnection."""
        self._listeners.setdefault(channel, []).append(callback)
        self._stirred.set()

    async def remove_listener(self, channel: str, callback: NotifyCallback) -> None:
        """Hand it none any more."""
        self._listeners[channel].remove(callback)

    @property
    def shutdown(self) -> asyncio.Event:
        """Return the event that ends the waiting."""
        return self._impatient

    async def _patiently(self, ask: Callable[[asyncpg.Connection], Awaitable[_T]]) -> _T:
        async with self._lock:
            tries = 0
            while True:
                try:
                    return await self._once(ask)
                except DatabaseUnavailable:
                    if self._impatient.is_set():
                        raise
                    if tries == 0:
                        log.warning("the worker waits for the database")
                    await self._pause(tries)
                    tries += 1

    async def _once(self, ask: Callable[[asyncpg.Connection], Awaitable[_T]]) -> _T:
        if self._connection is None:
            self._line = AsyncExitStack()
            self._connection = await self._line.enter_async_context(self._database.dedicated())
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
        """Wait before the next try, or until there is none to be."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_DELAYS[min(tries, len(_DELAYS) - 1)]):
                await self._impatient.wait()

    async def _listen(self) -> None:
        """Keep a connection listening, for ever."""
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
