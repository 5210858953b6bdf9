"""What has ended is not active: whoever makes such a memory active again takes back its end as well."""

from __future__ import annotations

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Checked for new rows at once, and for those that are there without keeping anybody from writing.
    op.execute(
        "ALTER TABLE memories ADD CONSTRAINT ck_memories_ended CHECK (status <> 'active' OR ended_at IS NULL) NOT VALID"
    )
    op.execute("ALTER TABLE memories VALIDATE CONSTRAINT ck_memories_ended")


def downgrade() -> None:
    op.drop_constraint(op.f("ck_memories_ended"), "memories")
