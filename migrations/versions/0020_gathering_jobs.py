"""An index of waiting jobs by scope.

A write looks for the job of its scope that gathers new memories. It read all waiting jobs of the tenant for that, in
the transaction that holds the scope: 8 ms where 20,000 wait.
"""

from __future__ import annotations

from migrations import live

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

INDEXES = {
    "ix_jobs_gathering": "jobs (tenant_id, scope_id, kind, id) WHERE status = 'queued' AND scope_id IS NOT NULL",
}


def upgrade() -> None:
    live.create_indexes(INDEXES)


def downgrade() -> None:
    live.drop_indexes(INDEXES)
