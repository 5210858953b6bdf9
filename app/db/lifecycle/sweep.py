"""Changing the memories that a condition has come true for, a batch a transaction.

A batch claims no scope: what it takes away, no write may build on unseen, for a write holds the memories it
touches and looks at their status again (`app.db.writing`). It never waits for a memory while it holds others,
so it can't be part of a deadlock over them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from uuid import UUID

from asyncpg import Record

from app.db.audit import Ledger, append
from app.db.session import ReadSession, WriteSession
from app.db.statement import Statement, statement
from app.memory.actions import Action
from app.model import Status

LOOKED_AT = 5_000
"""Rows that one batch looks at."""

CHANGED = 500
"""Rows that one batch changes: each is written anew to every index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What a batch came to: rows looked at, about; what was done, by name; the last id, None: there are no more."""

    seen: int
    counts: Mapping[str, int]
    last: UUID | None


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A change that memories undergo when something comes true of them.

    `among` is SQL about `memories m`: the rows to look at; `when` about `m` and `memory_usage u`: those of them
    that change, at `:now`. `sets` is what changes, `status` the new one, in the index too. `numbers` are columns
    for `detail`, which makes the audit event's. `counted` and `action` name it in counts and in the audit log.
    """

    counted: str
    action: Action
    actor: str
    among: str
    when: str
    sets: str
    numbers: str
    detail: Callable[[Record], Mapping[str, object]]
    status: Status | None = None
    values: Mapping[str, object] = field(default_factory=dict)

    async def look(self, session: ReadSession, *, tenant: UUID, now: datetime, after: UUID) -> Batch:
        """Return what the next batch would change; nothing is locked."""
        due, seen, last = await self._due(session, tenant, now, after)
        return Batch(seen=seen, counts={self.counted: len(due)}, last=last)

    async def __call__(self, session: WriteSession, *, tenant: UUID, now: datetime, after: UUID) -> Batch:
        """Change the next batch of memories, index and audit log with them."""
        due, seen, last = await self._due(session, tenant, now, after)
        taken = await self._hold(session, tenant, due)
        rows: list[Record] = []
        if taken:
            rows = await session.fetch(self._still, {"tenant": tenant, "now": now, "ids": taken, **self.values})
        if rows:
            changing = {"tenant": tenant, "now": now, "ids": [row["id"] for row in rows], "status": self.status}
            await session.fetch(self._change, changing)
            if self.status is not None:
                await session.fetch(_INDEX, changing)
        events = [
            Ledger(tenant=tenant, actor=self.actor, at=now, scope=row["scope_id"]).event(
                self.action, self.detail(row), memory=row["id"]
            )
            for row in rows
        ]
        await append(session, events)
        cut = len(taken) < len(due)
        return Batch(
            seen=len(taken) if cut else seen, counts={self.counted: len(rows)}, last=taken[-1] if cut else last
        )

    async def _due(
        self, session: ReadSession, tenant: UUID, now: datetime, after: UUID
    ) -> tuple[Sequence[UUID], int, UUID | None]:
        """Return ids to change, in order, how many rows were looked at, and the last id of them if there are more."""
        values = {"tenant": tenant, "now": now, "after": after, **self.values}
        [row] = await session.fetch(self._find, values)
        due: Sequence[UUID] = row["due"]
        if len(due) == CHANGED:
            return due, CHANGED, due[-1]
        return due, row["seen"], row["last"] if row["seen"] == LOOKED_AT else None

    async def _hold(self, session: WriteSession, tenant: UUID, due: Sequence[UUID]) -> list[UUID]:
        """Lock the memories up to the first that another holds, but the very first in any case; return them.

        That one is waited for while nothing is held. Those that are gone count as held by another.
        """
        if not due:
            return []
        await session.fetch(_HOLD_ONE, {"tenant": tenant, "id": due[0]})
        rows = await session.fetch(_HOLD, {"tenant": tenant, "ids": list(due[1:])})
        held = {row["id"] for row in rows}
        taken = [due[0]]
        for one in due[1:]:
            if one not in held:
                break
            taken.append(one)
        return taken

    @cached_property
    def _find(self) -> Statement:
        return statement(
            f"""
            WITH looked AS MATERIALIZED (
                SELECT m.id, m.stated_at, m.half_life_days, m.floor, m.confidence, m.category, m.valid_until,
                    m.status_since, m.recorded_at
                FROM memories m WHERE m.tenant_id = :tenant AND m.id > :after AND {self.among}
                ORDER BY m.id LIMIT {LOOKED_AT}
            ), due AS (
                SELECT m.id FROM looked m {USE} WHERE {self.when} ORDER BY m.id LIMIT {CHANGED}
            )
            SELECT (SELECT count(*) FROM looked) AS seen, (SELECT id FROM looked ORDER BY id DESC LIMIT 1) AS last,
                ARRAY(SELECT id FROM due ORDER BY id) AS due
            """  # noqa: S608 - composed of constants
        )

    @cached_property
    def _still(self) -> Statement:
        """By its own snapshot, taken when the rows are held: what changed before that is seen."""
        return statement(
            f"""
            SELECT m.id, m.scope_id, {self.numbers} FROM memories m {USE}
            WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND {self.among} AND {self.when} ORDER BY m.id
            """  # noqa: S608 - composed of constants
        )

    @cached_property
    def _change(self) -> Statement:
        return statement(
            f"""
            UPDATE memories m SET {self.sets}, updated_at = greatest(m.updated_at, :now)
            WHERE m.tenant_id = :tenant AND m.id = ANY(:ids)
            """  # noqa: S608 - composed of constants
        )


USE = """LEFT JOIN LATERAL (
    SELECT * FROM memory_usage x WHERE x.tenant_id = :tenant AND x.memory_id = m.id OFFSET 0) u ON true"""
"""The use of each memory `m`, looked up one by one: a plan that joins reads that of all memories each time."""

_INDEX = statement("UPDATE memory_index SET status = :status WHERE tenant_id = :tenant AND memory_id = ANY(:ids)")

_HOLD_ONE = statement("SELECT id FROM memories WHERE tenant_id = :tenant AND id = :id FOR NO KEY UPDATE")

_HOLD = statement(
    "SELECT id FROM memories WHERE tenant_id = :tenant AND id = ANY(:ids) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED"
)
