"""Whatever is written and decided in whatever order, every slot stays in order."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from app.features.review.decide import ReviewDecisions
from app.features.review.items import ReviewAction, ReviewDecision, ReviewItem
from app.features.review.queue import Reviews
from app.features.review.sql import ReviewFilter
from app.model import MemoryStatus
from tests.support.stores import Store

pytestmark = pytest.mark.long

STEPS = 50
MOST_STEPS = 200
STRENGTHS = (0.2, 0.2, 0.2, 0.6, 0.9)
VALUES = ("Volkswagen", "Rivian", "BMW", "Tesla")


def reviews(store: Store) -> Reviews:
    return Reviews(
        database=store.database,
        reviewing=ReviewDecisions(pipeline=store.pipeline),
        erasing=store.erasing,
        clock=store.pipeline.clock,
    )


async def said(store: Store, chance: random.Random) -> None:
    """State something of one of two slots, now and then doubtfully."""
    candidate = store.candidate("fact", predicate=chance.choice(("works-at", "lives-in")), object=chance.choice(VALUES))
    doubt = "it holds a password" if chance.random() < 0.3 else None
    candidate = replace(candidate, source_strength=chance.choice(STRENGTHS), review=doubt)
    await store.write_all([candidate])


async def decided(store: Store, chance: random.Random) -> None:
    """Decide an item at random, by the action that was taken least of those that an item allows."""
    desk = reviews(store)
    waiting = list((await desk.list(store.actor, ReviewFilter())).items)
    chance.shuffle(waiting)
    taken = await actions_taken(store)
    for action in sorted(ReviewAction, key=lambda one: (taken[one], chance.random())):
        for item in waiting:
            choice = chosen(store, item, action, chance)
            if choice is not None:
                await desk.decide(store.actor, item.memory.id, choice)
                return


async def actions_taken(store: Store) -> Counter[str]:
    """Count the decisions of the tenant by action."""
    rows = await store.sql(
        """SELECT detail->>'action' AS name, count(*) AS times FROM audit_events
           WHERE tenant_id = $1 AND action = 'review.decided' AND detail ? 'action' GROUP BY name""",
        store.tenant,
    )
    return Counter({row["name"]: row["times"] for row in rows})


def chosen(store: Store, item: ReviewItem, action: ReviewAction, chance: random.Random) -> ReviewDecision | None:
    """Build a decision of this action, None where the item does not allow it."""
    others = [one.memory.id for one in item.sides if one.memory.status is MemoryStatus.ACTIVE]
    choice = ReviewDecision(action=action, version=item.version)
    match action:
        case ReviewAction.KEEP_BOTH if item.memory.status is MemoryStatus.PENDING:
            return None
        case ReviewAction.END if item.memory.status is not MemoryStatus.ACTIVE:
            return None
        case ReviewAction.SUPERSEDE_WITH if not others or chance.random() < 0.5:
            payload = {"predicate": "works-at", "object": chance.choice(VALUES)}
            return replace(
                choice, statement=store.types.get("fact").payload.model_validate(payload), statement_type="fact"
            )
        case ReviewAction.MERGE | ReviewAction.SUPERSEDE_WITH:
            return replace(choice, named=chance.choice(others)) if others else None
        case _:
            return choice


async def erased(store: Store, chance: random.Random) -> None:
    """Erase a memory of a slot that is contested, if there is one."""
    rows = await store.sql("SELECT id FROM memories WHERE tenant_id = $1 AND status = 'active'", store.tenant)
    if rows:
        await store.erasing.memory(store.actor, chance.choice(rows)["id"])


async def assert_in_order(store: Store) -> None:
    slots = await store.sql(
        """SELECT slot, count(*) AS standing, count(*) FILTER (WHERE NOT contested) AS leading
           FROM memories WHERE tenant_id = $1 AND status = 'active' AND slot IS NOT NULL GROUP BY type, slot""",
        store.tenant,
    )
    assert {row["leading"] for row in slots} <= {1}, "of those that claim a slot one leads"
    moot = await store.sql(
        """SELECT m.id, m.review_reason FROM memories m
           WHERE tenant_id = $1 AND review_reason IS NOT NULL AND CASE status
               WHEN 'pending' THEN slot IS NOT NULL
               WHEN 'active' THEN NOT EXISTS (SELECT FROM memories o WHERE o.tenant_id = m.tenant_id
                   AND o.slot = m.slot AND o.status = 'active' AND o.id <> m.id)
               ELSE true END""",
        store.tenant,
    )
    assert moot == [], "what waits has something to wait for"
    broken = await store.sql(
        """SELECT m.id, m.status FROM memories m WHERE tenant_id = $1 AND (
               (status = 'active' AND superseded_by IS NOT NULL)
               OR (status IN ('superseded', 'forgotten') OR (status = 'expired' AND ended_at IS NOT NULL))
                   <> (retired_at IS NOT NULL)
               OR NOT EXISTS (SELECT FROM memory_index i WHERE i.tenant_id = m.tenant_id AND i.memory_id = m.id
                   AND i.status = m.status AND i.retired_at IS NOT DISTINCT FROM m.retired_at
                   AND i.ended_at IS NOT DISTINCT FROM m.ended_at AND i.confidence = m.confidence))""",
        store.tenant,
    )
    assert broken == []
    rows = await store.sql(
        """SELECT s.memory_count, s.lexical_documents,
               (SELECT count(*) FROM memories m WHERE m.tenant_id = $1) AS stored,
               (SELECT count(*) FROM memories m WHERE m.tenant_id = $1 AND m.needs_review) AS waiting,
               (SELECT coalesce(sum(c.waiting), 0) FROM review_counts c WHERE c.tenant_id = $1) AS counted
           FROM scopes s WHERE s.tenant_id = $1""",
        store.tenant,
    )
    for counts in rows:
        assert counts["memory_count"] == counts["lexical_documents"] == counts["stored"]
        assert counts["waiting"] == counts["counted"]


@pytest.mark.parametrize("seed", range(3))
async def test_any_order_of_statements_and_decisions_leaves_every_slot_in_order(store: Store, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    for number in range(MOST_STEPS):
        if number >= STEPS and set(await actions_taken(store)) == set(ReviewAction):
            break
        [step] = chance.choices((said, decided, erased), weights=(5, 4, 1))
        await step(store, chance)
        await assert_in_order(store)
    assert len(await actions_taken(store)) >= 4, "the walk came by most decisions"
