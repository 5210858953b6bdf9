"""Claims and comments of reviewers, changes of status by undoing a decision, and webhooks.

Triggers queue deliveries in the transaction of the event, whatever code wrote it; they hold ids and no content.
"""

from __future__ import annotations

from alembic import op

from migrations import live

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

TABLES = {
    "review_claims": """
        tenant_id uuid NOT NULL,
        memory_id uuid NOT NULL,
        reviewer text NOT NULL,
        until timestamptz NOT NULL,
        CONSTRAINT pk_review_claims PRIMARY KEY (tenant_id, memory_id),
        CONSTRAINT fk_review_claims_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
        CONSTRAINT fk_review_claims_tenant_id_memory_id FOREIGN KEY (tenant_id, memory_id)
            REFERENCES memories (tenant_id, id) ON DELETE CASCADE
    """,
    "review_comments": """
        tenant_id uuid NOT NULL,
        id uuid NOT NULL,
        memory_id uuid NOT NULL,
        reviewer text NOT NULL,
        comment text NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT pk_review_comments PRIMARY KEY (tenant_id, id),
        CONSTRAINT fk_review_comments_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
        CONSTRAINT fk_review_comments_tenant_id_memory_id FOREIGN KEY (tenant_id, memory_id)
            REFERENCES memories (tenant_id, id) ON DELETE CASCADE
    """,
    "webhooks": """
        tenant_id uuid NOT NULL,
        id uuid NOT NULL,
        url text NOT NULL,
        events text[] NOT NULL,
        description text,
        secret text NOT NULL,
        previous_secret text,
        previous_until timestamptz,
        active boolean NOT NULL DEFAULT true,
        paused_because text,
        created_at timestamptz NOT NULL,
        CONSTRAINT pk_webhooks PRIMARY KEY (tenant_id, id),
        CONSTRAINT fk_webhooks_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id)
    """,
    "webhook_deliveries": """
        tenant_id uuid NOT NULL,
        id uuid NOT NULL,
        webhook_id uuid NOT NULL,
        event text NOT NULL,
        data jsonb NOT NULL DEFAULT '{}',
        status text NOT NULL DEFAULT 'waiting',
        attempts integer NOT NULL DEFAULT 0,
        answer integer,
        error text,
        created_at timestamptz NOT NULL,
        due_at timestamptz NOT NULL,
        delivered_at timestamptz,
        CONSTRAINT pk_webhook_deliveries PRIMARY KEY (tenant_id, id),
        CONSTRAINT fk_webhook_deliveries_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
        CONSTRAINT fk_webhook_deliveries_tenant_id_webhook_id FOREIGN KEY (tenant_id, webhook_id)
            REFERENCES webhooks (tenant_id, id) ON DELETE CASCADE,
        CONSTRAINT ck_webhook_deliveries_status CHECK (status IN ('waiting', 'delivered', 'failed'))
    """,
}

FUNCTIONS = {
    "deliver_event(uuid, text, jsonb, timestamptz)": """
        CREATE FUNCTION deliver_event(tenant uuid, about text, told jsonb, at timestamptz) RETURNS void
        LANGUAGE sql AS $$
            INSERT INTO webhook_deliveries (tenant_id, id, webhook_id, event, data, created_at, due_at)
            SELECT w.tenant_id, gen_random_uuid(), w.id, about, told, at, at
            FROM webhooks w WHERE w.tenant_id = tenant AND w.active AND about = ANY (w.events)
        $$
    """,
    "deliver_memory_events()": """
        CREATE FUNCTION deliver_memory_events() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF EXISTS (SELECT FROM webhooks w WHERE w.active AND w.tenant_id IN (SELECT tenant_id FROM fresh)) THEN
                PERFORM deliver_event(n.tenant_id, e.about, jsonb_strip_nulls(jsonb_build_object(
                    'memory_id', 'mem_' || replace(n.memory_id::text, '-', ''), 'action', n.action,
                    'by', n.detail -> 'by')), n.occurred_at)
                FROM fresh n JOIN (VALUES
                    ('memory.added', 'memory.created'), ('memory.accepted', 'memory.created'),
                    ('memory.superseded', 'memory.superseded'), ('memory.expired', 'memory.expired'),
                    ('memory.ended', 'memory.expired'), ('memory.contradicted', 'memory.contested')
                ) AS e (action, about) ON e.action = n.action
                WHERE n.memory_id IS NOT NULL
                  AND (e.about <> 'memory.created' OR n.detail -> 'status' ->> 1 = 'active')
                ORDER BY n.position;
            END IF;
            RETURN NULL;
        END $$
    """,
    "deliver_review_event()": """
        CREATE FUNCTION deliver_review_event() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE
            name CONSTANT text := replace(NEW.id::text, '-', '');
        BEGIN
            PERFORM deliver_event(NEW.tenant_id, 'review.waiting', jsonb_build_object(
                'review_id', 'rev_' || name, 'memory_id', 'mem_' || name, 'reason', NEW.review_reason), NEW.updated_at);
            RETURN NULL;
        END $$
    """,
    "deliver_job_event()": """
        CREATE FUNCTION deliver_job_event() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM deliver_event(NEW.tenant_id, 'job.done', jsonb_build_object(
                'job_id', 'job_' || replace(NEW.id::text, '-', ''), 'kind', NEW.kind, 'status', NEW.status),
                NEW.finished_at);
            RETURN NULL;
        END $$
    """,
}

