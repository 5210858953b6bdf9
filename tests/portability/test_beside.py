"""Files that come more than once, from a service where things went on: what is here counts, and the log says so."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import httpx
import pytest

from tests.api.conftest import Tenant


async def exported(client: httpx.AsyncClient) -> str:
    return (await client.get("/export", params={"user_id": "ana"})).text


async def imported(client: httpx.AsyncClient, content: str) -> dict[str, Any]:
    answer = await client.post("/import", content=content)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    assert (found["failed"], found["complete"]) == (0, True), found
    return found


async def prefers(client: httpx.AsyncClient, value: str, *, key: str = "editor.theme") -> str:
    body = {"user_id": "ana", "preference_key": key, "preference_value": value}
    answer = await client.post("/memories/typed/preference", json=body)
    assert answer.status_code == 201, answer.text
    found: str = answer.json()["memory"]["id"]
    return found


async def last_active(client: httpx.AsyncClient) -> datetime:
    [ana] = (await client.get("/users", params={"all": True})).json()["users"]
    return datetime.fromisoformat(ana["last_active_at"])


async def test_an_import_is_activity_of_when_it_came(tenant: Tenant, other_tenant: Tenant) -> None:
    there, client = tenant.client, other_tenant.client
    long_ago = {"occurred_at": "2024-03-01T00:00:00Z", "user_id": "ana"}
    theme = {"preference_key": "editor.theme", "preference_value": "dark"}
    assert (await there.post("/memories/typed/preference", json=theme | long_ago)).status_code == 201
    first = await exported(there)
    began = datetime.now(UTC)
    await imported(client, first)
    came = await last_active(client)
    assert began <= came <= datetime.now(UTC)
    await imported(client, first)
    assert await last_active(client) == came, "a file that brings nothing new is no activity"
    await prefers(there, "sepia")
    await imported(client, await exported(there))
    assert await last_active(client) > came


@pytest.mark.parametrize("here", ["as it came", "changed"])
async def test_the_log_says_what_memories_are_here(tenant: Tenant, other_tenant: Tenant, here: str) -> None:
    there, client = tenant.client, other_tenant.client
    memory = await prefers(there, "dark")
    await imported(client, await exported(there))
    if here == "changed":
        await prefers(client, "sepia")
    told = await there.post(f"/memories/{memory}/feedback", json={"feedback": "wrong"})
    assert told.json()["memory"]["status"] == "pending"
    await imported(client, await exported(there))
    verified = (await client.get("/admin/audit/verify", params={"memories": "true"})).json()
    assert verified["intact"], verified["rebuilt"]
    history = (await client.get(f"/memories/{memory}/history")).json()
    assert history["versions"][0]["status"] == ("superseded" if here == "changed" else "active")
    told = history["events"]
    assert {"memory.judged_wrong", "memory.standing"} <= {one["action"] for one in told}


async def test_mentions_are_counted_as_they_are_here(tenant: Tenant, other_tenant: Tenant) -> None:
    there, client = tenant.client, other_tenant.client
    for number in range(3):
        await prefers(there, "dark", key=f"editor.part{number}")
        content = await exported(there)
        lines = [json.loads(line) for line in content.splitlines()]
        assert [one["mention_count"] for one in lines if one["record"] == "entity"] == [number + 1]
        await imported(client, content)
        entities = (await client.get("/entities", params={"user_id": "ana"})).json()["entities"]
        assert [one["mention_count"] for one in entities] == [number + 1]


async def stated(client: httpx.AsyncClient, value: str, day: int, *, key: str = "editor.theme") -> str:
    body = {"user_id": "ana", "preference_key": key, "preference_value": value, "occurred_at": f"2026-01-{day:02}"}
    answer = await client.post("/memories/typed/preference", json=body)
    assert answer.status_code == 201, answer.text
    found: str = answer.json()["memory"]["id"]
    return found


async def chain(client: httpx.AsyncClient, *memories: str) -> list[tuple[str, str | None, str | None, str | None]]:
    """Return status, beginning, end and successor of memories, which must not overlap."""
    lines = [json.loads(line) for line in (await exported(client)).splitlines()]
    found = {one["id"]: one for one in lines if one["record"] == "memory"}
    told = [
        tuple(found[one][name] for name in ("status", "superseded_by", "valid_from", "ended_at")) for one in memories
    ]
    for (_, _, _, ended), (_, _, begins, _) in pairwise(told):
        assert ended is not None
        assert ended <= begins
    return told


@pytest.mark.parametrize("later", [1, 2, 3])
async def test_what_is_here_gives_way_to_its_own_next_version(tenant: Tenant, other_tenant: Tenant, later: int) -> None:
    there, client = tenant.client, other_tenant.client
    ids = [await stated(there, "dark", 1)]
    await imported(client, await exported(there))
    ids += [await stated(there, f"theme {number}", 2 + number) for number in range(later)]
    await imported(client, await exported(there))
    assert await chain(client, *ids) == await chain(there, *ids)
    history = (await client.get(f"/memories/{ids[0]}/history")).json()["events"]
    assert any("an import brought what came after it" in json.dumps(one) for one in history)
    verified = (await client.get("/admin/audit/verify", params={"memories": "true"})).json()
    assert verified["intact"], verified["rebuilt"]


async def test_what_comes_in_between_becomes_a_neighbour_of_what_is_here(tenant: Tenant, other_tenant: Tenant) -> None:
    there, client = tenant.client, other_tenant.client
    first, last = await stated(there, "dark", 1), await stated(there, "light", 20)
    await imported(client, await exported(there))
    between = [await stated(there, f"theme {number}", number) for number in (5, 10)]
    await imported(client, await exported(there))
    assert await chain(client, first, *between, last) == await chain(there, first, *between, last)


async def test_what_is_here_gives_way_to_a_version_that_is_over_itself(tenant: Tenant, other_tenant: Tenant) -> None:
    there, client = tenant.client, other_tenant.client
    first = await stated(there, "dark", 1)
    await imported(client, await exported(there))
    second = await stated(there, "light", 5)
    lines = [json.loads(line) for line in (await exported(there)).splitlines()]
    over = next(one for one in lines if one.get("id") == second)
    over |= {"status": "expired", "ended_at": "2026-01-09T00:00:00Z", "retired_at": "2026-01-09T00:00:00Z"}
    await imported(client, "\n".join(json.dumps(one) for one in lines))
    here = await chain(client, first, second)
    assert here[0] == (await chain(there, first, second))[0]
    assert here[1][0] == "expired"


async def test_what_was_said_here_since_stands(tenant: Tenant, other_tenant: Tenant) -> None:
    there, client = tenant.client, other_tenant.client
    first = await stated(there, "dark", 1)
    await imported(client, await exported(there))
    await stated(there, "light", 5)
    await stated(there, "sepia", 7)
    own = await stated(client, "blue", 20)
    await imported(client, await exported(there))
    assert (await client.get(f"/memories/{own}")).json()["status"] == "active"
    assert (await client.get(f"/memories/{first}")).json()["status"] == "superseded"


async def works(client: httpx.AsyncClient, employer: str, day: int) -> None:
    body = {"user_id": "ana", "subject": "user", "predicate": "works-at", "object": employer}
    answer = await client.post("/memories/typed/fact", json=body | {"occurred_at": f"2026-01-{day:02}"})
    assert answer.status_code == 201, answer.text


async def employers(client: httpx.AsyncClient) -> list[tuple[str, str, bool]]:
    answer = await client.get("/memories", params={"user_id": "ana", "type": "fact"})
    return sorted((one["object"], one["status"], one["contested"]) for one in answer.json()["memories"])


@pytest.mark.parametrize(("here", "there"), [("Halvorsen", "Kvaerner"), ("Kvaerner", "Halvorsen")])
async def test_what_two_services_know_of_one_user_competes_by_when_it_was_stated(
    tenant: Tenant, other_tenant: Tenant, here: str, there: str
) -> None:
    days = {"Halvorsen": 3, "Kvaerner": 9}
    await works(tenant.client, there, days[there])
    await works(other_tenant.client, here, days[here])
    content = await exported(tenant.client)
    told = await imported(other_tenant.client, content)
    assert told["conflicts"] == ({"replaced": 1} if there == "Kvaerner" else {"history": 1})
    wanted = [("Halvorsen", "superseded", False), ("Kvaerner", "active", False)]
    assert await employers(other_tenant.client) == wanted

    await imported(other_tenant.client, content)
    await works(tenant.client, "Aker", 12)
    await imported(other_tenant.client, await exported(tenant.client))
    assert await employers(other_tenant.client) == [
        ("Aker", "active", False),
        ("Halvorsen", "superseded", False),
        ("Kvaerner", "superseded", False),
    ]
    verified = (await other_tenant.client.get("/admin/audit/verify", params={"memories": "true"})).json()
    assert verified["intact"], verified["rebuilt"]
