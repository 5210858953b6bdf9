"""What a cluster of databases asks for: triggers on audit events for each row, and statements without system tables.

Within a trigger on a node a statement must name the tenant of its row, so that the node finds it with itself; a table
of all new rows cannot be read, and rows that a query gives cannot be inserted. A statement on a tenant's rows runs on
the node that has them only if it reads no table of the coordinator's.
"""

from __future__ import annotations

from alembic import op

from migrations import live

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

GRANTS = (
    "USAGE ON SEQUENCE pgqueuer_log_id_seq",
    "USAGE ON SEQUENCE audit_events_position_seq",
    "EXECUTE ON FUNCTION index_rows(text), redact_audit(uuid, uuid[], uuid[], text, timestamptz, bigint)",
)

CLOSED = ("index_rows(text)", "redact_audit(uuid, uuid[], uuid[], text, timestamptz, bigint)")

INDEX_ROWS = """
CREATE FUNCTION index_rows(name text) RETURNS float8 LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT greatest(0, reltuples) FROM pg_class WHERE oid = to_regclass(name));
END $$
"""

STAMP = """
CREATE OR REPLACE FUNCTION stamp_memory() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was record := OLD; -- not of the table's type, because a node gets the function before the table
BEGIN
    was.needs_review := NEW.needs_review; -- computed only after this
    IF NEW IS DISTINCT FROM was THEN
        NEW.updated_at := greatest(OLD.updated_at, changed_at());
    END IF;
    RETURN NEW;
END $$
"""

REDACT = """
CREATE FUNCTION redact_audit(
    tenant uuid, memories uuid[], scopes uuid[], actor text, erased_at timestamptz, place bigint
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    emptied bigint;
    erasure uuid := audit_event_id(erased_at);
BEGIN
    IF tenant IS DISTINCT FROM nullif(current_setting('app.tenant_id', true), '')::uuid THEN
        RAISE EXCEPTION 'the tenant is not the one of this transaction' USING ERRCODE = 'insufficient_privilege';
    END IF;
    UPDATE audit_events e SET detail = '{}', salt = NULL, redacted_by = erasure,
        detail_digest = audit_detail_digest(e.salt, e.detail)
    WHERE e.tenant_id = tenant AND e.redacted_by IS NULL
      AND (e.memory_id = ANY(memories) OR e.scope_id = ANY(scopes));
    GET DIAGNOSTICS emptied = ROW_COUNT;
    IF emptied > 0 THEN
        INSERT INTO audit_events (tenant_id, id, occurred_at, actor, action, detail, position)
        OVERRIDING SYSTEM VALUE
        VALUES (tenant, erasure, erased_at, redact_audit.actor, 'audit.redacted', jsonb_build_object(
            'events', emptied, 'memories', coalesce(cardinality(memories), 0),
            'scopes', coalesce(cardinality(scopes), 0)), place);
    END IF;
    RETURN emptied;
END $$
"""
"""Empties details as the function of this name without `place` does; it runs on a node, which must not choose where in
the log its event stands."""

DROP_TRIGGERS = (
    "DROP TRIGGER audit_events_enqueue ON audit_events",
    "DROP TRIGGER deliver_memory_events ON audit_events",
)

FIX_SEARCH_PATHS = """
DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION audit_enqueue() SET search_path = pg_catalog, %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION audit_standing() SET search_path = pg_catalog, %I, pg_temp', current_schema());
END $$
"""

FIX_SEARCH_PATH_OF_REDACT = """
DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION redact_audit(uuid, uuid[], uuid[], text, timestamptz, bigint) '
        'SET search_path = pg_catalog, %I, pg_temp', current_schema());
END $$
"""


def standing(tenant: str, row: str) -> str:
    """Return the function that logs what a memory is where the log says otherwise, with these sources of its tenant."""
    return f"""
    CREATE OR REPLACE FUNCTION audit_standing() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    DECLARE
        one record;
    BEGIN
        SELECT m.scope_id, m.status, m.confidence, m.updated_at,
            (SELECT e.detail -> 'status' ->> 1 FROM audit_events e
             WHERE e.tenant_id = {tenant} AND e.memory_id = {row} AND jsonb_typeof(e.detail -> 'status') = 'array'
             ORDER BY e.position DESC LIMIT 1) AS told_status,
            (SELECT (e.detail -> 'confidence' ->> 1)::float8 FROM audit_events e
             WHERE e.tenant_id = {tenant} AND e.memory_id = {row} AND jsonb_typeof(e.detail -> 'confidence') = 'array'
             ORDER BY e.position DESC LIMIT 1) AS told_confidence
        INTO one FROM memories m
        WHERE m.tenant_id = NEW.tenant_id AND m.id = NEW.id;
        IF NOT FOUND THEN
            RETURN NULL; -- it was erased in the same transaction
        END IF;
        IF one.status IS DISTINCT FROM one.told_status OR one.confidence IS DISTINCT FROM one.told_confidence
        THEN
            INSERT INTO audit_events (tenant_id, id, occurred_at, actor, action, memory_id, scope_id, detail)
            VALUES (NEW.tenant_id, audit_event_id(one.updated_at), one.updated_at, 'database', 'memory.standing',
                NEW.id, one.scope_id, jsonb_build_object(
                    'status', jsonb_build_array(one.told_status, one.status),
                    'confidence', jsonb_build_array(one.told_confidence, one.confidence)));
        END IF;
        RETURN NULL;
    END $$
    """  # noqa: S608 - our own names


