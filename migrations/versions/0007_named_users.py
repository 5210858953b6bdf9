"""Memories that a type's default scope showed to everybody, although they name a user, go back to that user.

A write that named a user used to land in the scope that the type has by default: `global`, for eight types and for a
tenant's own of that kind. The user's id stayed in the provenance. Rows that name a user are few and have an index, so
they are moved here, a tenant at a time, under row locks; the scopes' versions move, so that a write that had read them
reads again. Whether `global` was said out loud was not recorded, so what was meant for everybody is written once more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID, uuid5

import sqlalchemy as sa
import structlog
from alembic import context, op
from sqlalchemy.engine import Connection

from app.model import Scope, ScopeKind, scope_of_write

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

log = structlog.get_logger("typed_memory.migrations")

GLOBAL_TYPES = ("control", "feature", "procedural", "progress", "reflection", "semantic", "standard", "strategy")
"""Built-in types whose default scope is global."""

AS_OPERATOR = "SELECT set_config('app.operator', 'on', true), set_config('app.tenant_id', '', true)"
AS_TENANT = "SELECT set_config('app.operator', '', true), set_config('app.tenant_id', :tenant, true)"

WIDENED = """
    SELECT m.id, m.provenance ->> 'user_id' AS user_id, m.provenance ->> 'agent_id' AS agent_id, m.scope_id
    FROM memories m JOIN scopes s ON s.tenant_id = m.tenant_id AND s.id = m.scope_id
    WHERE m.tenant_id = :tenant AND (m.provenance ->> 'user_id') IS NOT NULL AND s.kind = 'global'
      AND (m.type_version = 0 AND m.type = ANY(:types) OR m.type_version > 0 AND m.type IN (
        SELECT DISTINCT ON (v.name) CASE WHEN v.definition ->> 'default_scope' = 'global' THEN v.name END
        FROM memory_type_versions v WHERE v.tenant_id = :tenant ORDER BY v.name, v.version DESC))
    ORDER BY m.id
"""

OPEN = """
    INSERT INTO scopes (tenant_id, id, kind, user_id, agent_id, lexical_average)
    SELECT :tenant, :scope, :kind, :user_id, :agent_id, s.lexical_average FROM scopes s
    WHERE s.tenant_id = :tenant AND s.id = :everybody
    ON CONFLICT DO NOTHING
"""

COUNT = """
    UPDATE scopes SET version = version + 1, lexical_settled = false, written_at = greatest(written_at, now()),
        memory_count = memory_count + :added, lexical_documents = lexical_documents + :added
    WHERE tenant_id = :tenant AND id = :scope
"""

MOVE = (
    """
    UPDATE memories m SET scope_id = :scope, contested = m.contested OR m.status = 'active' AND EXISTS (
        SELECT FROM memories held WHERE held.tenant_id = m.tenant_id AND held.scope_id = :scope
          AND held.type = m.type AND held.slot = m.slot AND held.status = 'active' AND NOT held.contested)
    WHERE m.tenant_id = :tenant AND m.id = ANY(:ids)
    """,
    *(
        f"UPDATE {table} SET scope_id = :scope WHERE tenant_id = :tenant AND memory_id = ANY(:ids)"  # noqa: S608
        for table in ("memory_index", "hypothetical_embeddings", "memory_past", "relations")
    ),
)

MENTIONED = """
    SELECT DISTINCT e.id, e.canonical_name, e.entity_type, e.attributes,
        (SELECT min(a.alias) FROM entity_aliases a WHERE a.tenant_id = e.tenant_id AND a.entity_id = e.id
           AND lower(a.display) = lower(e.canonical_name)) AS alias,
        (SELECT array_agg(DISTINCT known.entity_id) FROM entity_aliases a
         JOIN entity_aliases known
           ON known.tenant_id = a.tenant_id AND known.scope_id = :scope AND known.alias = a.alias
         WHERE a.tenant_id = e.tenant_id AND a.entity_id = e.id) AS own
    FROM memory_entities k JOIN entities e ON e.tenant_id = k.tenant_id AND e.id = k.entity_id
    WHERE k.tenant_id = :tenant AND k.memory_id = ANY(:ids) AND e.scope_id <> :scope
