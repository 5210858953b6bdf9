"""Migrations of the schema: run them under lock timeouts, compare revisions, and repair what they granted."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from functools import lru_cache
from pathlib import Path
from typing import Any

import asyncpg
import structlog
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy.exc import DBAPIError

import migrations
from app.db.failures import cause_of
from app.db.login import Login, connected
from app.db.privileges import Privileges, admit
from app.db.session import Database, statement
from app.errors import ConfigurationError, DatabaseUnavailable

PREPARE = (
    "migrate with a superuser's login in TM_MIGRATION_DATABASE_URL, or have a superuser run once in this database: "
    "CREATE EXTENSION vector; CREATE EXTENSION pg_trgm; CREATE EXTENSION btree_gin; CREATE EXTENSION btree_gist; "
    "CREATE ROLE typed_memory_runtime NOLOGIN; GRANT typed_memory_runtime TO the login that migrates; "
    "GRANT SET ON PARAMETER deadlock_timeout TO the login that migrates"
)
"""Advice for an owner without the rights that migrations need."""

MIGRATIONS = Path(migrations.__file__).parent

LOCK_TIMEOUT_SECONDS = 0.5
"""The lock timeout of a migration's statements: every request that queues behind it waits that long, too.

It is shorter than Postgres's `deadlock_timeout` (a second): a migration that holds one table and waits for another is
rolled back before a request that holds the other and waits for the one is cancelled as part of a deadlock.
"""

DEADLOCK_TIMEOUT_SECONDS = 0.1
"""The deadlock timeout of a migration, short so that the migration is cancelled rather than a request, and so that it
cancels a blocking autovacuum soon. Setting it needs a right that `PREPARE` grants; without it the default stays."""

SET_LOCK_TIMEOUT = f"SET lock_timeout = '{LOCK_TIMEOUT_SECONDS}s'"

GIVE_WAY = (
    f"SELECT set_config('deadlock_timeout', '{DEADLOCK_TIMEOUT_SECONDS}s', false) "
    "WHERE has_parameter_privilege('deadlock_timeout', 'SET')"
)

TRIES = 60
"""Attempts of a migration to get its locks, over about ten minutes."""

_LONGEST_PAUSE = 8.0

IN_THE_WAY = (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError)

log = structlog.get_logger("typed_memory.migrations")


async def patiently(work: Callable[[], Awaitable[object]], *, tries: int = TRIES, pause: float = 1.0) -> None:
    """Do some work in the database; while a lock is in the way, let waiting requests pass and try again.

    `pause` in seconds lies between the attempts, of which the last one's error is raised.
    """
    for left in reversed(range(tries)):
        try:
            await work()
        except (asyncpg.PostgresError, DBAPIError) as error:
            if not left or not isinstance(cause_of(error), IN_THE_WAY):
                raise
            await asyncio.sleep(pause)
        else:
            return


def configuration(owner_url: str) -> Config:
    """Return Alembic's configuration for an owner login."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["url"] = owner_url
    return config


def upgrade(owner_url: str, revision: str = "head", *, tries: int = TRIES) -> None:
    """Upgrade the schema to a revision; blocking. Concurrent callers wait for one another.

    A migration that is blocked by a long transaction is rolled back, lets waiting requests pass, and is retried.
    Raises ConfigurationError when the login lacks rights, the disk is full, or the long transaction outlasts all
    attempts.
    """
    _patiently(lambda: command.upgrade(configuration(owner_url), revision), tries)


def downgrade(owner_url: str, revision: str) -> None:
    """Downgrade the schema to a revision; blocking. Waits and raises as `upgrade` does."""
    _patiently(lambda: command.downgrade(configuration(owner_url), revision), TRIES)


def _patiently(migrate: Callable[[], None], tries: int) -> None:
    """Repeat a migration, each time from the revision that the last attempt reached, until no lock blocks it."""
    pause = 1.0
    for left in reversed(range(tries)):
        try:
            return migrate()
        except DBAPIError as error:
            cause = cause_of(error)
            if isinstance(cause, asyncpg.InsufficientPrivilegeError):
                raise ConfigurationError(f"the login may not migrate ({cause}): {PREPARE}") from error
            if isinstance(cause, asyncpg.IntegrityConstraintViolationError):
                raise ConfigurationError(
                    f"what is stored does not fit that schema ({cause}): nothing of this step was changed"
                ) from error
            if isinstance(cause, asyncpg.DiskFullError):
                raise ConfigurationError(
                    f"the database's disk is full ({cause}): free some space, and start again where it stopped"
                ) from error
            if not isinstance(cause, IN_THE_WAY):
                raise
            if left == 0:
                raise ConfigurationError(_blocked(error)) from error
            log.warning(
                "a migration waits for another transaction",
                tries_left=left,
                pause_seconds=pause,
                statement=_shortened(error),
                reason=str(cause),
            )
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
    raise AssertionError("unreachable")


