"""Numbers from which no confidence or freshness can be computed are refused by the database."""

from __future__ import annotations

from uuid import uuid4

import asyncpg
import pytest

from tests.support import owner

INSERT = """
    INSERT INTO memories (tenant_id, id, scope_id, type, category, status, content, identity, source_strength,
        extractor_confidence, prior, confidence, importance, stated_at, valid_from, recorded_at, updated_at,
        half_life_days, floor, mentions)
    VALUES ($1, $2, $3, 'fact', 'semantic', 'active', 'Tea', '\\x00', $4, 0.5, 0.5, 0.5, 0.5, now(), now(), now(),
        now(), $5, $6, $7)
"""


@pytest.mark.parametrize("numbers", [(1.5, 30.0, 0.0, 1), (0.5, 0.0, 0.0, 1), (0.5, 30.0, 1.5, 1), (0.5, 30.0, 0.0, 0)])
async def test_the_database_refuses_them(database_url: str, numbers: tuple[float, float, float, int]) -> None:
    async with owner.connected(database_url) as connection:
        await connection.execute("SET session_replication_role = replica")
        with pytest.raises(asyncpg.CheckViolationError):
            await connection.execute(INSERT, *(uuid4() for _ in range(3)), *numbers)


async def test_every_constraint_holds_for_every_row(database_url: str) -> None:
    assert await owner.ask(database_url, "SELECT conname FROM pg_constraint WHERE NOT convalidated") == []
