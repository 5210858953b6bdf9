"""Asking a database as its owner, past row-level security, in a connection of one's own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

import asyncpg

from app.model import Actor


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def ask(url: str, statement: str, *arguments: object) -> list[asyncpg.Record]:
    """Return the rows of one statement."""
    async with connected(url) as connection:
        return list(await connection.fetch(statement, *arguments))


async def new_tenant(url: str, tenant: UUID | None = None) -> Actor:
    """Return somebody who acts for a tenant that is new."""
    actor = Actor(tenant_id=tenant or uuid4(), key_id=None, name="tester")
    await ask(url, "INSERT INTO tenants (id, name) VALUES ($1, $2)", actor.tenant_id, str(actor.tenant_id))
    return actor
