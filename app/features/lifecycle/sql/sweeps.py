"""Sweeps over a tenant's memories, a batch a transaction: expiry, forgetting, promotion to core, deletion.

A batch claims no scope: a write locks the memories that it touches and looks at their status again
(`app.db.apply.scope`), so it never builds on a memory that a sweep took away unseen. A sweep never waits for a memory
while it has locked others, so it can't be part of a deadlock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import takewhile
from uuid import UUID

from asyncpg import Record

from app.db.apply.memories import RowChange, change_memories, row_change
from app.db.apply.removal import delete_memories
from app.db.audit import AuditWriter, append
from app.db.memories import fading
from app.db.memories.rivals import read_versions
from app.db.recounts import BatchResult
from app.db.scopes import lock_memories, lock_scope
from app.db.session import ReadSession, SqlStatement, WriteSession, statement
from app.english.dates import last_named
from app.lexical.bm25 import searched_terms
from app.lexical.counts import ScopeCounts, total
from app.memory.audit import AuditAction
from app.memory.freshness import CATEGORY_DECAY, EXPIRY, SECONDS_PER_DAY, Decay, freshness
from app.memory.lifecycle import (
    CORE_ACCESSES,
    CORE_SESSIONS,
    CORE_STABILITY,
    GC_CONFIDENCE,
    GC_DAYS,
    ROUNDING_ERROR,
)
from app.memory.slots import accumulate, transition
from app.memory.versions import Removed
from app.model import Category, MemoryStatus

FADED = f"m.half_life_days IS NOT NULL AND {fading.FRESHNESS} < {EXPIRY}"
"""Whether an active memory expires by its freshness; one without a half-life never does."""

SCANNED = 5_000
"""Rows that one batch looks at."""

CHANGED = 500
"""Rows that one batch changes: each is written again to every index."""


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A change of all memories that meet a condition.

    `among` is the SQL condition on `memories m` for rows to read, `when` that on `m` and `memory_usage u` for those of
    them to change, at `:now`. `sets` are the new values. `numbers` are the columns from which `detail` makes the audit
    event's detail. `counted` and `action` name the change in counts and in the audit log. `spares` returns True for a
    memory that stays as it is because of its content.
    """

    counted: str
    action: AuditAction
    actor: str
    among: str
    when: str
    sets: Mapping[str, object]
    numbers: str
    detail: Callable[[Record], Mapping[str, object]]
    spares: Callable[[Record, datetime], bool] | None = None

    async def look(self, session: ReadSession, *, tenant: UUID, now: datetime, after: UUID) -> BatchResult:
        """Return what the next batch would change; nothing is locked."""
        due, seen, last = await self._due(session, tenant, now, after)
        return BatchResult(seen=seen, counts={self.counted: len(due)}, last=last)

    async def __call__(self, session: WriteSession, *, tenant: UUID, now: datetime, after: UUID) -> BatchResult:
        """Change the next batch of memories, index and audit log with them."""
        due, seen, last = await self._due(session, tenant, now, after)
        taken = await self._lock(session, tenant, due)
        rows: list[Record] = []
        if taken:
            rows = await session.fetch(self._still, {"tenant": tenant, "now": now, "ids": taken})
        if rows:
            await change_memories(session, tenant, [RowChange(id=row["id"], values=self.sets) for row in rows], at=now)
        events = [
            AuditWriter(tenant=tenant, actor=self.actor, at=now, scope=row["scope_id"]).event(
                self.action, self.detail(row), memory=row["id"]
            )
            for row in rows
        ]
        await append(session, events)
        cut = len(taken) < len(due)
        return BatchResult(
            seen=len(taken) if cut else seen, counts={self.counted: len(rows)}, last=taken[-1] if cut else last
        )

    async def _due(
        self, session: ReadSession, tenant: UUID, now: datetime, after: UUID
    ) -> tuple[Sequence[UUID], int, UUID | None]:
        """Return the ids to change, in order; the number of rows that were read; the last id read, None at the end."""
        values = {"tenant": tenant, "now": now, "after": after}
        [row] = await session.fetch(self._find, values)
        due: Sequence[UUID] = row["due"]
        whole = len(due) == CHANGED
        seen, last = (CHANGED, due[-1]) if whole else (row["seen"], row["last"] if row["seen"] == SCANNED else None)
        if self.spares is not None and due:
            told = await session.fetch(_TOLD, {"tenant": tenant, "ids": list(due)})
            due = [row["id"] for row in told if not self.spares(row, now)]
        return due, seen, last

    async def _lock(self, session: WriteSession, tenant: UUID, due: Sequence[UUID]) -> list[UUID]:
        """Lock the memories in order, and return those before the first that another transaction has locked.

        The first memory is waited for, because nothing is locked yet. A deleted memory counts as locked by another.
        """
        if not due:
            return []
        await lock_memories(session, tenant, due[:1])
        rows = await session.fetch(_LOCK_FREE, {"tenant": tenant, "ids": list(due[1:])})
        locked = {due[0], *(row["id"] for row in rows)}
        return list(takewhile(locked.__contains__, due))

    @cached_property
    def _find(self) -> SqlStatement:
        return statement(
            f"""
            WITH looked AS MATERIALIZED (
                SELECT m.id, m.stated_at, m.half_life_days, m.floor, m.confidence, m.category, m.valid_from,
                    m.valid_until, m.status_since, m.recorded_at
                FROM memories m WHERE m.tenant_id = :tenant AND m.id > :after AND {self.among}
                ORDER BY m.id LIMIT {SCANNED}
            ), due AS (
                SELECT m.id FROM looked m {fading.USE} WHERE {self.when} ORDER BY m.id LIMIT {CHANGED}
            )
            SELECT (SELECT count(*) FROM looked) AS seen, (SELECT id FROM looked ORDER BY id DESC LIMIT 1) AS last,
                ARRAY(SELECT id FROM due ORDER BY id) AS due
            """  # noqa: S608 - composed of constants
        )

    @cached_property
    def _still(self) -> SqlStatement:
        """The query of the locked rows that still qualify.

        It has a new snapshot, so it sees changes that were committed before the rows were locked.
        """
        return statement(
            f"""
            SELECT m.id, m.scope_id, {self.numbers} FROM memories m {fading.USE}
            WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND {self.among} AND {self.when} ORDER BY m.id
            """  # noqa: S608 - composed of constants
        )


