"""The audit log over HTTP: what was done, by whom and why; and the proof of it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.conftest import Tenant, fact, written
from tests.api.test_jobs import queued

ZEROS = "00" * 32


async def listed(client: httpx.AsyncClient, **params: Any) -> list[dict[str, Any]]:
    answer = await client.get("/admin/audit", params=params)
    assert answer.status_code == 200, answer.text
    events: list[dict[str, Any]] = answer.json()["events"]
    return events


def actions(events: list[dict[str, Any]]) -> list[str]:
    return [one["action"] for one in events]


async def test_everything_that_an_administrator_does_is_on_record(tenant: Tenant, client: httpx.AsyncClient) -> None:
    made = (await client.post("/admin/keys", json={"name": "robot", "roles": ["read"]})).json()
    rotated = (await client.post(f"/admin/keys/{made['id']}/rotate", json={"grace_seconds": 60})).json()
    for _ in range(2):
        assert (await client.delete(f"/admin/keys/{rotated['id']}")).status_code == 204
    assert (await client.put("/admin/policy", json={"keep_episodes": True})).status_code == 200
    job = await queued(client, tenant.app.state.runtime)
    assert (await client.post(f"/jobs/{job}/cancel")).status_code == 200
    assert (await client.post(f"/jobs/{job}/retry")).status_code == 200
    said = await client.post("/turns?mode=sync", json={"content": "I work at Volkswagen.", "user_id": "u1"})
    turn = said.json()["turns"][0]["id"]
    assert (await client.post(f"/turns/{turn}/replay")).status_code in {200, 202}
    found = [one for one in await listed(client, order="oldest") if not one["action"].startswith("memory.")]
    assert actions(found) == [
        "tenant.created",
        "key.created",
        "key.created",
        "key.rotated",
        "key.revoked",
        "policy.changed",
        "job.cancelled",
        "job.retried",
        "turn.replayed",
    ]
    assert {one["actor"] for one in found} == {"operator", "first"}
    assert found[3]["detail"]["replaces"] == made["id"]
    assert found[5]["detail"]["after"]["keep_episodes"] is True
    everything = (await client.get("/admin/audit", params={"limit": 200})).text
    assert made["key"] not in everything
    assert rotated["key"] not in everything


async def test_a_history_reads_as_a_story(client: httpx.AsyncClient) -> None:
    old = await written(client)
    new = await written(client, object="Audi")
    answer = await client.get(f"/memories/{new['id']}/history")
    told = [(one["memory_id"], one["sentence"]) for one in answer.json()["events"]]
    assert [memory for memory, _ in told] == [old["id"], new["id"], old["id"]]
    assert told[0][1].startswith("Added on ")
    assert told[0][1].endswith(": nothing like it was known.")
    assert f"by {new['id']}: a newer statement about the same thing replaces the older one" in told[2][1]


async def test_a_change_is_told_with_the_values_before_and_after_but_without_content(
    client: httpx.AsyncClient,
) -> None:
    memory = await written(client, importance=0.25)
    changes = {"importance": 0.75, "topic": "secret plans", "metadata": {"secret": "plans"}, "needs_review": True}
    assert (await client.patch(f"/memories/{memory['id']}", json=changes)).status_code == 200
    [changed] = await listed(client, memory_id=memory["id"], action="memory.changed")
    assert changed["detail"]["values"] == {"importance": [0.25, 0.75], "review": [None, "asked"]}
    assert changed["detail"]["changed"] == ["importance", "metadata", "needs_review", "topic"]
    assert "secret" not in str(changed)


async def test_filters_narrow(client: httpx.AsyncClient) -> None:
    mine = await written(client)
    await written(client, user_id="u2")
    agents = await written(client, user_id=None, agent_id="a1", scope="agent")
    assert {one["memory_id"] for one in await listed(client, user_id="u1")} == {mine["id"]}
    assert {one["memory_id"] for one in await listed(client, agent_id="a1")} == {agents["id"]}
    assert {one["memory_id"] for one in await listed(client, memory_id=mine["id"])} == {mine["id"]}
    assert actions(await listed(client, action="memory.")) == ["memory.added"] * 3
    assert actions(await listed(client, action="key.")) == ["key.created"]
    assert actions(await listed(client, action="key.created")) == ["key.created"]
    assert actions(await listed(client, actor="operator")) == ["key.created", "tenant.created"]
    [first, *rest] = await listed(client, order="oldest")
    assert len(await listed(client, since=first["at"])) == len(rest) + 1
    assert first not in await listed(client, since=rest[-1]["at"])
    assert await listed(client, until=first["at"]) == []
    assert await listed(client, user_id="nobody") == []


@pytest.mark.parametrize("order", ["newest", "oldest"])
async def test_pages_follow_one_another(client: httpx.AsyncClient, order: str) -> None:
    for number in range(5):
        await written(client, object=f"Firm {number}", predicate=f"p{number}")
    whole = await listed(client, order=order)
    found: list[dict[str, Any]] = []
    params: dict[str, Any] = {"order": order, "limit": 3}
    for _ in range(10):
        page = (await client.get("/admin/audit", params=params)).json()
        found += page["events"]
        if page["next_cursor"] is None:
            break
        params["cursor"] = page["next_cursor"]
    assert found == whole
    assert len(found) == 7
    other = await client.get("/admin/audit", params={**params, "action": "memory."})
    assert other.status_code == 422


async def test_the_proof_and_its_head(client: httpx.AsyncClient) -> None:
    memory = await written(client)
    # The service's own schedule may seal at any moment, so how many seals there are is not ours to say.
    head = (await client.get("/admin/audit/head")).json()
    assert head["seq"] >= 1
    await written(client, object="Audi")
    anchored = {"anchor_seq": head["seq"], "anchor_digest": head["digest"]}
    report = (await client.get("/admin/audit/verify", params={**anchored, "memories": True})).json()
    assert report["intact"] is True
    assert report["seals"] == report["last"]["seq"] > head["seq"]
    assert (report["events"], report["events_in_all"], report["unsealed"]) == (5, 5, 0)
    assert report["rebuilt"] == {"memories": 2, "differs": None, "why": None}
    assert report["last"] == (await client.get("/admin/audit/head")).json()
    wrong = (await client.get("/admin/audit/verify", params={**anchored, "anchor_digest": ZEROS})).json()
    assert (wrong["intact"], wrong["broken"]["fault"], wrong["broken"]["seal"]) == (False, "changed", head["seq"])
    first = (await client.get("/admin/audit/verify", params={"limit": 1})).json()
    assert (first["next"], first["events_in_all"]) == (1, None)
    rest = (await client.get("/admin/audit/verify", params={"after": 1})).json()
    assert (rest["first"], rest["seals"], rest["next"], rest["intact"]) == (2, report["seals"] - 1, None, True)
    assert (await client.delete(f"/memories/{memory['id']}")).status_code == 200
    assert (await client.get("/admin/audit/verify", params={"memories": True})).json()["intact"] is True


@pytest.mark.parametrize(
    ("path", "params", "field"),
    [
        ("/admin/audit", {"memory_id": "nonsense"}, "memory_id"),
        ("/admin/audit", {"action": "Memory"}, "action"),
        ("/admin/audit", {"order": "sideways"}, "order"),
        ("/admin/audit", {"limit": 0}, "limit"),
        ("/admin/audit", {"cursor": "nonsense"}, "cursor"),
        ("/admin/audit", {"since": "yesterday"}, "since"),
        ("/admin/audit/verify", {"after": 99}, "after"),
        ("/admin/audit/verify", {"after": 2**70}, "after"),
        ("/admin/audit/verify", {"anchor_seq": 1}, "anchor"),
        ("/admin/audit/verify", {"anchor_seq": 1, "anchor_digest": "xyz"}, "anchor_digest"),
    ],
)
async def test_what_is_wrong_is_named(client: httpx.AsyncClient, path: str, params: dict[str, Any], field: str) -> None:
    answer = await client.get(path, params=params)
    assert answer.status_code == 422, answer.text
    assert field in answer.text


@pytest.mark.parametrize("path", ["/admin/audit", "/admin/audit/verify", "/admin/audit/head"])
async def test_only_an_administrator_reads_it(tenant: Tenant, path: str) -> None:
    key = await tenant.key("read", "write")
    answer = await tenant.client.get(path, headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 403


async def test_one_tenant_reads_nothing_of_anothers(client: httpx.AsyncClient, other_client: httpx.AsyncClient) -> None:
    memory = await written(client, **fact())
    assert await listed(other_client, memory_id=memory["id"]) == []
    assert actions(await listed(other_client)) == ["key.created", "tenant.created"]
