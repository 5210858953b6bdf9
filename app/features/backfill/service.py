"""Use cases of backfills: preview, read, commit, undo, cancel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from app import ids
from app.db import jobs
from app.db.audit import AuditWriter, append
from app.db.scopes import find_scopes
from app.db.session import Database, ReadSession, WriteSession
from app.errors import Conflict, DatabaseUnavailable, InvalidInput, NotFound
from app.features.backfill import sql
from app.features.backfill.sql import Backfill, BackfillItemRow
from app.features.backfill.steps import BackfillSteps, Progress, lock_definitions, record_definitions, target_changed
from app.memory.audit import AuditAction
from app.memory.backfill import BackfillEffect, BackfillStatus, Classifier, ItemState
from app.memory.registry import Registry, Types
from app.model import Actor
from app.providers.model_tasks import BeliefClassifier
from app.services.pages import Page, cut_page


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillStep:
    """A step that a caller asks for: the statuses it may begin in, and the statuses while it runs and at its end."""

    after: frozenset[BackfillStatus]
    status: BackfillStatus
    ends: BackfillStatus
    action: AuditAction
    verb: str
    what: str


COMMITTING = BackfillStep(
    after=frozenset({BackfillStatus.PREVIEWED}),
    status=BackfillStatus.COMMITTING,
    ends=BackfillStatus.COMMITTED,
    action=AuditAction.BACKFILL_COMMITTED,
    verb="be committed",
    what="a finished preview can",
)

UNDOING = BackfillStep(
    after=frozenset({BackfillStatus.COMMITTED, BackfillStatus.COMMITTING}),
    status=BackfillStatus.UNDOING,
    ends=BackfillStatus.UNDONE,
    action=AuditAction.BACKFILL_UNDONE,
    verb="be undone",
    what="a commit can, once its job has ended",
)

BACKFILL = "backfill"
"""The kind of job that takes a backfill further."""

SMALL = 2_000
"""Memories up to which a preview runs while the caller waits."""

SAMPLE = 10

ABANDONED = timedelta(hours=1)
"""Age after which a preview without a job counts as abandoned: the process that ran it is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillRequest:
    """A preview to run: the adopting type, the source types (None: the type's own choice), and the scopes to scan."""

    type: str
    sources: tuple[str, ...] | None = None
    classifier: Classifier = Classifier.RULES
    user_id: str | None = None
    agent_id: str | None = None
    scope: str | None = None

    @property
    def narrowed(self) -> bool:
        """Return whether only a part of the tenant's scopes is scanned."""
        return (self.user_id, self.agent_id, self.scope) != (None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillView:
    """A backfill with a sample of its items, and the scopes it is narrowed to (None: all of the tenant)."""

    backfill: Backfill
    sample: tuple[BackfillItemRow, ...]
    within: tuple[Mapping[str, Any], ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfills:
    """Backfills as administrators use them; every method sees only the actor's tenant."""

    database: Database
    types: Types
    clock: Callable[[], datetime]
    classifier: BeliefClassifier | None = None
    language: str = "english"

    async def preview(self, actor: Actor, wanted: BackfillRequest, *, wait: bool | None) -> Backfill:
        """Begin a preview and return it; `wait` True runs it now, False queues a job, None runs it now if it is small.

        Raises InvalidInput where the type adopts nothing, or not from those types.
        """
        tenant, now = actor.tenant_id, self.clock()
        types = await self.types.of(tenant)
        target, sources = types.get(wanted.type), self._sources(wanted, types)
        async with self.database.write(tenant) as session:
            scopes = await find_scopes(session, tenant, user=wanted.user_id, agent=wanted.agent_id, kind=wanted.scope)
            await sql.cancel_abandoned(session, tenant, before=now - ABANDONED)
            one = Backfill(
                tenant_id=tenant,
                id=ids.new(),
                type=target.name,
                sources=sources,
                classifier=wanted.classifier,
                scopes=tuple(scopes) if wanted.narrowed else None,
                status=BackfillStatus.PREVIEWING,
                actor=actor.name,
                counts=await record_definitions(session, tenant, {target.name, *sources}),
                created_at=now,
            )
            await sql.add_backfill(session, one)
            small = sum(scopes.values()) <= SMALL and wanted.classifier is Classifier.RULES
            if not (small if wait is None else wait):
                return await self._enqueue(session, one, actor, now)
        try:
            async for _ in self.run(tenant, one.id, actor.name):
                pass
        except BaseException:
            # No job would go on with it, so that it would be `previewing` for ever.
            await asyncio.shield(self._cancel_quietly(actor, one.id))
            raise
        return await self.get(actor, one.id)

    async def run(self, tenant: UUID, backfill: UUID, actor: str) -> Progress:
        """Run the current step of a backfill to its end; yield the number of memories done and the total."""
        steps = BackfillSteps(
            database=self.database,
            types=self.types,
            clock=self.clock,
            classifier=self.classifier,
            language=self.language,
            actor=actor,
        )
        async for done in steps.run(tenant, backfill):
            yield done

    async def get(self, actor: Actor, backfill: UUID) -> Backfill:
        """Return a backfill, or raise NotFound."""
        async with self.database.read(actor.tenant_id) as session:
            return await _found(session, actor.tenant_id, backfill)

    async def show(self, actor: Actor, backfill: UUID) -> BackfillView:
        """Return a backfill with a sample of what it changes, or raise NotFound."""
        tenant = actor.tenant_id
        async with self.database.read(tenant) as session:
            one = await _found(session, tenant, backfill)
            sample = await sql.item_page(session, tenant, backfill, effect=BackfillEffect.RECLASSIFIED, limit=SAMPLE)
            scopes = None if one.scopes is None else await sql.scopes(session, tenant, one.scopes)
        names = {"kind": "scope_kind", "user_id": "user_id", "agent_id": "agent_id"}
        within = None if scopes is None else [{name: row[column] for name, column in names.items()} for row in scopes]
        return BackfillView(backfill=one, sample=tuple(sample), within=None if within is None else tuple(within))

    async def list(self, actor: Actor, *, after: UUID | None = None, limit: int = 50) -> Page[Backfill, UUID]:
        """Return one page of backfills, newest first."""
        async with self.database.read(actor.tenant_id) as session:
            found = await sql.backfill_page(session, actor.tenant_id, after=after, limit=limit + 1)
        return cut_page(found, limit, lambda one: one.id)

    async def memories(
        self,
        actor: Actor,
        backfill: UUID,
        *,
        state: ItemState | None = None,
        effect: BackfillEffect | None = None,
        after: UUID | None = None,
        limit: int = 50,
    ) -> Page[BackfillItemRow, UUID]:
        """Return one page of a backfill's items in the order of memory ids; raises NotFound."""
        tenant = actor.tenant_id
        async with self.database.read(tenant) as session:
            await _found(session, tenant, backfill)
            found = await sql.item_page(
                session, tenant, backfill, state=state, effect=effect, after=after, limit=limit + 1
            )
        return cut_page(found, limit, lambda one: one.item.memory_id)

    async def commit(self, actor: Actor, backfill: UUID) -> Backfill:
        """Queue the commit of a preview; repeated, it is the same job. Raises Conflict at any other step."""
        return await self._step(actor, backfill, COMMITTING)

    async def undo(self, actor: Actor, backfill: UUID) -> Backfill:
        """Queue the undo of a commit; repeated, it is the same job. Raises Conflict at any other step."""
        return await self._step(actor, backfill, UNDOING)

    async def cancel(self, actor: Actor, backfill: UUID) -> Backfill:
        """Drop a preview, finished or not; Conflict once it is committed."""
        tenant = actor.tenant_id
        async with self.database.write(tenant) as session:
            one = ids.require(await sql.lock(session, tenant, backfill), ids.BACKFILL, backfill)
            if one.status is BackfillStatus.CANCELLED:
                return one
            if one.status not in {BackfillStatus.PREVIEWING, BackfillStatus.PREVIEWED}:
                raise _illegal(one, "be cancelled: undo it", "a preview can")
            job = None if one.job_id is None else await jobs.lock(session, tenant, one.job_id)
            if job is not None and not job.finished:
                await jobs.cancel(session, job, self.clock())
            await sql.clear(session, one)
            return await sql.change(session, one, status=BackfillStatus.CANCELLED)

    async def _cancel_quietly(self, actor: Actor, backfill: UUID) -> None:
        with suppress(Conflict, NotFound, DatabaseUnavailable):
            await self.cancel(actor, backfill)

    def _sources(self, wanted: BackfillRequest, types: Registry) -> tuple[str, ...]:
        """Return the source types of a request, or raise InvalidInput."""
        target, by_model = types.get(wanted.type), wanted.classifier is Classifier.MODEL
        own = () if target.adopts is None else target.adopts.sources
        if by_model and self.classifier is None:
            instead = "" if target.adopts is None else ", or use the rules"
            raise InvalidInput(f"no language model is configured: set TM_LLM_PROVIDER{instead}", field="classifier")
        if not by_model and target.adopts is None:
            missing = "it takes a language model, and none is configured: set TM_LLM_PROVIDER"
            mend = missing if self.classifier is None else "use the model"
            raise InvalidInput(f"type {target.name} has no rule for what it adopts: {mend}", field="classifier")
        named = own if wanted.sources is None else wanted.sources
        given = tuple(dict.fromkeys(types.get(one).name for one in named))
        unread = [one for one in given if one not in own]
        if not given:
            raise InvalidInput("name the types to look through", field="from")
        if target.name in given:
            raise InvalidInput(f"{target.name} is the type that adopts: look through others", field="from")
        if unread and not by_model:
            read = f"the rule of {target.name} reads {', '.join(own)}"
            raise InvalidInput(f"{read}, not {', '.join(unread)}: use the model for these", field="from")
        return given

    async def _enqueue(self, session: WriteSession, one: Backfill, actor: Actor, now: datetime) -> Backfill:
        payload = {"backfill": one.id.hex, "actor": actor.name}
        job = await jobs.enqueue(session, tenant=one.tenant_id, kind=BACKFILL, payload=payload, now=now)
        return await sql.change(session, one, job_id=job)

    async def _step(self, actor: Actor, backfill: UUID, step: BackfillStep) -> Backfill:
        tenant, now = actor.tenant_id, self.clock()
        async with self.database.write(tenant) as session:
            one = ids.require(await sql.lock(session, tenant, backfill), ids.BACKFILL, backfill)
            job = None if one.job_id is None else await jobs.lock(session, tenant, one.job_id)
            running = job is not None and not job.finished
            if one.status is step.ends or (one.status is step.status and running):
                return one
            if one.status is not step.status:
                if one.status is BackfillStatus.PREVIEWING and not running:
                    step = replace(step, what="its preview was not finished: cancel it, and preview again")
                if one.status not in step.after or (one.status is BackfillStatus.COMMITTING and running):
                    raise _illegal(one, step.verb, step.what)
                if step is COMMITTING:
                    changed = target_changed(one, await lock_definitions(session, one))
                    if changed is not None:
                        raise Conflict(f"{changed} since the preview: preview again")
                detail = {"backfill": ids.public(ids.BACKFILL, one.id), "type": one.type}
                await append(session, [AuditWriter(tenant=tenant, actor=actor.name, at=now).event(step.action, detail)])
                one = await sql.change(session, one, status=step.status)
            return await self._enqueue(session, one, actor, now)


async def _found(session: ReadSession, tenant: UUID, backfill: UUID) -> Backfill:
    return ids.require(await sql.find(session, tenant, backfill), ids.BACKFILL, backfill)


def _illegal(one: Backfill, verb: str, what: str) -> Conflict:
    return Conflict(f"the backfill is {one.status} and can't {verb}; {what}")
