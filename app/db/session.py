"""Transactions, which begin and end only here, and statements in the driver's own form.

A transaction opens with a single round trip that begins it and sets the tenant, which row-level security checks.
Reads get a session in a read-only transaction, so that Postgres refuses writes. SQLAlchemy's object around a connection
is made only where a statement needs it.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter
from typing import Any
from uuid import UUID

import asyncpg
from pgvector.asyncpg import register_vector
from pydantic_core import from_json
from sqlalchemy import event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from app import pauses
from app.db.connecting import PooledConnection, engine_of
from app.db.failures import RETRY_AFTER, sqlstate, translated, unavailable
from app.errors import DatabaseBusy, WritesRefused

_PARAMETER = re.compile(r"(?<!:):([a-z_][a-z0-9_]*)")


@dataclass(frozen=True, slots=True)
class SqlStatement:
    """SQL with numbered parameters, and the names of the parameters in that order."""

    sql: str
    names: tuple[str, ...]

    def arguments(self, values: Mapping[str, object]) -> list[object]:
        """Return the values in the order of the parameters."""
        return [values[name] for name in self.names]


def statement(text: str) -> SqlStatement:
    """Return the statement of SQL whose parameters are written `:name`."""
    names = tuple(dict.fromkeys(_PARAMETER.findall(text)))
    places = {name: f"${place}" for place, name in enumerate(names, 1)}
    return SqlStatement(_PARAMETER.sub(lambda found: places[found[1]], text), names)


RUNTIME_ROLE = "typed_memory_runtime"
"""The least-privilege role that migrations create and every service connection uses."""

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

SESSION_SETTINGS: Mapping[str, str] = {
    "timezone": "UTC",
    "default_transaction_isolation": "read committed",
    "idle_session_timeout": "0",
    "lock_timeout": "0",
    "jit": "off",
    "plan_cache_mode": "force_custom_plan",
    "hnsw.iterative_scan": "relaxed_order",
    "hnsw.ef_search": "100",
}
"""Settings of every session of the service, wherever its statements run."""

_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
"""No default of a database or a login changes how a transaction sees the others."""

KEPT_STATEMENTS: Mapping[str, int] = {"max_cached_statement_lifetime": 0, "max_cacheable_statement_size": 0}
"""A connection keeps its last statements prepared however old and long they are: a question's search is longest where
it names a time, and takes longer to plan than to run. asyncpg would keep none of more than 15 KB."""

_UNPREPARED: Mapping[str, Any] = {
    "statement_cache_size": 0,
    "prepared_statement_cache_size": 0,
    "prepared_statement_name_func": str,
}
"""Statements without names: a named one would be on a connection that the next transaction does not get."""

PLANNED_ONCE: Mapping[str, str] = {"plan_cache_mode": "force_generic_plan"}
"""Settings of a transaction whose statements take longer to plan than to run: each has one plan a connection, made
again when statistics change. What a plan must depend on is in the statement's shape.

