"""The audit log can prove itself: events are sealed into a hash chain a tenant, and emptied without breaking it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0014"
down_revision = "0010"
branch_labels = None
depends_on = None

ROLE = "typed_memory_runtime"
CURRENT = "nullif(current_setting('app.tenant_id', true), '')::uuid"
OPERATOR = "current_setting('app.operator', true) = 'on'"
WRITTEN = "tenant_id, id, occurred_at, actor, action, memory_id, scope_id, detail"
"""What the service says of an event; everything else about it is the database's to say."""

FUNCTIONS = (
    "audit_enqueue()",
    "audit_stays()",
    "audit_only_emptied()",
    "audit_detail_digest(uuid, jsonb)",
    "seal_audit(uuid, integer)",
    "redact_audit(uuid, uuid[], uuid[], text, timestamptz)",
)

DETAIL_DIGEST = """
    CREATE FUNCTION audit_detail_digest(salt uuid, detail jsonb) RETURNS bytea LANGUAGE sql IMMUTABLE
    RETURN sha256(coalesce(uuid_send(salt), ''::bytea) || convert_to(detail::text, 'UTF8'))
"""

ENQUEUE = """
    CREATE FUNCTION audit_enqueue() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
        INSERT INTO audit_unsealed (tenant_id, position, event_id) SELECT tenant_id, position, id FROM fresh;
        RETURN NULL;
    END $$
"""

STAYS = """
    CREATE FUNCTION audit_stays() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
    END $$
"""

ONLY_EMPTIED = """
    CREATE FUNCTION audit_only_emptied() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF OLD.redacted_by IS NULL AND NEW.redacted_by IS NOT NULL AND NEW.detail = '{{}}' AND NEW.salt IS NULL
            AND NEW.detail_digest = audit_detail_digest(OLD.salt, OLD.detail)
            AND (NEW.tenant_id, NEW.id, NEW.position, NEW.occurred_at, NEW.actor, NEW.action, NEW.memory_id,
                 NEW.scope_id) IS NOT DISTINCT FROM
                (OLD.tenant_id, OLD.id, OLD.position, OLD.occurred_at, OLD.actor, OLD.action, OLD.memory_id,
                 OLD.scope_id)
        THEN
            RETURN NEW;
        END IF;
        RAISE EXCEPTION 'audit_events is append-only: redact_audit() empties what must go'
            USING ERRCODE = 'insufficient_privilege';
    END $$
"""

OWN_TENANT = f"""
        IF tenant IS DISTINCT FROM {CURRENT} THEN
            RAISE EXCEPTION 'the tenant is not the one of this transaction' USING ERRCODE = 'insufficient_privilege';
        END IF;
"""

SEAL = """
    CREATE FUNCTION seal_audit(tenant uuid, most integer DEFAULT 1000) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER AS $$
    DECLARE
        previous bytea := '\\x{zeros}';
        seq bigint := 0;
        sealed_at timestamptz;
        events uuid[];
        digests bytea;
        pairs bytea;
    BEGIN
        {own_tenant}
        PERFORM pg_advisory_xact_lock(hashtextextended('typed-memory audit ' || tenant, 0));
        SELECT s.seq, s.digest INTO seq, previous FROM audit_seals s
        WHERE s.tenant_id = tenant ORDER BY s.seq DESC LIMIT 1;
        seq := coalesce(seq, 0) + 1;
        previous := coalesce(previous, '\\x{zeros}');
        WITH next AS (
            SELECT q.position, q.event_id, sha256(convert_to(jsonb_build_array(
                    e.tenant_id, e.id, (extract(epoch FROM e.occurred_at) * 1000000)::bigint, e.actor, e.action,
                    e.memory_id, e.scope_id,
                    encode(coalesce(e.detail_digest, audit_detail_digest(e.salt, e.detail)), 'hex')
                )::text, 'UTF8')) AS digest
            FROM audit_unsealed q
            JOIN audit_events e ON e.tenant_id = q.tenant_id AND e.id = q.event_id
            WHERE q.tenant_id = tenant ORDER BY q.position LIMIT most
        ), taken AS (
            DELETE FROM audit_unsealed q USING next
            WHERE q.tenant_id = tenant AND q.position = next.position
        )
        SELECT array_agg(event_id ORDER BY position), string_agg(digest, ''::bytea ORDER BY position),
            string_agg(uuid_send(event_id) || digest, ''::bytea ORDER BY position)
        INTO events, digests, pairs FROM next;
        IF events IS NULL THEN
            RETURN 0;
        END IF;
        sealed_at := clock_timestamp();
        INSERT INTO audit_seals (tenant_id, seq, sealed_at, events, digests, previous, digest)
        VALUES (tenant, seq, sealed_at, events, digests, previous, sha256(previous || uuid_send(tenant)
            || int8send(seq) || int8send((extract(epoch FROM sealed_at) * 1000000)::bigint) || pairs));
        RETURN cardinality(events);
    END $$
"""

