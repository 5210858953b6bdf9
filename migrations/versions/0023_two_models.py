"""Room for the vectors of a second embedding model beside those that are searched, and what a model is used for.

Columns and constraints only: nothing here reads or writes a row under a lock that keeps others from it, and code
that knows one pair of columns goes on with that.
"""

from __future__ import annotations

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

# What squawk warns of, looked into.
HARMLESS = {
    "prefer-robust-stmts": "every statement can be run again",
    "ban-drop-constraint": "it comes back at once, or was left by a try that was cut off",
    "ban-drop-not-null": "the previous release always writes both columns",
    "require-concurrent-index-creation": "embedding_models is tiny",
}

TABLES = ("memory_index", "hypothetical_embeddings")
ROLE = "typed_memory_runtime"

VECTORS = (
    "coalesce(model_id % 2, 1) = 1 AND coalesce(model_id_2 % 2, 0) = 0 AND "
    "num_nonnulls(model_id, model_id_2) > 0 AND "
    "num_nonnulls(model_id, embedding) <> 1 AND num_nonnulls(model_id_2, embedding_2) <> 1"
)
PHASES = "'building', 'active', 'leaving', 'dropping', 'dropped'"
INLINE = 8160
"""Bytes of a row up to which its vectors stay in it: apart, each comparison would look for its vector elsewhere."""


def upgrade() -> None:
    """Each statement by itself, so that what locks a table is over at once; some may be there, of a try before."""
    with op.get_context().autocommit_block():
        op.execute("ALTER TABLE embedding_models ADD COLUMN IF NOT EXISTS phase text NOT NULL DEFAULT 'active'")
        op.execute("ALTER TABLE embedding_models ADD COLUMN IF NOT EXISTS seen_at timestamptz")
        _constrain("embedding_models", "ck_embedding_models_phase", f"CHECK (phase IN ({PHASES}))")
        _constrain("embedding_models", "ck_embedding_models_active", "CHECK (active = (phase = 'active'))")
        op.execute(
            "CREATE UNIQUE INDEX IF NOT EXISTS uq_embedding_models_side"
            " ON embedding_models ((id % 2)) WHERE phase <> 'dropped'"
        )
        op.execute(f"GRANT UPDATE (seen_at) ON embedding_models TO {ROLE}")
        for table in TABLES:
            _widen(table)


def _widen(table: str) -> None:
    op.execute(f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS model_id_2 smallint")
    op.execute(f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS embedding_2 halfvec")
    op.execute(f"ALTER TABLE {table} ALTER COLUMN model_id DROP NOT NULL, ALTER COLUMN embedding DROP NOT NULL")
    _constrain(table, f"fk_{table}_model_id_2", "FOREIGN KEY (model_id_2) REFERENCES embedding_models (id)")
    _constrain(table, f"ck_{table}_vectors", f"CHECK ({VECTORS})")
    op.execute(f"ALTER TABLE {table} SET (toast_tuple_target = {INLINE})")


def _constrain(table: str, name: str, rule: str) -> None:
    """Add a constraint for what is written from now on; then look at what is there, while it is written to."""
    op.execute(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}")
    op.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {rule} NOT VALID")
    op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}")


def downgrade() -> None:
    """Rows keep the vectors of the active model, or of whichever they have, in the one pair of columns there is."""
    op.execute("ALTER TABLE hypothetical_embeddings NO FORCE ROW LEVEL SECURITY")
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} RESET (toast_tuple_target)")
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT ck_{table}_vectors")
    _gather()
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} DROP COLUMN model_id_2, DROP COLUMN embedding_2")
        op.execute(f"ALTER TABLE {table} ALTER COLUMN model_id SET NOT NULL, ALTER COLUMN embedding SET NOT NULL")
    op.execute("ALTER TABLE hypothetical_embeddings FORCE ROW LEVEL SECURITY")
    op.execute("DROP INDEX uq_embedding_models_side")
    op.execute(f"REVOKE UPDATE (seen_at) ON embedding_models FROM {ROLE}")
    op.execute("ALTER TABLE embedding_models DROP COLUMN phase, DROP COLUMN seen_at")


def _gather() -> None:
    """Move vectors of an active model with an even id, and index them there; indexes of other models go."""
    op.execute(
        """
        DO $$
        DECLARE model record; found record; owned name;
        BEGIN
            SELECT id, dimensions INTO model FROM embedding_models WHERE active;
            FOR found IN SELECT indexrelid::regclass AS name FROM pg_index
                WHERE indrelid IN ('memory_index'::regclass, 'hypothetical_embeddings'::regclass)
                  AND (indexrelid::regclass::text ~ '_lacks_[0-9]+$'
                       OR (indexrelid::regclass::text ~ '_model_[0-9]+$'
                           AND indexrelid::regclass::text !~ ('_model_' || coalesce(model.id, 0) || '$')))
            LOOP
                EXECUTE format('DROP INDEX %s', found.name);
            END LOOP;
            IF model.id % 2 = 0 THEN
                FOREACH owned IN ARRAY ARRAY['memory_index', 'hypothetical_embeddings']::name[] LOOP
                    EXECUTE format('DROP INDEX IF EXISTS %I', 'ix_' || owned || '_model_' || model.id);
                    EXECUTE format('UPDATE %I SET model_id = model_id_2, embedding = embedding_2
                        WHERE model_id_2 = %s', owned, model.id);
                    EXECUTE format('CREATE INDEX %I ON %I USING hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops)
                        WHERE model_id = %s AND ann', 'ix_' || owned || '_model_' || model.id, owned,
                        model.dimensions, model.id);
                END LOOP;
            END IF;
            UPDATE memory_index SET model_id = model_id_2, embedding = embedding_2 WHERE model_id IS NULL;
            UPDATE hypothetical_embeddings SET model_id = model_id_2, embedding = embedding_2 WHERE model_id IS NULL;
            DELETE FROM embedding_models WHERE NOT active AND NOT EXISTS (
                SELECT FROM memory_index i WHERE i.model_id = embedding_models.id) AND NOT EXISTS (
                SELECT FROM hypothetical_embeddings q WHERE q.model_id = embedding_models.id);
        END $$
        """
    )
