"""The migration that moves memories back to the users whom they name, on rows as they were written before."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from app.db.migrate import downgrade, upgrade
from app.memory.registry import discover
from app.model import ScopeKind
from tests.api.conftest import connected, running, settings_for
from tests.api.test_scopes import OWN, define_own_type, seen, write
from tests.support import owner

pytestmark = pytest.mark.long

WIDENED = [OWN, *(spec.name for spec in discover() if spec.default_scope is ScopeKind.GLOBAL and spec.quotes is None)]
"""Types that used to be stored for everybody although a write named a user: such rows look like explicit ones."""

USER, BOTH = {"user_id": "xaver"}, {"user_id": "zoe", "agent_id": "planner"}
QUESTION = "What is known?"
COUNTED = """
    SELECT s.memory_count - (SELECT count(*) FROM memories m WHERE m.scope_id = s.id) AS off,
        (SELECT coalesce(sum(c.waiting), 0) FROM review_counts c WHERE c.scope_id = s.id)
        - (SELECT count(*) FROM memories m WHERE m.scope_id = s.id AND m.review_reason IS NOT NULL) AS unseen
    FROM scopes s
"""


async def migrated(url: str) -> list[Any]:
    """Go back to before the migration and forward again; return what was logged."""
    with capture_logs() as logged:
        await asyncio.to_thread(downgrade, url, "0006")
        await asyncio.to_thread(upgrade, url)
    return [one for one in logged if "moved memories" in one["event"]]


async def entities(client: httpx.AsyncClient, **who: Any) -> set[tuple[str, str]]:
    answer = await client.get("/entities", params={"limit": 200, **who})
    return {(one["canonical_name"], one["scope"]) for one in answer.json()["entities"]}


async def test_memories_that_name_a_user_go_back_to_that_user(fresh_database_url: str) -> None:
    settings = settings_for(fresh_database_url)
    async with running(settings) as app, connected(app) as client:
        await define_own_type(client)
        own = {str((await write(client, "typed", kind, scope="global", **USER))["id"]) for kind in WIDENED}
        agents = {
            str((await write(client, "typed", "strategy", content="Ask Zoe first.", scope="global", **BOTH))["id"])
        }
        said = {
            str((await write(client, "typed", kind, scope="global", **USER))["id"]) for kind in ("fact", "relation")
        }
        authored = str((await write(client, "typed", "standard", content="Test first.", agent_id="planner"))["id"])
        first = next(iter(own))
        assert (await client.patch(f"/memories/{first}", json={"needs_review": True})).status_code == 200
        before = datetime.now(UTC).isoformat()
        assert own | said <= await seen(client, QUESTION, user_id="ben")
    [told] = await migrated(fresh_database_url)
    assert told["memories"] == len(own | agents)
    async with running(settings) as app, connected(app) as client:
        assert own | said <= await seen(client, QUESTION, **USER)
        assert await seen(client, QUESTION, user_id="ben") == said | {authored}
        assert agents <= await seen(client, QUESTION, **BOTH)
        assert not agents & await seen(client, QUESTION, user_id="zoe")
        then = (await client.get("/memories", params={"user_id": "ben", "known_at": before, "limit": 200})).json()
        assert {one["id"] for one in then["memories"]} <= said | {authored}
        assert ("user_123", "user") in await entities(client, **USER)
        assert not any(name == "user_123" for name, _ in await entities(client, user_id="ben"))
        for counted in await owner.ask(fresh_database_url, COUNTED):
            assert (counted["off"], counted["unseen"]) == (0, 0)
        erased = (await client.delete("/users/xaver?mode=sync")).json()
        assert erased["counts"]["memories"] == len(own | said)
    assert await migrated(fresh_database_url) == []


@pytest.mark.parametrize("kind", ["procedural", "feature"])
async def test_of_two_of_one_slot_the_user_has_both_and_one_is_contested(fresh_database_url: str, kind: str) -> None:
    settings = settings_for(fresh_database_url)
    async with running(settings) as app, connected(app) as client:
        await write(client, "typed", kind, scope="global", **USER)
        await write(client, "typed", kind, **USER)
    await migrated(fresh_database_url)
    async with running(settings) as app, connected(app) as client:
        listed = (await client.get("/memories", params={**USER, "status": "active"})).json()["memories"]
        assert [one["scope"] for one in listed] == ["user", "user"]
        rows = await owner.ask(fresh_database_url, "SELECT contested FROM memories ORDER BY contested")
        assert [row["contested"] for row in rows] == [False, True]
