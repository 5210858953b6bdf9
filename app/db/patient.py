"""pgqueuer's way to the database: two connections of its own that come back whenever they were lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Self, TypeVar

import asyncpg
import structlog
from pgqueuer.ports.driver import NotifyCallback

from app.db.queue import PlainDriver
from app.db.session import Database
from app.errors import DatabaseUnavailable

_T = TypeVar("_T")

ANSWER_SECONDS = 45.0
"""After this a connection counts as lost: the server ends statements before."""

PROBE_SECONDS = 10.0
"""How often the listening connection shows that it is alive."""

_BEYOND_USE = (TimeoutError, asyncpg.InternalClientError)
"""After these a connection is lost although it is open: what it will say next answers something else."""

_DELAYS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)

log = structlog.get_logger("typed_memory.jobs")


class PatientDriver(PlainDriver):
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
