"""Row-level security for what is written to memory_index: a tenant changes and deletes its own rows alone.

Reading stays free: a condition on the reader's tenant would keep the text search operators, which are not leakproof,
out of the index conditions. A policy that is always true is dropped by the planner, so retrieval runs as before.
"""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

CURRENT = "nullif(current_setting('app.tenant_id', true), '')::uuid"

POLICIES = {
    "seen": "FOR SELECT USING (true)",
    "added": f"FOR INSERT WITH CHECK (tenant_id = {CURRENT})",
    "changed": f"FOR UPDATE USING (tenant_id = {CURRENT}) WITH CHECK (tenant_id = {CURRENT})",
    "removed": f"FOR DELETE USING (tenant_id = {CURRENT})",
}


def upgrade() -> None:
    for name, policy in POLICIES.items():
        op.execute(f"CREATE POLICY {name} ON memory_index {policy}")
    op.execute("ALTER TABLE memory_index ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")


def downgrade() -> None:
    op.execute("ALTER TABLE memory_index DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY")
    for name in POLICIES:
        op.execute(f"DROP POLICY {name} ON memory_index")
