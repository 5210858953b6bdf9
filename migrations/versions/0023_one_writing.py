"""One writing of names: a function for comparisons in SQL, and the aliases that were stored under the rule before.

Where two entities of a scope come to have one name they stay two: an active memory of the newer one waits for a person
with the question whether it may be the same. Scopes in which names change move their version.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import sqlalchemy as sa
import structlog
from alembic import context, op
from sqlalchemy.engine import Connection, Row

from app.memory import normalise, resemblance, writing

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

log = structlog.get_logger("typed_memory.migrations")

AS_OPERATOR = "SELECT set_config('app.operator', 'on', true), set_config('app.tenant_id', '', true)"
AS_TENANT = "SELECT set_config('app.operator', '', true), set_config('app.tenant_id', :tenant, true)"
AS_NOBODY = "SELECT set_config('app.operator', '', true), set_config('app.tenant_id', '', true)"

FUNCTION = f"""
    DO $do$
    BEGIN
        EXECUTE replace($function${writing.sql_function("folded", "any_letters")}$function$, 'any_letters', (
            SELECT quote_ident(collname) FROM pg_collation
            WHERE collname IN ('pg_c_utf8', 'und-x-icu', 'C') AND collnamespace = 'pg_catalog'::regnamespace
            ORDER BY collname = 'C', collname LIMIT 1));
    END $do$
"""  # noqa: S608 - our own statement
"""Postgres has the first collation from 17 on, and the second one where it is built with ICU, as it is by default."""

TABLES = ("entity_aliases", "entity_merge_aliases")

WRITTEN = """
    SELECT t.*, e.scope_id AS scope FROM {table} t
    JOIN entities e ON e.tenant_id = :tenant AND e.id = t.entity_id
    WHERE t.tenant_id = :tenant AND t.display ~ '[^ -~]|`|^["''( ]*[.,;:!?]' ORDER BY t.entity_id, t.alias
"""

RENAME = """
    UPDATE {table} t SET alias = :new WHERE t.tenant_id = :tenant AND t.entity_id = :entity AND t.alias = :alias
      AND NOT EXISTS (
        SELECT FROM {table} k WHERE k.tenant_id = :tenant AND k.entity_id = :entity AND k.alias = :new)
"""

FORGET = "DELETE FROM {table} WHERE tenant_id = :tenant AND entity_id = :entity AND alias = :alias"

VALUES = """
    SELECT id, slot_value FROM memories
    WHERE tenant_id = :tenant AND slot_value IS NOT NULL AND slot_value ~ '[^ -~]|`' ORDER BY id
"""

REVALUE = "UPDATE memories SET slot_value = :new WHERE tenant_id = :tenant AND id = :id"

NAMESAKES = """
    SELECT newer.id AS entity, newer.canonical_name AS name, older.canonical_name AS known
    FROM entity_aliases a
    JOIN entity_aliases b ON b.tenant_id = a.tenant_id AND b.scope_id = a.scope_id AND b.alias = a.alias
    JOIN entities newer ON newer.tenant_id = a.tenant_id AND newer.id = a.entity_id AND newer.merged_into IS NULL
    JOIN entities older ON older.tenant_id = b.tenant_id AND older.id = b.entity_id AND older.merged_into IS NULL
    WHERE a.tenant_id = :tenant AND a.scope_id = :scope AND a.alias = ANY(:aliases)
      AND (older.created_at, older.id) < (newer.created_at, newer.id)
      AND (newer.entity_type = older.entity_type OR 'unknown' IN (newer.entity_type, older.entity_type))
    ORDER BY newer.id, older.created_at
"""

ASK = """
    UPDATE memories SET review_reason = 'entity_merge', review_note = :note, review_since = now()
    WHERE tenant_id = :tenant AND id = (
        SELECT m.id FROM memory_entities k JOIN memories m ON m.tenant_id = k.tenant_id AND m.id = k.memory_id
        WHERE k.tenant_id = :tenant AND k.entity_id = :entity AND m.status = 'active' AND m.review_reason IS NULL
        ORDER BY m.stated_at DESC, m.id LIMIT 1)
"""

MOVED = "UPDATE scopes SET version = version + 1 WHERE tenant_id = :tenant AND id = ANY(:scopes)"


def upgrade() -> None:
    op.execute(FUNCTION)
    if context.is_offline_mode():
        return
    connection = op.get_bind()
    connection.execute(sa.text(AS_OPERATOR))
    for tenant in connection.execute(sa.text("SELECT id FROM tenants ORDER BY id")).scalars().all():
        connection.execute(sa.text(AS_TENANT), {"tenant": str(tenant)})
        names, asked = rename(connection, tenant)
        if names:
            log.info("brought names into one writing", tenant=str(tenant), names=names, asked=asked)
    connection.execute(sa.text(AS_NOBODY))


def downgrade() -> None:
    """Leave the names; the function goes."""
    op.execute("DROP FUNCTION IF EXISTS folded(text)")


def rename(connection: Connection, tenant: UUID) -> tuple[int, int]:
    """Bring what a tenant's names are compared by into one writing; return how many, and how many are asked about."""
    changed: dict[UUID, set[str]] = {}
    count = 0
    for table in TABLES:
        for row in connection.execute(sa.text(WRITTEN.format(table=table)), {"tenant": tenant}).all():
            new = normalise.normalise_name(row.display)
            if new and new != row.alias and normalise.fits_an_index(new):
                move(connection, table, tenant, row, new)
                count += 1
                if table == "entity_aliases":
                    changed.setdefault(row.scope, set()).add(new)
    for memory, value in connection.execute(sa.text(VALUES), {"tenant": tenant}).all():
        if (new := normalise.value(value)) != value:
            connection.execute(sa.text(REVALUE), {"tenant": tenant, "id": memory, "new": new})
    asked = sum(ask(connection, tenant, scope, sorted(aliases)) for scope, aliases in changed.items())
    connection.execute(sa.text(MOVED), {"tenant": tenant, "scopes": list(changed)})
    return count, asked


def move(connection: Connection, table: str, tenant: UUID, row: Row[tuple[object, ...]], new: str) -> None:
    """Give an alias its new form; where the entity has it already, the old one goes."""
    values = {"tenant": tenant, "entity": row.entity_id, "alias": row.alias}
    if not connection.execute(sa.text(RENAME.format(table=table)), {**values, "new": new}).rowcount:
        connection.execute(sa.text(FORGET.format(table=table)), values)


def ask(connection: Connection, tenant: UUID, scope: UUID, aliases: Sequence[str]) -> int:
    """Ask a person about entities that have come to have one name; return how many are asked about."""
    found = connection.execute(sa.text(NAMESAKES), {"tenant": tenant, "scope": scope, "aliases": aliases}).all()
    questions: dict[UUID, list[str]] = {}
    for row in found:
        told = resemblance.question(row.name, row.known)
        if told not in questions.setdefault(row.entity, []):
            questions[row.entity].append(told)
    asked = 0
    for entity, told in questions.items():
        values = {"tenant": tenant, "entity": entity, "note": resemblance.BETWEEN.join(told)}
        asked += connection.execute(sa.text(ASK), values).rowcount
    return asked
