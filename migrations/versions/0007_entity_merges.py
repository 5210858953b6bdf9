"""What merging entities moved, so that it can be moved back; whom pronouns meant lately."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

ROLE = "typed_memory_runtime"
CURRENT = "nullif(current_setting('app.tenant_id', true), '')::uuid"
TABLES = ("entity_merges", "entity_merge_aliases", "entity_merge_memories", "pronoun_bindings")


def uuid(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, postgresql.UUID(), nullable=nullable)


def flag(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.Boolean(), server_default=sa.text("false"), nullable=False)


def common(table: str, *key: str) -> tuple[sa.schema.SchemaItem, ...]:
    return (
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f(f"fk_{table}_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", *key, name=op.f(f"pk_{table}")),
    )


def refers_to(table: str, other: str, column: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["tenant_id", column],
        [f"{other}.tenant_id", f"{other}.id"],
        name=op.f(f"fk_{table}_tenant_id_{column}"),
        ondelete="CASCADE",
    )


def upgrade() -> None:
    op.create_table(
        "entity_merges",
        uuid("tenant_id"),
        uuid("entity_id"),
        uuid("into_id"),
        sa.Column("merged_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        refers_to("entity_merges", "entities", "entity_id"),
        refers_to("entity_merges", "entities", "into_id"),
        *common("entity_merges", "entity_id"),
    )
    op.create_index("ix_entity_merges_into", "entity_merges", ["tenant_id", "into_id"])
    op.create_table(
        "entity_merge_aliases",
        uuid("tenant_id"),
        uuid("entity_id"),
        sa.Column("alias", sa.Text(), nullable=False),
        sa.Column("display", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lent", sa.Boolean(), nullable=False),
        refers_to("entity_merge_aliases", "entities", "entity_id"),
        *common("entity_merge_aliases", "entity_id", "alias"),
    )
    op.create_table(
        "entity_merge_memories",
        uuid("tenant_id"),
        uuid("entity_id"),
        uuid("memory_id"),
        uuid("subject_id", nullable=True),
        sa.Column("slot", sa.Text()),
        sa.Column("slot_value", sa.Text()),
        flag("contested"),
        flag("needs_review"),
        uuid("contradicts", nullable=True),
        refers_to("entity_merge_memories", "entities", "entity_id"),
        refers_to("entity_merge_memories", "memories", "memory_id"),
        *common("entity_merge_memories", "entity_id", "memory_id"),
    )
    op.create_index("ix_entity_merge_memories_memory", "entity_merge_memories", ["tenant_id", "memory_id"])
    op.create_table(
        "pronoun_bindings",
        uuid("tenant_id"),
        uuid("scope_id"),
        sa.Column("pronoun", sa.Text(), nullable=False),
        sa.Column("position", sa.SmallInteger(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("entity_type", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text()),
        sa.Column("said_at", sa.DateTime(timezone=True), nullable=False),
        refers_to("pronoun_bindings", "scopes", "scope_id"),
        *common("pronoun_bindings", "scope_id", "pronoun", "position"),
    )
    for table in TABLES:
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {ROLE}")
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON {table} USING (tenant_id = {CURRENT}) WITH CHECK (tenant_id = {CURRENT})")


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)
