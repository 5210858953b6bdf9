"""Memories whose provenance names a user are found without reading all: erasure and export of the user need them."""

from __future__ import annotations

from migrations.live import create_indexes, drop_indexes

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

INDEXES = {"ix_memories_names_user": "memories (tenant_id, id) WHERE provenance ->> 'user_id' IS NOT NULL"}


def upgrade() -> None:
    create_indexes(INDEXES)


def downgrade() -> None:
    drop_indexes(INDEXES)
