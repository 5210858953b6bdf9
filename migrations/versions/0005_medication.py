"""The medication memory type, which listings filter by the class of the drug."""

from __future__ import annotations

from alembic import op

from migrations import live

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

TYPES = {
    "medication": "A medicine someone takes.",
}

FILTER = """
CREATE OR REPLACE TRIGGER tg_memories_filter_medication BEFORE INSERT OR UPDATE ON memories FOR EACH ROW
    WHEN (NEW.type = 'medication') EXECUTE FUNCTION keep_filter_key('drug_class')
"""


def upgrade() -> None:
    op.execute(FILTER)
    live.add_types(TYPES)


def downgrade() -> None:
    op.execute("DROP TRIGGER tg_memories_filter_medication ON memories")
    live.remove_types(TYPES)
