"""Numbers that nothing can be computed with: mended where they are, refused by the database from then on."""

from __future__ import annotations

import asyncio
import json
from uuid import uuid4

import asyncpg
import pytest
from alembic.script import ScriptDirectory

from app.db.migrate import configuration, downgrade, upgrade

TENANT, SCOPE, BAD, GOOD = (uuid4() for _ in range(4))

INSERT = """
    INSERT INTO memories (tenant_id, id, scope_id, type, category, status, content, identity, source_strength,
        extractor_confidence, prior, confidence, importance, stated_at, valid_from, recorded_at, updated_at,
        half_life_days, floor, mentions)
    VALUES ($1, $2, $3, 'fact', 'semantic', 'active', 'Tea', '\\x00', $4, 0.5, 0.5, 0.5, 0.5, now(), now(), now(),
        now(), $5, $6, $7)
"""
PAST = """
    INSERT INTO memory_past (tenant_id, memory_id, believed_until, scope_id, type, status, confidence, stated_at,
        valid_from, was)
    VALUES ($1, $2, now() - interval '1 day', $3, 'fact', 'active', 0.5, now(), now(), $4)
"""


async def test_what_was_let_in_is_mended_and_nothing_more_is_let_in(fresh_database_url: str) -> None:
    before = ScriptDirectory.from_config(configuration(fresh_database_url)).get_revision("0025").down_revision
    await asyncio.to_thread(downgrade, fresh_database_url, str(before))
    connection = await asyncpg.connect(fresh_database_url)
    try:
        await connection.execute("SET session_replication_role = replica")
        await connection.execute("INSERT INTO tenants (id, name) VALUES ($1, 'one')", TENANT)
        await connection.execute(INSERT, TENANT, BAD, SCOPE, 9.0, 0.0, 99.0, -3)
        await connection.execute(INSERT, TENANT, GOOD, SCOPE, 0.9, None, 0.5, 2)
        was = {"half_life_days": -5, "floor": 0.2, "mentions": 1, "content": "Tea"}
        await connection.execute(PAST, TENANT, BAD, SCOPE, json.dumps(was))
        await asyncio.to_thread(upgrade, fresh_database_url)
        rows = await connection.fetch("SELECT id, source_strength, half_life_days, floor, mentions FROM memories")
        assert {row["id"]: tuple(row)[1:] for row in rows} == {BAD: (1.0, None, 1.0, 1), GOOD: (0.9, None, 0.5, 2)}
        pasts = [json.loads(row["was"]) for row in await connection.fetch("SELECT was FROM memory_past")]
        assert all(one["half_life_days"] is None for one in pasts)
        assert any(one["content"] == "Tea" and one["floor"] == 0.2 for one in pasts)
        for numbers in ((1.5, 30.0, 0.0, 1), (0.5, 0.0, 0.0, 1), (0.5, 30.0, 1.5, 1), (0.5, 30.0, 0.0, 0)):
            with pytest.raises(asyncpg.CheckViolationError):
                await connection.execute(INSERT, TENANT, uuid4(), SCOPE, *numbers)
        [left] = await connection.fetch("SELECT count(*) FROM pg_constraint WHERE NOT convalidated")
        assert left["count"] == 0
    finally:
        await connection.close()