In a cluster they are planned each time, because the plan depends on the node that has the tenant's rows.
"""

PLANNED_BY_KEY: Mapping[str, str] = {**PLANNED_ONCE, "enable_seqscan": "off"}
"""The same, for statements that find every row through an index, foreign keys' look-ups included. A plan is kept while
its tables grow from nothing, when reading all of a table looks cheapest."""

SNAPSHOT: Mapping[str, str] = {"transaction_isolation": "repeatable read"}
"""Settings of a transaction whose statements all see one snapshot, so that their results are consistent."""


@dataclass(frozen=True, slots=True)
class ReadSession:
    """An open read-only transaction of one tenant."""

    driver: asyncpg.Connection

    async def fetch(self, statement: SqlStatement, values: Mapping[str, object]) -> list[asyncpg.Record]:
        """Run SQL and return its rows; raise database errors as ours where a caller can act on them.

        SQLAlchemy would take longer to run a small statement than Postgres does.
        """
        await self._step()
        with _our_errors():
            rows: list[asyncpg.Record] = await self.driver.fetch(statement.sql, *statement.arguments(values))
        return rows

    async def _step(self) -> None:
        """Let requests that are to finish first go on: a read locks nothing that they wait for."""
        await pauses.step()

    async def plan_each(self) -> None:
        """Plan the statements that follow, in this transaction, for their own values: see PLANNED_ONCE."""
        await self.driver.execute("SET LOCAL plan_cache_mode = force_custom_plan")


@contextlib.contextmanager
def _our_errors() -> Iterator[None]:
    """Raise errors of the driver as ours where a caller can act on them."""
    try:
        yield
    except asyncpg.PostgresError as error:
        ours = translated(error)
        if ours is None:
            raise
        raise ours from error


_CHANGED_AT = "app.changed_at"


def stamped(at: datetime) -> dict[str, str]:
    """Return the setting of a transaction that changes things at this instant."""
    return {_CHANGED_AT: at.isoformat()}


@dataclass(slots=True)
class ChangeTime:
    """The time that a transaction's changes are stamped with, as Postgres reads it; None means the database's clock."""

    at: str | None = None


@dataclass(frozen=True, slots=True)
class WriteSession(ReadSession):
    """An open read-write transaction of one tenant; it commits when its block ends without an error.

    `clustered`: what one clause of a statement returns to another is sent to every node, and each must be there.
    """

    changed: ChangeTime = field(default_factory=ChangeTime)
    clustered: bool = False

    async def _step(self) -> None:
        """Go on at once, because others may wait for the rows that this transaction has locked."""

    async def change(self, statement: SqlStatement, values: Mapping[str, object]) -> int:
        """Run SQL that returns no rows, as `fetch`; return the number of rows that it changed."""
        await self._step()
        with _our_errors():
            status: str = await self.driver.execute(statement.sql, *statement.arguments(values))
        return int(status.rpartition(" ")[2])

    async def plan_once(self) -> None:
        """Plan the statements that follow once a connection again, those of foreign keys' look-ups too."""
        if not self.clustered:
            await self.driver.execute("SET LOCAL plan_cache_mode = force_generic_plan")

    async def stamp(self, at: datetime) -> None:
        """Let the database stamp the changes that follow with this instant, as `updated_at` of what changes."""
        if self.changed.at != at.isoformat():
            [(name, value)] = stamped(at).items()
            await self.driver.execute(f"SET LOCAL {name} = '{value}'")
            self.changed.at = value


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseObserver:
    """Receives the seconds of each wait for a connection, and the SQLSTATE of each failed transaction."""

    waited: Callable[[float], None] = lambda _seconds: None
    failed: Callable[[str], None] = lambda _sqlstate: None


