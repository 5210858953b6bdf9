"""Statistics by which a plan for any tenant expects a large one.

Questions and writes use plans that are made once, for no tenant in particular. Postgres then expects as many rows as an
average tenant has. Where most tenants are small that is a handful, so it reads a tenant from end to end instead of
looking up ids, scopes or names: in a store of 400 tenants, all 8,700 entities of the largest for a handful of names. It
takes a hundredth of a table for a tenant now. Plans for a given tenant know how large it is, if it is large.

Tables with vectors are left as they are: where one tenant has most of them, its vector index would look dearer than
reading all. The share counts from the next ANALYZE on, which autovacuum runs. A cluster makes no such plans.
"""

from __future__ import annotations

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

TENANTS = 100

TABLES = (
    *("memories", "memory_past", "memory_usage", "memory_labels", "memory_links", "memory_folds", "evidence", "turns"),
    *("scopes", "lexical_terms", "pronoun_bindings"),
    *("entities", "entity_aliases", "entity_past", "entity_merges", "entity_merge_aliases", "entity_merge_memories"),
    *("memory_entities", "relations"),
)


def on_one_machine(change: str) -> str:
    """Return the statement that changes the column of the tenant in each table, except in a cluster."""
    tables = ", ".join(f"'{table}'" for table in TABLES)
    return f"""
    DO $$ DECLARE
        one text;
    BEGIN
        IF to_regclass('pg_dist_partition') IS NULL THEN
            FOREACH one IN ARRAY ARRAY[{tables}] LOOP
                EXECUTE format('ALTER TABLE %I ALTER COLUMN tenant_id {change}', one);
            END LOOP;
        END IF;
    END $$
    """


def upgrade() -> None:
    op.execute(on_one_machine(f"SET (n_distinct = {TENANTS})"))


def downgrade() -> None:
    op.execute(on_one_machine("RESET (n_distinct)"))
