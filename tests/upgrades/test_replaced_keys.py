"""The migration that tells a key's replacement from its expiry, taken back."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from app.db.migrate import downgrade, upgrade
from tests.support import owner

pytestmark = pytest.mark.long

KEY = """
    INSERT INTO api_keys (tenant_id, id, name, prefix, secret_hash, roles, expires_at, replaced_from)
    VALUES ($1, gen_random_uuid(), $2, 'tm_', convert_to($2, 'UTF8'), '{}', $3, $4)
"""
NOW = datetime.now(UTC)
REPLACED, LATER = NOW - timedelta(hours=1), NOW + timedelta(days=30)


@pytest.mark.parametrize("owned_by", ["a superuser", "another"])
async def test_a_replaced_key_is_still_expired_after_a_downgrade(
    empty_database_url: str, lesser_owner_url: str, owned_by: str
) -> None:
    login = lesser_owner_url if owned_by == "another" else empty_database_url
    await asyncio.to_thread(upgrade, login)
    for _ in range(2):
        tenant = (await owner.new_tenant(empty_database_url)).tenant_id
        for name, expires, replaced in (("a", None, REPLACED), ("b", LATER, REPLACED), ("c", LATER, None)):
            await owner.ask(empty_database_url, KEY, tenant, name, expires, replaced)
    await asyncio.to_thread(downgrade, login, "0020")
    rows = await owner.ask(empty_database_url, "SELECT name, expires_at FROM api_keys ORDER BY name")
    assert [(row["name"], row["expires_at"]) for row in rows] == [
        *2 * [("a", REPLACED)],
        *2 * [("b", REPLACED)],
        *2 * [("c", LATER)],
    ]
