"""Questions that memories answer, embedded."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import HALFVEC

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

ROLE = "typed_memory_runtime"
TABLE = "hypothetical_embeddings"
CURRENT = "nullif(current_setting('app.tenant_id', true), '')::uuid"

# What `app.db.embedding_models` does for a new model, for those that were registered before this table was there.
INDEX_OF_EACH_MODEL = f"""
    DO $$ DECLARE model record; BEGIN
        FOR model IN SELECT id, dimensions FROM embedding_models LOOP
            EXECUTE format(
                'CREATE INDEX ix_{TABLE}_model_%s ON {TABLE} '
                'USING hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops) WHERE model_id = %s AND ann',
                model.id, model.dimensions, model.id);
        END LOOP;
    END $$
"""  # noqa: S608 - the table's own name


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("tenant_id", sa.UUID(), nullable=False),
        sa.Column("memory_id", sa.UUID(), nullable=False),
        sa.Column("ordinal", sa.SmallInteger(), nullable=False),
        sa.Column("scope_id", sa.UUID(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("model_id", sa.SmallInteger(), nullable=False),
        sa.Column("embedding", HALFVEC(), nullable=False),
        sa.Column("ann", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f(f"fk_{TABLE}_tenant_id")),
        sa.ForeignKeyConstraint(["model_id"], ["embedding_models.id"], name=op.f(f"fk_{TABLE}_model_id")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "memory_id"],
            ["memories.tenant_id", "memories.id"],
            name=op.f(f"fk_{TABLE}_tenant_id_memory_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "memory_id", "ordinal", name=op.f(f"pk_{TABLE}")),
    )
    op.create_index(f"ix_{TABLE}_scope", TABLE, ["tenant_id", "scope_id", "ann"])
    op.execute(INDEX_OF_EACH_MODEL)
    op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {TABLE} TO {ROLE}")
    op.execute(f"ALTER TABLE {TABLE} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {TABLE} FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON {TABLE} USING (tenant_id = {CURRENT}) WITH CHECK (tenant_id = {CURRENT})")


def downgrade() -> None:
    op.drop_table(TABLE)
