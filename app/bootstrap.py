"""Start of the database, which may be an embedded server, its migration, and the first key."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import structlog

from app.db import change_notes, checks, distribution
from app.db import migrate as db_migrate
from app.db.clock import DatabaseClock
from app.db.embedded.server import KEY_FILE, ServerWatch, data_dir, start_embedded
from app.db.login import Login
from app.db.replica import Replica
from app.db.session import Database, DatabaseObserver
from app.errors import ConfigurationError
from app.metrics import Metrics
from app.providers.embeddings import Embedder
from app.providers.factory import make_embedder
from app.runtime import open_in_background
from app.services.keys import Keys
from app.services.limits import Quotas
from app.services.tenants import Tenants
from app.settings import Limits, Settings

log = structlog.get_logger("typed_memory.runtime")


def now() -> datetime:
    """Return the present time in UTC by this machine's clock; `Store.clock` is the one that orders writes."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """The open database with this code's schema, and its basic services. `owner_url` may migrate it.

    `clock` is the database's, by which every process orders what it writes.
    """

    database: Database
    owner_url: str
    clock: DatabaseClock
    keys: Keys
    quotas: Quotas
    tenants: Tenants


async def open_store(
    settings: Settings,
    metrics: Metrics,
    stack: AsyncExitStack,
    *,
    migrate: bool,
    wall: Callable[[], datetime] = now,
) -> Store:
    """Start an embedded server if needed, upgrade the schema with `migrate`, and open the database.

    `wall` is this machine's clock, which is compared with the database's. Raises ConfigurationError when the schema
    does not fit this code, or the database is not one that the service can use.
    """
    login, owner = await database_logins(settings, metrics, stack)
    _refuse_impossible(settings)
    facts = await checks.wait_for(login, pooler=settings.pooler)
    if migrate:
        await db_migrate.bring_up(owner)
        if left := await distribution.unfinished(owner):
            log.warning("the store's nodes lack what was migrated: run `typed-memory distribute`", left=left)
        if settings.resident_mb:
            await _note_changes(owner)
        facts = await checks.wait_for(login, pooler=settings.pooler)
    checks.check_login(facts)
    database = open_database(settings, login.url, metrics)
    stack.push_async_callback(database.close)
    await checks.check_acting(database)
    wrong = db_migrate.is_outdated(await db_migrate.current(database))
    if wrong is not None:
        raise ConfigurationError(wrong)
    clock = DatabaseClock(database=database, wall=wall)
    await clock.start()
    await open_in_background(stack, clock.run())
    metrics.watch_clock(clock.skew)
    keys = Keys(database=database, clock=clock)
    stack.push_async_callback(keys.aclose)
    return Store(
        database=database,
        owner_url=owner.url,
        clock=clock,
        keys=keys,
        quotas=Quotas(
            database=database,
            clock=clock,
            of_tenant=settings.tenant_limits or Limits(),
            of_key=settings.key_limits or Limits(),
        ),
        tenants=Tenants(database=database, clock=clock),
    )


async def _note_changes(owner: Login) -> None:
    """Let changes be noted for scopes in memory; the service works without, so its start does not depend on it."""
    try:
        await change_notes.keep(owner)
    except ConfigurationError as error:
        log.warning("changes are not noted", why=str(error))


@asynccontextmanager
async def open_runtime_store(settings: Settings) -> AsyncIterator[Store]:
    """Yield the store alone, for commands that don't need the rest of the service."""
    async with AsyncExitStack() as stack:
        yield await open_store(settings, Metrics(), stack, migrate=settings.auto_migrate)


@asynccontextmanager
async def open_embedding_store(settings: Settings) -> AsyncIterator[tuple[Store, Embedder]]:
    """Yield the store, whose schema must fit this code, and the configured embedder."""
    metrics = Metrics()
    async with AsyncExitStack() as stack:
        store = await open_store(settings, metrics, stack, migrate=False)
        embedder = make_embedder(settings, metrics)
        stack.push_async_callback(embedder.aclose)
        yield store, embedder


def _refuse_impossible(settings: Settings) -> None:
    """Raise ConfigurationError for what cannot work through a pooler that gives each transaction another connection."""
    if settings.pooler == "transaction" and settings.direct_database_url is None:
        raise ConfigurationError(
            "migrations, jobs and the change of the embedding model need connections of their own, which a pooler in "
            "transaction mode does not give: set TM_DIRECT_DATABASE_URL to Postgres itself"
        )


async def database_logins(settings: Settings, metrics: Metrics, stack: AsyncExitStack) -> tuple[Login, Login]:
    """Return the service's login and the owner's; without configuration, of an embedded server."""
    if (login := Login.of_service(settings)) is not None:
        return login, Login.of_owner(settings) or login
    server = await asyncio.to_thread(start_embedded, data_dir(settings))

    def restarted() -> None:
        metrics.database_restart()
        log.warning("the embedded database had died and was started again")

    watch = ServerWatch(server, restarted=restarted, failed=lambda why: log.error("embedded database", reason=why))
    stack.push_async_callback(asyncio.to_thread, watch.release)
    await open_in_background(stack, watch.run())
    embedded = Login.embedded(server.url, settings)
    return embedded, embedded


def open_database(settings: Settings, url: str, metrics: Metrics) -> Database:
    """Return the database with its pool of connections; nothing connects yet."""
    direct = settings.direct_database_url
    database = _database(
        settings,
        url,
        direct_url=None if direct is None else direct.get_secret_value(),
        observer=DatabaseObserver(waited=metrics.pool_waited, failed=metrics.database_error),
    )
    metrics.watch_pool(database.pool_in_use, settings.database_pool_size)
    return database


def open_replica(settings: Settings, primary: Database, metrics: Metrics, stack: AsyncExitStack) -> Replica | None:
    """Return the replica that questions are answered from, None when none is configured; nothing connects yet.

    Raises ConfigurationError beside a cluster: a tenant's rows are on a node, which has a log of its own.
    """
    url = settings.replica_database_url
    if url is None:
        return None
    if primary.clustered:
        raise ConfigurationError(
            "a cluster's coordinator has no replica to ask questions: unset TM_REPLICA_DATABASE_URL, and give each "
            "node a standby of its own"
        )
    copy = _database(settings, url.get_secret_value())
    stack.push_async_callback(copy.close)
    return Replica(primary=primary, copy=copy, wait=settings.replica_wait, observe=metrics.read_source)


def _database(
    settings: Settings, url: str, *, direct_url: str | None = None, observer: DatabaseObserver | None = None
) -> Database:
    return Database(
        url,
        pool_size=settings.database_pool_size,
        pool_timeout=settings.database_pool_timeout,
        statement_timeout=settings.statement_timeout,
        pooled_transactions=settings.pooler == "transaction",
        direct_url=direct_url,
        observer=observer,
    )


async def first_key(settings: Settings, store: Store) -> str | None:
    """Return the first key of the default tenant if this start created it; store it in the CLI's key file."""
    given = settings.bootstrap_key
    tenant = await store.tenants.ensure_default()
    made = await store.keys.ensure_bootstrap(tenant.id, None if given is None else given.get_secret_value())
    if made is not None and settings.database_url is None:
        await asyncio.to_thread(_keep, data_dir(settings) / KEY_FILE, made)
    return made


def _keep(path: Path, secret: str) -> None:
    """Write a secret to a file that only this user can read."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(f"{secret}\n")
