"""The four types of an agent's memory: episodic, semantic, procedural, control."""

from __future__ import annotations

from migrations import live

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TYPES = {
    "episodic": "A trace of an interaction in its session.",
    "semantic": "Something known, as a sentence.",
    "procedural": "How to do something.",
    "control": "What to avoid.",
}

INDEXES = {
    "ix_memories_type_episodic_session": (
        "memories (tenant_id, session_id, sequence_number,"
        " (CASE WHEN sequence_number IS NULL THEN stated_at END), id) WHERE type = 'episodic'"
    ),
    "ix_memories_type_semantic_entity": "memories (tenant_id, subject, id) WHERE type = 'semantic'",
}
"""For a session's timeline, and for what is known about an entity."""


def upgrade() -> None:
    live.create_indexes(INDEXES)
    live.add_types(TYPES)


def downgrade() -> None:
    live.drop_indexes(INDEXES)
    live.remove_types(TYPES)
