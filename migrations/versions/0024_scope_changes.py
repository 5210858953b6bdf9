"""A log of what changed in each scope, so that a process that keeps a scope in memory reads the changes alone.

Each transaction leaves one row for each scope that it changes, with the memories and entities that it touched, under
its transaction's number: who kept a scope as of a snapshot asks for the rows that were not visible in it. Nothing is
counted, so nobody waits for anybody. Rows older than an hour go as their scope is written to.

In a cluster there are no such triggers: nodes can't read the rows of a statement together.
"""

from __future__ import annotations

from alembic import op

from migrations import live

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

HARMLESS = {
    "ban-drop-table": "only one that an interrupted attempt left behind",
    "prefer-robust-stmts": "an attempt begins with dropping what an interrupted one made",
}

GRANTS = ("SELECT, INSERT, UPDATE, DELETE ON scope_changes",)

TABLE = """
    tenant_id uuid NOT NULL,
    scope_id uuid NOT NULL,
    transaction bigint NOT NULL,
    memories uuid[] NOT NULL DEFAULT '{}',
    entities uuid[] NOT NULL DEFAULT '{}',
    changed_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_scope_changes PRIMARY KEY (tenant_id, scope_id, transaction)
"""

OF_MEMORIES = {
    "memories": "SELECT tenant_id, scope_id, id AS changed_id FROM {rows}",
    "memory_index": "SELECT tenant_id, scope_id, memory_id FROM {rows}",
    "hypothetical_embeddings": "SELECT tenant_id, scope_id, memory_id FROM {rows}",
    "relations": "SELECT tenant_id, scope_id, memory_id FROM {rows}",
    "memory_usage": "{rows_of_memories}",
    "memory_entities": "{rows_of_memories}",
    "memory_folds": "{rows_of_memories}",
    "memory_links": """
        SELECT r.tenant_id, m.scope_id, m.id FROM {rows} r
        CROSS JOIN LATERAL (VALUES (r.from_memory), (r.to_memory)) AS linked (id)
        CROSS JOIN LATERAL (
            SELECT x.scope_id, x.id FROM memories x WHERE x.tenant_id = r.tenant_id AND x.id = linked.id OFFSET 0
        ) m""",
    "evidence": """{rows_of_memories}
        UNION ALL
        SELECT r.tenant_id, m.scope_id, m.id FROM (
            SELECT DISTINCT tenant_id, turn_id FROM {rows} WHERE turn_id IS NOT NULL
        ) r
        CROSS JOIN LATERAL (
            SELECT x.memory_id FROM evidence x WHERE x.tenant_id = r.tenant_id AND x.turn_id = r.turn_id OFFSET 0
        ) e
        CROSS JOIN LATERAL (
            SELECT x.scope_id, x.id FROM memories x WHERE x.tenant_id = r.tenant_id AND x.id = e.memory_id OFFSET 0
        ) m""",
}
"""The changed memories of each table's changed rows; evidence of a turn changes what is known of all its memories.

Each is looked up by its key, a row at a time: a join might read all that a tenant has, as nobody knows how many change.
"""

OF_ENTITIES = {
    "entities": "SELECT tenant_id, scope_id, id FROM {rows}",
    "entity_aliases": "SELECT tenant_id, scope_id, entity_id FROM {rows}",
}

ROWS_OF_MEMORIES = """
        SELECT r.tenant_id, m.scope_id, r.memory_id FROM {rows} r
        CROSS JOIN LATERAL (
            SELECT x.scope_id FROM memories x WHERE x.tenant_id = r.tenant_id AND x.id = r.memory_id OFFSET 0
        ) m"""

