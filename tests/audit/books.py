"""An audit log in a real database, and short ways to write to it, seal it and tamper with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from app.db.audit import AuditWriter, append
from app.db.session import statement
from app.db.sql import Row
from app.memory.audit import AuditAction
from app.services.audit import Audit, Verification
from tests.support.stores import Store


@dataclass(frozen=True, slots=True)
class Book:
    """The audit log of a store's tenant."""

    store: Store
    audit: Audit

    @property
    def tenant(self) -> UUID:
        return self.store.tenant

    def event(self) -> Row:
        """Return an event, not written yet."""
        at = self.store.pipeline.clock()
        return AuditWriter(tenant=self.tenant, actor="tester", at=at).event(AuditAction.MEMORY_CHANGED)

    async def write(self, count: int = 1, *, memory: UUID | None = None, scope: UUID | None = None) -> list[UUID]:
        """Append events, by default about nothing in particular, in one transaction."""
        at = self.store.pipeline.clock()
        ledger = AuditWriter(tenant=self.tenant, actor='ünïq "tester"\t', at=at, scope=scope)
        events = [
            ledger.event(AuditAction.MEMORY_CHANGED, {"n": 0.1 * n, "why": 'é\n"\u2028'}, memory=memory or uuid4())
            for n in range(count)
        ]
        async with self.store.database.write(self.tenant) as session:
            await append(session, events)
        return [UUID(str(one["id"])) for one in events]

    async def seals(self, *sizes: int) -> list[list[UUID]]:
        """Write events and seal them, a seal of each size."""
        found = []
        for size in sizes:
            found.append(await self.write(size))
            assert await self.audit.seal(self.tenant) == size
        return found

    async def verify(self, **options: Any) -> Verification:
        return await self.audit.verify(self.tenant, **options)

    async def redact(self, memories: list[UUID], scopes: list[UUID]) -> int:
        """Empty events as an erasure does."""
        async with self.store.database.write(self.tenant) as session:
            [[found]] = await session.fetch(
                statement("SELECT redact_audit(:tenant, :memories, :scopes)"),
                {"tenant": self.tenant, "memories": memories, "scopes": scopes},
            )
            return int(found)

    async def tamper(self, statement: str, *arguments: object) -> None:
        """Change what nobody may, as an owner who turns the triggers off."""
        connection = await asyncpg.connect(self.store.url)
        try:
            async with connection.transaction():
                await connection.execute("SET LOCAL session_replication_role = replica")
                changed = await connection.execute(statement, *arguments)
        finally:
            await connection.close()
        assert not changed.endswith(" 0"), changed
