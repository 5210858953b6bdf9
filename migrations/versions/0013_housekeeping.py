"""A function that names the tenants with old rows to look after, in one statement however many tenants there are."""

from __future__ import annotations

from alembic import op

from migrations import live

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

# It runs with the caller's rights and becomes one tenant after the other, as row-level security asks: the caller must
# be allowed to list tenants. Plans are made once, through indexes. The tenant is set back at the end, and by Postgres
# where the function fails; only a superuser may name `app.tenant_id` among the function's own settings.
TENANTS_WITH_OLD = """
CREATE FUNCTION tenants_with_old(what text, before timestamptz) RETURNS SETOF uuid LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
    asking text := coalesce(current_setting('app.tenant_id', true), '');
    tenant uuid;
    has_any boolean;
BEGIN
    FOR tenant IN SELECT id FROM tenants ORDER BY id LOOP
        PERFORM set_config('app.tenant_id', tenant::text, true);
        CASE what
            WHEN 'waiting turns' THEN has_any := EXISTS (
                SELECT FROM turns WHERE tenant_id = tenant AND status = 'received' AND recorded_at < before);
            WHEN 'finished jobs' THEN has_any := EXISTS (
                SELECT FROM jobs WHERE tenant_id = tenant AND finished_at < before);
            WHEN 'usage' THEN has_any := EXISTS (
                SELECT FROM daily_usage WHERE tenant_id = tenant AND day < (before AT TIME ZONE 'UTC')::date);
        END CASE;
        IF has_any THEN
            RETURN NEXT tenant;
        END IF;
    END LOOP;
    PERFORM set_config('app.tenant_id', asking, true);
END $$
"""

GRANTS = ("EXECUTE ON FUNCTION tenants_with_old(text, timestamptz)",)

CLOSED = ("tenants_with_old(text, timestamptz)",)


def upgrade() -> None:
    op.execute(TENANTS_WITH_OLD)
    live.close(CLOSED)
    live.grant(GRANTS)


def downgrade() -> None:
    op.execute("DROP FUNCTION tenants_with_old(text, timestamptz)")
