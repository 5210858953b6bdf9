"""A tenant whose facts hold medicines and rules from before there were types for them, and what a test compares."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from app.db import sql
from app.db.apply.memories import COLUMNS
from app.features.backfill.adopt import UNTOLD
from app.features.backfill.service import BackfillRequest, Backfills
from app.features.backfill.sql import Backfill, BackfillItem
from app.memory.candidate import WriteOutcome
from app.model import Memory, Scope, SpeechAct
from tests.support.stores import USER, Store

DAY = datetime(2026, 3, 1, tzinfo=UTC)

TABLES = (
    "memories", "memory_index", "memory_links", "memory_entities", "entities", "relations", "evidence",
    "hypothetical_embeddings", "memory_usage",
)  # fmt: skip
"""What a preview leaves as it is, and an undoing puts back."""

MOVING = {"memories": ("updated_at", "status_since"), "entities": ("updated_at",)}
"""When a row was last changed, which only goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clinic:
    """A store with backfills, and short ways to use them."""

    store: Store
    backfills: Backfills

    async def says(
        self,
        predicate: str,
        told: str,
        *,
        day: int = 0,
        scope: Scope = USER,
        subject: str = "user",
        stateful: bool = False,
        kind: str = "fact",
        **about: Any,
    ) -> UUID:
        """Store a fact that was stated on a day, and return its memory's id."""
        given = {"stated_at": DAY + timedelta(days=day), **about}
        payload: dict[str, Any] = {"subject": subject, "predicate": predicate, "object": told, "stateful": stateful}
        return held(await self.store.write(kind, scope, given, **payload))

    async def takes(self, name: str, *, day: int = 0, **payload: Any) -> UUID:
        """Store a medication, as it is stored now."""
        about = {"stated_at": DAY + timedelta(days=day)}
        return held(await self.store.write("medication", USER, about, medication_name=name, **payload))

    async def preview(self, kind: str = "medication", **wanted: Any) -> Backfill:
        return await self.backfills.preview(self.store.actor, BackfillRequest(type=kind, **wanted), wait=True)

    async def commit(self, one: Backfill) -> Backfill:
        """Commit as the job does."""
        await self.backfills.commit(self.store.actor, one.id)
        return await self.run(one)

    async def undo(self, one: Backfill) -> Backfill:
        await self.backfills.undo(self.store.actor, one.id)
        return await self.run(one)

    async def run(self, one: Backfill) -> Backfill:
        async for _ in self.backfills.run(self.store.tenant, one.id, "worker"):
            pass
        return await self.backfills.get(self.store.actor, one.id)

    async def items(self, one: Backfill, **narrowed: Any) -> dict[UUID, BackfillItem]:
        found = await self.backfills.memories(self.store.actor, one.id, limit=10_000, **narrowed)
        return {one.item.memory_id: one.item for one in found.items}

    async def memory(self, memory: UUID) -> Memory:
        return await self.store.memories.get(self.store.actor, memory)

    async def row(self, memory: UUID) -> dict[str, Any]:
        [row] = await self.store.sql("SELECT * FROM memories WHERE id = $1", memory)
        return {**row, **{name: json.loads(row[name]) for name in ("payload", "provenance", "metadata")}}

    async def snapshot(self, *, whole: bool = True) -> dict[str, list[str]]:
        """Return every row of the tenant, as text; not `whole`: without the columns that only go on."""
        found = {}
        for table in TABLES:
            moving = [] if whole else list(MOVING.get(table, ()))
            rows = await self.store.sql(
                f"SELECT (to_jsonb(t) - $2::text[])::text AS row FROM {table} t WHERE tenant_id = $1 ORDER BY 1",  # noqa: S608
                self.store.tenant,
                moving,
            )
            found[table] = [row["row"] for row in rows]
        return found

    async def strays(self, planned: dict[UUID, BackfillItem]) -> dict[UUID, dict[str, Any]]:
        """Return where memories are not what was planned: columns that a preview told, or others that changed."""
        found = {}
        for memory, item in planned.items():
            now = await self.row(memory)
            [row] = json.loads(sql.as_json([{name: now[name] for name in COLUMNS}]))
            [was] = await self.store.sql(
                "SELECT was FROM memory_past WHERE memory_id = $1 ORDER BY believed_until DESC LIMIT 1", memory
            )
            old = json.loads(was["was"])
            expected = {**{name: value for name, value in old.items() if name in row}, **item.after}
            wrong = {
                name: (row[name], value)
                for name, value in expected.items()
                if name not in UNTOLD and not _same(row[name], value)
            }
            if wrong:
                found[memory] = wrong
        return found

    async def checksums(self) -> dict[UUID, str]:
        """Return a digest of every memory with its index rows, to the byte."""
        rows = await self.store.sql(
            """
            SELECT m.id,
                md5(to_jsonb(m)::text || coalesce(string_agg(to_jsonb(i)::text, '|' ORDER BY i.part), '')) AS sum
            FROM memories m LEFT JOIN memory_index i ON i.tenant_id = m.tenant_id AND i.memory_id = m.id
            WHERE m.tenant_id = $1 GROUP BY m.tenant_id, m.id
            """,
            self.store.tenant,
        )
        return {row["id"]: row["sum"] for row in rows}


def _same(one: object, other: object) -> bool:
    """Return whether two values as JSON are one: instants are written in more than one way."""
    if isinstance(one, str) and isinstance(other, str) and one != other:
        try:
            return datetime.fromisoformat(one) == datetime.fromisoformat(other)
        except ValueError:
            return False
    return one == other


def held(outcome: WriteOutcome) -> UUID:
    assert outcome.memory is not None, outcome.reason
    return outcome.memory.id


@pytest.fixture
def clinic(store: Store) -> Clinic:
    clock = store.pipeline.clock
    return Clinic(store=store, backfills=Backfills(database=store.database, types=store.types, clock=clock))


HYPOTHETICAL: dict[str, Any] = {"speech_act": SpeechAct.HYPOTHETICAL}
