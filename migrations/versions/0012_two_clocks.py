"""What a memory and an entity were before each change, so that any past moment can be told exactly."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

ROLE = "typed_memory_runtime"
CURRENT = "nullif(current_setting('app.tenant_id', true), '')::uuid"

INDEXED = "scope_id, type, topic, status, confidence, stated_at, valid_from, valid_until, ended_at"
"""What the arms filter by; the rest of a memory is in `was`."""

KEPT = "ARRAY['tenant_id', 'id', 'scope_id', 'recorded_at', 'updated_at', 'context', 'identity']"
"""What never changes, or is never shown."""


def uuid(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, postgresql.UUID(), nullable=nullable)


def instant(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def word(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def upgrade() -> None:
    """Fill the table before anything locks `memories`: the foreign key and the trigger come last, and are quick."""
    op.add_column("scopes", instant("written_at", nullable=True))
    op.add_column(
        "entities",
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
    )
    _make_memory_past()
    _make_entity_past()
    _remember_successions()
    _refer("memory_past", "memory_id", "memories")
    _refer("entity_past", "entity_id", "entities")
    _watch_memories()
    _watch_entities()


def _make_memory_past() -> None:
    op.create_table(
        "memory_past",
        uuid("tenant_id"),
        uuid("memory_id"),
        instant("believed_until"),
        uuid("scope_id"),
        word("type"),
        word("topic", nullable=True),
        word("status"),
        sa.Column("confidence", sa.Float(), nullable=False),
        instant("stated_at"),
        instant("valid_from"),
        instant("valid_until", nullable=True),
        instant("ended_at", nullable=True),
        sa.Column("was", postgresql.JSONB(), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_memory_past_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "memory_id", "believed_until", name=op.f("pk_memory_past")),
    )
    op.create_index("ix_memory_past_scope", "memory_past", ["tenant_id", "scope_id", "believed_until"])
    _isolate("memory_past")


def _make_entity_past() -> None:
    op.create_table(
        "entity_past",
        uuid("tenant_id"),
        uuid("entity_id"),
        instant("believed_until"),
        word("canonical_name"),
        word("entity_type"),
        sa.Column("attributes", postgresql.JSONB(), nullable=False),
        uuid("merged_into", nullable=True),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_entity_past_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "entity_id", "believed_until", name=op.f("pk_entity_past")),
    )
    op.create_index(
        "ix_entity_past_merged_into",
        "entity_past",
        ["tenant_id", "merged_into"],
        postgresql_where=sa.text("merged_into IS NOT NULL"),
    )
    _isolate("entity_past")


def _isolate(table: str) -> None:
    op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {ROLE}")
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON {table} USING (tenant_id = {CURRENT}) WITH CHECK (tenant_id = {CURRENT})")


def _refer(table: str, column: str, other: str) -> None:
    op.create_foreign_key(
        op.f(f"fk_{table}_tenant_id_{column}"),
        table,
        other,
        ["tenant_id", column],
        ["tenant_id", "id"],
        ondelete="CASCADE",
    )


def _remember_successions() -> None:
    """Note what was replaced before there was a record as believed until then: the one change a row still tells."""
    op.execute(
        f"""
        DO $$
        DECLARE one uuid;
        BEGIN
            PERFORM set_config('app.operator', 'on', true);
            FOR one IN SELECT id FROM tenants LOOP
                PERFORM set_config('app.tenant_id', one::text, true);
                INSERT INTO memory_past (tenant_id, memory_id, believed_until, {INDEXED}, was)
                SELECT m.tenant_id, m.id, m.retired_at, m.scope_id, m.type, m.topic, 'active', m.confidence,
                    m.stated_at, m.valid_from, m.valid_until, NULL, to_jsonb(m) - {KEPT}
                        || '{{"status": "active", "ended_at": null, "retired_at": null, "superseded_by": null}}'
                FROM memories m
                WHERE m.tenant_id = one AND m.status = 'superseded' AND m.retired_at > m.recorded_at;
            END LOOP;
        END $$
        """  # noqa: S608 - composed of constants
    )


def _watch_memories() -> None:
    old = ", ".join(f"OLD.{name}" for name in INDEXED.split(", "))
    op.execute(
        f"""
        CREATE FUNCTION keep_memory_past() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO memory_past (tenant_id, memory_id, believed_until, {INDEXED}, was)
            VALUES (OLD.tenant_id, OLD.id, NEW.updated_at, {old}, to_jsonb(OLD) - {KEPT})
            ON CONFLICT DO NOTHING; -- of two changes at one instant, what was before the first
            RETURN NULL;
        END $$
        """  # noqa: S608 - as above
    )
    op.execute(
        """
        CREATE TRIGGER tg_memories_past AFTER UPDATE ON memories FOR EACH ROW
        WHEN (OLD.recorded_at < NEW.updated_at AND OLD.* IS DISTINCT FROM NEW.*)
        EXECUTE FUNCTION keep_memory_past()
        """
    )
    _watch_clock("memories")


def _watch_entities() -> None:
    op.execute(
        """
        CREATE FUNCTION keep_entity_past() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO entity_past
                (tenant_id, entity_id, believed_until, canonical_name, entity_type, attributes, merged_into)
            VALUES (OLD.tenant_id, OLD.id, NEW.updated_at, OLD.canonical_name, OLD.entity_type, OLD.attributes,
                OLD.merged_into)
            ON CONFLICT DO NOTHING;
            RETURN NULL;
        END $$
        """
    )
    op.execute(
        """
        CREATE TRIGGER tg_entities_past AFTER UPDATE ON entities FOR EACH ROW
        WHEN (OLD.created_at < NEW.updated_at
            AND (OLD.canonical_name, OLD.entity_type, OLD.attributes, OLD.merged_into)
                IS DISTINCT FROM (NEW.canonical_name, NEW.entity_type, NEW.attributes, NEW.merged_into))
        EXECUTE FUNCTION keep_entity_past()
        """
    )
    _watch_clock("entities")


def _watch_clock(table: str) -> None:
    """Let no row's time run backwards, whatever clock the writer has."""
    op.execute(
        f"""
        CREATE FUNCTION keep_{table}_time() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            NEW.updated_at := OLD.updated_at;
            RETURN NEW;
        END $$
        """
    )
    op.execute(
        f"CREATE TRIGGER tg_{table}_time BEFORE UPDATE ON {table} FOR EACH ROW"
        f" WHEN (NEW.updated_at < OLD.updated_at) EXECUTE FUNCTION keep_{table}_time()"
    )


def downgrade() -> None:
    for table, past in (("memories", "memory"), ("entities", "entity")):
        op.execute(f"DROP TRIGGER tg_{table}_time ON {table}")
        op.execute(f"DROP TRIGGER tg_{table}_past ON {table}")
        op.execute(f"DROP FUNCTION keep_{table}_time()")
        op.execute(f"DROP FUNCTION keep_{past}_past()")
        op.drop_table(f"{past}_past")
    op.drop_column("entities", "updated_at")
    op.drop_column("scopes", "written_at")
