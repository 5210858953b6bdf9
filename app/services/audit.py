"""Use cases of the audit log: read it, seal it, verify that nobody changed it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from app import ids
from app.amounts import amount
from app.db import audit as db_audit
from app.db.audit import MOST_IN_A_SEAL, AuditEntry, AuditFilter, Counts
from app.db.memories.listing import PagePosition
from app.db.scopes import find_scopes
from app.db.session import Database, ReadSession
from app.errors import InvalidInput
from app.memory import audit
from app.memory.audit import AuditAction, AuditRecord, Broken, ChainFault, Seal
from app.model import Scope, ScopeKind
from app.services.pages import Page, cut_page

__all__ = [
    "FIRST",
    "MEMORIES",
    "SEALS",
    "Audit",
    "AuditEntry",
    "AuditFilter",
    "Head",
    "ReplayResult",
    "Verification",
    "describe_fault",
]

_OPERATOR = {"app.operator": "on"}

SEALS = 100
"""Seals that one verification checks by default."""

MEMORIES = 2_000
"""Memories that one statement compares with the log."""

FIRST = UUID(int=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The newest seal. A copy of its number and digest kept elsewhere proves later that nothing before it changed."""

    seq: int
    digest: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of a verification.

    `seals` and `events` are those checked; `unsealed` and `events_in_all` are None where the end of the chain was not
    reached. `redacted` maps an erasure to the number of events it redacted. `next` is the number of the seal to
    continue after, None at the end.
    """

    first: int
    last: Head | None
    seals: int
    events: int
    redacted: Mapping[UUID, int]
    unsealed: int | None
    events_in_all: int | None
    broken: Broken | None
    next: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """The result of comparing memories with the log; `differs` is the first memory that contradicts the log."""

    memories: int
    differs: UUID | None
    why: str | None


@dataclass(slots=True)
class _Walk:
    """The progress of a verification: the last seal checked, and the counts so far."""

    after: int
    digest: bytes
    seals: int = 0
    events: int = 0
    redacted: Counter[UUID] = field(default_factory=Counter)
    broken: Broken | None = None

    def step(self, tenant: UUID, seal: Seal, events: Mapping[UUID, AuditRecord], known: set[UUID]) -> None:
        """Check the next seal and update the counts."""
        self.broken = audit.broken(tenant, seal, events, after=self.after, previous=self.digest)
        stray = audit.redacted_digest([events[one] for one in seal.events if one in events], known)
        if self.broken is None and stray is not None:
            why = "it was emptied by an erasure that is not on record"
            self.broken = Broken(fault=ChainFault.CHANGED, seq=seal.seq, event=stray.id, why=why)
        if self.broken is None:
            self.after, self.digest = seal.seq, seal.digest
            self.seals += 1
            self.events += len(seal.events)
            self.redacted.update(one.redacted_by for one in events.values() if one.redacted_by is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The audit log of a tenant; every method but `seal_all` reads or writes one tenant's."""

    database: Database

    async def page(
        self, tenant: UUID, asked: AuditFilter, *, descending: bool, after: PagePosition | None, limit: int
    ) -> Page[AuditEntry, PagePosition]:
        """Return one page of events."""
        last = None if after is None or not isinstance(after.value, int | float) else int(after.value)
        async with self.database.read(tenant) as session:
            found = await db_audit.page(session, tenant, asked, descending=descending, after=last, limit=limit + 1)
        return cut_page(found, limit, lambda one: PagePosition(id=one.id, value=one.position))

    async def scopes(self, tenant: UUID, user_id: str | None, agent_id: str | None) -> tuple[UUID, ...] | None:
        """Return the scopes of a user, of an agent, or of both together; None when neither is named."""
        if user_id is None and agent_id is None:
            return None
        async with self.database.read(tenant) as session:
            stored = await find_scopes(session, tenant, user=user_id, agent=agent_id)
        # Derived too: events outlive the scope that they happened in.
        kind = ScopeKind.USER if agent_id is None else ScopeKind.AGENT
        return (Scope(kind=kind, user_id=user_id, agent_id=agent_id).id(tenant), *stored)

    async def seal(self, tenant: UUID) -> int:
        """Seal every event that waits now, and return how many there were."""
        sealed, some = 0, MOST_IN_A_SEAL
        while some == MOST_IN_A_SEAL:
            async with self.database.write(tenant) as session:
                some = await db_audit.seal(session, tenant)
            sealed += some
        return sealed

    async def seal_all(self) -> int:
        """Seal the waiting events of every tenant, and return how many there were."""
        async with self.database.read(None, **_OPERATOR) as session:
            waiting = await db_audit.waiting_tenants(session)
        return sum([await self.seal(tenant) for tenant in waiting])

    async def head(self, tenant: UUID) -> Head | None:
        """Return the newest seal; None when nothing has been sealed."""
        async with self.database.read(tenant) as session:
            found = await db_audit.head(session, tenant)
        return None if found is None else Head(seq=found.seq, digest=found.digest)

    async def verify(
        self, tenant: UUID, *, after: int = 0, most: int | None = SEALS, anchor: Head | None = None
    ) -> Verification:
        """Recompute up to `most` seals (None: all) after seal `after`; return the first place that was changed.

        Waiting events are sealed first. Where the newest seal is reached, events that are in no seal are checked too.
        `anchor` is a head that was kept elsewhere: the seal of its number must have its digest. Raises InvalidInput
        when there is no seal `after`.
        """
        await self.seal(tenant)
        head = await self.head(tenant)
        end = 0 if head is None else head.seq
        last = end if most is None else min(end, after + most)
        walk = _Walk(after=after, digest=await self._digest(tenant, after))
        while walk.after < last and walk.broken is None:
            await self._step(tenant, walk, anchor)
        if walk.broken is None and anchor is not None and anchor.seq > end:
            walk.broken = _missing_anchor(anchor)
        counts = None
        if walk.broken is None and last == end:
            counts, walk.broken = await self._tail(tenant)
        return Verification(
            first=after + 1,
            last=None if walk.after == 0 else Head(seq=walk.after, digest=walk.digest),
            seals=walk.seals,
            events=walk.events,
            redacted=dict(walk.redacted),
            unsealed=None if counts is None else counts.waiting,
            events_in_all=None if counts is None else counts.events,
            broken=walk.broken,
            next=walk.after if walk.broken is None and last < end else None,
        )

    async def rebuild(self, tenant: UUID) -> ReplayResult:
        """Compare the status and confidence of every memory with the ones that the log's events add up to."""
        seen, after = 0, FIRST
        while True:
            async with self.database.read(tenant) as session:
                found = await db_audit.states(session, tenant, after=after, limit=MEMORIES)
            seen += len(found)
            for one in found:
                if (one.status, one.confidence) != (one.logged_status, one.logged_confidence):
                    why = (
                        f"it is {one.status} with confidence {one.confidence:g}; by the log it is "
                        f"{one.logged_status or 'unknown'} with {one.logged_confidence}"
                    )
                    return ReplayResult(memories=seen, differs=one.memory, why=why)
            if len(found) < MEMORIES:
                return ReplayResult(memories=seen, differs=None, why=None)
            after = found[-1].memory

    async def _step(self, tenant: UUID, walk: _Walk, anchor: Head | None) -> None:
        """Check the next seal, in a transaction of its own so that a long verification blocks nothing."""
        async with self.database.read(tenant) as session:
            seal = next(iter(await db_audit.seals(session, tenant, after=walk.after, limit=1)), None)
            if seal is None:
                walk.broken = _missing_seal(walk.after + 1)
                return
            events = await db_audit.read_records(session, tenant, seal.events)
            known = await self._erasures(session, tenant, events.values())
        await asyncio.to_thread(walk.step, tenant, seal, events, known)
        if walk.broken is None and anchor is not None and anchor.seq == seal.seq and anchor.digest != seal.digest:
            why = "its digest is not the one that was kept elsewhere"
            walk.broken = Broken(fault=ChainFault.CHANGED, seq=seal.seq, event=None, why=why)

    async def _erasures(self, session: ReadSession, tenant: UUID, events: Collection[AuditRecord]) -> set[UUID]:
        named = {one.redacted_by for one in events if one.redacted_by is not None}
        if not named:
            return set()
        return await db_audit.erasures(session, tenant, named, AuditAction.AUDIT_REDACTED)

    async def _digest(self, tenant: UUID, seq: int) -> bytes:
        """Return the digest of the seal with that number."""
        if seq == 0:
            return audit.START
        async with self.database.read(tenant) as session:
            found = await db_audit.seals(session, tenant, after=seq - 1, limit=1)
        if not found or found[0].seq != seq:
            raise InvalidInput(f"there is no seal {seq}", field="after")
        return found[0].digest

    async def _tail(self, tenant: UUID) -> tuple[Counts, Broken | None]:
        """Return the counts of events, and the first event that is neither sealed nor waiting to be."""
        async with self.database.read(tenant) as session:
            missing = await db_audit.find_missing(session, tenant)
            counts = await db_audit.counts(session, tenant)
            untracked = None
            if counts.events != counts.sealed + counts.waiting:
                untracked = await db_audit.find_untracked(session, tenant)
        if missing is not None:
            why = "it waited to be sealed and is gone"
            return counts, Broken(fault=ChainFault.MISSING, seq=None, event=missing, why=why)
        if untracked is not None:
            why = "it is in no seal, and was not put down to be sealed"
            return counts, Broken(fault=ChainFault.INSERTED, seq=None, event=untracked, why=why)
        if counts.events != counts.sealed + counts.waiting:
            why = f"of {amount(counts.events, 'events')}, {counts.sealed + counts.waiting} are sealed or wait"
            return counts, Broken(fault=ChainFault.MISSING, seq=None, event=None, why=why)
        return counts, None


def _missing_seal(seq: int) -> Broken:
    return Broken(fault=ChainFault.MISSING, seq=seq, event=None, why=f"seal {seq} is gone")


def _missing_anchor(anchor: Head) -> Broken:
    why = f"seal {anchor.seq}, which was kept elsewhere, is gone"
    return Broken(fault=ChainFault.MISSING, seq=anchor.seq, event=None, why=why)


def describe_fault(broken: Broken) -> str:
    """Return a sentence that says where and how a log was changed."""
    seal = "the unsealed end" if broken.seq is None else f"seal {broken.seq}"
    event = "" if broken.event is None else f", event {ids.public(ids.EVENT, broken.event)}"
    return f"{broken.fault}: {seal}{event}: {broken.why}"