class Database:
    """The engine and its transactions. `tenant=None` opens one that sees no tenant's rows.

    `refused` says why the last write failed, if the operator has to mend it. `clustered`: its rows are on other nodes.
    """

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 10,
        pool_timeout: float = 10.0,
        statement_timeout: float = 30.0,
        pooled_transactions: bool = False,
        direct_url: str | None = None,
        observer: DatabaseObserver | None = None,
    ) -> None:
        """Prepare a pool for `url` (postgresql://...); nothing connects yet. Times are in seconds.

        `pooled_transactions`: a pooler gives each transaction another connection, so nothing may be kept on one: no
        settings, which each transaction then brings along, and no prepared statements. `direct_url` leads past it.
        """
        settings = {
            "role": RUNTIME_ROLE,
            **SESSION_SETTINGS,
            "statement_timeout": str(int(statement_timeout * 1000)),
            "idle_in_transaction_session_timeout": "60000",
        }
        self.refused: str | None = None
        self.clustered = False
        self._observer = observer or DatabaseObserver()
        self._brought = settings if pooled_transactions else {}
        kept = {} if pooled_transactions else settings
        self._ending: set[asyncio.Task[None]] = set()
        self._engine: AsyncEngine = engine_of(
            url,
            isolation_level="AUTOCOMMIT",
            hide_parameters=True,
            json_deserializer=from_json,
            pool_size=pool_size,
            max_overflow=0,
            pool_timeout=pool_timeout,
            pool_use_lifo=True,
            connect_args={
                "server_settings": {"application_name": "typed-memory", **kept},
                "timeout": pool_timeout,
                **KEPT_STATEMENTS,
                **(_UNPREPARED if pooled_transactions else {}),
            },
        )
        event.listen(self._engine.sync_engine, "connect", _connected)
        self._unpooled: AsyncEngine = engine_of(
            direct_url or url,
            isolation_level="AUTOCOMMIT",
            hide_parameters=True,
            poolclass=NullPool,
            connect_args={
                "server_settings": {"application_name": "typed-memory worker", **settings},
                "timeout": pool_timeout,
                **KEPT_STATEMENTS,
            },
        )

    @contextlib.asynccontextmanager
    async def read(self, tenant: UUID | None, **local: str) -> AsyncIterator[ReadSession]:
        """Open a read-only transaction; `local` are further settings for its duration."""
        connection, driver = await self._open(opening_of(f"{_BEGIN} READ ONLY", tenant, self._settings(local)))
        try:
            yield ReadSession(driver)
        except _CONNECTION_LOST as error:
            await _forget(connection, error)
            raise unavailable() from error
        except Exception as error:
            self._note(error)
            raise
        finally:
            # Not awaited: the reads are complete, and the end of the transaction changes nothing.
            end = asyncio.create_task(_end(connection, driver))
            self._ending.add(end)
            end.add_done_callback(self._ending.discard)

    @contextlib.asynccontextmanager
    async def write(self, tenant: UUID | None, **local: str) -> AsyncIterator[WriteSession]:
        """Open a read-write transaction; `local` are further settings for its duration."""
        connection, driver = await self._open(opening_of(_BEGIN, tenant, self._settings(local)))
        try:
            try:
                yield WriteSession(driver, ChangeTime(local.get(_CHANGED_AT)), self.clustered)
            except BaseException as error:
                self._note(error)
                await asyncio.shield(_finish(connection, driver, "ROLLBACK"))
                raise
            await self._commit(connection, driver)
        except _CONNECTION_LOST as error:
            await _forget(connection, error)
            raise unavailable() from error
        finally:
            connection.give_back()

    async def _commit(self, connection: PooledConnection, driver: asyncpg.Connection) -> None:
        try:
            await _finish(connection, driver, "COMMIT")
        except asyncpg.PostgresError as error:
            ours = translated(error)
            if ours is None:
                raise
            self._note(ours)
            self._note(error)
            raise ours from error
        self.refused = None

    def _settings(self, local: Mapping[str, str]) -> dict[str, str]:
        settings = {**self._brought, **local}
        if self.clustered and PLANNED_ONCE.items() <= settings.items():
            settings |= {name: SESSION_SETTINGS[name] for name in PLANNED_ONCE}
        return settings

    def _note(self, error: BaseException) -> None:
        if isinstance(error, WritesRefused):
            self.refused = error.message
        if (state := sqlstate(error)) is not None:
            self._observer.failed(state)

    async def _open(self, opening: str) -> tuple[PooledConnection, asyncpg.Connection]:
        """Return a connection inside its transaction; replace a stale pooled one, once."""
        await pauses.step()
        started = perf_counter()
        for last in (False, True):
            try:
                connection = await PooledConnection.take(self._engine)
                self._observer.waited(perf_counter() - started)
            except PoolTimeout as error:
                raise DatabaseBusy(
                    "all database connections are busy: retry, or raise TM_DATABASE_POOL_SIZE",
                    retry_after=RETRY_AFTER,
                ) from error
            except (*_CONNECTION_LOST, self._engine.dialect.loaded_dbapi.Error) as error:
                raise unavailable() from error
            try:
                # Not prepared, so that tenants' ids don't fill the statement cache.
                driver = connection.driver
                await driver.execute(opening)
            except _CONNECTION_LOST as error:
                await connection.invalidate()
                connection.give_back()
                if last:
                    raise unavailable() from error
            except BaseException:
                await connection.invalidate()
                connection.give_back()
                raise
            else:
                return connection, driver
        raise AssertionError("unreachable")

    @contextlib.asynccontextmanager
    async def dedicated(self, **settings: str) -> AsyncIterator[asyncpg.Connection]:
        """Open a connection outside the pool and outside transactions, for listening and for the job queue.

        `settings` are further ones of its session. Raises DatabaseUnavailable.
        """
        try:
            connection = await self._unpooled.connect()
        except (*_CONNECTION_LOST, DBAPIError) as error:
            raise unavailable() from error
        try:
            driver = await _driver_of(connection)
            try:
                for name, value in settings.items():
                    await driver.execute(f"SET {name} = '{value}'")
            except _CONNECTION_LOST as error:
                raise unavailable() from error
            yield driver
        finally:
            await asyncio.shield(connection.close())

    def pool_in_use(self) -> int:
        """Return the number of connections that are checked out now."""
        return int(getattr(self._engine.pool, "checkedout", lambda: 0)())

    async def close(self) -> None:
        """Close every pooled connection."""
        await asyncio.gather(*self._ending)
        await self._engine.dispose()


