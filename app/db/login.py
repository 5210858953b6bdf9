"""Logins to the database: the setting that a login comes from, and connections that wait for a server to start."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import asyncpg

from app import connection_strings
from app.db.connecting import open_connection
from app.errors import ConfigurationError
from app.settings import Settings

_PAUSE = 0.5

_CONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """The URL of a login, the setting to correct where it is wrong, and the seconds to wait for the server."""

    url: str = field(repr=False)
    setting: str
    patience: float

    @classmethod
    def of_service(cls, settings: Settings) -> Login | None:
        """Return the configured login of the service; None with the embedded database."""
        return cls._first(settings, "database_url")

    @classmethod
    def of_owner(cls, settings: Settings) -> Login | None:
        """Return the configured login of the database's owner, past a pooler; None with the embedded database."""
        return cls._first(settings, "migration_database_url", "direct_database_url", "database_url")

    @classmethod
    def embedded(cls, url: str, settings: Settings) -> Login:
        """Return the login to the embedded database, which both use."""
        return cls(url=url, setting="TM_DATA_DIR", patience=settings.database_start_timeout)

    @classmethod
    def _first(cls, settings: Settings, *names: str) -> Login | None:
        for name in names:
            if (url := getattr(settings, name)) is not None:
                patience = settings.database_start_timeout
                return cls(url=url.get_secret_value(), setting=f"TM_{name.upper()}", patience=patience)
        return None

    @property
    def place(self) -> str:
        """The host, port and database of the URL."""
        return connection_strings.read(self.url).place


@asynccontextmanager
async def connected(login: Login) -> AsyncIterator[asyncpg.Connection]:
    """Open a connection, and close it at the end of the block; waits and raises as `connect`."""
    connection = await connect(login)
    try:
        yield connection
    finally:
        await connection.close()


async def connect(login: Login) -> asyncpg.Connection:
    """Return a connection; wait, as long as the login says, for a server that is starting or has no free connection.

    Raises ConfigurationError when the server can't be reached or refuses the login.
    """
    deadline = time.monotonic() + login.patience
    while True:
        try:
            return await _writable(login)
        except (OSError, TimeoutError, asyncpg.CannotConnectNowError, asyncpg.PostgresConnectionError) as error:
            if time.monotonic() >= deadline:
                raise ConfigurationError(
                    f"the database at {login.place} can't be reached ({error}): start it or correct {login.setting}"
                ) from error
        except asyncpg.TooManyConnectionsError as error:
            if time.monotonic() >= deadline:
                raise ConfigurationError(
                    f"the database at {login.place} has no free connection ({error}): raise its max_connections, "
                    "or lower TM_DATABASE_POOL_SIZE"
                ) from error
        except asyncpg.InvalidCatalogNameError as error:
            raise ConfigurationError(
                f"there is no database at {login.place}: create it, or correct {login.setting}"
            ) from error
        except (asyncpg.PostgresError, asyncpg.InterfaceError, ValueError) as error:
            raise ConfigurationError(
                f"the database at {login.place} refuses the login ({error}): correct {login.setting}"
            ) from error
        await asyncio.sleep(_PAUSE)


async def _writable(login: Login) -> asyncpg.Connection:
    """Connect to a server that has recovered: one that is stopped before that may not stop at its recovery target."""
    connection = await open_connection(login.url, timeout=_CONNECT_SECONDS, statement_cache_size=0)
    try:
        recovering = await connection.fetchval("SELECT pg_is_in_recovery()")
    except BaseException:
        connection.terminate()
        raise
    if recovering:
        await connection.close()
        raise TimeoutError(f"{login.place} is still recovering, or is a replica")
    return connection
