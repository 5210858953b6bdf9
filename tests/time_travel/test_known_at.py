"""For any sequence of writes, `known_at` at any past moment returns exactly what `/query` returned then.

Asked without floors: how relevant a memory is goes by its present words, where later writes changed them
(docs/decisions/time-travel.md).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from app.db.entities.read import EntityFilters, EntityRecord
from app.db.memories.listing import MemoryFilters
from app.db.session import stamped, statement
from app.errors import Conflict, InvalidInput
from app.model import Memory, ReadMode
from tests.read.conftest import Store
from tests.time_travel.conftest import Timed, timed_store

pytestmark = [pytest.mark.long, pytest.mark.timeout(1_200)]  # some thousand questions, on a machine that may be busy

QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Which editor theme does the user like?", {}),
    ("Where did the user work before?", {}),
    ("What happened at the Nimbus offsite?", {}),
    ("Who reports to Priya, other than Sarah?", {}),
    ("Tell me everything about Volkswagen", {"mode": ReadMode.HISTORICAL}),
    ("Tell me everything", {"mode": ReadMode.AUDIT}),
    ("Anything about work?", {"topic": "work", "min_confidence": 0.0}),
    ("Which editor theme does the user like?", {"as_of": timedelta(days=20)}),
)
LEGAL = {
    "active": ("expired", "pending", "forgotten"),
    "expired": ("active", "forgotten"),
    "pending": ("active", "forgotten"),
}
NAMES = ("Priya", "P. Sharma", "Sarah", "Volkswagen", "VW", "Nimbus")
THEMES = ("dark", "light", "sepia")
EMPLOYERS = ("Volkswagen", "VW", "Bosch", "Nimbus")

days = st.sampled_from((0, 0, 10, 30))
steps = st.one_of(
    st.tuples(st.just("theme"), st.sampled_from(THEMES), days, st.sampled_from((1.0, 0.55))),
    st.tuples(st.just("job"), st.sampled_from(EMPLOYERS), days, st.sampled_from((1.0, 0.55))),
    st.tuples(st.just("event"), st.sampled_from(("the Nimbus offsite went well", "Priya gave a talk")), days),
    st.tuples(st.just("boss"), st.sampled_from(NAMES[:3]), st.sampled_from(NAMES[:3])),
    st.tuples(st.just("entity"), st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=2)),
    st.tuples(st.just("merge"), st.integers(0, 5), st.integers(0, 5)),
    st.tuples(st.just("unmerge"), st.integers(0, 5)),
    st.tuples(
        st.just("patch"),
        st.integers(0, 9),
        st.sampled_from(
            ({"topic": "work"}, {"importance": 0.9}, {"category": "core"}, {"needs_review": True}, {"ends": 1})
        ),
    ),
    st.tuples(st.just("status"), st.integers(0, 9), st.integers(0, 2)),
)


@dataclass(slots=True)
class Story:
    """Writes as they come, and what was answered after each."""

    timed: Timed
    answers: list[tuple[datetime, int, list[Memory], object]] = field(default_factory=list)
    lists: list[tuple[datetime, tuple[list[Memory], list[EntityRecord]]]] = field(default_factory=list)

    async def do(self, step: tuple[Any, ...]) -> None:
        self.timed.clock.tick()
        act: Callable[..., Any] = getattr(self, step[0])
        await act(*step[1:])
        self.timed.clock.tick(seconds=1)

    def stated(self, days_ago: int) -> datetime:
        return self.timed.clock.now - timedelta(days=days_ago)

    async def theme(self, value: str, days_ago: int, strength: float) -> None:
        await self.timed.theme(value, stated_at=self.stated(days_ago), source_strength=strength)

    async def job(self, employer: str, days_ago: int, strength: float) -> None:
        about = {"stated_at": self.stated(days_ago), "source_strength": strength}
        await self.timed.put("fact", about, predicate="works-at", object=employer)

    async def event(self, what: str, days_ago: int) -> None:
        await self.timed.put(
            "event",
            {"stated_at": self.stated(0)},
            event_description=what,
            event_at=self.stated(days_ago).date().isoformat(),
            participants=["Priya"],
        )

    async def boss(self, one: str, other: str) -> None:
        if one != other:
            await self.timed.put("relation", from_entity=one, relation_type="reports-to", to_entity=other)

    async def entity(self, name: str, aliases: list[str]) -> None:
        kind = "person" if name in NAMES[:3] else "organization"
        await self.timed.put("entity", canonical_name=name, entity_type=kind, aliases=aliases)

    async def merge(self, one: int, into: int) -> None:
        known = await self.rows("SELECT id FROM entities WHERE tenant_id = $1 AND merged_into IS NULL ORDER BY id")
        if known and one % len(known) != into % len(known):
            pair = known[into % len(known)]["id"], known[one % len(known)]["id"]
            await self.timed.entities.merge(self.timed.store.actor, pair[0], [pair[1]], force=True)

    async def unmerge(self, which: int) -> None:
        merged = await self.rows("SELECT entity_id AS id FROM entity_merges WHERE tenant_id = $1 ORDER BY entity_id")
        if merged:
            try:
                await self.timed.entities.unmerge(self.timed.store.actor, merged[which % len(merged)]["id"])
            except (Conflict, InvalidInput):
                return

    async def patch(self, which: int, changes: dict[str, Any]) -> None:
        if "ends" in changes:
            changes = {"valid_until": self.timed.clock.now + timedelta(minutes=3)}
        memories = await self.rows("SELECT id, valid_from FROM memories WHERE tenant_id = $1 ORDER BY id")
        if memories:
            with suppress(Conflict):
                await self.timed.memories.patch(self.timed.store.actor, memories[which % len(memories)]["id"], changes)

    async def status(self, which: int, to: int) -> None:
        memories = await self.rows(
            "SELECT id, status FROM memories WHERE tenant_id = $1 AND status = ANY($2) ORDER BY id", list(LEGAL)
        )
        if memories:
            one = memories[which % len(memories)]
            wanted = LEGAL[one["status"]][to % len(LEGAL[one["status"]])]
            change = statement(
                """WITH changed AS (
                    UPDATE memories m SET status = CAST(:to AS text),
                        review_reason = CASE WHEN CAST(:to AS text) = 'pending' THEN coalesce(review_reason, 'asked')
                            ELSE review_reason END,
                        review_since = CASE WHEN CAST(:to AS text) = 'pending'
                            THEN coalesce(review_since, CAST(:now AS timestamptz)) ELSE review_since END
                    WHERE m.tenant_id = :tenant AND m.id = :id AND NOT EXISTS (
                        SELECT FROM memories h WHERE h.tenant_id = :tenant
                            AND (h.scope_id, h.type, h.slot) = (m.scope_id, m.type, m.slot)
                            AND CAST(:to AS text) = 'active' AND h.status = 'active' AND NOT h.contested)
                    RETURNING m.id
                ) UPDATE memory_index i SET status = CAST(:to AS text)
                WHERE i.tenant_id = :tenant AND i.memory_id IN (SELECT id FROM changed)"""
            )
            now, tenant = self.timed.clock.now, self.timed.store.tenant
            async with self.timed.store.database.write(tenant, **stamped(now)) as session:
                await session.fetch(change, {"tenant": tenant, "id": one["id"], "to": wanted, "now": now})

    async def rows(self, statement: str, *arguments: object) -> list[Any]:
        return await self.timed.store.sql(statement, self.timed.store.tenant, *arguments)

    async def ask(self, question: int, at: datetime, **past: Any) -> tuple[list[Memory], object]:
        text, request = QUESTIONS[question]
        if "as_of" in request:
            request = {**request, "as_of": at - request["as_of"]}
        result = await self.timed.store.ask(text, now=at, top_k=100, min_relevance=0.0, **request, **past)
        return sorted((bare(hit.memory) for hit in result.hits), key=lambda one: one.id), result.understood

    async def listed(self, known_at: datetime | None = None) -> tuple[list[Memory], list[EntityRecord]]:
        """List every memory and every entity; how often an entity was mentioned is counted otherwise in the past."""
        actor = self.timed.store.actor
        page = await self.timed.memories.list(actor, MemoryFilters(scopes=None, known_at=known_at), limit=200)
        entities = await self.timed.entities.list(actor, filters=EntityFilters(), limit=200, known_at=known_at)
        return [bare(one) for one in page.items], [_known(one) for one in entities.items]

    async def remember(self) -> None:
        now = self.timed.clock.now
        self.lists.append((now, await self.listed()))
        self.answers += [(now, one, *await self.ask(one, now)) for one in range(len(QUESTIONS))]


def _known(entity: EntityRecord) -> EntityRecord:
    """The entity without its count, and, merged away itself, without the names it had taken over (decision 24)."""
    return replace(entity, mention_count=0, aliases=() if entity.merged_into else entity.aliases)


def bare(memory: Memory) -> Memory:
    """The memory without what counts its use, without links, which an unmerge takes back without a trace, and without
    the names of its entities, which are only read for the present."""
    return replace(memory, access_count=0, last_accessed_at=None, links=(), names=())


@pytest.mark.filterwarnings("ignore:Generating overly large repr")  # of a failing script: it would hide the failure
@settings(
    max_examples=25,
    phases=[Phase.generate],  # shrinking asks a database for minutes, and a script is short
    suppress_health_check=list(HealthCheck),
)
@given(script=st.lists(steps, min_size=3, max_size=12))
async def test_what_was_answered_at_any_moment_can_be_answered_again(
    store: Store, script: list[tuple[Any, ...]]
) -> None:
    story = Story(timed=await timed_store(store))
    await story.remember()
    for step in script:
        await story.do(step)
        await story.remember()
    story.timed.clock.tick(days=400)
    for at, question, memories, understood in story.answers:
        then, read = await story.ask(question, at, known_at=at)
        assert then == memories, (at, QUESTIONS[question])
        assert read == understood, (at, QUESTIONS[question])
    for at, lists in story.lists:
        assert await story.listed(known_at=at) == lists, at


async def test_how_rare_a_word_was_is_counted_among_what_was_known_then(store: Store) -> None:
    story = Story(timed=await timed_store(store))
    timed = story.timed
    await timed.put("fact", predicate="works-at", object="the harbour")
    await timed.put("fact", predicate="owns", object="a blue tandem")
    timed.clock.tick(seconds=1)
    then = timed.clock.now
    answered = [hit.relevance for hit in (await timed.store.ask("Does the user own a blue tandem?", now=then)).hits]
    assert answered
    timed.clock.tick(days=1)
    for number in range(12):
        await timed.put("fact", predicate=f"rides-{number}", object=f"a tandem to place {number}")
    again = [
        hit.relevance
        for hit in (await timed.store.ask("Does the user own a blue tandem?", now=then, known_at=then)).hits
    ]
    assert again == answered
