"""The migration that lets memories wait for their erasure, taken back."""

from __future__ import annotations

import asyncio

import pytest

from app.db.migrate import downgrade, upgrade
from tests.support import owner

pytestmark = pytest.mark.long

FILL = """
    WITH held AS (
        INSERT INTO scopes (tenant_id, id, kind) VALUES ($1, gen_random_uuid(), 'global') RETURNING tenant_id, id
    )
    INSERT INTO memories (tenant_id, id, scope_id, type, category, status, content, identity, source_strength,
        extractor_confidence, prior, confidence, importance, stated_at, valid_from, recorded_at, review_reason,
        review_since)
    SELECT held.tenant_id, gen_random_uuid(), held.id, 'fact', 'semantic', 'pending', reason, '', .5, .5, .1, .5, .5,
        now(), now(), now(), reason, now() FROM held, unnest(ARRAY['erasure', 'withheld', 'asked']) AS reason
"""


@pytest.mark.parametrize("owned_by", ["a superuser", "another"])
async def test_what_was_kept_back_is_so_after_a_downgrade(
    empty_database_url: str, lesser_owner_url: str, owned_by: str
) -> None:
    login = lesser_owner_url if owned_by == "another" else empty_database_url
    await asyncio.to_thread(upgrade, login)
    for _ in range(2):
        tenant = (await owner.new_tenant(empty_database_url)).tenant_id
        await owner.ask(empty_database_url, FILL, tenant)
    await asyncio.to_thread(downgrade, login, "0021")
    rows = await owner.ask(empty_database_url, "SELECT content, status, review_reason FROM memories")
    assert {(row["content"], row["status"], row["review_reason"]) for row in rows} == {
        ("erasure", "pending", "doubtful"),
        ("withheld", "pending", "doubtful"),
        ("asked", "pending", "asked"),
    }
    await asyncio.to_thread(upgrade, login)
