"""Which schema the database has, and bringing it to the one this code needs."""

from __future__ import annotations

import asyncio
import threading
import time
from functools import cache
from urllib.parse import urlsplit

import asyncpg
from alembic.script import ScriptDirectory
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.db import migrate
from app.db.session import Database
from app.errors import ConfigurationError, DatabaseUnavailable

_PAUSE = 0.5
_ALEMBIC = threading.Lock()
"""Alembic keeps its context in a module: one run at a time in a process. Processes wait in the database."""

_CONNECT_SECONDS = 5.0


async def current(database: Database) -> str | None:
    """Return the revision of the schema, None before the first migration.

    Raises DatabaseUnavailable when the database cannot be asked.
    """
    try:
        async with database.read(None) as session:
            value = (await session.execute(text("SELECT version_num FROM alembic_version"))).scalar()
    except DatabaseUnavailable:
        raise
    except (DBAPIError, asyncpg.PostgresError):
        # No such table, or no such role yet: nobody has migrated this database.
        return None
    return None if value is None else str(value)


@cache
def known() -> frozenset[str]:
    """Return every revision this code knows; another one is of newer code, which keeps ours working."""
    scripts = ScriptDirectory(str(migrate.MIGRATIONS))
    return frozenset(script.revision for script in scripts.walk_revisions())


def outdated(found: str | None) -> str | None:
    """Return what is wrong with a schema at that revision; None when this code can work with it."""
    if found == migrate.head() or (found is not None and found not in known()):
        return None
    return (
        f"the database's schema is at {found or 'nothing'}, this code needs {migrate.head()}: "
        "run `typed-memory migrate`, or set TM_AUTO_MIGRATE=true"
    )


async def bring_up(owner_url: str, *, patience: float) -> None:
    """As the owner, migrate to the newest revision; a schema of newer code is left alone.

    Waits up to `patience` seconds for a server that is still starting. Raises ConfigurationError when the
    server can't be reached or refuses the login.
    """
    found = await _revision(owner_url, time.monotonic() + patience)
    if found is None or found in known():
        await asyncio.to_thread(_upgrade, owner_url)


def _upgrade(owner_url: str) -> None:
    with _ALEMBIC:
        migrate.upgrade(owner_url)


async def _revision(owner_url: str, deadline: float) -> str | None:
    connection = await _connected(owner_url, deadline)
    try:
        if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
            return None
        value = await connection.fetchval("SELECT version_num FROM alembic_version")
        return None if value is None else str(value)
    finally:
        await connection.close()


async def _connected(owner_url: str, deadline: float) -> asyncpg.Connection:
    where = _place(owner_url)
    while True:
        try:
            return await asyncpg.connect(_plain(owner_url), timeout=_CONNECT_SECONDS)
        except (OSError, TimeoutError, asyncpg.CannotConnectNowError) as error:
            if time.monotonic() >= deadline:
                raise ConfigurationError(
                    f"the database at {where} can't be reached ({error}): start it, or mend TM_DATABASE_URL"
                ) from error
        except (asyncpg.PostgresError, asyncpg.InterfaceError, ValueError) as error:
            raise ConfigurationError(f"the database at {where} refuses us ({error}): mend TM_DATABASE_URL") from error
        await asyncio.sleep(_PAUSE)


def _plain(url: str) -> str:
    return url.replace("postgresql+asyncpg://", "postgresql://", 1)


def _place(url: str) -> str:
    """Return where a URL points, without its login."""
    parts = urlsplit(url)
    return f"{parts.netloc.rpartition('@')[2]}{parts.path}" or "?"