@contextlib.asynccontextmanager
async def owner_transaction(url: str) -> AsyncIterator[AsyncConnection]:
    """Open a read-write transaction of the database's owner, on a connection of its own."""
    engine = engine_of(url, poolclass=NullPool)
    try:
        async with engine.begin() as connection:
            yield connection
    finally:
        await engine.dispose()


async def fetch_alone(connection: asyncpg.Connection, sql: str, *arguments: object) -> asyncpg.Record:
    """Return the row of one statement in a transaction of its own: a pooler keeps only those on one connection."""
    async with connection.transaction(readonly=True):
        return await connection.fetchrow(sql, *arguments)


async def send_vectors_in_binary(connection: asyncpg.Connection) -> None:
    """Let a connection take pgvector's objects as values, where the database has pgvector, and send them in binary."""
    async with connection.transaction(readonly=True):  # a pooler keeps only a transaction on one connection
        schema = await connection.fetchval(_SCHEMA_OF_VECTORS)
        if schema is not None:
            await register_vector(connection, schema=schema)


_SCHEMA_OF_VECTORS = """
    SELECT n.nspname FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
    WHERE t.oid = to_regtype('sparsevec')
"""


def _connected(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
    connection.run_async(send_vectors_in_binary)


async def _driver_of(connection: AsyncConnection) -> asyncpg.Connection:
    raw = await connection.get_raw_connection()
    driver = raw.driver_connection
    assert isinstance(driver, asyncpg.Connection)  # noqa: S101 - narrows for the type checker
    return driver


def opening_of(begin: str, tenant: UUID | None, local: Mapping[str, str]) -> str:
    """Return the script that begins a transaction, in one round trip."""
    settings = dict(local)
    if tenant is not None:
        settings["app.tenant_id"] = str(tenant)
    return "; ".join([begin, *(f"SET LOCAL {name} = '{value}'" for name, value in settings.items())])


async def _end(connection: PooledConnection, driver: asyncpg.Connection) -> None:
    """End a read transaction and return its connection to the pool."""
    try:
        with contextlib.suppress(Exception):
            await _finish(connection, driver, "COMMIT")
    finally:
        connection.give_back()


async def _finish(connection: PooledConnection, driver: asyncpg.Connection, ending: str) -> None:
    """End a transaction. A rollback that fails is none the less done: the connection goes, and its changes with it."""
    if not connection.raw.is_valid:
        return
    try:
        await driver.execute(ending)
    except BaseException:
        await connection.invalidate()
        if ending == "COMMIT":
            raise


async def _forget(connection: PooledConnection, error: BaseException) -> None:
    """Drop a connection that was lost; a coordinator's that only reports the loss of one to a node stays in the pool.

    It knows the tables of all nodes, which takes a new one a second to learn.
    """
    if not isinstance(error, asyncpg.PostgresError) or error.severity_en != "ERROR":
        await connection.invalidate()