def _blocked(error: DBAPIError) -> str:
    return (
        f"another transaction holds on to a table that a migration must change ({_shortened(error)}): end it "
        "(pg_stat_activity says which began first), and run `typed-memory migrate` again: it goes on where it stopped"
    )


def _shortened(error: DBAPIError) -> str:
    """Return the start of the statement that failed, in one line."""
    return " ".join((error.statement or "").split())[:80]


def head() -> str:
    """Return the newest revision that this code has."""
    found = _scripts().get_current_head()
    if found is None:
        raise RuntimeError("no migrations found")
    return found


def _scripts() -> ScriptDirectory:
    """Return the migrations of this code; they are compiled once, as long as no file comes or goes."""
    return _compiled(MIGRATIONS, frozenset(path.name for path in (MIGRATIONS / "versions").glob("*.py")))


@lru_cache(maxsize=1)
def _compiled(folder: Path, files: frozenset[str]) -> ScriptDirectory:  # noqa: ARG001 - of which files it was made
    return ScriptDirectory(str(folder))


_ALEMBIC = threading.Lock()
"""Allows one run at a time in a process, because Alembic's context is global. Processes wait in the database."""

_CURRENT = statement("SELECT version_num FROM alembic_version")


async def current(database: Database) -> str | None:
    """Return the revision of the database's schema, None before the first migration.

    Raises DatabaseUnavailable.
    """
    try:
        async with database.read(None) as session:
            rows = await session.fetch(_CURRENT, {})
    except DatabaseUnavailable:
        raise
    except (DBAPIError, asyncpg.PostgresError):
        # The table or the role does not exist: this database was never migrated.
        return None
    return str(rows[0]["version_num"]) if rows else None


def known_revisions() -> frozenset[str]:
    """Return every revision that this code knows."""
    return frozenset(script.revision for script in _scripts().walk_revisions())


def is_newer(found: str | None) -> bool:
    """Return whether a revision is of newer code, whose schema this code can use: they are numbered one by one."""
    return found is not None and found.isdecimal() and len(found) == len(head()) and found > head()


def is_outdated(found: str | None) -> str | None:
    """Return why this code can't use a schema at that revision, None when it can."""
    if found == head() or is_newer(found):
        return None
    if found is not None and found not in known_revisions():
        return (
            f"the database's schema is at {found}, which this code has never had: run `typed-memory export` with the "
            "code that made it, and `typed-memory import` with this one on an empty database"
        )
    return (
        f"the database's schema is at {found or 'nothing'}, this code needs {head()}: "
        "run `typed-memory migrate`, or set TM_AUTO_MIGRATE=true"
    )


async def bring_up(owner: Login, *, service_url: str | None = None) -> None:
    """As the owner, upgrade to the newest revision; a schema of newer code is left unchanged.

    Creates missing roles and grants missing privileges, and creates the login of `service_url` if that is given.
    Waits for the server and raises ConfigurationError as `app.db.login.connect`.
    """
    found = await owner_revision(owner)
    if is_newer(found):
        return
    if found is not None and found not in known_revisions():
        raise ConfigurationError(is_outdated(found) or found)
    if found is not None:
        await _repair(owner, found)
    await asyncio.to_thread(_upgrade, owner.url)
    if service_url is not None:
        async with connected(owner) as connection:
            await _as_far_as_allowed(admit(connection, service_url))


async def _repair(owner: Login, revision: str) -> None:
    async with connected(owner) as connection:
        if await _as_far_as_allowed(privileges(revision).repair(connection)):
            log.warning("the service's role or its privileges were missing and were made again")


async def _as_far_as_allowed(change: Coroutine[Any, Any, bool]) -> bool:
    try:
        return await change
    except asyncpg.InsufficientPrivilegeError as error:
        raise ConfigurationError(f"the login may not make roles or grant privileges ({error}): {PREPARE}") from error


def privileges(revision: str) -> Privileges:
    """Return what the migrations up to a revision grant."""
    modules = [script.module for script in _scripts().iterate_revisions(revision, "base")][::-1]
    return Privileges(
        grants=[one for module in modules for one in getattr(module, "GRANTS", ())],
        closed=[one for module in modules for one in getattr(module, "CLOSED", ())],
    )


def _upgrade(owner_url: str) -> None:
    with _ALEMBIC:
        upgrade(owner_url)


async def owner_revision(owner: Login) -> str | None:
    """Return the revision of the schema as its owner sees it, None before the first migration; raises as `bring_up`."""
    async with connected(owner) as connection:
        if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
            return None
        value = await connection.fetchval("SELECT version_num FROM alembic_version")
        return None if value is None else str(value)
