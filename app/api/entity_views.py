"""Entities and their relations as answers: plain dictionaries."""

from __future__ import annotations

from app import ids
from app.db.edges import Edge
from app.db.entities import Entity
from app.services.entities import Merged, Unmerged


def merged(done: Merged) -> dict[str, object]:
    """Return what a merge did."""
    return {
        "entity": entity(done.entity),
        "merged": [
            {
                "entity_id": ids.public(ids.ENTITY, one.entity),
                "aliases": one.aliases,
                "memories": one.memories,
                "contradictions": [
                    {
                        "memory_id": ids.public(ids.MEMORY, found.memory),
                        "holder_id": ids.public(ids.MEMORY, found.holder),
                    }
                    for found in one.contradictions
                ],
            }
            for one in done.moved
        ],
    }


def unmerged(done: Unmerged) -> dict[str, object]:
    """Return what taking a merge apart did."""
    return {
        "entity": entity(done.entity),
        "survivor": entity(done.survivor),
        "aliases": done.undone.aliases,
        "memories": done.undone.memories,
        "revived": [ids.public(ids.MEMORY, one) for one in done.undone.revived],
    }


def entity(one: Entity) -> dict[str, object]:
    """Return an entity."""
    return {
        "id": ids.public(ids.ENTITY, one.id),
        "canonical_name": one.name,
        "entity_type": one.entity_type,
        "aliases": one.aliases,
        "attributes": one.attributes,
        "mention_count": one.mention_count,
        "scope": one.scope.kind,
        "user_id": one.scope.user_id,
        "agent_id": one.scope.agent_id,
        "merged_into": None if one.merged_into is None else ids.public(ids.ENTITY, one.merged_into),
        "merged": [ids.public(ids.ENTITY, other) for other in one.merged],
        "created_at": one.created_at,
    }


def edge(one: Edge) -> dict[str, object]:
    """Return a relation between two entities."""
    return {
        "from_entity": {"id": ids.public(ids.ENTITY, one.from_entity), "name": one.from_name},
        "relation_type": one.relation_type,
        "to_entity": {"id": ids.public(ids.ENTITY, one.to_entity), "name": one.to_name},
        "since": one.since,
        "memory_id": ids.public(ids.MEMORY, one.memory),
        "hop": one.hop,
    }
