"""Indexes of memories by subject and by successor hold only the memories that have one.

Before Postgres has statistics, every index seems to lead to one row, and it takes the one with the fewest conditions:
in a look-up by slot or by id, even that of a foreign key, the successors of the whole tenant. So a first import read
all memories written before for each new one. An index with a condition that a statement does not imply is not taken.
"""

from __future__ import annotations

from migrations import live

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

INDEXES = {
    "ix_memories_about": "memories (tenant_id, subject_id, scope_id, type) WHERE subject_id IS NOT NULL",
    "ix_memories_successor": "memories (tenant_id, superseded_by) WHERE superseded_by IS NOT NULL",
    "ix_memories_about_none": "memories (tenant_id, scope_id, type) WHERE subject_id IS NULL",
}

FORMER = {
    "ix_memories_subject": "memories (tenant_id, subject_id, scope_id, type)",
    "ix_memories_superseded_by": "memories (tenant_id, superseded_by)",
}


def upgrade() -> None:
    live.create_indexes(INDEXES)
    live.drop_indexes(FORMER)


def downgrade() -> None:
    live.create_indexes(FORMER)
    live.drop_indexes(INDEXES)
