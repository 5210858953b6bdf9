"""Asking a database as its owner, past row-level security, in a connection beside those of the service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID, uuid4

import asyncpg

from app.db.login import Login
from app.model import Actor
from tests.support.waiting import PATIENCE


@dataclass(frozen=True, slots=True)
class _KeptConnection:
    connection: asyncpg.Connection
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def is_free(self) -> bool:
        return not self.connection.is_closed() and not self.lock.locked()


_KEPT: Final[dict[str, _KeptConnection]] = {}
"""The connections that stay open, by the login."""


def login(url: str, *, patience: float = PATIENCE) -> Login:
    """Return the login of a URL, as the commands get it from their settings."""
    return Login(url=url, setting="TM_DATABASE_URL", patience=patience)


@asynccontextmanager
async def kept_open(url: str) -> AsyncIterator[None]:
    """Let `ask` use one connection to this database: a new one costs more than most statements."""
    connection = await asyncpg.connect(url, statement_cache_size=0)
    _KEPT[url] = _KeptConnection(connection)
    try:
        yield
    finally:
        del _KEPT[url]
        await connection.close()


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def ask(url: str, statement: str, *arguments: object) -> list[asyncpg.Record]:
    """Return the rows of one statement."""
    kept = _KEPT.get(url)
    if kept is not None and kept.is_free:
        async with kept.lock:
            return list(await kept.connection.fetch(statement, *arguments))
    async with connected(url) as connection:
        return list(await connection.fetch(statement, *arguments))


async def script(url: str, statements: str) -> None:
    """Run statements without parameters on a connection of their own."""
    async with connected(url) as connection:
        await connection.execute(statements)


async def new_tenant(url: str, tenant: UUID | None = None) -> Actor:
    """Return an admin who acts for a tenant that is new."""
    actor = Actor(tenant_id=tenant or uuid4(), key_id=None, name="tester", roles=frozenset({"admin"}))
    await ask(url, "INSERT INTO tenants (id, name) VALUES ($1, $2)", actor.tenant_id, str(actor.tenant_id))
    return actor
