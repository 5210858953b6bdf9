"""Indexes by words and by time of statement, and labels of metadata, hold the rows of large scopes only.

They made up most of what a memory costs a write, and a small scope is read as fast without them. Rows and scopes that
are there stay in them; a new scope is taken in when it has grown. A row that older code inserts meanwhile is in them,
too, which is never wrong: of a scope that is not marked all rows are read.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import context, op

from migrations import live

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

HARMLESS = {"prefer-robust-stmts": "setting a default again changes nothing"}

INDEXES = {
    "ix_memory_index_words": "memory_index USING gin (tenant_id, scope_id, tsv) WITH (fastupdate = off) "
    "WHERE indexed AND tsv IS NOT NULL",
    "ix_memory_index_said": "memory_index (tenant_id, scope_id, stated_at) "
    "WHERE indexed AND part = 0 AND event_range IS NULL",
}

FORMER = {
    "ix_memory_index_tsv": "memory_index USING gin (tenant_id, scope_id, tsv) WITH (fastupdate = off) "
    "WHERE tsv IS NOT NULL",
    "ix_memory_index_stated": "memory_index (tenant_id, scope_id, stated_at) WHERE part = 0 AND event_range IS NULL",
}

COLUMNS = (
    "ALTER TABLE memory_index ADD COLUMN IF NOT EXISTS indexed boolean NOT NULL DEFAULT true",
    "ALTER TABLE scopes ADD COLUMN IF NOT EXISTS indexed boolean NOT NULL DEFAULT true",
    "ALTER TABLE scopes ALTER COLUMN indexed SET DEFAULT false",
)
"""What is there gets the first default without being rewritten."""

KEEP_LABELS = """
    CREATE OR REPLACE FUNCTION keep_labels() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'UPDATE' THEN
            DELETE FROM memory_labels WHERE tenant_id = NEW.tenant_id AND memory_id = NEW.id;
        END IF;
        {condition}
        INSERT INTO memory_labels (tenant_id, scope_id, label, memory_id)
        SELECT NEW.tenant_id, NEW.scope_id, label, NEW.id FROM metadata_labels(NEW.metadata) AS label;
        RETURN NULL;
    END $$
"""

OF_LARGE = """
        IF NOT EXISTS (SELECT FROM scopes WHERE tenant_id = NEW.tenant_id AND id = NEW.scope_id AND indexed) THEN
            RETURN NULL;
        END IF;
"""

AS_OPERATOR = "SELECT set_config('app.operator', 'on', false), set_config('app.tenant_id', '', false)"
AS_TENANT = "SELECT set_config('app.operator', '', false), set_config('app.tenant_id', :tenant, false)"
AS_NOBODY = "SELECT set_config('app.operator', '', false), set_config('app.tenant_id', '', false)"

FILL = """
    INSERT INTO memory_labels (tenant_id, scope_id, label, memory_id)
    SELECT m.tenant_id, m.scope_id, label, m.id
    FROM memories m CROSS JOIN LATERAL metadata_labels(m.metadata) AS label
    WHERE m.tenant_id = :tenant AND m.metadata <> '{}' FOR KEY SHARE OF m
    ON CONFLICT DO NOTHING
"""


def upgrade() -> None:
    live.separately((*COLUMNS, KEEP_LABELS.format(condition=OF_LARGE)))
    live.create_indexes(INDEXES)
    live.drop_indexes(FORMER)


def downgrade() -> None:
    live.create_indexes(FORMER)
    live.drop_indexes(INDEXES)
    live.separately([KEEP_LABELS.format(condition="")])
    if not context.is_offline_mode():
        with op.get_context().autocommit_block():
            label_all()
    live.separately(f"ALTER TABLE {table} DROP COLUMN IF EXISTS indexed" for table in ("scopes", "memory_index"))


def label_all() -> None:
    """Fill in the labels of small scopes, a tenant at a time."""
    connection = op.get_bind()
    connection.execute(sa.text(AS_OPERATOR))
    for tenant in connection.execute(sa.text("SELECT id FROM tenants ORDER BY id")).scalars().all():
        connection.execute(sa.text(AS_TENANT), {"tenant": str(tenant)})
        connection.execute(sa.text(FILL), {"tenant": tenant})
    connection.execute(sa.text(AS_NOBODY))
