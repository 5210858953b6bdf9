"""Turns as they are received, extracted and processed; what each tenant's extraction cost."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

ROLE = "typed_memory_runtime"
CURRENT = "nullif(current_setting('app.tenant_id', true), '')::uuid"
STATUSES = "status IN ('received', 'processed', 'skipped', 'extraction_failed')"
ROLES = "role IN ('user', 'assistant', 'tool', 'system')"


def upgrade() -> None:
    op.add_column("turns", sa.Column("speaker", sa.Text))
    op.add_column("turns", sa.Column("timezone", sa.Text, nullable=False, server_default=sa.text("'UTC'")))
    op.add_column("turns", sa.Column("status", sa.Text, nullable=False, server_default=sa.text("'received'")))
    op.add_column("turns", sa.Column("reason", sa.Text))
    op.add_column("turns", sa.Column("extraction", postgresql.JSONB))
    op.add_column("turns", sa.Column("report", postgresql.JSONB))
    op.add_column("turns", sa.Column("processed_at", sa.DateTime(timezone=True)))
    op.create_check_constraint(op.f("ck_turns_status"), "turns", STATUSES)
    op.create_check_constraint(op.f("ck_turns_role"), "turns", ROLES)
    op.drop_index("ix_turns_session", "turns")
    op.create_index(
        "ix_turns_session", "turns", ["tenant_id", "scope_id", "session_id", "occurred_at", "sequence_number", "id"]
    )
    op.create_index("ix_turns_occurred", "turns", ["tenant_id", "scope_id", "occurred_at"])
    op.create_index(
        "ix_turns_unsettled",
        "turns",
        ["tenant_id", "status", "id"],
        postgresql_where=sa.text("status <> 'processed'"),
    )
    op.add_column("evidence", sa.Column("statement", sa.LargeBinary))
    op.create_index(
        "uq_evidence_statement",
        "evidence",
        ["tenant_id", "turn_id", "statement"],
        unique=True,
        postgresql_where=sa.text("turn_id IS NOT NULL AND statement IS NOT NULL"),
    )
    _add_costs()


def _add_costs() -> None:
    op.create_table(
        "extraction_costs",
        sa.Column("tenant_id", postgresql.UUID, nullable=False),
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("turns", sa.BigInteger, nullable=False, server_default=sa.text("0")),
        sa.Column("skipped", sa.BigInteger, nullable=False, server_default=sa.text("0")),
        sa.Column("failed", sa.BigInteger, nullable=False, server_default=sa.text("0")),
        sa.Column("requests", sa.BigInteger, nullable=False, server_default=sa.text("0")),
        sa.Column("input_tokens", sa.BigInteger, nullable=False, server_default=sa.text("0")),
        sa.Column("output_tokens", sa.BigInteger, nullable=False, server_default=sa.text("0")),
        sa.Column("cost", sa.Float, nullable=False, server_default=sa.text("0")),
        sa.PrimaryKeyConstraint("tenant_id", "day", name=op.f("pk_extraction_costs")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_extraction_costs_tenant_id")),
    )
    op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON extraction_costs TO {ROLE}")
    op.execute("ALTER TABLE extraction_costs ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE extraction_costs FORCE ROW LEVEL SECURITY")
    op.execute(
        f"CREATE POLICY tenant ON extraction_costs USING (tenant_id = {CURRENT}) WITH CHECK (tenant_id = {CURRENT})"
    )


def downgrade() -> None:
    op.drop_table("extraction_costs")
    op.drop_index("uq_evidence_statement", "evidence")
    op.drop_column("evidence", "statement")
    op.drop_index("ix_turns_unsettled", "turns")
    op.drop_index("ix_turns_occurred", "turns")
    op.drop_index("ix_turns_session", "turns")
    op.create_index("ix_turns_session", "turns", ["tenant_id", "scope_id", "session_id", "sequence_number"])
    op.drop_constraint(op.f("ck_turns_role"), "turns", type_="check")
    op.drop_constraint(op.f("ck_turns_status"), "turns", type_="check")
    for column in ("processed_at", "report", "extraction", "reason", "status", "timezone", "speaker"):
        op.drop_column("turns", column)
