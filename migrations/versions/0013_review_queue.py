"""What is pending is always in the review queue, and how many items are open is counted as they come and go."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

ROLE = "typed_memory_runtime"
CURRENT = "nullif(current_setting('app.tenant_id', true), '')::uuid"

COUNT = """
CREATE FUNCTION count_reviews() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.review_reason IS NOT NULL THEN
        UPDATE review_counts SET waiting = waiting - 1
        WHERE tenant_id = OLD.tenant_id AND scope_id = OLD.scope_id AND reason = OLD.review_reason;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.review_reason IS NOT NULL THEN
        INSERT INTO review_counts (tenant_id, scope_id, reason, waiting)
        VALUES (NEW.tenant_id, NEW.scope_id, NEW.review_reason, 1)
        ON CONFLICT (tenant_id, scope_id, reason) DO UPDATE SET waiting = review_counts.waiting + 1;
    END IF;
    RETURN NULL;
END
$$
"""
"""A row a scope, not a tenant: writers of a scope take turns anyway, so they never wait for another's count."""

TRIGGERS = {
    "review_counted_in": "INSERT ON memories FOR EACH ROW WHEN (NEW.review_reason IS NOT NULL)",
    "review_counted_on": "UPDATE ON memories FOR EACH ROW WHEN (OLD.review_reason IS DISTINCT FROM NEW.review_reason)",
    "review_counted_out": "DELETE ON memories FOR EACH ROW WHEN (OLD.review_reason IS NOT NULL)",
}


def upgrade() -> None:
    op.execute(
        "UPDATE memories SET review_reason = 'doubtful', review_since = updated_at"
        " WHERE status = 'pending' AND review_reason IS NULL"
    )
    op.execute(
        "ALTER TABLE memories ADD CONSTRAINT ck_memories_pending"
        " CHECK (status <> 'pending' OR review_reason IS NOT NULL) NOT VALID"
    )
    op.execute("ALTER TABLE memories VALIDATE CONSTRAINT ck_memories_pending")
    op.create_table(
        "review_counts",
        sa.Column("tenant_id", postgresql.UUID, nullable=False),
        sa.Column("scope_id", postgresql.UUID, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("waiting", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "scope_id", "reason", name=op.f("pk_review_counts")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_review_counts_tenant_id")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "scope_id"],
            ["scopes.tenant_id", "scopes.id"],
            name=op.f("fk_review_counts_tenant_id_scope_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_review_counts_waiting", "review_counts", ["reason"], postgresql_where=sa.text("waiting > 0"))
    op.create_index(
        "ix_memories_contested",
        "memories",
        ["tenant_id", "scope_id", "type", "slot"],
        postgresql_where=sa.text("contested AND status = 'active'"),
    )
    op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON review_counts TO {ROLE}")
    op.execute(COUNT)
    for name, when in TRIGGERS.items():
        op.execute(f"CREATE TRIGGER {name} AFTER {when} EXECUTE FUNCTION count_reviews()")
    op.execute(
        "INSERT INTO review_counts (tenant_id, scope_id, reason, waiting)"
        " SELECT tenant_id, scope_id, review_reason, count(*) FROM memories WHERE review_reason IS NOT NULL"
        " GROUP BY tenant_id, scope_id, review_reason"
    )
    op.execute("ALTER TABLE review_counts ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE review_counts FORCE ROW LEVEL SECURITY")
    op.execute(
        f"CREATE POLICY tenant ON review_counts USING (tenant_id = {CURRENT}) WITH CHECK (tenant_id = {CURRENT})"
    )
    op.execute(f"CREATE POLICY service ON review_counts FOR SELECT USING ({CURRENT} IS NULL)")


def downgrade() -> None:
    for name in TRIGGERS:
        op.execute(f"DROP TRIGGER {name} ON memories")
    op.execute("DROP FUNCTION count_reviews()")
    op.drop_index("ix_memories_contested", "memories")
    op.drop_table("review_counts")
    op.drop_constraint(op.f("ck_memories_pending"), "memories", type_="check")
