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

from app.db.lifecycle.events import event
from app.db.rows import insert_all
from app.db.session import ReadSession, WriteSession
from app.db.statement import Statement, statement
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
    action: str
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
            rows = await session.fetch(self._change, {"tenant": tenant, "now": now, "ids": taken, **self.values})
        events = [
            event(
                tenant,
                now=now,
                actor=self.actor,
                action=self.action,
                memory=row["id"],
                scope=row["scope_id"],
                detail=self.detail(row),
            )
            for row in rows
        ]
        await insert_all(session, {"audit_events": events})
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
                SELECT m.id FROM looked m
                LEFT JOIN memory_usage u ON u.tenant_id = :tenant AND u.memory_id = m.id
                WHERE {self.when} ORDER BY m.id LIMIT {CHANGED}
            )
            SELECT (SELECT count(*) FROM looked) AS seen, (SELECT id FROM looked ORDER BY id DESC LIMIT 1) AS last,
                ARRAY(SELECT id FROM due ORDER BY id) AS due
            """  # noqa: S608 - composed of constants
        )

    @cached_property
    def _change(self) -> Statement:
        """By its own snapshot, taken when the rows are held: what changed before that is seen."""
        indexed = "" if self.status is None else _INDEXED.format(status=self.status)
        return statement(
            f"""
            WITH due AS MATERIALIZED (
                SELECT m.id, m.scope_id, {self.numbers}
                FROM memories m LEFT JOIN memory_usage u ON u.tenant_id = :tenant AND u.memory_id = m.id
                WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND {self.among} AND {self.when}
            ), changed AS (
                UPDATE memories m SET {self.sets}, updated_at = greatest(m.updated_at, :now) FROM due
                WHERE m.tenant_id = :tenant AND m.id = due.id AND m.id = ANY(:ids)
            ){indexed}
            SELECT * FROM due ORDER BY id
            """  # noqa: S608 - composed of constants
        )


_INDEXED = """
            , indexed AS (
                UPDATE memory_index i SET status = '{status}' FROM due
                WHERE i.tenant_id = :tenant AND i.memory_id = due.id AND i.memory_id = ANY(:ids)
            )"""

_HOLD_ONE = statement("SELECT id FROM memories WHERE tenant_id = :tenant AND id = :id FOR NO KEY UPDATE")

_HOLD = statement(
    "SELECT id FROM memories WHERE tenant_id = :tenant AND id = ANY(:ids) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED"
)