NOTED = """
        INSERT INTO scope_changes AS known (tenant_id, scope_id, transaction, {what})
        SELECT c.tenant_id, c.scope_id, CAST(CAST(pg_current_xact_id() AS text) AS bigint), array_agg(DISTINCT c.id)
        FROM ({changed}) AS c (tenant_id, scope_id, id) GROUP BY c.tenant_id, c.scope_id
        ON CONFLICT (tenant_id, scope_id, transaction) DO UPDATE
        SET {what} = ARRAY(SELECT unnest(known.{what}) UNION SELECT unnest(excluded.{what}))
        WHERE NOT known.{what} @> excluded.{what};
"""

FORGOTTEN = """
        DELETE FROM scope_changes late USING (
            SELECT x.tenant_id, x.scope_id, x.transaction
            FROM (SELECT DISTINCT c.tenant_id, c.scope_id FROM ({changed}) AS c (tenant_id, scope_id, id)) here
            CROSS JOIN LATERAL (
                SELECT * FROM scope_changes o WHERE o.tenant_id = here.tenant_id AND o.scope_id = here.scope_id
                ORDER BY o.transaction LIMIT 4 FOR UPDATE SKIP LOCKED
            ) x
            WHERE x.changed_at < now() - interval '1 hour'
        ) gone
        WHERE late.tenant_id = gone.tenant_id AND late.scope_id = gone.scope_id AND late.transaction = gone.transaction;
"""
"""More go with each change than come; what others look at stays for the next one."""

PRUNING = frozenset({"memories", "memory_usage"})

EVENTS = {
    "INSERT": "REFERENCING NEW TABLE AS changed",
    "UPDATE": "REFERENCING OLD TABLE AS was NEW TABLE AS changed",
    "DELETE": "REFERENCING OLD TABLE AS changed",
}

UNLESS_DISTRIBUTED = """
DO $do$ BEGIN
    IF to_regclass('pg_dist_partition') IS NOT NULL THEN
        IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass('memories')) THEN
            RETURN;
        END IF;
    END IF;
    {statement};
END $do$
"""


def function(table: str) -> str:
    """Return the function that notes what a statement changed in a table."""
    of_memories = table in OF_MEMORIES
    what, rows = ("memories", OF_MEMORIES[table]) if of_memories else ("entities", OF_ENTITIES[table])

    def among(name: str) -> str:
        return rows.format(rows=name, rows_of_memories=ROWS_OF_MEMORIES.format(rows=name))

    def noted(changed: str) -> str:
        pruned = FORGOTTEN.format(changed=changed) if table in PRUNING else ""
        return NOTED.format(what=what, changed=changed) + pruned

    return f"""
    CREATE OR REPLACE FUNCTION note_{table}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'UPDATE' THEN {noted(f"{among('changed')} UNION ALL {among('was')}")}
        ELSE {noted(among("changed"))}
        END IF;
        RETURN NULL;
    END $$
    """


def triggers(table: str) -> list[str]:
    """Return the statements that make a table's triggers."""
    return [
        UNLESS_DISTRIBUTED.format(
            statement=f"CREATE OR REPLACE TRIGGER note_{event.lower()} AFTER {event} ON {table} {rows} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION note_{table}()"
        )
        for event, rows in EVENTS.items()
    ]


TABLES = (*OF_MEMORIES, *OF_ENTITIES)


def upgrade() -> None:
    op.execute("DROP TABLE IF EXISTS scope_changes")
    live.create_table("scope_changes", TABLE, {"fk_scope_changes_tenant_id": "(tenant_id) REFERENCES tenants (id)"})
    live.isolate(["scope_changes"])
    live.grant(GRANTS)
    for table in TABLES:
        op.execute(function(table))
    live.separately(one for table in TABLES for one in triggers(table))


def downgrade() -> None:
    live.separately(f"DROP TRIGGER IF EXISTS note_{event.lower()} ON {table}" for table in TABLES for event in EVENTS)
    for table in TABLES:
        op.execute(f"DROP FUNCTION IF EXISTS note_{table}()")
    op.execute("DROP TABLE IF EXISTS scope_changes")