"""

COPY = (
    """
    INSERT INTO entities (tenant_id, id, scope_id, canonical_name, entity_type, attributes)
    SELECT tenant_id, :own, :scope, canonical_name, entity_type, attributes FROM entities
    WHERE tenant_id = :tenant AND id = :entity ON CONFLICT DO NOTHING
    """,
    """
    INSERT INTO entity_aliases (tenant_id, scope_id, alias, entity_id, display)
    SELECT tenant_id, :scope, alias, :own, display FROM entity_aliases
    WHERE tenant_id = :tenant AND entity_id = :entity ON CONFLICT DO NOTHING
    """,
)

NAME = (
    """
    UPDATE memory_entities SET entity_id = :own
    WHERE tenant_id = :tenant AND entity_id = :entity AND memory_id = ANY(:ids)
    """,
    """
    UPDATE memories SET subject_id = :own
    WHERE tenant_id = :tenant AND subject_id = :entity AND id = ANY(:ids)
    """,
    """
    UPDATE relations SET from_entity = CASE from_entity WHEN :entity THEN :own ELSE from_entity END,
        to_entity = CASE to_entity WHEN :entity THEN :own ELSE to_entity END
    WHERE tenant_id = :tenant AND memory_id = ANY(:ids) AND :entity IN (from_entity, to_entity)
    """,
    """
    DELETE FROM entities e WHERE e.tenant_id = :tenant AND e.id = :entity AND e.merged_into IS NULL
      AND NOT EXISTS (SELECT FROM memory_entities k WHERE k.tenant_id = e.tenant_id AND k.entity_id = e.id)
      AND NOT EXISTS (SELECT FROM relations r WHERE r.tenant_id = e.tenant_id AND e.id IN (r.from_entity, r.to_entity))
      AND NOT EXISTS (SELECT FROM entities k WHERE k.tenant_id = e.tenant_id AND k.merged_into = e.id)
      AND NOT EXISTS (SELECT FROM memories m WHERE m.tenant_id = e.tenant_id AND m.subject_id = e.id)
    """,
)

REVIEWS = (
    "DELETE FROM review_counts WHERE tenant_id = :tenant AND scope_id = :scope",
    """
    INSERT INTO review_counts (tenant_id, scope_id, reason, waiting)
    SELECT tenant_id, scope_id, review_reason, count(*) FROM memories
    WHERE tenant_id = :tenant AND scope_id = :scope AND review_reason IS NOT NULL
    GROUP BY tenant_id, scope_id, review_reason
    """,
)


def upgrade() -> None:
    if context.is_offline_mode():
        return
    connection = op.get_bind()
    connection.execute(sa.text(AS_OPERATOR))
    for tenant in connection.execute(sa.text("SELECT id FROM tenants ORDER BY id")).scalars().all():
        connection.execute(sa.text(AS_TENANT), {"tenant": str(tenant)})
        if moved := moved_back(connection, tenant):
            log.warning("moved memories that name a user out of the global scope", tenant=str(tenant), memories=moved)
    connection.execute(sa.text(AS_OPERATOR.replace("'on'", "''")))


def downgrade() -> None:
    """Leave them with their users."""


def moved_back(connection: Connection, tenant: UUID) -> int:
    """Move what was widened in a tenant back to the users it names; return how many memories."""
    found = connection.execute(sa.text(WIDENED), {"tenant": tenant, "types": list(GLOBAL_TYPES)}).all()
    groups: dict[Scope, list[UUID]] = defaultdict(list)
    for row in found:
        both = row.user_id is not None and row.agent_id is not None
        asked = ScopeKind.AGENT if both else None  # the rule of that time
        scope = scope_of_write(asked, default=ScopeKind.GLOBAL, user_id=row.user_id, agent_id=row.agent_id)
        groups[scope].append(row.id)
    for scope, memories in groups.items():
        move(connection, tenant, scope, memories, everybody=found[0].scope_id)
    return len(found)


def move(connection: Connection, tenant: UUID, scope: Scope, memories: Sequence[UUID], *, everybody: UUID) -> None:
    """Move memories from everybody's scope to a user's, with their index, their past and the entities they name."""
    own = scope.id(tenant)
    here: Mapping[str, object] = {"tenant": tenant, "scope": own, "ids": list(memories)}
    names = {"kind": scope.kind.value, "user_id": scope.user_id, "agent_id": scope.agent_id, "everybody": everybody}
    run(connection, (OPEN,), here | names)
    run(connection, (COUNT,), {"tenant": tenant, "scope": everybody, "added": -len(memories)})
    run(connection, (COUNT,), {"tenant": tenant, "scope": own, "added": len(memories)})
    run(connection, MOVE, here)
    for entity in connection.execute(sa.text(MENTIONED), here).all():
        known = entity.own[0] if entity.own else uuid5(own, entity.alias or entity.canonical_name)
        if not entity.own:
            run(connection, COPY, {**here, "entity": entity.id, "own": known})
        run(connection, NAME, {**here, "entity": entity.id, "own": known})
    for one in (everybody, own):
        run(connection, REVIEWS, {"tenant": tenant, "scope": one})


def run(connection: Connection, statements: Sequence[str], values: Mapping[str, object]) -> None:
    """Execute statements in order, each with those of the values that it uses."""
    for statement in statements:
        clause = sa.text(statement)
        connection.execute(clause, {name: value for name, value in values.items() if f":{name}" in statement})
