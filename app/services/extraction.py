"""A tenant's settings of extraction, and what its language model has cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from app.db import quotas, tenants
from app.db.audit import AuditWriter, append
from app.db.quotas import ExtractionCost
from app.db.session import Database, ReadSession
from app.memory.audit import AuditAction
from app.memory.extraction import TenantPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionPolicies:
    """The extraction policies of tenants."""

    database: Database
    clock: Callable[[], datetime]

    async def get(self, tenant: UUID) -> TenantPolicy:
        """Return a tenant's policy; what the tenant never set is the service's default."""
        async with self.database.read(tenant) as session:
            return (await self.policy_and_types(session, tenant))[0]

    async def policy_and_types(self, session: ReadSession, tenant: UUID) -> tuple[TenantPolicy, int]:
        """Return a tenant's policy, as `get`, and the version of its own types, in a transaction that is open."""
        settings, types = await tenants.settings_and_types(session, tenant)
        return TenantPolicy.model_validate(settings), types

    async def put(self, tenant: UUID, policy: TenantPolicy, *, by: str) -> TenantPolicy:
        """Replace a tenant's policy and return it; `by` is the actor for the audit log."""
        async with self.database.write(tenant, **tenants.AS_OPERATOR) as session:
            before = TenantPolicy.model_validate(await tenants.settings(session, tenant, lock=True))
            await tenants.change_settings(session, tenant, policy.model_dump(mode="json", exclude_unset=True))
            detail = {"before": before.model_dump(mode="json"), "after": policy.model_dump(mode="json")}
            ledger = AuditWriter(tenant=tenant, actor=by, at=self.clock())
            await append(session, [ledger.event(AuditAction.POLICY_CHANGED, detail)])
        return policy

    async def costs(self, tenant: UUID, since: date, until: date) -> Sequence[ExtractionCost]:
        """Return the cost of extraction on each of these days, both ends included."""
        async with self.database.read(tenant) as session:
            return await quotas.costs_between(session, tenant, since, until)
