"""Transactions: the one place that begins and commits.

A transaction opens with a single round trip that begins it and names the tenant, which is what
row-level security goes by. Reads get a session that Postgres itself holds to reading.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg
from sqlalchemy import Executable
from sqlalchemy.engine import CursorResult
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from app.errors import Conflict, DatabaseUnavailable

RUNTIME_ROLE = "typed_memory_runtime"
"""The least-privilege role that migrations create and every service connection takes on."""

_RETRY_AFTER = 2.0
_CONNECTION_LOST = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    ConnectionError,
    OSError,
    TimeoutError,
)


@dataclass(frozen=True, slots=True)
class ReadSession:
    """An open read-only transaction of one tenant."""

    connection: AsyncConnection

    async def execute(
        self,
        statement: Executable,
        parameters: Mapping[str, object] | Sequence[Mapping[str, object]] | None = None,
    ) -> CursorResult[Any]:
        """Run one statement; database errors come out as ours where they mean something to a caller."""
        try:
            return await self.connection.execute(statement, parameters)
        except DBAPIError as error:
            raise _translated(error) from error


@dataclass(frozen=True, slots=True)
class WriteSession(ReadSession):
    """An open read-write transaction of one tenant; it commits when its block ends without an error."""


class Database:
    """The engine and its transactions. `tenant=None` opens one that sees no tenant's rows."""

    def __init__(
        self, url: str, *, pool_size: int = 10, pool_timeout: float = 10.0, statement_timeout: float = 30.0
    ) -> None:
        """Prepare a pool for `url` (postgresql://...); nothing connects yet. Times are in seconds."""
        self._engine: AsyncEngine = create_async_engine(
            driver_url(url),
            isolation_level="AUTOCOMMIT",
            hide_parameters=True,
            pool_size=pool_size,
            max_overflow=0,
            pool_timeout=pool_timeout,
            pool_use_lifo=True,
            connect_args={
                "server_settings": {
                    "application_name": "typed-memory",
                    "role": RUNTIME_ROLE,
                    "timezone": "UTC",
                    "jit": "off",
                    "plan_cache_mode": "force_custom_plan",
                    "statement_timeout": str(int(statement_timeout * 1000)),
                    "idle_in_transaction_session_timeout": "60000",
                    "hnsw.iterative_scan": "relaxed_order",
                    "hnsw.ef_search": "100",
                },
                "timeout": pool_timeout,
            },
        )

    @contextlib.asynccontextmanager
    async def read(self, tenant: UUID | None, **local: str) -> AsyncIterator[ReadSession]:
        """Open a read-only transaction; `local` are further settings for its duration."""
        async with self._transaction("BEGIN READ ONLY", tenant, local) as connection:
            yield ReadSession(connection)

    @contextlib.asynccontextmanager
    async def write(self, tenant: UUID | None, **local: str) -> AsyncIterator[WriteSession]:
        """Open a read-write transaction; `local` are further settings for its duration."""
        async with self._transaction("BEGIN", tenant, local) as connection:
            yield WriteSession(connection)

    @contextlib.asynccontextmanager
    async def _transaction(
        self, begin: str, tenant: UUID | None, local: Mapping[str, str]
    ) -> AsyncIterator[AsyncConnection]:
        settings = dict(local)
        if tenant is not None:
            settings["app.tenant_id"] = str(tenant)
        opening = "; ".join([begin, *(f"SET LOCAL {name} = '{value}'" for name, value in settings.items())])
        connection = await self._opened(opening)
        try:
            try:
                yield connection
            except BaseException:
                await asyncio.shield(_finish(connection, "ROLLBACK"))
                raise
            await _finish(connection, "COMMIT")
        except _CONNECTION_LOST as error:
            await connection.invalidate()
            raise _unavailable() from error
        finally:
            await asyncio.shield(connection.close())

    async def _opened(self, opening: str) -> AsyncConnection:
        """Return a connection inside its transaction; a stale pooled one is replaced, once."""
        for last in (False, True):
            try:
                connection = await self._engine.connect()
            except PoolTimeout as error:
                raise DatabaseUnavailable(
                    "all database connections are busy: retry, or raise TM_DATABASE_POOL_SIZE",
                    retry_after=_RETRY_AFTER,
                ) from error
            except (*_CONNECTION_LOST, DBAPIError) as error:
                raise _unavailable() from error
            try:
                await _run(connection, opening)
            except _CONNECTION_LOST as error:
                await connection.invalidate()
                await connection.close()
                if last:
                    raise _unavailable() from error
            except BaseException:
                await connection.invalidate()
                await connection.close()
                raise
            else:
                return connection
        raise AssertionError("unreachable")

    def pool_in_use(self) -> int:
        """Return how many connections are checked out now."""
        return int(getattr(self._engine.pool, "checkedout", lambda: 0)())

    async def close(self) -> None:
        """Close every pooled connection."""
        await self._engine.dispose()


def driver_url(url: str) -> str:
    """Return the URL with asyncpg named as its driver."""
    scheme, _, rest = url.partition("://")
    if scheme.split("+")[0] not in {"postgresql", "postgres"} or not rest:
        raise ValueError("the database URL must start with postgresql://")
    return f"postgresql+asyncpg://{rest}"


async def _run(connection: AsyncConnection, script: str) -> None:
    """Send a script in one round trip, unprepared, so that no tenant's id fills the statement cache."""
    raw = await connection.get_raw_connection()
    driver = raw.driver_connection
    assert isinstance(driver, asyncpg.Connection)  # noqa: S101 - narrows for the type checker
    await driver.execute(script)


async def _finish(connection: AsyncConnection, ending: str) -> None:
    if connection.invalidated:
        return
    try:
        await _run(connection, ending)
    except BaseException:
        await connection.invalidate()
        if ending == "COMMIT":
            raise


def _unavailable() -> DatabaseUnavailable:
    return DatabaseUnavailable("the database cannot be reached: retry in a moment", retry_after=_RETRY_AFTER)


def _translated(error: DBAPIError) -> Exception:
    """Return our error for a database error that a caller can do something about, else the error itself."""
    cause = error.orig.__cause__ if error.orig is not None else None
    if isinstance(cause, asyncpg.QueryCanceledError):
        return DatabaseUnavailable("the database took too long: retry in a moment", retry_after=_RETRY_AFTER)
    if isinstance(cause, asyncpg.SerializationError | asyncpg.DeadlockDetectedError):
        return Conflict("others changed the same memories: retry", retry_after=0.1)
    if isinstance(cause, asyncpg.ForeignKeyViolationError):
        return Conflict("something this refers to was removed meanwhile: read again and retry", retry_after=0.1)
    if error.connection_invalidated or isinstance(error, OperationalError | InterfaceError):
        return _unavailable()
    return error
