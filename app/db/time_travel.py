"""SQL of the store as it was known at a time: former rows laid over present rows.

Each change of a memory stores its former state in `memory_past`, with the time until which the service believed it;
likewise `entity_past`. A row at time K is the first former state that was believed after K, else the present row. Each
piece of SQL below is a query in parentheses with the parameters `:tenant` and `:known_at`.
"""

from __future__ import annotations

from app.db import tables
from app.model import BUILT_IN

_UNCHANGING = frozenset({"tenant_id", "id", "scope_id", "recorded_at", "updated_at", "context", "identity"})
"""Columns of memories that `memory_past.was` leaves out, because they never change or are never shown."""

_COLUMNS = ", ".join(
    f"{'x' if column.name in _UNCHANGING else 'state'}.{column.name}" for column in tables.memories.columns
)

_TYPED = f"""jsonb '{{"type_tenant": "{BUILT_IN}", "type_version": 0}}'"""
"""Values that are missing in `was` of releases in which all types were built in."""


def memories(condition: str) -> str:
    """Return SQL of the memories that were recorded by then, as they were; `condition` is on `x`, the present row."""
    return f"""(
        SELECT {_COLUMNS} FROM memories x
        LEFT JOIN LATERAL (
            SELECT p.was FROM memory_past p
            WHERE p.tenant_id = :tenant AND p.memory_id = x.id AND p.believed_until > :known_at
            ORDER BY p.believed_until LIMIT 1
        ) past ON true
        CROSS JOIN LATERAL jsonb_populate_record(x, coalesce({_TYPED} || past.was, '{{}}')) state
        WHERE x.tenant_id = :tenant AND x.recorded_at <= :known_at AND {condition}
    )"""  # noqa: S608 - composed of constants


ENTITIES = """(
        SELECT x.tenant_id, x.id, x.scope_id, x.created_at,
            CASE WHEN past.believed_until IS NULL THEN x.canonical_name ELSE past.canonical_name END AS canonical_name,
            CASE WHEN past.believed_until IS NULL THEN x.entity_type ELSE past.entity_type END AS entity_type,
            CASE WHEN past.believed_until IS NULL THEN x.attributes ELSE past.attributes END AS attributes,
            CASE WHEN past.believed_until IS NULL THEN x.merged_into ELSE past.merged_into END AS merged_into
        FROM entities x
        LEFT JOIN LATERAL (
            SELECT p.* FROM entity_past p
            WHERE p.tenant_id = :tenant AND p.entity_id = x.id AND p.believed_until > :known_at
            ORDER BY p.believed_until LIMIT 1
        ) past ON true
        WHERE x.tenant_id = :tenant AND x.created_at <= :known_at
    )"""
"""SQL of the entities that were known by then, as they were."""

NAMES = """(
        SELECT every.* FROM (
            SELECT a.scope_id, a.entity_id, a.alias, a.display FROM entity_aliases a
            WHERE a.tenant_id = :tenant AND a.created_at <= :known_at
            UNION
            SELECT x.scope_id, o.entity_id, o.alias, o.display FROM entity_merge_aliases o
            JOIN entities x ON x.tenant_id = :tenant AND x.id = o.entity_id
            WHERE o.tenant_id = :tenant AND o.created_at <= :known_at
        ) every
        WHERE NOT EXISTS (
            SELECT FROM entity_merges g JOIN entity_merge_aliases o
                ON o.tenant_id = :tenant AND o.entity_id = g.entity_id AND o.alias = every.alias AND o.lent
            WHERE g.tenant_id = :tenant AND g.into_id = every.entity_id)
    )"""
"""SQL of the names that were known by then, each with its own entity, whatever that was merged into later."""


def entity_family(root: str) -> str:
    """Return SQL of the ids of an entity and of the entities merged into it by then; `root` is its id as SQL."""
    return f"""(
        SELECT {root} AS id
        UNION
        SELECT relative.id FROM (
            SELECT x.id FROM entities x WHERE x.tenant_id = :tenant AND x.merged_into = {root}
            UNION SELECT p.entity_id FROM entity_past p WHERE p.tenant_id = :tenant AND p.merged_into = {root}
        ) ever
        CROSS JOIN LATERAL (SELECT * FROM {ENTITIES} one WHERE one.id = ever.id OFFSET 0) relative
        WHERE relative.merged_into = {root}
    )"""  # noqa: S608 - composed of constants
