"""What was erased, and when, without what it said; content that Postgres keeps no samples of."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

ROLE = "typed_memory_runtime"
CURRENT = "nullif(current_setting('app.tenant_id', true), '')::uuid"
TABLES = ("erasures", "erased_ids")

CONTENT = {
    "memories": ("content", "context", "payload", "review_note", "provenance", "metadata"),
    "turns": ("content", "extraction", "report", "metadata"),
    "evidence": ("quote",),
    "hypothetical_embeddings": ("question",),
    "idempotency_keys": ("response",),
    "jobs": ("payload", "error", "result"),
    "audit_events": ("detail",),
}
"""Columns that no plan asks the statistics of; ANALYZE would keep their commonest values after they are erased."""


def instant(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def common(table: str, *key: str) -> tuple[sa.schema.SchemaItem, ...]:
    return (
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f(f"fk_{table}_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", *key, name=op.f(f"pk_{table}")),
    )


def upgrade() -> None:
    op.create_table(
        "erasures",
        sa.Column("tenant_id", postgresql.UUID, nullable=False),
        sa.Column("id", postgresql.UUID, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("subject", sa.Text),
        sa.Column("subject_hash", sa.LargeBinary),
        sa.Column("scopes", sa.ARRAY(postgresql.UUID), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("counts", postgresql.JSONB, server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("ids_digest", sa.LargeBinary),
        sa.Column("digest", sa.LargeBinary),
        sa.Column("actor", sa.Text, nullable=False),
        instant("started_at"),
        instant("finished_at", nullable=True),
        sa.CheckConstraint("kind IN ('memory', 'user')", name=op.f("ck_erasures_kind")),
        sa.CheckConstraint("status IN ('running', 'finished')", name=op.f("ck_erasures_status")),
        sa.CheckConstraint("status = 'running' OR subject IS NULL", name=op.f("ck_erasures_subject")),
        *common("erasures", "id"),
    )
    op.create_index(
        "uq_erasures_running",
        "erasures",
        ["tenant_id", "subject_hash"],
        unique=True,
        postgresql_where=sa.text("status = 'running'"),
    )
    op.create_table(
        "erased_ids",
        sa.Column("tenant_id", postgresql.UUID, nullable=False),
        sa.Column("id", postgresql.UUID, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("erasure_id", postgresql.UUID, nullable=False),
        sa.Column("content_digest", sa.LargeBinary),
        sa.ForeignKeyConstraint(
            ["tenant_id", "erasure_id"],
            ["erasures.tenant_id", "erasures.id"],
            name=op.f("fk_erased_ids_tenant_id_erasure_id"),
        ),
        *common("erased_ids", "id"),
    )
    op.create_index("ix_erased_ids_erasure", "erased_ids", ["tenant_id", "erasure_id"])
    for table in TABLES:
        op.execute(f"GRANT SELECT, INSERT, UPDATE ON {table} TO {ROLE}")
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON {table} USING (tenant_id = {CURRENT}) WITH CHECK (tenant_id = {CURRENT})")
    op.add_column("turns", instant("erased_at", nullable=True))
    _sample(0)


def _sample(target: int) -> None:
    for table, columns in CONTENT.items():
        op.execute(f"ALTER TABLE {table} " + ", ".join(f"ALTER {one} SET STATISTICS {target}" for one in columns))


def downgrade() -> None:
    _sample(-1)
    op.drop_column("turns", "erased_at")
    for table in reversed(TABLES):
        op.drop_table(table)
