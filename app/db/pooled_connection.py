"""A connection that is checked out of the pool."""

from __future__ import annotations

from dataclasses import dataclass

import asyncpg
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.pool import PoolProxiedConnection
from sqlalchemy.util import greenlet_spawn


@dataclass(slots=True)
class PooledConnection:
    """A connection from the pool. SQLAlchemy's object around it takes longer to make than a statement to run."""

    engine: AsyncEngine
    raw: PoolProxiedConnection
    _wrapped: AsyncConnection | None = None

    @classmethod
    async def take(cls, engine: AsyncEngine) -> PooledConnection:
        """Wait for a connection; raise as the pool does."""
        return cls(engine, await greenlet_spawn(engine.sync_engine.raw_connection))

    @property
    def driver(self) -> asyncpg.Connection:
        """Return the driver's connection."""
        driver = self.raw.driver_connection
        assert isinstance(driver, asyncpg.Connection)  # noqa: S101 - narrows for the type checker
        return driver

    @property
    def wrapped(self) -> AsyncConnection:
        """Return SQLAlchemy's connection, which is made when it is first asked for."""
        if self._wrapped is None:
            self._wrapped = AsyncConnection(self.engine, Connection(self.engine.sync_engine, self.raw))
        return self._wrapped

    async def invalidate(self) -> None:
        """Close the connection instead of returning it to the pool."""
        if self.raw.is_valid:
            await greenlet_spawn(self.raw.invalidate)

    def give_back(self) -> None:
        """Return the connection to the pool: without waiting, because no transaction is open."""
        self.raw.close()
