"""What names a user stays with that user: of every type, through every door."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from app.memory.registry import discover
from app.model import Scope, ScopeKind, scope_of_write
from tests.support.tenant_types import HABIT

GLOBAL, USER, AGENT = ScopeKind.GLOBAL, ScopeKind.USER, ScopeKind.AGENT
OWN = str(HABIT["name"])
BODIES: dict[str, dict[str, Any]] = {
    **{spec.name: dict(spec.examples[0].payloads[0]) for spec in discover()},
    OWN: {"payload": HABIT["examples"][0]["payloads"][0]},
}
"""A body of each type, and of a tenant's own whose default is global."""
DEFAULTS = {**{spec.name: spec.default_scope for spec in discover()}, OWN: GLOBAL}
DOORS = ("typed", "batch")


async def write(client: httpx.AsyncClient, door: str, kind: str, **fields: Any) -> dict[str, Any]:
    """Write a memory of the type through a door and return it."""
    body = {**BODIES[kind], **fields}
    if door == "typed":
        answer = await client.post(f"/memories/typed/{kind}", json=body)
    else:
        answer = await client.post("/memories/batch", json={"memories": [{"type": kind, **body}]})
    assert answer.status_code == 201, answer.text
    told = answer.json() if door == "typed" else answer.json()["results"][0]
    memory: dict[str, Any] = told["memory"]
    return memory


async def define_own_type(client: httpx.AsyncClient) -> None:
    answer = await client.post("/admin/types", json=HABIT)
    assert answer.status_code == 201, answer.text


async def seen(client: httpx.AsyncClient, query: str, **who: str) -> set[str]:
    """Return the ids of all that a listing and a query by somebody show."""
    listed = await client.get("/memories", params={"limit": 200, **who})
    asked = await client.post("/query", json={"query": query, "top_k": 200, "min_confidence": 0, **who})
    return {one["id"] for one in listed.json()["memories"]} | {one["memory"]["id"] for one in asked.json()["memories"]}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", BODIES)
async def test_nobody_else_sees_what_names_a_user_unless_its_scope_is_said(
    client: httpx.AsyncClient, kind: str, door: str
) -> None:
    if kind == OWN:
        await define_own_type(client)
    own = await write(client, door, kind, user_id="xaver")
    assert (own["scope"], own["user_id"], own["agent_id"]) == ("user", "xaver", None)
    with_agent = await write(client, door, kind, user_id="xaver", agent_id="planner", scope="agent")
    assert (with_agent["scope"], with_agent["user_id"], with_agent["agent_id"]) == ("agent", "xaver", "planner")
    heard = await write(client, door, kind, user_id="xaver", agent_id="planner")
    assert heard["scope"] == ("agent" if DEFAULTS[kind] is AGENT else "user")
    own = await write(client, door, kind, user_id="xaver")  # as it is now: what was heard may have replaced it
    text = str(own["content"])
    of_xaver = await seen(client, text, user_id="xaver")
    assert own["id"] in of_xaver
    assert heard["scope"] == "user" or heard["id"] not in of_xaver
    assert with_agent["id"] not in of_xaver
    assert await seen(client, text, user_id="xaver", agent_id="writer") == of_xaver
    assert await seen(client, text, user_id="xaver", agent_id="planner") >= of_xaver | {with_agent["id"]}
    for others in ({"user_id": "yolanda"}, {"user_id": "yolanda", "agent_id": "planner"}, {"agent_id": "planner"}):
        assert await seen(client, text, **others) == set()

    said = await write(client, door, kind, user_id="xaver", scope="global")
    assert (said["scope"], said["user_id"]) == ("global", None)
    assert said["provenance"]["user_id"] == "xaver"
    assert await seen(client, text, user_id="yolanda") == {said["id"]}


@pytest.mark.parametrize("default", ScopeKind)
def test_a_write_goes_where_its_ids_say(default: ScopeKind) -> None:
    everyone = Scope(kind=GLOBAL)
    ana = Scope(kind=USER, user_id="ana")
    agent = Scope(kind=AGENT, agent_id="a1")
    agent_with_ana = Scope(kind=AGENT, agent_id="a1", user_id="ana")
    both = {"user_id": "ana", "agent_id": "a1"}
    assert scope_of_write(None, default=default) == everyone
    assert scope_of_write(None, default=default, user_id="ana") == ana
    assert scope_of_write(None, default=default, **both) == (agent_with_ana if default is AGENT else ana)
    assert scope_of_write(None, default=default, agent_id="a1") == (everyone if default is GLOBAL else agent)
    assert scope_of_write(GLOBAL, default=default, **both) == everyone
    assert scope_of_write(USER, default=default, **both) == ana
    assert scope_of_write(AGENT, default=default, **both) == agent_with_ana


@pytest.mark.parametrize(
    ("who", "scope"),
    [
        ({"user_id": "ana"}, "user"),
        ({"user_id": "ana", "agent_id": "a1"}, "user"),
        ({"user_id": "ana", "agent_id": "a1", "scope": "agent"}, "agent"),
        ({"agent_id": "a1"}, "agent"),
        ({}, "global"),
    ],
)
async def test_turns_and_what_is_made_of_them_go_by_the_same_rule(
    client: httpx.AsyncClient, who: dict[str, str], scope: str
) -> None:
    answer = await client.post("/turns?mode=sync", json={"content": "I work at Volkswagen.", **who})
    [turn] = answer.json()["turns"]
    assert turn["scope"] == scope
    made = [one["memory_id"] for one in turn["candidates"] if one["memory_id"]]
    assert made
    for memory in made:
        stored = (await client.get(f"/memories/{memory}")).json()
        assert (stored["scope"], stored["user_id"], stored["agent_id"]) == (
            scope,
            who.get("user_id"),
            who.get("agent_id") if scope == "agent" else None,
        )