_TOLD = statement(
    """SELECT id, content, stated_at, half_life_days FROM memories
       WHERE tenant_id = :tenant AND id = ANY(:ids) ORDER BY id"""
)

_LOCK_FREE = statement(
    "SELECT id FROM memories WHERE tenant_id = :tenant AND id = ANY(:ids) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED"
)

SINCE = "coalesce(m.status_since, m.recorded_at)"
"""Since when a memory has its status; one that never changed has it since it was recorded."""

_CORE = CATEGORY_DECAY[Category.CORE]

_EXPIRED = {"status": [MemoryStatus.ACTIVE, MemoryStatus.EXPIRED]}


def _faded(row: Record) -> Mapping[str, object]:
    return {"reason": "freshness", **_EXPIRED, **fading.fade_of(row).detail()}


def _names_what_lies_ahead(row: Record, now: datetime) -> bool:
    """Return whether the text names a date since which the memory has not faded: `the lease ends on 30 June 2027`."""
    named = last_named(row["content"], now=row["stated_at"])
    decay = Decay(half_life_days=row["half_life_days"])
    return named is not None and freshness(days=(now - named).total_seconds() / SECONDS_PER_DAY, decay=decay) >= EXPIRY


def _over(row: Record) -> Mapping[str, object]:
    until = row["valid_until"].isoformat()
    return {"reason": "validity", **_EXPIRED, "valid_until": until, "confidence": row["confidence"]}


def _forgotten(row: Record) -> Mapping[str, object]:
    return {
        "reason": "expired long ago and never confirmed",
        "status": [MemoryStatus.EXPIRED, MemoryStatus.FORGOTTEN],
        "expired_since": row["since"].isoformat(),
        "expired_days": row["days"],
        "confidence": row["confidence"],
        "after_days": GC_DAYS,
        "up_to_confidence": GC_CONFIDENCE,
    }


def _promoted(row: Record) -> Mapping[str, object]:
    return {
        "from": row["category"],
        "to": Category.CORE,
        "access_count": row["access_count"],
        "stability": row["stability"],
        "sessions": row["sessions"],
        "half_life_days": [row["half_life_days"], _CORE.half_life_days],
        "floor": [row["floor"], _CORE.floor],
    }


FRESHNESS = Sweep(
    counted="expired",
    action=AuditAction.MEMORY_EXPIRED,
    actor="worker:freshness",
    among=f"m.status = 'active' AND m.half_life_days IS NOT NULL AND m.floor < {EXPIRY}",
    when=f"{FADED} AND {fading.FADED_SINCE_DATE}",
    sets={"status": MemoryStatus.EXPIRED},
    numbers=fading.FADE_COLUMNS,
    detail=_faded,
    spares=_names_what_lies_ahead,
)
"""Active memories that have faded under the threshold expire (weekly)."""

VALIDITY = Sweep(
    counted="ended",
    action=AuditAction.MEMORY_ENDED,
    actor="worker:validity",
    among="m.status = 'active' AND m.valid_until <= :now",
    when="true",
    sets={"status": MemoryStatus.EXPIRED},
    numbers="m.valid_until, m.confidence",
    detail=_over,
)
"""Active memories whose validity has ended expire (hourly); their validity range does not change."""

FORGETTING = Sweep(
    counted="forgotten",
    action=AuditAction.MEMORY_FORGOTTEN,
    actor="worker:gc",
    among="m.status = 'expired'",
    when=f"m.confidence <= {GC_CONFIDENCE + ROUNDING_ERROR}"
    f" AND {SINCE} <= CAST(:now AS timestamptz) - interval '{GC_DAYS} days'",
    sets={"status": MemoryStatus.FORGOTTEN},
    numbers=f"""{SINCE} AS since, m.confidence,
        CAST(extract(epoch FROM CAST(:now AS timestamptz) - {SINCE}) AS float8) / {SECONDS_PER_DAY} AS days""",
    detail=_forgotten,
)
"""Memories that expired long ago and have a low confidence are forgotten (monthly)."""

