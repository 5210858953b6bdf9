"""The graph's share of a write: entities, their names, where they are mentioned, and the edges between them."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from app import ids
from app.memory import normalise
from app.model import EntityRef, Mention
from app.write.plan import Plan
from app.write.resolve import UNKNOWN
from app.write.values import Resolved


def add_entities(plan: Plan, memory: UUID, resolved: Resolved, *, before: int = 0) -> None:
    """Gather the entities a memory mentions, as often as it was said, new names of theirs, and the mentions.

    `before`: how often the memory had been said, which an entity that is new now is counted for as well.

    A name that no index takes leads to nobody: its entity is told by its id, which is made of the name.
    """
    by_role = {mention.role: mention for mention in resolved.prepared.mentions}
    here = {"tenant_id": plan.around.tenant, "scope_id": plan.around.scope}
    now, times = plan.around.now, resolved.prepared.parts.mentions
    for role, ref in resolved.refs.items():
        mention = by_role[role]
        known = plan.entities.get(ref.id)
        count = times + (before if ref.created else 0) + (0 if known is None else int(str(known["mention_count"])))
        row = {**_entity_row(here, ref, mention, count), "created_at": now, "updated_at": now}
        if known is not None and row["entity_type"] == UNKNOWN:
            row["entity_type"] = known["entity_type"]
        plan.entities[ref.id] = row
        names = (mention.name, *mention.aliases) if mention.declares or ref.created else ()
        for name in names:
            alias = normalise.name(name)
            if alias and normalise.fits_an_index(alias):
                named = {"alias": alias, "entity_id": ref.id, "display": name, "created_at": now}
                plan.rows["entity_aliases"].append({**here, **named})
        plan.rows["memory_entities"].append(
            {"tenant_id": plan.around.tenant, "entity_id": ref.id, "memory_id": memory, "role": role}
        )
    plan.unified += resolved.unified


def _entity_row(here: Mapping[str, object], ref: EntityRef, mention: Mention, count: int) -> dict[str, object]:
    return {
        **here,
        "id": ref.id,
        "canonical_name": ref.name,
        "entity_type": ref.entity_type,
        "attributes": dict(mention.attributes),
        "mention_count": count,
    }


def add_edge(plan: Plan, memory: UUID, resolved: Resolved) -> None:
    """Gather the relation the payload states, if it states one."""
    edge = resolved.prepared.candidate.payload.edge()
    if edge is None:
        return
    plan.rows["relations"].append(
        {
            "tenant_id": plan.around.tenant,
            "scope_id": plan.around.scope,
            "id": ids.new(),
            "memory_id": memory,
            "from_entity": resolved.refs[edge.from_role].id,
            "relation_type": edge.relation_type,
            "to_entity": resolved.refs[edge.to_role].id,
            "since": edge.since,
        }
    )