FOR_EACH_ROW = (
    """
    CREATE OR REPLACE FUNCTION audit_enqueue() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
        INSERT INTO audit_unsealed (tenant_id, position, event_id) VALUES (NEW.tenant_id, NEW.position, NEW.id);
        RETURN NULL;
    END $$
    """,
    standing("NEW.tenant_id", "NEW.id"),
    FIX_SEARCH_PATHS,
    """
    CREATE TRIGGER audit_events_enqueue AFTER INSERT ON audit_events FOR EACH ROW EXECUTE FUNCTION audit_enqueue()
    """,
    """
    CREATE OR REPLACE FUNCTION deliver_event(tenant uuid, about text, told jsonb, at timestamptz) RETURNS void
    LANGUAGE plpgsql AS $$
    DECLARE
        hook uuid;
    BEGIN
        FOR hook IN
            SELECT w.id FROM webhooks w WHERE w.tenant_id = tenant AND w.active AND about = ANY (w.events)
        LOOP
            INSERT INTO webhook_deliveries (tenant_id, id, webhook_id, event, data, created_at, due_at)
            VALUES (tenant, gen_random_uuid(), hook, about, told, at, at);
        END LOOP;
    END $$
    """,
    """
    CREATE OR REPLACE FUNCTION deliver_memory_events() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM deliver_event(
            NEW.tenant_id,
            CASE NEW.action
                WHEN 'memory.superseded' THEN 'memory.superseded'
                WHEN 'memory.contradicted' THEN 'memory.contested'
                WHEN 'memory.expired' THEN 'memory.expired'
                WHEN 'memory.ended' THEN 'memory.expired'
                ELSE 'memory.created'
            END,
            jsonb_strip_nulls(jsonb_build_object(
                'memory_id', 'mem_' || replace(NEW.memory_id::text, '-', ''), 'action', NEW.action,
                'by', NEW.detail -> 'by')),
            NEW.occurred_at);
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER deliver_memory_events AFTER INSERT ON audit_events FOR EACH ROW
    WHEN (NEW.memory_id IS NOT NULL AND (
        NEW.action IN ('memory.superseded', 'memory.contradicted', 'memory.expired', 'memory.ended')
        OR NEW.action IN ('memory.added', 'memory.accepted') AND NEW.detail -> 'status' ->> 1 = 'active'))
    EXECUTE FUNCTION deliver_memory_events()
    """,
)

FOR_EACH_STATEMENT = (
    """
    CREATE OR REPLACE FUNCTION audit_enqueue() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
        INSERT INTO audit_unsealed (tenant_id, position, event_id) SELECT tenant_id, position, id FROM fresh;
        RETURN NULL;
    END $$
    """,
    standing("m.tenant_id", "m.id"),
    FIX_SEARCH_PATHS,
    """
    CREATE TRIGGER audit_events_enqueue AFTER INSERT ON audit_events REFERENCING NEW TABLE AS fresh
        FOR EACH STATEMENT EXECUTE FUNCTION audit_enqueue()
    """,
    """
    CREATE OR REPLACE FUNCTION deliver_memory_events() RETURNS trigger LANGUAGE plpgsql AS $$
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
    """
    CREATE TRIGGER deliver_memory_events AFTER INSERT ON audit_events REFERENCING NEW TABLE AS fresh
        FOR EACH STATEMENT EXECUTE FUNCTION deliver_memory_events()
    """,
)


def upgrade() -> None:
    for statement in (INDEX_ROWS, STAMP, REDACT, FIX_SEARCH_PATH_OF_REDACT, *DROP_TRIGGERS, *FOR_EACH_ROW):
        op.execute(statement)
    live.grant(GRANTS)
    live.close(CLOSED)


def downgrade() -> None:
    for statement in (*(f"DROP FUNCTION {one}" for one in CLOSED), *DROP_TRIGGERS, *FOR_EACH_STATEMENT):
        op.execute(statement)