PROMOTION = Sweep(
    counted="promoted",
    action=AuditAction.MEMORY_PROMOTED,
    actor="worker:promotion",
    among="m.status = 'active' AND m.category <> 'core' AND m.half_life_days IS NOT NULL",
    when=f"""u.access_count >= {CORE_ACCESSES} AND u.stability >= {CORE_STABILITY}
        AND cardinality(u.sessions) >= {CORE_SESSIONS}""",
    sets={"category": Category.CORE, "half_life_days": _CORE.half_life_days, "floor": _CORE.floor},
    numbers="""m.category, m.half_life_days, m.floor, u.access_count, u.stability,
        cardinality(u.sessions) AS sessions""",
    detail=_promoted,
)
"""Memories that are used often, steadily and in several conversations become core (daily)."""

DELETED = 200
"""Memories deleted in one transaction."""

_DUE = f"""m.tenant_id = :tenant AND m.status = 'forgotten'
    AND {SINCE} <= CAST(:now AS timestamptz) - make_interval(secs => :days * {SECONDS_PER_DAY})"""

_COUNT = statement(f"SELECT count(*) FROM memories m WHERE {_DUE}")  # noqa: S608 - composed of constants

_FIND = statement(
    f"""
    SELECT m.id, m.scope_id, m.content FROM memories m
    WHERE {_DUE} AND m.scope_id = (SELECT m.scope_id FROM memories m WHERE {_DUE} ORDER BY m.id LIMIT 1)
    ORDER BY m.id LIMIT {DELETED}
    """  # noqa: S608 - composed of constants
)

_LOCK_DUE = statement(
    f"""
    SELECT m.id, m.type, m.confidence, {SINCE} AS since, EXISTS (
            SELECT FROM memory_index i
            WHERE i.tenant_id = :tenant AND i.memory_id = m.id AND i.kind = 'context') AS in_context
    FROM memories m WHERE {_DUE} AND m.id = ANY(:ids) ORDER BY m.id FOR UPDATE OF m
    """  # noqa: S608 - composed of constants
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Purge:
    """Deletes memories that are forgotten for `days`; what was in `language` leaves its lexical statistics too.

    What reads and writes go by loses nothing that they see, so the scope is locked but its version stays.
    """

    days: float
    language: str

    async def look(self, session: ReadSession, *, tenant: UUID, now: datetime, after: UUID) -> BatchResult:  # noqa: ARG002
        """Return how many memories would be deleted."""
        [[count]] = await session.fetch(_COUNT, {"tenant": tenant, "now": now, "days": self.days})
        return BatchResult(seen=count, counts={"purged": count}, last=None)

    async def __call__(self, session: WriteSession, *, tenant: UUID, now: datetime, after: UUID) -> BatchResult:
        """Delete some memories of one scope; there is no order to go by, because they are gone afterwards."""
        due = await session.fetch(_FIND, {"tenant": tenant, "now": now, "days": self.days})
        if not due:
            return BatchResult(seen=0, counts={"purged": 0}, last=None)
        scope = due[0]["scope_id"]
        texts = await asyncio.to_thread(self._counts, due)
        await lock_scope(session, tenant, scope)
        values = {"tenant": tenant, "now": now, "days": self.days, "ids": [row["id"] for row in due]}
        gone = await session.fetch(_LOCK_DUE, values)
        memories = [row["id"] for row in gone]
        versions = await read_versions(session, tenant, memories)
        counts = total(texts[one] for one in memories)
        counts.contexts = sum(row["in_context"] for row in gone)
        await delete_memories(session, tenant, scope, memories, counts)
        event = Removed(versions=frozenset(memories), status=None, reason="forgotten long ago", unfolds=False)
        found = transition(versions.values(), event, policy=accumulate, now=now)
        await change_memories(session, tenant, [row_change(one, at=now) for one in found.changes], at=now)
        ledger = AuditWriter(tenant=tenant, actor="worker:gc", at=now, scope=scope)
        events = [
            ledger.event(
                AuditAction.MEMORY_PURGED,
                {
                    "reason": "forgotten long ago",
                    "status": [MemoryStatus.FORGOTTEN, None],
                    "type": row["type"],
                    "forgotten_since": row["since"].isoformat(),
                    "after_days": self.days,
                    "confidence": [row["confidence"], None],
                },
                memory=row["id"],
            )
            for row in gone
        ]
        await append(session, events)
        return BatchResult(seen=len(gone), counts={"purged": len(gone)}, last=after)

    def _counts(self, rows: Sequence[Record]) -> dict[UUID, ScopeCounts]:
        """Return the counts of each memory, without its context."""
        return {row["id"]: ScopeCounts.of(searched_terms(row["content"], self.language)) for row in rows}
