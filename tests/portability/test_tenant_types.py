"""A tenant's own types travel with its memories, or it is said which are missing."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.support.tenant_types import DRILL, TICKET, opened, ticket

NARROWED = ticket(properties={"priority": {"type": "string", "enum": ["low"]}}, importance=0.5)


async def define(client: httpx.AsyncClient, definition: dict[str, Any]) -> None:
    assert (await client.post("/admin/types", json=definition)).status_code == 201


async def write(client: httpx.AsyncClient, **payload: Any) -> str:
    answer = await client.post("/memories/typed/ticket", json={"payload": opened(**payload), "user_id": "ann"})
    assert answer.status_code == 201, answer.text
    found: str = answer.json()["memory"]["id"]
    return found


async def exported(client: httpx.AsyncClient, **params: str) -> list[dict[str, Any]]:
    answer = await client.get("/export", params=params)
    return [json.loads(line) for line in answer.text.splitlines()]


async def imported(client: httpx.AsyncClient, lines: list[dict[str, Any]]) -> dict[str, Any]:
    answer = await client.post("/import", content="".join(f"{json.dumps(one)}\n" for one in lines))
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def told(client: httpx.AsyncClient) -> dict[str, tuple[object, ...]]:
    """What there is to each memory that an import must keep."""
    memories = (await client.get("/memories", params={"all": True, "limit": 200})).json()["memories"]
    return {one["id"]: (one["type"], one["payload"], one["content"], one["slot"], one["status"]) for one in memories}


async def filled(client: httpx.AsyncClient) -> None:
    """Two versions of a ticket, each with memories of it."""
    await define(client, TICKET)
    await write(client, number=1, priority="urgent")
    await define(client, NARROWED)
    await write(client, number=2, priority="low")


@pytest.mark.parametrize("params", [{}, {"user_id": "ann"}])
async def test_definitions_travel_with_the_memories(
    client: httpx.AsyncClient, other_client: httpx.AsyncClient, params: dict[str, str]
) -> None:
    await filled(client)
    lines = await exported(client, **params)
    assert [(one["name"], one["version"]) for one in lines if one["record"] == "memory_type"] == [
        ("ticket", 1),
        ("ticket", 2),
    ]
    done = await imported(other_client, lines)
    assert (done["failed"], done["imported"]["memory_type"], done["imported"]["memory"]) == (0, 2, 2), done
    assert await told(other_client) == await told(client)
    versions = (await other_client.get("/admin/types/ticket")).json()["versions"]
    assert [one["definition"]["payload"] for one in versions] == [TICKET["payload"], NARROWED["payload"]]
    kept = (await other_client.get("/memories", params={"all": True, "sort": "recorded_at"})).json()["memories"]
    assert [one["type_version"] for one in kept] == [1, 2]
    again = await imported(other_client, lines)
    assert (again["failed"], again["already_there"]["memory_type"]) == (0, 2)
    assert (await other_client.get("/admin/types/ticket")).json()["versions"] == versions
    # What was written goes on there: the same ticket again is the same memory.
    answer = await other_client.post("/memories/typed/ticket", json={"payload": opened(number=2), "user_id": "ann"})
    assert answer.json()["decision"] == "merged"


async def test_a_version_has_the_number_here_that_it_got_here(
    client: httpx.AsyncClient, other_client: httpx.AsyncClient
) -> None:
    await filled(client)
    await define(other_client, NARROWED)
    done = await imported(other_client, await exported(client))
    assert done["imported"]["memory"] == 1
    told = "the tenant has another definition of type ticket, which stays: its memories are read by that"
    assert done["notices"][told] == 1
    assert "priority" in done["errors"][0]["message"]
    memories = (await other_client.get("/memories?all=true")).json()["memories"]
    assert [(one["payload"]["number"], one["type_version"]) for one in memories] == [(2, 1)]


async def test_memories_of_a_type_that_is_missing_are_told_by_line(
    client: httpx.AsyncClient, other_client: httpx.AsyncClient
) -> None:
    await filled(client)
    lines = [one for one in await exported(client) if one["record"] != "memory_type"]
    done = await imported(other_client, lines)
    assert done["failed"] == 2
    assert all("unknown memory type 'ticket'" in one["message"] for one in done["errors"])


async def test_a_definition_that_can_not_be_is_told_by_line(
    client: httpx.AsyncClient, other_client: httpx.AsyncClient
) -> None:
    await define(client, DRILL)
    lines = await exported(client)
    [line] = [one for one in lines if one["record"] == "memory_type"]
    line["definition"]["render"] = "{nobody}"
    done = await imported(other_client, lines)
    assert done["failed"] == 1
    assert "definition/render: names {nobody}" in done["errors"][0]["message"]
    line["definition"] = {"name": "fact"}
    assert "definition.definition" in (await imported(other_client, lines))["errors"][0]["message"]


async def test_a_type_of_ones_own_is_not_taken_for_one_that_is_built_in(
    client: httpx.AsyncClient, other_client: httpx.AsyncClient
) -> None:
    await filled(client)
    lines = await exported(client)
    for line in lines:
        if line["record"] == "memory":
            line["type_version"] = 0
    done = await imported(other_client, lines)
    assert done["failed"] == 2
    assert "is built in in the file, and the tenant's own here" in done["errors"][0]["message"]


async def test_a_definition_that_goes_back_to_an_earlier_one_is_a_version_too(
    client: httpx.AsyncClient, other_client: httpx.AsyncClient
) -> None:
    later = ticket(properties={"extra": {"type": "string", "maxLength": 20}})
    for number, definition in enumerate((TICKET, ticket(definition="Another wording."), TICKET, later), 1):
        await define(client, definition)
        await write(client, number=number)
    await write(client, number=5, extra="more")
    lines = await exported(client)
    done = await imported(other_client, lines)
    assert (done["failed"], done["imported"]["memory_type"], done["imported"]["memory"]) == (0, 4, 5), done
    assert await told(other_client) == await told(client)
    assert (await imported(other_client, lines))["already_there"]["memory_type"] == 4
    assert len((await other_client.get("/admin/types/ticket")).json()["versions"]) == 4
