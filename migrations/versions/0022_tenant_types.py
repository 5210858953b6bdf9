"""Types of a tenant's own: whose a type is, the versions of its definition, and what a memory's type is checked by.

On a live store with the previous release on it: what locks `memories` only changes the catalogue, and what reads all
of it (the checks of rows that are there, the index) keeps nobody from writing. What a run that was cut off has done,
the next one finds done.
"""

from __future__ import annotations

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

# What squawk warns of, looked into.
HARMLESS = {
    "prefer-robust-stmts": "every statement can be run again",
    "ban-drop-constraint": "it comes back at once, or was left by a try that was cut off",
    "ban-drop-table": "only what a try that was cut off has made",
    "constraint-missing-not-valid": "memory_types is tiny",
    "adding-serial-primary-key-field": "memory_types is tiny",
}

ROLE = "typed_memory_runtime"
CURRENT = "nullif(current_setting('app.tenant_id', true), '')::uuid"
NOBODY = "'00000000-0000-0000-0000-000000000000'"

OWN = f"(tenant_id = {CURRENT} AND tenant_id <> {NOBODY})"

CHECKS = {
    "ck_memories_type_tenant": f"type_tenant IN ({NOBODY}, tenant_id)",
    "ck_memories_type_version": f"(type_tenant = {NOBODY}) = (type_version = 0)",
}
KEY = "fk_memories_type_tenant_type"


def upgrade() -> None:
    op.execute("ALTER TABLE tenants ADD COLUMN IF NOT EXISTS types_version bigint NOT NULL DEFAULT 0")
    _own_types()
    _versions()
    _own_memories()
    with op.get_context().autocommit_block():
        # From here on nothing stands in anybody's way, so it may wait for whoever is at work.
        op.execute("SET lock_timeout = 0")
        for name in (*CHECKS, KEY):
            op.execute(f"ALTER TABLE memories VALIDATE CONSTRAINT {name}")
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS ix_memories_own_type")
        op.execute(
            "CREATE INDEX CONCURRENTLY ix_memories_own_type ON memories (type_tenant, type)"
            f" WHERE type_tenant <> {NOBODY}"
        )
        op.execute("RESET lock_timeout")


def _own_types() -> None:
    op.execute("ALTER TABLE memories DROP CONSTRAINT IF EXISTS fk_memories_type")
    op.execute(f"ALTER TABLE memory_types ADD COLUMN IF NOT EXISTS tenant_id uuid NOT NULL DEFAULT {NOBODY}")
    op.execute("ALTER TABLE memory_types ADD COLUMN IF NOT EXISTS version integer NOT NULL DEFAULT 0")
    op.execute(f"ALTER TABLE memories DROP CONSTRAINT IF EXISTS {KEY}")
    op.execute("DROP TABLE IF EXISTS memory_type_versions")
    op.execute("ALTER TABLE memory_types DROP CONSTRAINT IF EXISTS pk_memory_types")
    op.execute("ALTER TABLE memory_types ADD CONSTRAINT pk_memory_types PRIMARY KEY (tenant_id, name)")
    op.execute("ALTER TABLE memory_types DROP CONSTRAINT IF EXISTS ck_memory_types_version")
    op.execute(
        "ALTER TABLE memory_types ADD CONSTRAINT ck_memory_types_version"
        f" CHECK ((tenant_id = {NOBODY}) = (version = 0))"
    )
    # Not forced: migrations, which run as the owner, write what is built in.
    op.execute("ALTER TABLE memory_types ENABLE ROW LEVEL SECURITY")
    op.execute("DROP POLICY IF EXISTS seen ON memory_types")
    op.execute("DROP POLICY IF EXISTS own ON memory_types")
    op.execute(f"CREATE POLICY seen ON memory_types FOR SELECT USING (tenant_id = {NOBODY} OR tenant_id = {CURRENT})")
    op.execute(f"CREATE POLICY own ON memory_types USING {OWN} WITH CHECK {OWN}")
    op.execute(f"GRANT INSERT, UPDATE, DELETE ON memory_types TO {ROLE}")


def _versions() -> None:
    op.execute(
        """
        CREATE TABLE memory_type_versions (
            tenant_id uuid NOT NULL,
            name text NOT NULL,
            version integer NOT NULL,
            definition json NOT NULL,
            created_at timestamptz NOT NULL,
            created_by text NOT NULL,
            CONSTRAINT pk_memory_type_versions PRIMARY KEY (tenant_id, name, version),
            CONSTRAINT fk_memory_type_versions_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
            CONSTRAINT fk_memory_type_versions_tenant_id_name FOREIGN KEY (tenant_id, name)
                REFERENCES memory_types (tenant_id, name) ON DELETE CASCADE,
            CONSTRAINT ck_memory_type_versions_version CHECK (version > 0)
        )
        """
    )
    op.execute(f"GRANT SELECT, INSERT, DELETE ON memory_type_versions TO {ROLE}")
    op.execute("ALTER TABLE memory_type_versions ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE memory_type_versions FORCE ROW LEVEL SECURITY")
    op.execute(
        f"CREATE POLICY tenant ON memory_type_versions USING (tenant_id = {CURRENT}) WITH CHECK (tenant_id = {CURRENT})"
    )


def _own_memories() -> None:
    op.execute(
        f"ALTER TABLE memories ADD COLUMN IF NOT EXISTS type_tenant uuid NOT NULL DEFAULT {NOBODY},"
        " ADD COLUMN IF NOT EXISTS type_version integer NOT NULL DEFAULT 0"
    )
    for name, condition in CHECKS.items():
        op.execute(f"ALTER TABLE memories DROP CONSTRAINT IF EXISTS {name}")
        op.execute(f"ALTER TABLE memories ADD CONSTRAINT {name} CHECK ({condition}) NOT VALID")
    op.execute(
        f"ALTER TABLE memories ADD CONSTRAINT {KEY} FOREIGN KEY (type_tenant, type)"
        " REFERENCES memory_types (tenant_id, name) NOT VALID"
    )


def downgrade() -> None:
    """Go back; refused by the key of `memories` while there are memories of a tenant's own type."""
    op.execute("DROP TABLE memory_type_versions")
    op.execute(f"DELETE FROM memory_types WHERE tenant_id <> {NOBODY}")  # noqa: S608 - our own names
    op.execute(f"ALTER TABLE memories DROP CONSTRAINT {KEY}")
    op.execute("ALTER TABLE memories DROP COLUMN type_tenant, DROP COLUMN type_version")
    op.execute(f"REVOKE INSERT, UPDATE, DELETE ON memory_types FROM {ROLE}")
    op.execute("DROP POLICY own ON memory_types")
    op.execute("DROP POLICY seen ON memory_types")
    op.execute("ALTER TABLE memory_types DISABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE memory_types DROP CONSTRAINT ck_memory_types_version")
    op.execute("ALTER TABLE memory_types DROP CONSTRAINT pk_memory_types")
    op.execute("ALTER TABLE memory_types DROP COLUMN tenant_id, DROP COLUMN version")
    op.execute("ALTER TABLE memory_types ADD CONSTRAINT pk_memory_types PRIMARY KEY (name)")
    op.execute(
        "ALTER TABLE memories ADD CONSTRAINT fk_memories_type FOREIGN KEY (type) REFERENCES memory_types (name)"
        " NOT VALID"
    )
    op.execute("ALTER TABLE memories VALIDATE CONSTRAINT fk_memories_type")
    op.execute("ALTER TABLE tenants DROP COLUMN types_version")
