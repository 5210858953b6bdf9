"""The semantic type, what faded memories were folded into, slots that change too often, a store's days."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

ROLE = "typed_memory_runtime"
CURRENT = "nullif(current_setting('app.tenant_id', true), '')::uuid"
TABLES = ("memory_folds", "store_days")

memory_types = sa.table("memory_types", sa.column("name", sa.Text), sa.column("description", sa.Text))


def refers_to(column: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["tenant_id", column],
        ["memories.tenant_id", "memories.id"],
        name=op.f(f"fk_memory_folds_tenant_id_{column}"),
        ondelete="CASCADE",
    )


def tenants(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f(f"fk_{table}_tenant_id"))


def upgrade() -> None:
    op.bulk_insert(memory_types, [{"name": "semantic", "description": "Something known, as a sentence."}])
    op.add_column("memories", sa.Column("volatile", sa.Boolean, nullable=False, server_default=sa.text("false")))
    op.create_table(
        "memory_folds",
        sa.Column("tenant_id", postgresql.UUID(), nullable=False),
        sa.Column("memory_id", postgresql.UUID(), nullable=False),
        sa.Column("into_id", postgresql.UUID(), nullable=False),
        sa.Column("folded_at", sa.DateTime(timezone=True), nullable=False),
        refers_to("memory_id"),
        refers_to("into_id"),
        tenants("memory_folds"),
        sa.PrimaryKeyConstraint("tenant_id", "memory_id", name=op.f("pk_memory_folds")),
    )
    op.create_index("ix_memory_folds_into", "memory_folds", ["tenant_id", "into_id"])
    op.create_table(
        "store_days",
        sa.Column("tenant_id", postgresql.UUID(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("computed_at", sa.DateTime(timezone=True), nullable=False),
        tenants("store_days"),
        sa.PrimaryKeyConstraint("tenant_id", "day", "kind", "name", name=op.f("pk_store_days")),
    )
    for table in TABLES:
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {ROLE}")
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON {table} USING (tenant_id = {CURRENT}) WITH CHECK (tenant_id = {CURRENT})")


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)
    op.drop_column("memories", "volatile")
    op.execute(memory_types.delete().where(memory_types.c.name == "semantic"))
