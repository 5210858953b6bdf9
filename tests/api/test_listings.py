"""Whose rows a list shows: every list that a key with the role `read` may ask for, as the routes are mounted."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from app.main import create_app
from app.settings import Settings
from tests.api.conftest import Tenant, connected, written
from tests.api.routes import mounted

ONLY_GLOBAL = frozenset({"/memories/count", "/admin/types", "/admin/types/{type_name}", "/whoami"})
"""GET routes of readers that list no rows."""

PATHS = sorted(
    one.path
    for one in mounted(create_app(Settings()))
    if (one.method, one.role) == ("GET", "read") and "{" not in one.path and not one.path.startswith("/mem0/")
)
"""Without those in the shape of mem0, which have tests of their own."""
LISTS = [path for path in PATHS if path not in ONLY_GLOBAL]


async def say(client: httpx.AsyncClient, content: str, **who: str) -> None:
    answer = await client.post("/turns", json={"content": content, "session_id": f"at {content}", **who})
    assert answer.status_code == 202, answer.text
    answer = await client.post("/turns?mode=sync", json={"content": content, "session_id": f"at {content}", **who})
    assert answer.status_code == 200, answer.text
    document = {
        "document_id": f"{content[:20]}.md",
        "content": content,
        "scope": "user" if "user_id" in who else "agent",
    }
    assert (await client.post("/documents", json=document | who)).status_code in {200, 201}


@pytest.mark.parametrize("path", LISTS)
async def test_a_list_that_names_nobody_shows_nothing_of_anybody(tenant: Tenant, path: str) -> None:
    await say(tenant.client, "I work at Volkswagen and like it.", user_id="xaver")
    await say(tenant.client, "I work at Porsche and like it.", agent_id="planner")
    await say(tenant.client, "I work at Rivian and like it.", user_id="zoe", agent_id="planner")
    await written(tenant.client, user_id="xaver", agent_id="planner", object="Volkswagen")
    [field] = [name for name in (await everything(tenant.client, path)) if name != "next_cursor"]
    async with connected(tenant.app, await tenant.key("read", "write")) as reader:
        assert (await reader.get(path)).json()[field] == []
        own = (await reader.get(path, params={"user_id": "xaver"})).json()[field]
        assert own or path == "/agents"
        assert not any(name in json.dumps(own) for name in ("Rivian", "Porsche", "zoe", "planner"))
        refused = await reader.get(path, params={"all": True})
        assert (refused.status_code, refused.json()["type"]) == (403, "urn:typed-memory:problem:forbidden")
    shown = (await everything(tenant.client, path))[field]
    assert len(shown) > len(own)
    both = await tenant.client.get(path, params={"all": True, "user_id": "xaver"})
    assert both.status_code == 422, both.text


async def everything(client: httpx.AsyncClient, path: str) -> dict[str, Any]:
    answer = await client.get(path, params={"all": True})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_there_are_lists_of_every_kind() -> None:
    assert {"/memories", "/turns", "/entities", "/sessions", "/users", "/agents", "/jobs"} <= set(LISTS)


@pytest.mark.parametrize("path", ["/users", "/agents", "/turns", "/sessions", "/jobs"])
async def test_the_page_after_is_of_the_same_listing(tenant: Tenant, path: str) -> None:
    for number in range(3):
        await say(
            tenant.client,
            f"I moved to Lisbon {number} years ago.",
            user_id=f"u{number}",
            agent_id=f"a{number}",
            scope="agent",
        )
    cursor = (await tenant.client.get(path, params={"all": True, "limit": 1})).json()["next_cursor"]
    assert cursor
    assert (await tenant.client.get(path, params={"all": True, "limit": 1, "cursor": cursor})).status_code == 200
    assert (await tenant.client.get(path, params={"user_id": "u1", "cursor": cursor})).status_code == 422


@pytest.mark.parametrize("path", sorted(set(LISTS) - {"/users"}))
async def test_the_page_after_is_found_when_its_owner_has_a_new_agent(tenant: Tenant, path: str) -> None:
    for agent in ("alpha", "beta"):
        private = {"user_id": "mia", "agent_id": agent, "scope": "agent"}
        await say(tenant.client, f"I play chess with {agent.title()} Novak.", **private)
        await written(tenant.client, subject=f"{agent} club", object="Lisbon", **private)
    first = (await tenant.client.get(path, params={"owner": "mia", "limit": 1})).json()
    await say(tenant.client, "I swim a lot.", user_id="mia", agent_id="gamma", scope="agent")
    following = {"owner": "mia", "limit": 1, "cursor": first["next_cursor"]}
    answer = await tenant.client.get(path, params=following)
    assert answer.status_code == 200, answer.text
    [field] = [name for name in first if name != "next_cursor"]
    assert answer.json()[field]
    assert answer.json()[field] != first[field]
    other = await tenant.client.get(path, params={**following, "owner": "noa"})
    assert other.status_code == 422, other.text
