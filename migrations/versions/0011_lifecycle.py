"""The life of a memory: legal changes of its status, since when it has it, and the latest run of each worker."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

ROLE = "typed_memory_runtime"
CURRENT = "nullif(current_setting('app.tenant_id', true), '')::uuid"

LEGAL = (
    "pending>active",
    "pending>forgotten",
    "active>superseded",
    "active>expired",
    "active>pending",
    "active>forgotten",
    "expired>active",
    "expired>forgotten",
    "expired>superseded",
    "superseded>active",
)

GUARD = f"""
CREATE FUNCTION guard_memory_status() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    legal CONSTANT text[] := ARRAY[{", ".join(f"'{one}'" for one in LEGAL)}];
BEGIN
    IF (OLD.status || '>' || NEW.status) <> ALL (legal) THEN
        RAISE EXCEPTION 'a memory that is % cannot become %', OLD.status, NEW.status USING
            ERRCODE = 'check_violation',
            TABLE = 'memories',
            CONSTRAINT = 'memories_status_changes',
            DETAIL = format('memory %s of tenant %s', OLD.id, OLD.tenant_id);
    END IF;
    NEW.status_since := NEW.updated_at;
    RETURN NEW;
END $$
"""

TRIGGER = """
CREATE TRIGGER status_changes BEFORE UPDATE OF status ON memories FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION guard_memory_status()
"""


def upgrade() -> None:
    op.add_column("memories", sa.Column("status_since", sa.DateTime(timezone=True)))
    op.execute(GUARD)
    op.execute(TRIGGER)
    op.create_index(
        "ix_memories_ending",
        "memories",
        ["tenant_id", "valid_until"],
        postgresql_where=sa.text("status = 'active' AND valid_until IS NOT NULL"),
    )
    op.create_index(
        "ix_memories_faded",
        "memories",
        ["tenant_id", "status", "id"],
        postgresql_where=sa.text("status IN ('expired', 'forgotten')"),
    )
    op.add_column("jobs", sa.Column("only_one", sa.Text))
    op.create_index(
        "uq_jobs_only_one",
        "jobs",
        ["tenant_id", "only_one"],
        unique=True,
        postgresql_where=sa.text("only_one IS NOT NULL AND status IN ('queued', 'running')"),
    )
    op.create_table(
        "worker_runs",
        sa.Column("tenant_id", postgresql.UUID(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("job_id", postgresql.UUID(), nullable=False),
        sa.Column("began_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.Column("cursor", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("counts", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_worker_runs_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "worker", name=op.f("pk_worker_runs")),
    )
    op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON worker_runs TO {ROLE}")
    op.execute("ALTER TABLE worker_runs ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE worker_runs FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON worker_runs USING (tenant_id = {CURRENT}) WITH CHECK (tenant_id = {CURRENT})")


def downgrade() -> None:
    op.drop_table("worker_runs")
    op.drop_index("uq_jobs_only_one", "jobs")
    op.drop_column("jobs", "only_one")
    op.drop_index("ix_memories_faded", "memories")
    op.drop_index("ix_memories_ending", "memories")
    op.execute("DROP TRIGGER status_changes ON memories")
    op.execute("DROP FUNCTION guard_memory_status()")
    op.drop_column("memories", "status_since")
