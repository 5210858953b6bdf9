"""Backfills and what they would change; and a payload's filter as text of its own, which an index serves under RLS."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

# What squawk warns of, looked into.
HARMLESS = {
    "prefer-robust-stmts": "every statement can be run again",
}

ROLE = "typed_memory_runtime"
CURRENT = "nullif(current_setting('app.tenant_id', true), '')::uuid"
STATUSES = "'previewing', 'previewed', 'cancelled', 'committing', 'committed', 'undoing', 'undone'"
STATES = "'found', 'planned', 'left', 'committed', 'skipped', 'undone', 'kept'"
FILLED_AT_ONCE = 1000

KEEP_FILTER = """
CREATE OR REPLACE FUNCTION keep_filter_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.filter_key := NEW.payload ->> TG_ARGV[0];
    RETURN NEW;
END $$
"""
"""Whoever writes the row, today's code or the previous release's, its filter is kept."""

FILL = f"""
DO $$
DECLARE
    one uuid;
    filled bigint;
BEGIN
    PERFORM set_config('app.operator', 'on', true);
    FOR one IN SELECT id FROM tenants LOOP
        LOOP
            PERFORM set_config('app.tenant_id', one::text, true);
            UPDATE memories SET filter_key = payload ->> 'drug_class'
            WHERE tenant_id = one AND id IN (
                SELECT id FROM memories
                WHERE tenant_id = one AND type = 'medication' AND filter_key IS NULL AND payload ->> 'drug_class' <> ''
                LIMIT {FILLED_AT_ONCE}
            );
            GET DIAGNOSTICS filled = ROW_COUNT;
            COMMIT;
            EXIT WHEN filled = 0;
        END LOOP;
    END LOOP;
END $$
"""  # noqa: S608 - composed of constants


def uuid(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, postgresql.UUID(), nullable=nullable)


def word(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def instant(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def json(name: str, default: str) -> sa.Column[object]:
    return sa.Column(name, postgresql.JSONB(), server_default=sa.text(f"'{default}'::jsonb"), nullable=False)


def upgrade() -> None:
    """Be ready to be run again: what comes before the index is committed before it is built."""
    op.add_column("memories", word("filter_key", nullable=True), if_not_exists=True)
    op.execute(KEEP_FILTER)
    op.execute(
        "CREATE OR REPLACE TRIGGER tg_memories_filter_medication BEFORE INSERT OR UPDATE ON memories FOR EACH ROW"
        " WHEN (NEW.type = 'medication') EXECUTE FUNCTION keep_filter_key('drug_class')"
    )
    _make_backfills()
    _make_items()
    with op.get_context().autocommit_block():
        op.execute(FILL)
        # Waiting for older transactions holds nobody up.
        op.execute("SET lock_timeout = 0")
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS ix_memories_type_medication_class")
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS ix_memories_filter")
        op.create_index(
            "ix_memories_filter",
            "memories",
            ["tenant_id", "filter_key", "type", "id"],
            postgresql_where=sa.text("filter_key IS NOT NULL"),
            postgresql_concurrently=True,
        )
        op.execute("RESET lock_timeout")


def _make_backfills() -> None:
    op.create_table(
        "backfills",
        uuid("tenant_id"),
        uuid("id"),
        word("type"),
        sa.Column("sources", postgresql.ARRAY(sa.Text()), nullable=False),
        word("classifier"),
        sa.Column("scopes", postgresql.ARRAY(postgresql.UUID())),
        word("status"),
        word("actor"),
        json("counts", "{}"),
        uuid("cursor", nullable=True),
        uuid("job_id", nullable=True),
        instant("created_at"),
        instant("previewed_at", nullable=True),
        instant("committed_at", nullable=True),
        instant("undone_at", nullable=True),
        sa.CheckConstraint("classifier IN ('rules', 'model')", name=op.f("ck_backfills_classifier")),
        sa.CheckConstraint(f"status IN ({STATUSES})", name=op.f("ck_backfills_status")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_backfills_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_backfills")),
        if_not_exists=True,
    )
    _isolate("backfills")


def _make_items() -> None:
    op.create_table(
        "backfill_items",
        uuid("tenant_id"),
        uuid("backfill_id"),
        uuid("memory_id"),
        uuid("scope_id"),
        word("unit"),
        word("state"),
        word("effect"),
        word("source"),
        word("reason", nullable=True),
        word("note", nullable=True),
        word("why", nullable=True),
        sa.Column("adopted", postgresql.JSONB(none_as_null=True)),
        json("before", "{}"),
        json("after", "{}"),
        sa.Column("stamped", postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        json("links", "[]"),
        json("rests_on", "{}"),
        instant("seen_at"),
        instant("applied_at", nullable=True),
        sa.CheckConstraint(f"state IN ({STATES})", name=op.f("ck_backfill_items_state")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_backfill_items_tenant_id")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "backfill_id"],
            ["backfills.tenant_id", "backfills.id"],
            name=op.f("fk_backfill_items_tenant_id_backfill_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "memory_id"],
            ["memories.tenant_id", "memories.id"],
            name=op.f("fk_backfill_items_tenant_id_memory_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "backfill_id", "memory_id", name=op.f("pk_backfill_items")),
        if_not_exists=True,
    )
    for name, columns in {
        "ix_backfill_items_unit": ["tenant_id", "backfill_id", "state", "scope_id", "unit"],
        "ix_backfill_items_memory": ["tenant_id", "memory_id"],
    }.items():
        op.create_index(name, "backfill_items", columns, if_not_exists=True)
    _isolate("backfill_items")


def _isolate(table: str) -> None:
    op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {ROLE}")
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute(f"DROP POLICY IF EXISTS tenant ON {table}")
    op.execute(f"CREATE POLICY tenant ON {table} USING (tenant_id = {CURRENT}) WITH CHECK (tenant_id = {CURRENT})")


def downgrade() -> None:
    op.drop_index("ix_memories_filter", "memories")
    op.execute(
        "CREATE INDEX ix_memories_type_medication_class ON memories (tenant_id, scope_id, (payload ->> 'drug_class'))"
        " WHERE type = 'medication'"
    )
    op.drop_table("backfill_items")
    op.drop_table("backfills")
    op.execute("DROP TRIGGER tg_memories_filter_medication ON memories")
    op.execute("DROP FUNCTION keep_filter_key()")
    op.drop_column("memories", "filter_key")
