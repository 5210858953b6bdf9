"""What a reviewer decides about history: a pending memory may be accepted as history, and history be rejected."""

from __future__ import annotations

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

BEFORE = (
    "pending>active",
    "pending>forgotten",
    "active>superseded",
    "active>expired",
    "active>pending",
    "active>forgotten",
    "expired>active",
    "expired>forgotten",
    "expired>superseded",
    "superseded>active",
)

LEGAL = (*BEFORE, "pending>superseded", "superseded>forgotten")


def upgrade() -> None:
    """Replace the guard's function alone: its trigger stays, and nothing is locked."""
    op.execute(_guard(LEGAL))


def downgrade() -> None:
    op.execute(_guard(BEFORE))


def _guard(legal: tuple[str, ...]) -> str:
    return f"""
    CREATE OR REPLACE FUNCTION guard_memory_status() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        legal CONSTANT text[] := ARRAY[{", ".join(f"'{one}'" for one in legal)}];
    BEGIN
        IF (OLD.status || '>' || NEW.status) <> ALL (legal) THEN
            RAISE EXCEPTION 'a memory that is % cannot become %', OLD.status, NEW.status USING
                ERRCODE = 'check_violation',
                TABLE = 'memories',
                CONSTRAINT = 'memories_status_changes',
                DETAIL = format('memory %s of tenant %s', OLD.id, OLD.tenant_id);
        END IF;
        NEW.status_since := NEW.updated_at;
        RETURN NEW;
    END $$
    """
