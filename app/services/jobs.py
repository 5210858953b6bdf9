"""Use cases of background jobs: list, read, retry, cancel, and measure the backlog."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from app import ids
from app.db import job_queue, jobs
from app.db.audit import AuditWriter, append
from app.db.job_queue import Backlog
from app.db.jobs import Job
from app.db.memories.hype import HYPE
from app.db.memories.rivals import SAMENESS
from app.db.session import Database
from app.db.sql import Row
from app.errors import Conflict, Forbidden
from app.memory.audit import AuditAction
from app.model import Actor, JobStatus
from app.services.pages import Page, cut_page
from app.services.recent import RecentValue, in_time
from app.services.turns import INGEST

__all__ = [
    "BACKLOG_SECONDS",
    "PATIENCE",
    "Job",
    "Jobs",
]

BACKLOG_SECONDS = 2.0
"""How long a look at the queue is good for."""

PATIENCE = 1.0
"""Seconds that a look may take where it is a detail."""

_OF_WRITERS: Final = frozenset({INGEST, HYPE, SAMENESS})
"""Kinds of the jobs that requests of writers queue; only admins start, retry and cancel those of other kinds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """Background jobs as callers use them; every method but the backlog's sees only the actor's tenant."""

    database: Database
    clock: Callable[[], datetime]
    _backlog: RecentValue[Backlog] = field(default_factory=RecentValue, repr=False)

    async def list(
        self,
        actor: Actor,
        *,
        scopes: Sequence[UUID] | None = None,
        status: JobStatus | None = None,
        kind: str | None = None,
        after: UUID | None = None,
        limit: int = 50,
    ) -> Page[Job, UUID]:
        """Return one page of jobs, newest first; of these scopes and of the whole tenant, if given."""
        async with self.database.read(actor.tenant_id) as session:
            found = await jobs.page(
                session, actor.tenant_id, scopes=scopes, status=status, kind=kind, after=after, limit=limit + 1
            )
        return cut_page(found, limit, lambda one: one.id)

    async def get(self, actor: Actor, job: UUID) -> Job:
        """Return a job, or raise NotFound."""
        async with self.database.read(actor.tenant_id) as session:
            return ids.require(await jobs.find(session, actor.tenant_id, job), ids.JOB, job)

    async def retry(self, actor: Actor, job: UUID) -> Job:
        """Queue a failed or cancelled job again; Conflict when it is neither, Forbidden when it is only admins'."""
        async with self.database.write(actor.tenant_id) as session:
            found = ids.require(await jobs.lock(session, actor.tenant_id, job), ids.JOB, job)
            _require_role(actor, found)
            if found.status not in {JobStatus.FAILED, JobStatus.CANCELLED}:
                raise Conflict(f"the job is {found.status}: only a failed or cancelled one can be tried again")
            await append(session, [self._describe(actor, AuditAction.JOB_RETRIED, found)])
            return await jobs.requeue(session, found)

    async def cancel(self, actor: Actor, job: UUID) -> Job:
        """End a queued job, or ask a running one to stop at its next checkpoint.

        Conflict when it has ended, Forbidden when it is only admins'.
        """
        async with self.database.write(actor.tenant_id) as session:
            found = ids.require(await jobs.lock(session, actor.tenant_id, job), ids.JOB, job)
            _require_role(actor, found)
            if found.finished:
                raise Conflict(f"the job has ended already: it is {found.status}")
            await append(session, [self._describe(actor, AuditAction.JOB_CANCELLED, found)])
            return await jobs.cancel(session, found, self.clock())

    def _describe(self, actor: Actor, action: AuditAction, job: Job) -> Row:
        ledger = AuditWriter(tenant=actor.tenant_id, actor=actor.name, at=self.clock(), scope=job.scope_id)
        detail = {"job": ids.public(ids.JOB, job.id), "kind": job.kind, "was": job.status, "attempts": job.attempts}
        return ledger.event(action, detail)

    async def backlog(self) -> Backlog:
        """Return the backlog of all tenants together; it is read every few seconds at most."""
        return await self._backlog.get(self._read_backlog, seconds=BACKLOG_SECONDS)

    async def known_backlog(self) -> Backlog | None:
        """Return the backlog, or None when it can't be read at once."""
        return await in_time(self.backlog(), patience=PATIENCE)

    async def _read_backlog(self) -> Backlog:
        async with self.database.read(None) as session:
            return await job_queue.backlog(session)


def _require_role(actor: Actor, job: Job) -> None:
    if job.kind not in _OF_WRITERS and "admin" not in actor.roles:
        raise Forbidden(
            f"a job of the kind {job.kind!r} takes a key with the role 'admin': "
            f"writers retry and cancel those of the kinds {', '.join(sorted(_OF_WRITERS))}"
        )
