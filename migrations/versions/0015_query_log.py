"""The query log, whose old rows are found with those of other tables."""

from __future__ import annotations

from alembic import op

from migrations import live

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

COLUMNS = """
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    asked_at timestamptz NOT NULL,
    actor text NOT NULL,
    user_id text,
    agent_id text,
    question_digest text NOT NULL,
    question_length integer NOT NULL,
    question text,
    mode text NOT NULL,
    top_k integer NOT NULL,
    memories uuid[] NOT NULL,
    took_ms double precision NOT NULL,
    stages jsonb NOT NULL DEFAULT '{}'::jsonb,
    degraded text[] NOT NULL,
    CONSTRAINT pk_query_log PRIMARY KEY (tenant_id, id)
"""

INDEXES = {
    "ix_query_log_asked": "query_log (tenant_id, asked_at, id)",
    "ix_query_log_user": "query_log (tenant_id, user_id) WHERE user_id IS NOT NULL",
    "ix_query_log_question": "query_log (tenant_id, asked_at) WHERE question IS NOT NULL",
}

GRANTS = ("SELECT, INSERT, DELETE ON query_log",)

# As in 0013, which says why it is written so.
TENANTS_WITH_OLD = """
CREATE OR REPLACE FUNCTION tenants_with_old(what text, before timestamptz) RETURNS SETOF uuid LANGUAGE plpgsql
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
                SELECT FROM daily_usage WHERE tenant_id = tenant AND day < (before AT TIME ZONE 'UTC')::date);{further}
        END CASE;
        IF has_any THEN
            RETURN NEXT tenant;
        END IF;
    END LOOP;
    PERFORM set_config('app.tenant_id', asking, true);
END $$
"""

OF_QUERY_LOG = """
            WHEN 'query log' THEN has_any := EXISTS (
                SELECT FROM query_log WHERE tenant_id = tenant AND asked_at < before);"""


def upgrade() -> None:
    live.create_table("query_log", COLUMNS, {"fk_query_log_tenant_id": "(tenant_id) REFERENCES tenants (id)"})
    live.isolate(["query_log"])
    for name, over in INDEXES.items():
        op.execute(f"CREATE INDEX {name} ON {over}")
    op.execute(TENANTS_WITH_OLD.format(further=OF_QUERY_LOG))
    live.grant(GRANTS)


def downgrade() -> None:
    op.execute(TENANTS_WITH_OLD.format(further=""))
    op.execute("DROP TABLE query_log")
