"""Use cases of tenants, for the operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app import ids
from app.db import scopes, tenants
from app.db.audit import AuditWriter, append
from app.db.session import Database, WriteSession
from app.db.tenants import OldRows, Tenant
from app.errors import Conflict, NotFound
from app.memory.audit import AuditAction
from app.model import Actor, Scope, ScopeKind

DEFAULT_TENANT = "default"
"""The tenant that every store has; its first key is made at the first start."""

SERVICE = "service"
"""The actor that makes the default tenant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenants:
    """The tenants of the service, for the operator's routes and the start; and the scopes of a tenant's user."""

    database: Database
    clock: Callable[[], datetime]

    async def create(self, name: str, *, by: str = SERVICE) -> Tenant:
        """Create a tenant; Conflict when the name is taken. `by` is the actor for its audit log."""
        tenant = Tenant(id=ids.new(), name=name, created_at=self.clock())
        async with self.database.write(tenant.id, **tenants.AS_OPERATOR) as session:
            if not await self._insert(session, tenant, by):
                raise Conflict(f"there is a tenant called {name!r} already", field="name")
        return tenant

    async def scopes_of_user(self, actor: Actor, user: str) -> tuple[UUID, ...]:
        """Return every scope of a user, whatever the agent; the user's own is among them even if nothing is in it."""
        own = Scope(kind=ScopeKind.USER, user_id=user).id(actor.tenant_id)
        async with self.database.read(actor.tenant_id) as session:
            found = await scopes.scopes_of_user(session, actor.tenant_id, user)
        return tuple({own, *found})

    async def list(self) -> Sequence[Tenant]:
        """Return every tenant, oldest first."""
        async with self.database.read(None, **tenants.AS_OPERATOR) as session:
            return await tenants.list_tenants(session)

    async def with_old(self, what: OldRows, before: datetime) -> Sequence[UUID]:
        """Return the tenants that have such rows from before an instant."""
        async with self.database.read(None, **tenants.AS_OPERATOR) as session:
            return await tenants.with_old(session, what, before)

    async def get(self, tenant: UUID) -> Tenant:
        """Return the tenant with that id, or raise NotFound."""
        async with self.database.read(None, **tenants.AS_OPERATOR) as session:
            return ids.require(await tenants.find_by_id(session, tenant), ids.TENANT, tenant)

    async def by_name(self, name: str) -> Tenant:
        """Return the tenant with that name, or raise NotFound."""
        async with self.database.read(None, **tenants.AS_OPERATOR) as session:
            found = await tenants.find_by_name(session, name)
        if found is None:
            raise NotFound(f"no such tenant: {name[:80]!r}")
        return found

    async def ensure_default(self) -> Tenant:
        """Return the tenant `default`, created if it did not exist."""
        tenant = Tenant(id=ids.new(), name=DEFAULT_TENANT, created_at=self.clock())
        async with self.database.write(tenant.id, **tenants.AS_OPERATOR) as session:
            await self._insert(session, tenant, SERVICE)
            return await tenants.find_by_name(session, DEFAULT_TENANT) or tenant

    async def _insert(self, session: WriteSession, tenant: Tenant, by: str) -> bool:
        made = await tenants.insert_tenant(session, tenant)
        if made:
            ledger = AuditWriter(tenant=tenant.id, actor=by, at=self.clock())
            await append(session, [ledger.event(AuditAction.TENANT_CREATED)])
        return made
