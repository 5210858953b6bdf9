"""Undoing of review decisions: completely, or not at all with the reason.

The former states come from the store's own history (`memory_past`), the changes from the slot engine.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app import ids
from app.db.apply.scope import ScopeMoved, apply, retried
from app.db.audit import append
from app.db.memories import read as memory_reads
from app.db.memories import rivals
from app.db.memories.former import FormerState, read_former, unlink_made_at
from app.db.scopes import lock_scope, scope_version
from app.db.session import SNAPSHOT, ReadSession, stamped
from app.errors import Conflict, NotFound
from app.features.review import resolutions as decisions
from app.features.review import sql as review
from app.features.review.decide import ReviewDecisions, ReviewResult, write_context
from app.memory.audit import AuditAction
from app.model import Actor, Memory
from app.write.rows import PendingRows


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decided:
    """A decision to undo, with the memories that it changed as they were before; `version` is the scope's."""

    at: datetime
    action: str
    memory: Memory
    former: Mapping[UUID, FormerState]
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewUndo:
    """Undoes the latest decision on an item, if nothing that it changed has changed since."""

    decisions: ReviewDecisions

    async def undo(self, actor: Actor, memory: UUID, *, reason: str | None, reviewer: str | None) -> ReviewResult:
        """Undo the latest decision on an item, which then waits again.

        Raises NotFound without a decision, Conflict with the reason when it can't be undone.
        """
        told = {"reason": reason, "reviewer": reviewer}
        return await retried(lambda _: self._undo(actor, memory, told), self.decisions.pipeline.conflict)

    async def _undo(self, actor: Actor, memory: UUID, told: Mapping[str, object]) -> ReviewResult:
        pipeline, tenant = self.decisions.pipeline, actor.tenant_id
        async with pipeline.database.read(tenant, **SNAPSHOT) as session:
            decided = await _read(session, tenant, memory)
            versions = await rivals.read_versions(session, tenant, decided.former)
        scope = decided.memory.scope
        plan = PendingRows(write_context(pipeline, actor, scope))
        outcome = decisions.undo(plan, decided.former, versions)
        async with pipeline.database.write(tenant, **stamped(plan.around.now)) as session:
            if await lock_scope(session, tenant, scope.id(tenant)) != decided.version:
                raise ScopeMoved
            await review.lock(session, tenant, set(decided.former))
            if (await _read(session, tenant, memory)).at != decided.at:
                raise ScopeMoved
            claimed = await apply(session, tenant=tenant, scope=scope, version=decided.version, changes=plan.changes())
            await unlink_made_at(session, tenant, decided.former, decided.at)
            detail = {"action": decided.action, **told, "changed": _names(decided.former)}
            await append(session, [plan.around.ledger.event(AuditAction.REVIEW_UNDONE, detail, memory=memory)])
            stored = await memory_reads.read_memory(session, tenant, memory)
        pipeline.keep_up(tenant, scope, claimed)
        affected = tuple(one for one in outcome.affected if one.id != memory)
        return ReviewResult(outcome=outcome.outcome, memory=stored, affected=affected)


async def _read(session: ReadSession, tenant: UUID, memory: UUID) -> _Decided:
    """Return the latest decision on an item; raise NotFound, or Conflict when it can't be undone."""
    name = ids.public(ids.REVIEW, memory)
    found = await memory_reads.read_memory(session, tenant, memory)
    event = await review.find_decision(session, tenant, memory)
    if found is None or event is None:
        raise NotFound(f"no decision on {name} is on record")
    detail = event["detail"]
    if detail.get("final"):
        raise Conflict(f"the decision can't be undone: {detail['final']}")
    changed = [ids.parse(ids.MEMORY, one) for one in detail.get("changed", ())]
    if not changed:
        raise Conflict("the decision can't be undone: what it changed is not on record")
    former = await read_former(session, tenant, changed)
    moved = [one for one in changed if one not in former or former[one].changed_at != event["occurred_at"]]
    if moved:
        raise Conflict(f"the decision can't be undone: {', '.join(_names(moved))} changed or went since")
    version = await scope_version(session, tenant, found.scope.id(tenant))
    at, action = event["occurred_at"], str(detail.get("action"))
    return _Decided(at=at, action=action, memory=found, former=former, version=version)


def _names(memories: Collection[UUID]) -> list[str]:
    return [ids.public(ids.MEMORY, one) for one in sorted(memories)]