REDACT = """
    CREATE FUNCTION redact_audit(
        tenant uuid, memories uuid[], scopes uuid[],
        actor text DEFAULT 'erasure', erased_at timestamptz DEFAULT clock_timestamp()
    ) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
    DECLARE
        emptied bigint;
        erasure uuid := encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
            PLACING substring(int8send((extract(epoch FROM erased_at) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
            52, 1), 53, 1), 'hex')::uuid;
    BEGIN
        {own_tenant}
        UPDATE audit_events e SET detail = '{{}}', salt = NULL, redacted_by = erasure,
            detail_digest = audit_detail_digest(e.salt, e.detail)
        WHERE e.tenant_id = tenant AND e.redacted_by IS NULL
          AND (e.memory_id = ANY(memories) OR e.scope_id = ANY(scopes));
        GET DIAGNOSTICS emptied = ROW_COUNT;
        IF emptied > 0 THEN
            INSERT INTO audit_events (tenant_id, id, occurred_at, actor, action, detail)
            VALUES (tenant, erasure, erased_at, redact_audit.actor, 'audit.redacted', jsonb_build_object(
                'events', emptied, 'memories', coalesce(cardinality(memories), 0),
                'scopes', coalesce(cardinality(scopes), 0)));
        END IF;
        RETURN emptied;
    END $$
"""


def upgrade() -> None:
    op.add_column("audit_events", sa.Column("position", sa.BigInteger, sa.Identity(always=True), nullable=False))
    op.add_column("audit_events", sa.Column("salt", postgresql.UUID, server_default=sa.text("gen_random_uuid()")))
    op.add_column("audit_events", sa.Column("detail_digest", sa.LargeBinary))
    op.add_column("audit_events", sa.Column("redacted_by", postgresql.UUID))
    op.create_check_constraint(
        op.f("ck_audit_events_redaction"), "audit_events", "(redacted_by IS NULL) = (detail_digest IS NULL)"
    )
    op.drop_index("ix_audit_events_memory", "audit_events")
    op.create_index("ix_audit_events_memory", "audit_events", ["tenant_id", "memory_id", "position"])
    op.create_index("ix_audit_events_scope", "audit_events", ["tenant_id", "scope_id", "position"])
    op.create_index("ix_audit_events_position", "audit_events", ["tenant_id", "position"])
    op.create_index(
        "ix_audit_events_others",
        "audit_events",
        ["tenant_id", "position"],
        postgresql_where=sa.text("action NOT LIKE 'memory.%'"),
    )
    _add_seals()
    _add_queue()
    _add_functions()
    op.execute(f"REVOKE INSERT ON audit_events FROM {ROLE}")
    op.execute(f"GRANT INSERT ({WRITTEN}) ON audit_events TO {ROLE}")


