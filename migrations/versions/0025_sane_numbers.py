"""No memory has numbers that its freshness or confidence can't be computed with, whoever writes it.

What an import once let in is mended first, as nothing else can: a half-life that is none is taken away, a number out
of its range becomes the nearest within. Each tenant is searched through its key; the constraints are checked for new
rows at once, and for those that are there without keeping anybody from reading or writing.
"""

from __future__ import annotations

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

# What squawk warns of, looked into.
HARMLESS = {"ban-drop-constraint": "only those that a try that was cut off has left"}

CHECKS = {
    "ck_memories_half_life": "half_life_days > 0 AND half_life_days < 'Infinity'",
    "ck_memories_floor": "floor BETWEEN 0 AND 1",
    "ck_memories_mentions": "mentions >= 1",
    "ck_memories_parts": "source_strength BETWEEN 0 AND 1 AND extractor_confidence BETWEEN 0 AND 1 "
    "AND prior BETWEEN 0 AND 1",
}

WAS = ", ".join(
    f"'{name}', {value}"
    for name, value in {
        "half_life_days": "CASE WHEN p.half_life_days > 0 AND p.half_life_days < 'Infinity' THEN p.half_life_days END",
        "mentions": "greatest(p.mentions, 1)",
        **{
            name: f"least(greatest(p.{name}, 0), 1)"
            for name in ("floor", "source_strength", "extractor_confidence", "prior")
        },
    }.items()
)

MEND = f"""
DO $$
DECLARE one uuid;
BEGIN
    PERFORM set_config('app.operator', 'on', true);
    FOR one IN SELECT id FROM tenants LOOP
        PERFORM set_config('app.tenant_id', one::text, true);
        UPDATE memories SET
            half_life_days = CASE WHEN half_life_days > 0 AND half_life_days < 'Infinity' THEN half_life_days END,
            floor = least(greatest(floor, 0), 1),
            mentions = greatest(mentions, 1),
            source_strength = least(greatest(source_strength, 0), 1),
            extractor_confidence = least(greatest(extractor_confidence, 0), 1),
            prior = least(greatest(prior, 0), 1)
        WHERE tenant_id = one AND NOT ({" AND ".join(f"coalesce({check}, true)" for check in CHECKS.values())});
        UPDATE memory_past SET was = was || (
            SELECT jsonb_build_object({WAS}) FROM jsonb_to_record(was) AS p(half_life_days float8, floor float8,
                mentions int, source_strength float8, extractor_confidence float8, prior float8))
        WHERE tenant_id = one AND EXISTS (
            SELECT FROM jsonb_to_record(was) AS p(half_life_days float8, floor float8, mentions int,
                source_strength float8, extractor_confidence float8, prior float8)
            WHERE NOT ({" AND ".join(f"coalesce({check}, true)" for check in CHECKS.values())}));
    END LOOP;
END $$
"""  # noqa: S608 - composed of constants


def upgrade() -> None:
    op.execute(MEND)
    dropped = ", ".join(f"DROP CONSTRAINT IF EXISTS {name}" for name in CHECKS)
    added = ", ".join(f"ADD CONSTRAINT {name} CHECK ({check}) NOT VALID" for name, check in CHECKS.items())
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = '5s'")
        op.execute(f"ALTER TABLE memories {dropped}, {added}")
        op.execute("RESET lock_timeout")
        op.execute("ALTER TABLE memories " + ", ".join(f"VALIDATE CONSTRAINT {name}" for name in CHECKS))


def downgrade() -> None:
    for name in CHECKS:
        op.drop_constraint(op.f(name), "memories")
