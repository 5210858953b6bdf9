"""The document memory type, whose sections are listed by document, and erasures of documents."""

from __future__ import annotations

from migrations import live

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

HARMLESS = {"ban-drop-constraint": "it comes back, wider"}

TYPES = {
    "document": "A section of a document, word for word.",
}

INDEXES = {
    "ix_memories_documents": "memories (tenant_id, scope_id, filter_key, sequence_number, id) WHERE type = 'document'",
}

FILTER = """
CREATE OR REPLACE TRIGGER tg_memories_filter_document BEFORE INSERT OR UPDATE ON memories FOR EACH ROW
    WHEN (NEW.type = 'document') EXECUTE FUNCTION keep_filter_key('document_id')
"""

KIND = "ck_erasures_kind"


def upgrade() -> None:
    live.create_indexes(INDEXES)
    live.separately([FILTER, admit("'memory', 'user', 'document'"), f"ALTER TABLE erasures VALIDATE CONSTRAINT {KIND}"])
    live.add_types(TYPES)


def downgrade() -> None:
    live.drop_indexes(INDEXES)
    live.separately(["DROP TRIGGER IF EXISTS tg_memories_filter_document ON memories", admit("'memory', 'user'")])
    live.remove_types(TYPES)


def admit(kinds: str) -> str:
    """Return the statement that lets erasures be of these kinds alone; receipts of documents stay as they are."""
    return (
        f"ALTER TABLE erasures DROP CONSTRAINT IF EXISTS {KIND}, "
        f"ADD CONSTRAINT {KIND} CHECK (kind IN ({kinds})) NOT VALID"
    )
