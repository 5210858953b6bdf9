"""Connections of the driver's: opened by a connection string with all that it says, or taken from the pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import asyncpg
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import PoolProxiedConnection
from sqlalchemy.util import greenlet_spawn

from app import connection_strings

_DIALECT: Final = "postgresql+asyncpg://"
"""What SQLAlchemy learns of a connection string: it would read it otherwise than the driver does."""


async def open_connection(
    url: str,
    *,
    server_settings: Mapping[str, str] | None = None,
    timeout: float | None = None,  # noqa: ASYNC109 - the driver's own
    **options: Any,  # noqa: ANN401 - the driver's own
) -> asyncpg.Connection:
    """Open a connection; what the string names counts above `timeout`, and its settings below ours but for its name.

    Raises ValueError for a string that can't be honoured, and what the driver raises.
    """
    said = connection_strings.read(url)
    ours = dict(server_settings or {})
    settings = {**said.settings, **ours, **{k: v for k, v in said.settings.items() if k == "application_name"}}
    given = {**options, "server_settings": settings}
    if (seconds := said.timeout or timeout) is not None:
        given["timeout"] = seconds
    if "statement_cache_size" in said.caches:
        given.setdefault("statement_cache_size", said.caches["statement_cache_size"])
    return await asyncpg.connect(said.dsn, **given)


def engine_of(url: str, *, connect_args: Mapping[str, Any] | None = None, **options: Any) -> AsyncEngine:  # noqa: ANN401 - SQLAlchemy's own
    """Return SQLAlchemy's engine of connections that are opened so; nothing connects yet."""
    given = {**(connect_args or {}), "async_creator_fn": partial(open_connection, url)}
    caches = connection_strings.read(url).caches
    if "prepared_statement_cache_size" in caches:
        given.setdefault("prepared_statement_cache_size", caches["prepared_statement_cache_size"])
    return create_async_engine(_DIALECT, connect_args=given, **options)


@dataclass(slots=True)
class PooledConnection:
    """A connection from the pool. SQLAlchemy's object around it takes longer to make than a statement to run."""

    raw: PoolProxiedConnection

    @classmethod
    async def take(cls, engine: AsyncEngine) -> PooledConnection:
        """Wait for a connection; raise as the pool does."""
        return cls(await greenlet_spawn(engine.sync_engine.raw_connection))

    @property
    def driver(self) -> asyncpg.Connection:
        """Return the driver's connection."""
        driver = self.raw.driver_connection
        assert isinstance(driver, asyncpg.Connection)  # noqa: S101 - narrows for the type checker
        return driver

    async def invalidate(self) -> None:
        """Close the connection instead of returning it to the pool."""
        if self.raw.is_valid:
            await greenlet_spawn(self.raw.invalidate)

    def give_back(self) -> None:
        """Return the connection to the pool: without waiting, because no transaction is open."""
        self.raw.close()
