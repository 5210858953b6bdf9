"""Users, agents, sessions, days, and the key itself; text search, counts and neighbours."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.conftest import Tenant, connected, fact, written


async def got(client: httpx.AsyncClient, path: str, **query: Any) -> dict[str, Any]:
    answer = await client.get(path, params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def said(client: httpx.AsyncClient, content: str, **fields: Any) -> None:
    answer = await client.post("/turns?mode=sync", json={"content": content, **fields})
    assert answer.status_code == 200, answer.text


async def test_a_key_learns_its_tenant_and_roles(tenant: Tenant) -> None:
    me = await got(tenant.client, "/whoami")
    assert me["roles"] == ["admin", "read", "write"]
    async with connected(tenant.app, await tenant.key("read")) as reader:
        other = await got(reader, "/whoami")
    assert (other["tenant_id"], other["roles"], other["key_name"]) == (me["tenant_id"], ["read"], "test")
    assert other["key_id"] != me["key_id"]


async def test_users_are_listed_with_counts_in_pages(client: httpx.AsyncClient) -> None:
    for name in ("ana", "ben", "Anja"):
        await written(client, user_id=name)
    await written(client, user_id="ben", predicate="lives-in", object="Porto")
    await said(client, "I work at Rivian and I like my work.", user_id="ben", agent_id="desk", scope="agent")
    listed = (await got(client, "/users", all=True))["users"]
    assert [one["user_id"] for one in listed] == ["Anja", "ana", "ben"]
    ben = listed[-1]
    assert (ben["turns"], ben["waiting"]) == (1, 0)
    assert ben["memories"] == ben["active"] >= 3
    assert ben["last_active_at"] is not None
    first = await got(client, "/users", all=True, limit=2)
    following = await got(client, "/users", all=True, limit=2, cursor=first["next_cursor"])
    assert [one["user_id"] for page in (first, following) for one in page["users"]] == ["Anja", "ana", "ben"]
    assert following["next_cursor"] is None
    assert [one["user_id"] for one in (await got(client, "/users", all=True, q="AN"))["users"]] == ["Anja", "ana"]
    assert [one["agent_id"] for one in (await got(client, "/agents", all=True))["agents"]] == ["desk"]


async def test_a_page_ends_at_names_of_any_script(client: httpx.AsyncClient) -> None:
    names = [letter * 200 for letter in ("\u0436", "\u4e2d", "\U0001f600")]
    for name in names:
        await written(client, user_id=name)
    found, cursor = list[str](), None
    while True:
        params = {"all": "true", "limit": "1", **({} if cursor is None else {"cursor": cursor})}
        page = (await client.get("/users", params=params)).json()
        found += [one["user_id"] for one in page["users"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert found == names


async def test_a_cursor_of_another_listing_is_refused(client: httpx.AsyncClient) -> None:
    for name in ("ana", "ben"):
        await written(client, user_id=name)
    cursor = (await got(client, "/users", all=True, limit=1))["next_cursor"]
    for path, query in (("/users", {"q": "n"}), ("/agents", {}), ("/sessions", {}), ("/users", {"all": False})):
        assert (await client.get(path, params={"all": True, **query, "cursor": cursor})).status_code == 422
    assert (await client.get("/users", params={"cursor": "bm9uc2Vuc2U"})).status_code == 422


async def test_sessions_are_listed_for_everybody_and_for_one(client: httpx.AsyncClient) -> None:
    for place, company in enumerate(("Rivian", "Audi", "Porsche")):
        await said(client, f"I work at {company} and I like my work.", user_id="ana", session_id=f"s{place}")
    await said(client, "I live in Porto and I like the sea.", user_id="ben", agent_id="desk", session_id="t")
    await said(client, "I like to walk along the shore.", user_id="ben", agent_id="desk")
    everybody = (await got(client, "/sessions", all=True))["sessions"]
    assert [one["session_id"] for one in everybody] == ["s0", "s1", "s2", "t"]
    [own] = (await got(client, "/sessions", owner="ben"))["sessions"]
    assert (own["session_id"], own["turns"]) == ("t", 1)
    assert own["memories"] > 0
    assert own["first_at"] <= own["last_at"]
    page = await got(client, "/sessions", all=True, limit=3)
    assert [
        one["session_id"] for one in (await got(client, "/sessions", all=True, cursor=page["next_cursor"]))["sessions"]
    ] == ["t"]


async def test_the_owner_of_memories_turns_and_entities_is_found_whatever_the_agent(client: httpx.AsyncClient) -> None:
    await said(client, "I work at Rivian and I like my work.", user_id="ana")
    await said(client, "I live in Porto and I like the sea.", user_id="ana", agent_id="desk")
    await written(client, user_id="ben", object="Audi")
    contents = {one["content"] for one in (await got(client, "/memories", owner="ana"))["memories"]}
    assert {"user works at Rivian", "user lives in Porto"} <= contents
    assert not any("Audi" in one for one in contents)
    assert len((await got(client, "/turns", owner="ana"))["turns"]) == 2
    names = {one["canonical_name"] for one in (await got(client, "/entities", owner="ana"))["entities"]}
    assert {"Rivian", "Porto"} <= names
    assert "Audi" not in names
    assert (await got(client, "/memories", owner="nobody"))["memories"] == []
    assert (await client.get("/memories", params={"owner": "ana", "user_id": "ana"})).status_code == 422


async def test_memories_are_searched_by_words_predicate_metadata_and_time(client: httpx.AsyncClient) -> None:
    await written(client, object="100% Wool_Works", metadata={"source": "crm", "rank": 1})
    later = await written(client, predicate="lives-in", object="Porto", metadata={"source": "chat"})

    async def objects(**query: Any) -> list[str]:
        return [one["object"] for one in (await got(client, "/memories", user_id="u1", **query))["memories"]]

    assert await objects(q="wool works") == ["100% Wool_Works"]
    assert await objects(q="100%") == ["100% Wool_Works"]
    assert await objects(q="wool_works") == ["100% Wool_Works"]
    assert await objects(q="wool%porto") == []
    assert await objects(predicate="lives in") == ["Porto"]
    assert await objects(metadata='{"source": "crm"}') == ["100% Wool_Works"]
    assert await objects(recorded_since=later["recorded_at"]) == ["Porto"]
    assert await objects(recorded_until=later["recorded_at"]) == ["100% Wool_Works"]
    await client.patch(f"/memories/{later['id']}", json={"needs_review": True})
    assert await objects(needs_review="true") == ["Porto"]
    assert await objects(needs_review="false") == ["100% Wool_Works"]


@pytest.mark.parametrize("metadata", ["[]", "{", '{"a": NaN}', '"text"', '{"a": "\\u0000"}'])
async def test_a_metadata_filter_that_is_no_object_is_refused(client: httpx.AsyncClient, metadata: str) -> None:
    assert (await client.get("/memories", params={"metadata": metadata})).status_code == 422


async def test_counts_agree_with_the_listing(client: httpx.AsyncClient) -> None:
    await written(client)
    await written(client, object="Rivian")
    await written(client, "event", event_description="Ana moved to Lisbon", user_id="u1")
    counts = await got(client, "/memories/count", user_id="u1", validity="any")
    assert counts == {
        "total": 3,
        "capped": False,
        "by_type": {"fact": 2, "event": 1},
        "by_status": {"active": 2, "superseded": 1},
    }
    assert (await got(client, "/memories/count", user_id="u1", type="fact", status="active"))["total"] == 1
    assert (await got(client, "/memories/count", user_id="u1", known_at="2020-01-01T00:00:00Z"))["total"] == 0


async def test_an_entity_leads_to_its_memories_and_neighbours(client: httpx.AsyncClient) -> None:
    await written(client, subject="Ana Pereira", predicate="works-at", object="Rivian")
    await written(client, "preference", preference_key="food.cuisine", preference_value="thai", user_id="u1")
    await written(
        client, "relation", from_entity="Ana Pereira", relation_type="reports-to", to_entity="Tom", user_id="u1"
    )
    [ana] = (await got(client, "/entities", all=True, prefix="per"))["entities"]
    assert ana["canonical_name"] == "Ana Pereira"
    assert [
        one["canonical_name"] for one in (await got(client, "/entities", all=True, prefix="ana p"))["entities"]
    ] == ["Ana Pereira"]
    assert (await got(client, "/entities", all=True, prefix="reira"))["entities"] == []
    types = {one["type"] for one in (await got(client, "/memories", owner="u1", entity=ana["id"]))["memories"]}
    assert types == {"fact", "relation"}
    found = (await got(client, f"/entities/{ana['id']}/neighbours"))["neighbours"]
    assert {(one["name"], one["label"]) for one in found} == {("Rivian", "works-at"), ("Tom", "reports-to")}


async def test_days_tell_turns_and_writes(client: httpx.AsyncClient) -> None:
    await written(client)
    await said(client, "thanks", user_id="u1")
    days = (await got(client, "/admin/stats/series", days=7))["days"]
    assert len(days) == 7
    assert days == sorted(days, key=lambda one: str(one["day"]))
    assert days[-1]["decisions"]["added"] == 1
    assert days[-1]["turns"] == {"skipped": 1}
    assert sum(days[-1]["skipped"].values()) == 1
    assert all(one["turns"] == {} for one in days[:-1])


async def test_another_tenant_is_not_seen(client: httpx.AsyncClient, other_client: httpx.AsyncClient) -> None:
    await client.post("/memories/typed/fact", json=fact(user_id="ana", session_id="s"))
    await written(other_client, user_id="ben")
    assert [one["user_id"] for one in (await got(other_client, "/users", all=True))["users"]] == ["ben"]
    assert (await got(other_client, "/sessions", all=True))["sessions"] == []
    assert (await got(other_client, "/memories/count", owner="ana"))["total"] == 0
    assert sum(sum(one["decisions"].values()) for one in (await got(other_client, "/admin/stats/series"))["days"]) == 1
