"""What migrations need to run on a live service, with the previous release's code at work on the same tables.

Rules that no helper can take over:

- Every statement gives up after half a second without its lock (`env.py`), and the whole migration is tried again: so a
  migration is one transaction that touches no rows of a large table, or, outside of transactions, statements that can
  be run again.
- New columns are nullable or have a constant default; constraints are added NOT VALID and validated in a migration of
  their own; rows are rewritten by a job of the service, in batches, never here.
- The previous code must go on working: it inserts without the new columns, and reads what it knows.
"""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from alembic import op

from app.db.migrate import SET_LOCK_TIMEOUT

BUILT_IN = "00000000-0000-0000-0000-000000000000"
"""The tenant that built-in types stand under, where tenants have types of their own."""


def create_indexes(indexes: Mapping[str, str]) -> None:
    """Build indexes (name -> `table (columns) WHERE ...`) while the tables are written to.

    Call it before anything else in `upgrade`: what came before is committed by it. One that an interrupted attempt
    left behind, perhaps unfinished, is built anew. Waiting for older transactions it holds nobody up, so it waits long.
    """
    if not indexes:
        return
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = 0")
        for name, over in indexes.items():
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
            op.execute(f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {over}")
        op.execute(SET_LOCK_TIMEOUT)


def drop_indexes(indexes: Mapping[str, str]) -> None:
    """Drop what `create_indexes` built. Call it before anything else in `downgrade`."""
    if not indexes:
        return
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = 0")
        for name in indexes:
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        op.execute(SET_LOCK_TIMEOUT)


def remove_type(name: str) -> None:
    """Delete a built-in type, where nothing is of that type; a tenant's own one of that name stays."""
    op.execute(
        sa.text(
            "DELETE FROM memory_types t WHERE name = :name"
            " AND coalesce(to_jsonb(t) ->> 'tenant_id', :built_in) = :built_in"
        ).bindparams(name=name, built_in=BUILT_IN)
    )
