"""The profile of a user: what is in it, what is not, and that two replicas never show an old one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from tests.api.conftest import Tenant, connected, running, settings_for, written

ALLERGY: dict[str, Any] = {"subject": "user", "predicate": "diet", "rule": "no hazelnuts", "severity": "critical"}


async def profile(client: httpx.AsyncClient, user: str = "u1", **query: Any) -> dict[str, Any]:
    answer = await client.get(f"/users/{user}/profile", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def furnish(client: httpx.AsyncClient) -> None:
    later = datetime.now(UTC) + timedelta(days=9)
    await written(client, predicate="works-at", object="Porsche")
    await written(client, "constraint", **{**ALLERGY, "user_id": "u1"})
    await written(client, "preference", preference_key="travel.seat", preference_value="window", user_id="u1")
    await written(client, "plan", plan="learn the harp", user_id="u1", valid_until=later.isoformat())
    await written(client, "event", event_description="Clara's wedding", event_at=later.isoformat(), user_id="u1")


async def test_it_has_what_holds_whatever_is_asked(client: httpx.AsyncClient) -> None:
    await furnish(client)
    gone = (datetime.now(UTC) - timedelta(days=9)).isoformat()
    await written(client, "event", event_description="Robert's exam", event_at=gone, user_id="u1")
    await written(client, "episodic", content="I talked about llamas.", session_id="s", user_id="u1")
    await written(client, "standard", content="Llamas are fed at noon.", scope="global")
    await written(client, predicate="lives-in", object="Lima", user_id="u2")
    found = await profile(client)
    assert [one["name"] for one in found["groups"]] == ["Who", "Constraints", "Preferences", "Current"]
    for word in ("Porsche", "hazelnuts", "window", "harp", "wedding"):
        assert word in found["text"]
    for word in ("exam", "lamas", "Lima"):
        assert word not in found["text"]
    assert len(found["memory_ids"]) == sum(len(one["lines"]) for one in found["groups"]) == 5
    assert (await profile(client, "nobody"))["text"] == ""


async def test_what_must_not_be_broken_is_the_last_to_go(client: httpx.AsyncClient) -> None:
    await furnish(client)
    whole = (await profile(client))["tokens"]
    shown = []
    for budget in range(0, whole + 1, 5):
        found = await profile(client, token_budget=budget)
        assert found["tokens"] <= budget
        shown.append("hazelnuts" in found["text"])
    assert shown == sorted(shown), "once there is room for it, it is there"
    assert sum(shown) > len(shown) / 2
    assert (await profile(client, token_budget=0))["text"] == ""


async def test_an_agents_memories_of_the_user_are_in_it_for_that_agent(client: httpx.AsyncClient) -> None:
    await written(client, object="Audi", agent_id="desk", scope="agent")
    assert "Audi" not in (await profile(client))["text"]
    assert "Audi" in (await profile(client, agent_id="desk"))["text"]


async def test_two_replicas_never_show_an_old_one(database_url: str, tenant: Tenant) -> None:
    key = await tenant.key("read", "write", "admin")
    async with running(settings_for(database_url)) as app, connected(app, key) as other:
        first = tenant.client
        told = await written(first, object="Porsche")
        assert "Porsche" in (await profile(first))["text"]
        assert "Porsche" in (await profile(other))["text"]
        await written(other, object="Rivian")
        for replica in (first, other):
            text = (await profile(replica))["text"]
            assert ("Rivian" in text, "Porsche" in text) == (True, False)
        await first.delete(f"/memories/{told['id']}")
        await other.delete("/users/u1", params={"mode": "sync"})
        assert (await profile(first))["text"] == (await profile(other))["text"] == ""
        await written(first, object="Audi")
        assert "Audi" in (await profile(other))["text"]


async def test_what_was_hypothetical_contested_or_doubted_is_not_in_it(client: httpx.AsyncClient) -> None:
    await written(client, object="Porsche", speech_act="hypothetical")
    doubted = await written(client, predicate="lives-in", object="Lima")
    await profile(client)
    await client.post(f"/memories/{doubted['id']}/feedback", json={"feedback": "wrong"})
    assert (await profile(client))["text"] == ""