def _add_seals() -> None:
    op.create_table(
        "audit_seals",
        sa.Column("tenant_id", postgresql.UUID, nullable=False),
        sa.Column("seq", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("sealed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("events", sa.ARRAY(postgresql.UUID), nullable=False),
        sa.Column("digests", sa.LargeBinary, nullable=False),
        sa.Column("previous", sa.LargeBinary, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_audit_seals_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "seq", name=op.f("pk_audit_seals")),
    )
    op.execute("ALTER TABLE audit_seals ALTER digests SET STORAGE EXTERNAL")
    _isolate("audit_seals")


def _add_queue() -> None:
    op.create_table(
        "audit_unsealed",
        sa.Column("tenant_id", postgresql.UUID, nullable=False),
        sa.Column("position", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("event_id", postgresql.UUID, nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_audit_unsealed_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "position", name=op.f("pk_audit_unsealed")),
    )
    # An owner without superuser rights is held by forced row-level security too, and must see every tenant's events.
    op.execute("ALTER TABLE audit_events NO FORCE ROW LEVEL SECURITY")
    op.execute(
        "INSERT INTO audit_unsealed (tenant_id, position, event_id) SELECT tenant_id, position, id FROM audit_events"
    )
    op.execute("ALTER TABLE audit_events FORCE ROW LEVEL SECURITY")
    _isolate("audit_unsealed")
    op.execute(f"CREATE POLICY operator ON audit_unsealed FOR SELECT USING ({OPERATOR})")


def _isolate(table: str) -> None:
    op.execute(f"GRANT SELECT ON {table} TO {ROLE}")
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON {table} USING (tenant_id = {CURRENT}) WITH CHECK (tenant_id = {CURRENT})")


def _add_functions() -> None:
    op.execute(DETAIL_DIGEST)
    for function in (ENQUEUE, STAYS, ONLY_EMPTIED, SEAL, REDACT):
        op.execute(function.format(own_tenant=OWN_TENANT, zeros="00" * 32))
    for function in FUNCTIONS:
        op.execute(f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC")
    for function in (one for one in FUNCTIONS if "detail_digest" not in one):
        op.execute(
            f"DO $$ BEGIN EXECUTE format('ALTER FUNCTION {function} SET search_path = pg_catalog, %I, pg_temp', "
            "current_schema()); END $$"
        )
    for function in FUNCTIONS[-2:]:
        op.execute(f"GRANT EXECUTE ON FUNCTION {function} TO {ROLE}")
    op.execute(
        "CREATE TRIGGER audit_events_enqueue AFTER INSERT ON audit_events REFERENCING NEW TABLE AS fresh "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_enqueue()"
    )
    op.execute(
        "CREATE TRIGGER audit_events_only_emptied BEFORE UPDATE ON audit_events "
        "FOR EACH ROW EXECUTE FUNCTION audit_only_emptied()"
    )
    op.execute(
        "CREATE TRIGGER audit_events_stay BEFORE DELETE OR TRUNCATE ON audit_events "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_stays()"
    )
    op.execute(
        "CREATE TRIGGER audit_seals_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_seals "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_stays()"
    )


def downgrade() -> None:
    for trigger in ("enqueue", "only_emptied", "stay"):
        op.execute(f"DROP TRIGGER audit_events_{trigger} ON audit_events")
    op.drop_table("audit_unsealed")
    op.drop_table("audit_seals")
    for function in reversed(FUNCTIONS):
        op.execute(f"DROP FUNCTION {function}")
    for index in ("others", "position", "scope", "memory"):
        op.drop_index(f"ix_audit_events_{index}", "audit_events")
    op.create_index("ix_audit_events_memory", "audit_events", ["tenant_id", "memory_id", "id"])
    op.drop_constraint(op.f("ck_audit_events_redaction"), "audit_events", type_="check")
    op.execute(f"REVOKE INSERT ({WRITTEN}) ON audit_events FROM {ROLE}")
    op.execute(f"GRANT INSERT ON audit_events TO {ROLE}")
    for column in ("redacted_by", "detail_digest", "salt", "position"):
        op.drop_column("audit_events", column)
