"""From the log alone, what every memory was and became; and that is what the store has."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from app.db.session import statement
from app.memory.candidate import WriteOutcome
from app.services.audit import Audit
from app.services.entities import Entities
from tests.audit.books import Book
from tests.support.stores import Store

NOW = datetime(2026, 5, 9, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditState:
    """The status and confidence of a memory from a time on; `status` is None after its deletion."""

    at: datetime
    action: str
    status: str | None
    confidence: float | None


def states_over_time(events: Iterable[tuple[datetime, str, Mapping[str, Any]]]) -> list[AuditState]:
    """Return the states of a memory in order, from its events (time, action, detail) alone.

    Raises ValueError where an event's former status or confidence is not the result of the events before it.
    """
    found: list[AuditState] = []
    now: dict[str, object] = {"status": None, "confidence": None}
    for at, action, detail in events:
        pairs = {name: detail[name] for name in now if isinstance(detail.get(name), list | tuple)}
        for name, (before, after) in pairs.items():
            if before != now[name]:
                raise ValueError(f"{action} finds {name} {before}, after it became {now[name]}")
            now[name] = after
        if pairs:
            found.append(AuditState(at=at, action=action, **now))  # type: ignore[arg-type]
    return found


async def told(store: Store) -> dict[UUID, list[AuditState]]:
    """What every memory was, by its events alone."""
    events: dict[UUID, list[tuple[datetime, str, dict[str, Any]]]] = defaultdict(list)
    for row in await store.sql(
        "SELECT memory_id, occurred_at, action, detail FROM audit_events "
        "WHERE tenant_id = $1 AND memory_id IS NOT NULL ORDER BY position",
        store.tenant,
    ):
        events[row["memory_id"]].append((row["occurred_at"], row["action"], json.loads(row["detail"])))
    return {memory: states_over_time(mine) for memory, mine in events.items()}


async def agree(store: Store) -> dict[UUID, list[AuditState]]:
    """Hold the log beside the store; return what the log tells."""
    rows = await store.sql("SELECT id, status, confidence FROM memories WHERE tenant_id = $1", store.tenant)
    log = await told(store)
    by_log = {memory: (mine[-1].status, mine[-1].confidence) for memory, mine in log.items() if mine}
    assert {row["id"]: (row["status"], row["confidence"]) for row in rows} == {
        memory: standing for memory, standing in by_log.items() if standing[0] is not None
    }
    rebuilt = await Audit(database=store.database).rebuild(store.tenant)
    assert (rebuilt.memories, rebuilt.differs) == (len(rows), None)
    return log


@dataclass(slots=True)
class Life:
    """A store that things happen to, at random."""

    store: Store
    chance: random.Random
    written: list[UUID] = field(default_factory=list)
    merged: list[UUID] = field(default_factory=list)

    async def go(self, steps: int) -> None:
        for _ in range(steps):
            changes = [self.patch, self.erase] if self.written else []
            await self.chance.choice([self.prefer, self.prefer, self.work, self.work, self.merge, *changes])()

    async def prefer(self) -> None:
        about = {
            "stated_at": NOW - timedelta(days=self.chance.randint(0, 30)),
            "source_strength": self.chance.random(),
            "extractor_confidence": self.chance.random(),
        }
        value = self.chance.choice(("dark", "light", "dim"))
        outcome = await self.store.write(
            "preference", about=about, preference_key="editor.theme", preference_value=value
        )
        self._keep(outcome)

    async def work(self) -> None:
        name, firm = self.chance.choice(("P. Sharma", "Priya")), self.chance.choice(("Audi", "VW"))
        self._keep(await self.store.write("fact", subject=name, predicate="works-at", object=firm))

    async def patch(self) -> None:
        changes = {"importance": self.chance.random(), "needs_review": True}
        await self.store.memories.patch(self.store.actor, self.chance.choice(self.written), changes)

    async def erase(self) -> None:
        memory = self.chance.choice(self.written)
        await self.store.erasing.memory(self.store.actor, memory)
        self.written = [one for one in self.written if one != memory]

    async def merge(self) -> None:
        store = self.store
        entities = Entities(database=store.database, types=store.types, clock=store.pipeline.clock)
        people = await store.sql(
            "SELECT id FROM entities WHERE tenant_id = $1 AND canonical_name = ANY($2) AND merged_into IS NULL",
            store.tenant,
            ["P. Sharma", "Priya"],
        )
        if len(people) == 2:
            await entities.merge(store.actor, people[0]["id"], [people[1]["id"]], force=True)
            self.merged.append(people[1]["id"])
        elif self.merged:
            await entities.unmerge(store.actor, self.merged.pop())

    def _keep(self, outcome: WriteOutcome) -> None:
        if outcome.memory is not None:
            self.written.append(outcome.memory.id)


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_happens_the_log_tells_what_every_memory_became(store: Store, seed: int) -> None:
    await Life(store, random.Random(seed)).go(25)  # noqa: S311
    log = await agree(store)
    assert any(len(mine) > 1 for mine in log.values())
    unexplained = await store.sql(
        "SELECT id FROM audit_events WHERE tenant_id = $1 AND action = 'memory.standing'", store.tenant
    )
    assert unexplained == [], "a path of the service left it to the database to tell what it did"


async def test_the_numbers_behind_a_merge_lead_to_its_confidence(store: Store) -> None:
    for _ in range(3):
        outcome = await store.write("preference", preference_key="editor.theme", preference_value="dark")
    assert outcome.memory is not None
    rows = await store.sql(
        "SELECT action, detail FROM audit_events WHERE tenant_id = $1 AND memory_id = $2 ORDER BY position",
        store.tenant,
        outcome.memory.id,
    )
    details = [json.loads(row["detail"]) for row in rows]
    assert [row["action"] for row in rows] == ["memory.added", "memory.merged", "memory.merged"]
    assert [one["parts"]["mentions"] for one in details] == [1, [1, 2], [2, 3]]
    for one in details:
        parts = {name: pair[1] if isinstance(pair, list) else pair for name, pair in one["parts"].items()}
        repetition = min(1.0, (parts["mentions"] - 1) / 4)
        value = 0.45 * parts["source"] + 0.20 * repetition + 0.25 * parts["extractor"] + 0.10 * parts["prior"]
        assert one["confidence"][1] == pytest.approx(min(1.0, value))


async def test_what_nobody_told_the_database_tells(store: Store) -> None:
    outcome = await store.write("fact", subject="Ana", predicate="works-at", object="Audi")
    assert outcome.memory is not None
    async with store.database.write(store.tenant) as session:
        await session.change(
            statement("UPDATE memories SET status = 'expired', confidence = 0.25 WHERE tenant_id = :t AND id = :m"),
            {"t": store.tenant, "m": outcome.memory.id},
        )
    [*_, last] = (await agree(store))[outcome.memory.id]
    assert (last.action, last.status, last.confidence) == ("memory.standing", "expired", 0.25)


async def test_what_was_erased_in_the_transaction_that_changed_it_is_not_told(store: Store) -> None:
    outcome = await store.write("fact", subject="Ana", predicate="works-at", object="Audi")
    assert outcome.memory is not None
    async with store.database.write(store.tenant) as session:
        for change in ("UPDATE memories SET status = 'expired'", "DELETE FROM memories"):
            await session.change(
                statement(f"{change} WHERE tenant_id = :t AND id = :m"),
                {"t": store.tenant, "m": outcome.memory.id},
            )
    [only] = (await told(store))[outcome.memory.id]
    assert only.status == "active"


async def test_a_memory_changed_behind_the_logs_back_is_found(store: Store) -> None:
    outcome = await store.write("fact", subject="Ana", predicate="works-at", object="Audi")
    assert outcome.memory is not None
    book = Book(store, Audit(database=store.database))
    await book.tamper("UPDATE memories SET confidence = 0.99 WHERE tenant_id = $1", store.tenant)
    rebuilt = await book.audit.rebuild(store.tenant)
    assert rebuilt.differs == outcome.memory.id
    assert "0.99" in str(rebuilt.why)


def test_a_history_with_a_gap_is_refused() -> None:
    added = (NOW, "memory.added", {"status": [None, "active"], "confidence": [None, 0.5]})
    expired = (NOW, "memory.revived", {"status": ["expired", "active"]})
    with pytest.raises(ValueError, match=r"memory\.revived finds status expired, after it became active"):
        states_over_time([added, expired])
