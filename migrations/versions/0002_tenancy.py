"""Tenancy in the database: the runtime role, its grants, and forced row-level security."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

ROLE = "typed_memory_runtime"

READ_WRITE = (
    "api_keys",
    "entities",
    "entity_aliases",
    "evidence",
    "idempotency_keys",
    "lexical_terms",
    "memories",
    "memory_entities",
    "memory_links",
    "memory_usage",
    "relations",
    "scopes",
    "turns",
)
APPEND_ONLY = ("audit_events",)
BY_TENANT = (*READ_WRITE, *APPEND_ONLY)

CURRENT = "nullif(current_setting('app.tenant_id', true), '')::uuid"
KEY_HASH = "decode(nullif(current_setting('app.key_hash', true), ''), 'hex')"
OPERATOR = "current_setting('app.operator', true) = 'on'"


def upgrade() -> None:
    op.execute(
        f"""
        DO $$ BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{ROLE}') THEN
                CREATE ROLE {ROLE} NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
            END IF;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; -- another database's migration made it
        END $$
        """
    )
    op.execute(
        f"""
        DO $$ BEGIN
            IF NOT pg_has_role(current_user, '{ROLE}', 'MEMBER') THEN
                EXECUTE format('GRANT {ROLE} TO %I', current_user);
            END IF;
        END $$
        """
    )
    op.execute(f"DO $$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %I TO {ROLE}', current_schema()); END $$")
    op.execute(f"GRANT SELECT ON memory_types, embedding_models, alembic_version TO {ROLE}")
    op.execute(f"GRANT SELECT, INSERT, UPDATE ON tenants TO {ROLE}")
    op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON memory_index TO {ROLE}")
    for table in READ_WRITE:
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {ROLE}")
    for table in APPEND_ONLY:
        op.execute(f"GRANT SELECT, INSERT ON {table} TO {ROLE}")
    for table in BY_TENANT:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON {table} USING (tenant_id = {CURRENT}) WITH CHECK (tenant_id = {CURRENT})")
    op.execute("ALTER TABLE tenants ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE tenants FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant ON tenants FOR SELECT USING (id = {CURRENT})")
    op.execute(f"CREATE POLICY operator ON tenants USING ({OPERATOR}) WITH CHECK ({OPERATOR})")
    op.execute(f"CREATE POLICY authentication ON api_keys FOR SELECT USING (secret_hash = {KEY_HASH})")


def downgrade() -> None:
    op.execute("DROP POLICY authentication ON api_keys")
    op.execute("DROP POLICY operator ON tenants")
    for table in ("tenants", *BY_TENANT):
        op.execute(f"DROP POLICY tenant ON {table}")
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
    op.execute(
        f"""
        DO $$ BEGIN
            DROP OWNED BY {ROLE};
            DROP ROLE {ROLE};
        EXCEPTION WHEN dependent_objects_still_exist THEN NULL; -- another database of the cluster uses it
        END $$
        """
    )
