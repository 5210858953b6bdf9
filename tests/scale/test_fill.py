"""The filler stores what the write pipeline would: else what is measured on it would say nothing."""

from __future__ import annotations

from itertools import product
from typing import Any
from uuid import UUID

import pytest

from bench.fill import Bucket
from bench.grammar import Grammar
from tests.scale.stores import Store, actor_of, user_scope

pytestmark = pytest.mark.long

COUNT = 200
USER = "dave"

# What must be equal: everything but ids, times of storing, digits that depend on the order of writing, and the question
# whether a new name is a known one, which the filler does not ask.
QUERIES = {
    "memories": """
        SELECT type, category, status, content, context, encode(identity, 'hex'), payload::text, subject, slot IS NULL,
            slot_value IS NULL, contested, source_strength, extractor_confidence, prior, mentions, confidence,
            importance, half_life_days, floor, topic, session_id, sequence_number, stated_at, valid_from,
            valid_until, ended_at, supersedes IS NULL, superseded_by IS NULL,
            needs_review AND review_reason <> 'entity_merge' IS TRUE
        FROM memories WHERE tenant_id = $1 ORDER BY content, status, stated_at""",
    "memory_index": """
        SELECT m.content, i.part, i.kind, i.type, i.status, i.topic, i.confidence, i.valid_from, i.ended_at,
            i.event_range, i.stated_at, i.session_id, i.sequence_number, i.speaker_id IS NULL, i.words, i.asks,
            i.model_id, i.embedding::text, i.tsv::text
        FROM memory_index i JOIN memories m ON m.tenant_id = i.tenant_id AND m.id = i.memory_id
        WHERE i.tenant_id = $1 ORDER BY m.content, i.status, i.part, i.stated_at""",
    "entities": """
        SELECT canonical_name, entity_type, attributes::text, mention_count FROM entities
        WHERE tenant_id = $1 ORDER BY 1, 2""",
    "entity_aliases": "SELECT alias, display FROM entity_aliases WHERE tenant_id = $1 ORDER BY 1, 2",
    "memory_entities": """
        SELECT m.content, e.canonical_name, x.role FROM memory_entities x
        JOIN memories m ON m.tenant_id = x.tenant_id AND m.id = x.memory_id
        JOIN entities e ON e.tenant_id = x.tenant_id AND e.id = x.entity_id
        WHERE x.tenant_id = $1 ORDER BY 1, 2, 3""",
    "relations": """
        SELECT m.content, r.relation_type FROM relations r
        JOIN memories m ON m.tenant_id = r.tenant_id AND m.id = r.memory_id WHERE r.tenant_id = $1 ORDER BY 1, 2""",
    "links": "SELECT kind, count(*) FROM memory_links WHERE tenant_id = $1 GROUP BY 1",
    "usage": "SELECT count(*), sum(access_count) FROM memory_usage WHERE tenant_id = $1",
    "terms": "SELECT term, documents FROM lexical_terms WHERE tenant_id = $1 ORDER BY 1",
    "scope": """
        SELECT kind, user_id, agent_id, memory_count, lexical_documents, lexical_length FROM scopes
        WHERE tenant_id = $1""",
}


async def _contents(store: Store, tenant: UUID) -> dict[str, list[Any]]:
    return {name: [tuple(row) for row in await store.owner.fetch(sql, tenant)] for name, sql in QUERIES.items()}


async def test_filled_rows_are_those_of_the_write_pipeline(big: Store) -> None:
    filled, together, single = [await big.new_tenant() for _ in range(3)]
    await big.filler.fill([Bucket(tenant=filled, scope=user_scope(USER), count=COUNT, seed=USER)])

    drafts = list(Grammar(USER).drafts(COUNT))
    candidates = [one for draft in drafts for one in big.filler.candidates(draft, user_scope(USER))]
    await big.writes.write(actor_of(together), candidates)
    for candidate in candidates:
        await big.writes.write(actor_of(single), [candidate])

    ours = await _contents(big, filled)
    for tenant, name in product((together, single), QUERIES):
        # Names that a session's other turns bring are left out of its vectors only where they are written with it.
        if (tenant, name) != (single, "memory_index"):
            assert ours[name] == (await _contents(big, tenant))[name], name


async def test_filled_foreign_keys_hold_although_they_were_not_checked(big: Store) -> None:
    tenant = await big.new_tenant()
    await big.fill((tenant, USER, COUNT))
    keys = await big.owner.fetch(
        "SELECT conrelid::regclass::text AS of, conname FROM pg_constraint WHERE contype = 'f' AND connamespace = "
        "'public'::regnamespace"
    )
    for key in keys:
        # Dropped and added again, a foreign key is checked against every row.
        [definition] = await big.owner.fetchrow(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = $1", key["conname"]
        )
        await big.owner.execute(f"ALTER TABLE {key['of']} DROP CONSTRAINT {key['conname']}")
        await big.owner.execute(f"ALTER TABLE {key['of']} ADD CONSTRAINT {key['conname']} {definition}")