TRIGGERS = (
    (
        "deliver_memory_events AFTER INSERT ON audit_events REFERENCING NEW TABLE AS fresh "
        "FOR EACH STATEMENT EXECUTE FUNCTION deliver_memory_events()"
    ),
    (
        "deliver_review_in AFTER INSERT ON memories FOR EACH ROW "
        "WHEN (NEW.review_reason IS NOT NULL) EXECUTE FUNCTION deliver_review_event()"
    ),
    (
        "deliver_review_on AFTER UPDATE ON memories FOR EACH ROW "
        "WHEN (OLD.review_reason IS NULL AND NEW.review_reason IS NOT NULL) EXECUTE FUNCTION deliver_review_event()"
    ),
    (
        "deliver_job AFTER UPDATE ON jobs FOR EACH ROW "
        "WHEN (OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL "
        "AND NEW.kind IN ('ingest', 'erase', 'backfill')) "
        "EXECUTE FUNCTION deliver_job_event()"
    ),
)

INDEXES = {
    "ix_review_comments_memory": "review_comments (tenant_id, memory_id, created_at)",
    "ix_webhook_deliveries_listed": "webhook_deliveries (tenant_id, webhook_id, created_at, id)",
    "ix_webhook_deliveries_created": "webhook_deliveries (tenant_id, created_at)",
    "ix_webhook_deliveries_due": "webhook_deliveries (due_at, tenant_id) WHERE status = 'waiting'",
}

GRANTS = tuple(f"SELECT, INSERT, UPDATE, DELETE ON {table}" for table in TABLES)

BY_LIFECYCLE = (
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
    "superseded>expired",
    "pending>superseded",
    "superseded>forgotten",
)
BY_UNDOING = (
    "forgotten>pending",
    "forgotten>active",
    "forgotten>expired",
    "forgotten>superseded",
    "superseded>pending",
)


def guard(*legal: str) -> str:
    """Return the statement that lets memories change their status in these ways alone."""
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


def upgrade() -> None:
    for table, columns in TABLES.items():
        op.execute(f"CREATE TABLE {table} ({columns})")
    live.isolate(TABLES)
    for name, over in INDEXES.items():
        op.execute(f"CREATE INDEX {name} ON {over}")
    live.grant(GRANTS)
    op.execute(guard(*BY_LIFECYCLE, *BY_UNDOING))
    op.execute(f"CREATE POLICY service ON webhook_deliveries FOR SELECT USING ({live.CURRENT} IS NULL)")
    for function in FUNCTIONS.values():
        op.execute(function)
    for trigger in TRIGGERS:
        op.execute(f"CREATE TRIGGER {trigger}")


def downgrade() -> None:
    for trigger in TRIGGERS:
        name, _, rest = trigger.partition(" ")
        op.execute(f"DROP TRIGGER {name} ON {rest.partition(' ON ')[2].split()[0]}")
    for signature in reversed(FUNCTIONS):
        op.execute(f"DROP FUNCTION {signature}")
    op.execute(guard(*BY_LIFECYCLE))
    for table in reversed(TABLES):
        op.execute(f"DROP TABLE {table}")
