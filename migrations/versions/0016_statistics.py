"""Statistics of scopes within tenants, and a function that looks for tenants with old rows on the nodes of a cluster.

A scope belongs to one tenant. Without statistics of both Postgres multiplies their shares, and takes the scope of a
tenth of all memories for a hundredth. They are gathered when the tables are next analyzed, which autovacuum does.
"""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

OF_SCOPES = ("memories", "memory_index")


def tenants_with_old(tenant: str, asking: str) -> str:
    """Return the function of 0015 with these statements, which set the tenant and set it back."""
    return f"""
    CREATE OR REPLACE FUNCTION tenants_with_old(what text, before timestamptz) RETURNS SETOF uuid LANGUAGE plpgsql
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
    DECLARE
        asking text := coalesce(current_setting('app.tenant_id', true), '');
        tenant uuid;
        has_any boolean;
    BEGIN
        FOR tenant IN SELECT id FROM tenants ORDER BY id LOOP
            {tenant};
            CASE what
                WHEN 'waiting turns' THEN has_any := EXISTS (
                    SELECT FROM turns WHERE tenant_id = tenant AND status = 'received' AND recorded_at < before);
                WHEN 'finished jobs' THEN has_any := EXISTS (
                    SELECT FROM jobs WHERE tenant_id = tenant AND finished_at < before);
                WHEN 'usage' THEN has_any := EXISTS (
                    SELECT FROM daily_usage WHERE tenant_id = tenant AND day < (before AT TIME ZONE 'UTC')::date);
                WHEN 'query log' THEN has_any := EXISTS (
                    SELECT FROM query_log WHERE tenant_id = tenant AND asked_at < before);
            END CASE;
            IF has_any THEN
                RETURN NEXT tenant;
            END IF;
        END LOOP;
        {asking};
    END $$
    """  # noqa: S608 - our own statements


ON_NODES = tenants_with_old(
    "EXECUTE format('SET LOCAL app.tenant_id = %L', tenant)", "EXECUTE format('SET LOCAL app.tenant_id = %L', asking)"
)
"""A coordinator hands on to nodes what SET LOCAL sets, not what set_config does."""

HERE = tenants_with_old(
    "PERFORM set_config('app.tenant_id', tenant::text, true)", "PERFORM set_config('app.tenant_id', asking, true)"
)


def upgrade() -> None:
    op.execute(ON_NODES)
    for table in OF_SCOPES:
        op.execute(f"CREATE STATISTICS st_{table}_scope (dependencies) ON tenant_id, scope_id FROM {table}")


def downgrade() -> None:
    for table in OF_SCOPES:
        op.execute(f"DROP STATISTICS st_{table}_scope")
    op.execute(HERE)
