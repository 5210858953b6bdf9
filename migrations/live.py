"""What migrations need to run on a live service, with the previous release's code at work on the same tables.

Rules that no helper can take over:

- Every statement gives up after half a second without its lock (`env.py`), and the whole migration is tried again: so a
  migration is one transaction that touches no rows of a large table, or, outside of transactions, statements that can
  be run again.
- A transaction changes one table that is in use: one that holds a table and waits for the next meets requests that
  hold that and wait for the first, and under traffic it is cancelled at every try. For more use `separately`.
- New columns are nullable or have a constant default; constraints are added NOT VALID and validated in a migration of
  their own; rows are rewritten by a job of the service, in batches, never here.
- The previous code must go on working: it inserts without the new columns, and reads what it knows.
- What a migration grants the service stands in its GRANTS, and what it closes to everybody in its CLOSED, because
  privileges that were lost are granted again from there (`app/db/privileges.py`).
- A database may be distributed by tenant: new tables are made by `create_table`; keys begin with the tenant; a trigger
  names the tenant of its row in every statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import sqlalchemy as sa
from alembic import op

from app.db.migrate import SET_LOCK_TIMEOUT
from app.db.session import RUNTIME_ROLE

BUILT_IN = "00000000-0000-0000-0000-000000000000"
"""The tenant that built-in types stand under."""

CURRENT = "nullif(current_setting('app.tenant_id', true), '')::uuid"
"""The tenant of the transaction, as policies compare it."""

MEMORY_TYPES = sa.table(
    "memory_types", sa.column("tenant_id"), sa.column("name", sa.Text), sa.column("description", sa.Text)
)


DISTRIBUTE = """
DO $$ BEGIN
    IF to_regclass('pg_dist_partition') IS NOT NULL THEN
        IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'memories'::regclass) THEN
            PERFORM set_config('citus.multi_shard_modify_mode', 'sequential', true);
            PERFORM create_distributed_table('{table}', 'tenant_id', colocate_with := 'memories');
        END IF;
    END IF;
END $$
"""
"""Divides a table by tenant where the others are (`app/db/distribution.py`)."""


def create_table(name: str, columns: str, foreign_keys: Mapping[str, str]) -> None:
    """Create a table of tenants' rows, with foreign keys by name: `(tenant_id) REFERENCES tenants (id)`.

    In a cluster a table is distributed before it refers to others, which are.
    """
    op.execute(f"CREATE TABLE {name} ({columns})")
    op.execute(DISTRIBUTE.format(table=name))
    for key, definition in foreign_keys.items():
        op.execute(f"ALTER TABLE {name} ADD CONSTRAINT {key} FOREIGN KEY {definition}")


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


def separately(statements: Iterable[str]) -> None:
    """Run statements each in a transaction of its own, and so with the lock of one table at a time.

    Call it before what shares a transaction, for that is committed by it. An attempt that gives up runs all of them
    again: write `ADD COLUMN IF NOT EXISTS`, and `DROP CONSTRAINT IF EXISTS` before ADD CONSTRAINT in one ALTER TABLE.
    """
    with op.get_context().autocommit_block():
        for statement in statements:
            op.execute(statement)


def grant(grants: Iterable[str]) -> None:
    """Grant the service's role what is written as after GRANT (`SELECT, UPDATE (seen_at) ON embedding_models`)."""
    for one in grants:
        op.execute(f"GRANT {one} TO {RUNTIME_ROLE}")


def isolate(tables: Iterable[str]) -> None:
    """Let each transaction see and change only its own tenant's rows of these tables."""
    for table in tables:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON {table} USING (tenant_id = {CURRENT}) WITH CHECK (tenant_id = {CURRENT})")


def close(functions: Iterable[str]) -> None:
    """Take the right to call functions (`seal_audit(uuid, integer)`) from everybody who was not granted it."""
    for one in functions:
        op.execute(f"REVOKE ALL ON FUNCTION {one} FROM PUBLIC")


def add_types(types: Mapping[str, str]) -> None:
    """Insert built-in memory types (name -> description)."""
    op.bulk_insert(MEMORY_TYPES, [{"name": name, "description": description} for name, description in types.items()])


def remove_types(names: Iterable[str]) -> None:
    """Delete built-in types, where nothing is of them; a tenant's own ones of those names stay."""
    types = MEMORY_TYPES.c
    op.execute(MEMORY_TYPES.delete().where(types.name.in_(list(names)), types.tenant_id == sa.text(f"'{BUILT_IN}'")))
