"""Medications that were stored before there was the column of filters get it, whosever they are."""

from __future__ import annotations

import asyncio
from uuid import UUID

import asyncpg

from app.db import migrate

FIRST, SECOND = UUID(int=1), UUID(int=2)

STORED = """
    INSERT INTO memories (tenant_id, id, scope_id, type, category, status, content, identity, payload, source_strength,
        extractor_confidence, prior, confidence, importance, stated_at, valid_from, recorded_at, updated_at)
    SELECT $1, gen_random_uuid(), $1, $2, 'semantic', 'active', 'x', 'x', $3::jsonb, .9, .9, .1, .6, .5, now(), now(),
        now(), now()
    FROM generate_series(1, $4)
"""


async def test_old_rows_are_filled(empty_database_url: str) -> None:
    await asyncio.to_thread(migrate.upgrade, empty_database_url, "0020")
    owner = await asyncpg.connect(empty_database_url)
    try:
        for tenant in (FIRST, SECOND):
            await owner.execute("INSERT INTO tenants (id, name) VALUES ($1, $2)", tenant, str(tenant))
            await owner.execute("INSERT INTO scopes (tenant_id, id, kind) VALUES ($1, $1, 'global')", tenant)
            await owner.execute(STORED, tenant, "medication", '{"drug_class": "biguanide"}', 1200)
            await owner.execute(STORED, tenant, "medication", '{"drug_class": null}', 1)
            await owner.execute(STORED, tenant, "fact", '{"drug_class": "biguanide"}', 1)
        await asyncio.to_thread(migrate.upgrade, empty_database_url)
        rows = await owner.fetch("SELECT tenant_id, filter_key, count(*) FROM memories GROUP BY 1, 2 ORDER BY 1, 2")
        assert [tuple(row) for row in rows] == [
            (tenant, key, count) for tenant in (FIRST, SECOND) for key, count in (("biguanide", 1200), (None, 2))
        ]
        valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'ix_memories_filter'::regclass"
        assert await owner.fetchval(valid)
        await owner.execute("UPDATE alembic_version SET version_num = '0020'")
        await asyncio.to_thread(migrate.upgrade, empty_database_url, "0021")
        assert await owner.fetchval(valid)
    finally:
        await owner.close()
