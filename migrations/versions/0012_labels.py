"""Labels of memories: hashes of what their metadata say, by which a question's filter finds them.

Under row-level security no index serves `metadata @> ...`, because that operator is not leakproof; equality of numbers
is. The table is filled after the transaction that makes it, a tenant at a time, and made again if that is tried again.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import context, op

from migrations import live

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

HARMLESS = {"ban-drop-table": "only one that an interrupted attempt left behind"}

GRANTS = ("SELECT, INSERT, DELETE ON memory_labels",)

TABLE = """
CREATE TABLE memory_labels (
    tenant_id uuid NOT NULL,
    scope_id uuid NOT NULL,
    label bigint NOT NULL,
    memory_id uuid NOT NULL,
    CONSTRAINT pk_memory_labels PRIMARY KEY (tenant_id, scope_id, label, memory_id),
    CONSTRAINT fk_memory_labels_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_memory_labels_tenant_id_memory_id FOREIGN KEY (tenant_id, memory_id)
        REFERENCES memories (tenant_id, id) ON DELETE CASCADE
)
"""

FUNCTIONS = {
    # A label for each value of a key and for each value in its list, and one for its being a list or an object: what
    # contains an object has all labels of that object.
    "metadata_labels(jsonb)": """
        CREATE OR REPLACE FUNCTION metadata_labels(metadata jsonb) RETURNS SETOF bigint LANGUAGE sql IMMUTABLE AS $$
            SELECT DISTINCT ('x' || encode(substring(sha256(convert_to(
                jsonb_build_array(member.key, jsonb_typeof(member.value), said.leaf)::text, 'UTF8')
                ) FROM 1 FOR 8), 'hex'))::bit(64)::bigint
            FROM jsonb_each(metadata) AS member
            CROSS JOIN LATERAL jsonb_array_elements(CASE jsonb_typeof(member.value)
                WHEN 'array' THEN member.value || '[[]]'
                ELSE jsonb_build_array(member.value) END) AS part(value)
            CROSS JOIN LATERAL (SELECT CASE jsonb_typeof(part.value)
                WHEN 'number' THEN to_jsonb(trim_scale(part.value::numeric))
                WHEN 'array' THEN '[]'
                WHEN 'object' THEN '[]'
                ELSE part.value END AS leaf) AS said
        $$
    """,
    "keep_labels()": """
        CREATE OR REPLACE FUNCTION keep_labels() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP = 'UPDATE' THEN
                DELETE FROM memory_labels WHERE tenant_id = NEW.tenant_id AND memory_id = NEW.id;
            END IF;
            INSERT INTO memory_labels (tenant_id, scope_id, label, memory_id)
            SELECT NEW.tenant_id, NEW.scope_id, label, NEW.id FROM metadata_labels(NEW.metadata) AS label;
            RETURN NULL;
        END $$
    """,
}

TRIGGERS = {
    "labels_in": "AFTER INSERT ON memories FOR EACH ROW WHEN (NEW.metadata <> '{}')",
    "labels_on": "AFTER UPDATE ON memories FOR EACH ROW "
    "WHEN ((OLD.metadata, OLD.scope_id) IS DISTINCT FROM (NEW.metadata, NEW.scope_id))",
}

AS_OPERATOR = "SELECT set_config('app.operator', 'on', false), set_config('app.tenant_id', '', false)"
AS_TENANT = "SELECT set_config('app.operator', '', false), set_config('app.tenant_id', :tenant, false)"
AS_NOBODY = "SELECT set_config('app.operator', '', false), set_config('app.tenant_id', '', false)"

FILL = """
    INSERT INTO memory_labels (tenant_id, scope_id, label, memory_id)
    SELECT m.tenant_id, m.scope_id, label, m.id
    FROM memories m CROSS JOIN LATERAL metadata_labels(m.metadata) AS label
    WHERE m.tenant_id = :tenant AND m.metadata <> '{}' FOR KEY SHARE OF m
    ON CONFLICT DO NOTHING
"""


def upgrade() -> None:
    op.execute("DROP TABLE IF EXISTS memory_labels")
    op.execute(TABLE)
    live.isolate(["memory_labels"])
    op.execute("CREATE INDEX ix_memory_labels_memory ON memory_labels (tenant_id, memory_id)")
    live.grant(GRANTS)
    for function in FUNCTIONS.values():
        op.execute(function)
    for name, when in TRIGGERS.items():
        op.execute(f"CREATE OR REPLACE TRIGGER {name} {when} EXECUTE FUNCTION keep_labels()")
    if context.is_offline_mode():
        return
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        connection.execute(sa.text(AS_OPERATOR))
        for tenant in connection.execute(sa.text("SELECT id FROM tenants ORDER BY id")).scalars().all():
            connection.execute(sa.text(AS_TENANT), {"tenant": str(tenant)})
            connection.execute(sa.text(FILL), {"tenant": tenant})
        connection.execute(sa.text(AS_NOBODY))


def downgrade() -> None:
    for name in TRIGGERS:
        op.execute(f"DROP TRIGGER {name} ON memories")
    for signature in reversed(FUNCTIONS):
        op.execute(f"DROP FUNCTION {signature}")
    op.execute("DROP TABLE memory_labels")
