"""The audit log can prove itself: events are sealed into a hash chain a tenant, and emptied without breaking it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations import audit_chain
from migrations.audit_chain import CURRENT

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

ROLE = "typed_memory_runtime"
OPERATOR = "current_setting('app.operator', true) = 'on'"
WRITTEN = "tenant_id, id, occurred_at, actor, action, memory_id, scope_id, detail"
"""What the service says of an event; everything else about it is the database's to say."""

UNTOLD = """
    SELECT m.tenant_id, audit_event_id(clock_timestamp()), m.updated_at, 'migration', 'memory.standing', m.id,
        m.scope_id, jsonb_build_object('status', jsonb_build_array(NULL, m.status),
            'confidence', jsonb_build_array(NULL, m.confidence))
    FROM memories m
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
    _catch_up()
    _add_triggers()
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
    _isolate("audit_unsealed")
    op.execute(f"CREATE POLICY operator ON audit_unsealed FOR SELECT USING ({OPERATOR})")


def _isolate(table: str) -> None:
    op.execute(f"GRANT SELECT ON {table} TO {ROLE}")
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON {table} USING (tenant_id = {CURRENT}) WITH CHECK (tenant_id = {CURRENT})")


def _add_functions() -> None:
    for definition in audit_chain.DEFINITIONS:
        op.execute(definition)
    for function in audit_chain.FUNCTIONS:
        op.execute(f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC")
    for function in (one for one in audit_chain.FUNCTIONS if one not in audit_chain.PLAIN):
        op.execute(
            f"DO $$ BEGIN EXECUTE format('ALTER FUNCTION {function} SET search_path = pg_catalog, %I, pg_temp', "
            "current_schema()); END $$"
        )
    for function in audit_chain.FOR_THE_SERVICE:
        op.execute(f"GRANT EXECUTE ON FUNCTION {function} TO {ROLE}")


def _catch_up() -> None:
    """Tell the log what every memory is, and put everything that it holds down to be sealed."""
    # An owner without superuser rights is held by forced row-level security too, and must see every tenant's rows.
    tables = ("memories", "audit_events", "audit_unsealed")
    for table in tables:
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    op.execute(f"INSERT INTO audit_events ({WRITTEN}) {UNTOLD}")
    op.execute(
        "INSERT INTO audit_unsealed (tenant_id, position, event_id) SELECT tenant_id, position, id FROM audit_events"
    )
    for table in tables:
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def _add_triggers() -> None:
    op.execute(
        "CREATE TRIGGER audit_events_enqueue AFTER INSERT ON audit_events REFERENCING NEW TABLE AS fresh "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_enqueue()"
    )
    op.execute(
        "CREATE CONSTRAINT TRIGGER memories_told AFTER INSERT ON memories DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION audit_standing()"
    )
    op.execute(
        "CREATE CONSTRAINT TRIGGER memories_change_told AFTER UPDATE ON memories DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW WHEN (OLD.status <> NEW.status OR OLD.confidence <> NEW.confidence) "
        "EXECUTE FUNCTION audit_standing()"
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
    op.execute("DROP TRIGGER memories_told ON memories")
    op.execute("DROP TRIGGER memories_change_told ON memories")
    for trigger in ("enqueue", "only_emptied", "stay"):
        op.execute(f"DROP TRIGGER audit_events_{trigger} ON audit_events")
    op.drop_table("audit_unsealed")
    op.drop_table("audit_seals")
    for function in reversed(audit_chain.FUNCTIONS):
        op.execute(f"DROP FUNCTION {function}")
    for index in ("others", "position", "scope", "memory"):
        op.drop_index(f"ix_audit_events_{index}", "audit_events")
    op.create_index("ix_audit_events_memory", "audit_events", ["tenant_id", "memory_id", "id"])
    op.drop_constraint(op.f("ck_audit_events_redaction"), "audit_events", type_="check")
    op.execute(f"REVOKE INSERT ({WRITTEN}) ON audit_events FROM {ROLE}")
    op.execute(f"GRANT INSERT ON audit_events TO {ROLE}")
    for column in ("redacted_by", "detail_digest", "salt", "position"):
        op.drop_column("audit_events", column)
