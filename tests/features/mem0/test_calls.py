"""Mem0's calls over HTTP, as its client sends them."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from app.features.mem0.routes import REFUSED
from tests.api.conftest import Tenant, connected

ADD, LIST, SEARCH = "/mem0/v3/memories/add/", "/mem0/v3/memories/", "/mem0/v3/memories/search/"
ALEX = {"user_id": "alex"}


async def added(client: httpx.AsyncClient, messages: Any, **more: Any) -> list[dict[str, Any]]:
    answer = await client.post(ADD, json={"messages": messages, **(ALEX | more)})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


async def noted(client: httpx.AsyncClient, text: str, **more: Any) -> dict[str, Any]:
    [found] = await added(client, text, infer=False, **more)
    assert found["event"] == "ADD", found
    return found


async def listed(client: httpx.AsyncClient, filters: dict[str, Any] | None = None, **more: Any) -> list[dict[str, Any]]:
    answer = await client.post(LIST, json={"filters": filters or ALEX, **more})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


async def searched(
    client: httpx.AsyncClient, query: str, filters: dict[str, Any] | None = None, **more: Any
) -> list[str]:
    answer = await client.post(SEARCH, json={"query": query, "filters": filters or ALEX, **more})
    assert answer.status_code == 200, answer.text
    return [one["memory"] for one in answer.json()["results"]]


def fault(answer: httpx.Response) -> str:
    assert answer.status_code == 422, answer.text
    [one] = answer.json()["errors"]
    return str(one["field"])


async def test_a_token_is_a_key_and_the_tenant_is_the_project(
    mem0: httpx.AsyncClient, anonymous: httpx.AsyncClient
) -> None:
    told = (await mem0.get("/mem0/v1/ping/")).json()
    assert told["org_id"] == told["project_id"] == (await mem0.get("/mem0/v1/ping/")).json()["org_id"]
    named = {"org_id": told["org_id"], "project_id": told["project_id"]}
    assert (await mem0.get("/mem0/v1/ping/", params=named)).status_code == 200
    assert fault(await mem0.get("/mem0/v1/ping/", params={"org_id": "another"})) == "org_id"
    for header in ("Token wrong", "Token ", "Basic x"):
        answer = await anonymous.get("/mem0/v1/ping/", headers={"Authorization": header})
        assert answer.status_code == 401


async def test_what_messages_say_is_remembered_and_answered_with_its_type(mem0: httpx.AsyncClient) -> None:
    said = [
        {"role": "user", "content": "I live in Porto and I am allergic to shellfish."},
        {"role": "assistant", "content": "Noted."},
    ]
    results = await added(mem0, said)
    assert {(one["event"], one["decision"]) for one in results} == {("ADD", "added")}
    assert any(one["type"] == "fact" and "Porto" in one["memory"] for one in results)
    assert "user lives in Porto" in await searched(mem0, "Where does Alex live?")
    [moved] = [one for one in await added(mem0, "I moved to Oslo.") if one["decision"] == "superseded"]
    assert moved["event"] == "UPDATE"
    history = (await mem0.get(f"/mem0/v1/memories/{moved['id']}/history/")).json()
    assert [(one["event"], one["status"]) for one in history] == [("ADD", "superseded"), ("UPDATE", "active")]
    assert "Porto" in history[1]["old_memory"]


async def test_a_note_stands_as_it_is(mem0: httpx.AsyncClient) -> None:
    note = await noted(mem0, "The blue folder holds the lease.", metadata={"n": 1}, expiration_date="2099-05-09")
    assert note["memory"] == "The blue folder holds the lease."
    assert (note["type"], note["metadata"], note["expiration_date"]) == ("standard", {"n": 1}, "2099-05-09")
    assert (await mem0.get(f"/mem0/v1/memories/{note['id']}/")).json()["memory"] == note["memory"]


async def test_every_id_is_kept_shown_and_filtered_by(mem0: httpx.AsyncClient) -> None:
    await noted(mem0, "The till opens at nine.", agent_id="nora", run_id="monday", app_id="shop", metadata={"n": 3})
    await noted(mem0, "The till closes at six.", metadata={"n": 5})
    [both] = await listed(mem0, {"AND": [ALEX, {"app_id": "shop"}]})
    assert [both[name] for name in ("user_id", "agent_id", "run_id", "app_id")] == ["alex", "nora", "monday", "shop"]
    assert both["metadata"] == {"n": 3}
    for narrow in (
        {"agent_id": "nora"},
        {"run_id": "monday"},
        {"metadata": {"n": {"lt": 4}}},
        {"NOT": {"app_id": None}},
    ):
        assert await listed(mem0, {"AND": [ALEX, narrow]}) == [both]
        assert await searched(mem0, "When is the till open?", {"AND": [ALEX, narrow]}, threshold=0) == [both["memory"]]
    assert len(await searched(mem0, "When is the till open?", threshold=0)) == 2
    assert await searched(mem0, "When is the till open?", threshold=0, top_k=1)
    assert await listed(mem0, {"run_id": "monday"}) == [both]
    assert await listed(mem0, {"user_id": "*", "app_id": "shop"}) == [both]


async def test_a_search_asks_for_several_owners(mem0: httpx.AsyncClient) -> None:
    await noted(mem0, "The boat is moored in Faro.")
    await noted(mem0, "The boat is painted red.", user_id="bo")
    both = {"OR": [ALEX, {"user_id": "bo"}]}
    assert len(await searched(mem0, "What about the boat?", both, threshold=0)) == 2
    assert await searched(mem0, "What about the boat?", {"user_id": "bo"}, threshold=0) == ["The boat is painted red."]
    answer = await mem0.post(SEARCH, json={"query": "the boat", "filters": {"user_id": "*"}})
    assert fault(answer) == "filters"


async def test_pages_count_and_end(mem0: httpx.AsyncClient) -> None:
    for number in range(5):
        await noted(mem0, f"Shelf {number} holds box {number}{number}.")
    pages = []
    for page in (1, 2, 3):
        answer = await mem0.post(LIST, json={"filters": ALEX}, params={"page": page, "page_size": 2})
        pages.append(answer.json())
    assert [len(one["results"]) for one in pages] == [2, 2, 1]
    assert {one["count"] for one in pages} == {5}
    assert [one["next"] is None for one in pages] == [False, False, True]
    assert len({one["id"] for page in pages for one in page["results"]}) == 5


async def test_older_versions_of_the_interface(mem0: httpx.AsyncClient) -> None:
    note = await noted(mem0, "The kiln needs an hour.")
    plain = (await mem0.get("/mem0/v1/memories/", params={**ALEX, "limit": 1})).json()
    assert [one["id"] for one in plain] == [note["id"]]
    second = (await mem0.post("/mem0/v2/memories/", json={**ALEX, "version": "v2"})).json()
    assert [one["id"] for one in second["results"]] == [note["id"]]
    for version in ("v1", "v2"):
        body = {"query": "kiln", **ALEX, "limit": 3, "output_format": "v1.0", "threshold": 0}
        found = (await mem0.post(f"/mem0/{version}/memories/search/", json=body)).json()
        assert [(one["id"], "score" in one) for one in found] == [(note["id"], True)]
    body = {"messages": [{"role": "user", "content": "I like figs."}], **ALEX, "async_mode": True, "version": "v2"}
    told = (await mem0.post("/mem0/v1/memories/", json=body)).json()
    assert (told["status"], told["results"]) == ("PENDING", [])
    event = (await mem0.get(f"/mem0/v1/event/{told['event_id']}/")).json()
    assert event["status"] in {"PENDING", "RUNNING", "SUCCEEDED"}


async def test_a_new_text_ends_the_old_one(mem0: httpx.AsyncClient) -> None:
    note = await noted(mem0, "The gate code hangs in the shed.", app_id="shop", metadata={"n": 1})
    path = f"/mem0/v1/memories/{note['id']}/"
    told = (await mem0.put(path, json={"text": "The gate code hangs in the hall."})).json()
    assert (told["memory"], told["previous_id"]) == ("The gate code hangs in the hall.", note["id"])
    assert (told["app_id"], told["metadata"]) == ("shop", {"n": 1})
    assert [one["id"] for one in await listed(mem0)] == [told["id"]]
    assert await searched(mem0, "gate code", threshold=0) == [told["memory"]]


async def test_metadata_and_the_end_change_in_place(mem0: httpx.AsyncClient) -> None:
    note = await noted(mem0, "The lamp is on loan.", app_id="shop", metadata={"n": 1})
    path = f"/mem0/v1/memories/{note['id']}/"
    told = (await mem0.put(path, json={"metadata": {"n": 2}, "expiration_date": "2099-01-31"})).json()
    assert (told["id"], told["metadata"], told["expiration_date"]) == (note["id"], {"n": 2}, "2099-01-31")
    assert (await mem0.put(path, json={"expiration_date": None})).json()["expiration_date"] is None
    assert [one["app_id"] for one in await listed(mem0, {"AND": [ALEX, {"app_id": "shop"}]})] == ["shop"]
    for body, field in (({}, "text"), ({"timestamp": 1}, "timestamp"), ({"expiration_date": "x"}, "expiration_date")):
        assert fault(await mem0.put(path, json=body)) == field


async def test_what_is_refused_leaves_the_old_text(mem0: httpx.AsyncClient) -> None:
    note = await noted(mem0, "The key is under the mat.")
    secret = "The key is sk-ant-api03-" + "a1B2" * 20
    await mem0.put(f"/mem0/v1/memories/{note['id']}/", json={"text": secret})
    assert "The key is under the mat." in [one["memory"] for one in await listed(mem0, show_expired=True)]


async def test_batches_say_what_became_of_each(mem0: httpx.AsyncClient) -> None:
    one, two = await noted(mem0, "Row one is leeks."), await noted(mem0, "Row two is peas.")
    body = {"memories": [{"memory_id": one["id"], "metadata": {"n": 1}}, {"memory_id": "mem_x", "text": "x"}]}
    told = (await mem0.put("/mem0/v1/batch/", json=body)).json()
    assert told["results"][0]["metadata"] == {"n": 1}
    assert "no such memory" in told["results"][1]["error"]
    body = {"memories": [{"memory_id": one["id"]}, {"memory_id": two["id"]}, {"memory_id": one["id"]}]}
    told = (await mem0.request("DELETE", "/mem0/v1/batch/", json=body)).json()
    assert [sorted(one) for one in told["results"]] == [["event", "id"], ["event", "id"], ["error", "id"]]
    assert await listed(mem0) == []


async def test_a_memory_is_deleted_with_those_it_replaced(mem0: httpx.AsyncClient) -> None:
    await added(mem0, "I live in Porto.")
    [moved] = [one for one in await added(mem0, "I moved to Oslo.") if one["decision"] == "superseded"]
    answer = await mem0.delete(f"/mem0/v1/memories/{moved['id']}/", params={"delete_linked": True})
    assert answer.json()["deleted"] == 2
    assert (await mem0.get(f"/mem0/v1/memories/{moved['previous_id']}/")).status_code == 404


@pytest.mark.parametrize("params", [{"user_id": "bo"}, {"filters": "{'user_id': 'bo'}"}, {"run_id": "monday"}], ids=str)
async def test_all_of_somebody_are_deleted_and_nobody_elses(mem0: httpx.AsyncClient, params: dict[str, str]) -> None:
    mine = await noted(mem0, "The ladder is mine.")
    await noted(mem0, "The ladder is theirs.", user_id="bo", run_id="monday")
    told = (await mem0.delete("/mem0/v1/memories/", params=params)).json()
    assert told["deleted"] == 1
    assert [one["id"] for one in await listed(mem0, {"user_id": "*"})] == [mine["id"]]


@pytest.mark.parametrize(
    "params",
    [{}, {"filters": "{'type': 'standard'}"}, {"user_id": "alex", "filters": '{"user_id": "bo"}'}, {"filters": "x"}],
    ids=str,
)
async def test_nothing_is_deleted_where_nobody_is_named(mem0: httpx.AsyncClient, params: dict[str, str]) -> None:
    await noted(mem0, "The ladder is mine.")
    await noted(mem0, "The ladder is theirs.", user_id="bo")
    await mem0.delete("/mem0/v1/memories/", params=params)
    assert len(await listed(mem0, {"user_id": "*"})) == 2


async def test_owners_are_listed_and_deleted(mem0: httpx.AsyncClient) -> None:
    await noted(mem0, "The mast is oak.", run_id="monday")
    await noted(mem0, "The sails are cotton.", user_id=None, agent_id="nora")
    told = (await mem0.get("/mem0/v1/entities/")).json()
    assert {(one["type"], one["name"]) for one in told["results"]} == {
        ("user", "alex"),
        ("agent", "nora"),
        ("run", "monday"),
    }
    for kind, name in (("run", "monday"), ("agent", "nora"), ("user", "alex"), ("user", "nobody")):
        assert (await mem0.delete(f"/mem0/v2/entities/{kind}/{name}/")).status_code == 200
    assert (await mem0.get("/mem0/v1/entities/")).json()["results"] == []
    assert (await mem0.delete("/mem0/v2/entities/team/x/")).status_code == 422


async def test_a_profile_and_feedback(mem0: httpx.AsyncClient) -> None:
    [fact] = [one for one in await added(mem0, "I live in Porto.") if one["type"] == "fact"]
    told = (await mem0.get("/mem0/v2/entities/user/alex/profile/")).json()
    assert told["status"] == "succeeded"
    assert "Porto" in json.dumps(told["profile"])
    body = {"memory_id": fact["id"], "feedback": "VERY_NEGATIVE", "feedback_reason": "never said"}
    assert (await mem0.post("/mem0/v1/feedback/", json=body)).json()["feedback"] == "VERY_NEGATIVE"
    assert (await mem0.get(f"/mem0/v1/memories/{fact['id']}/")).json()["status"] == "pending"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"user_id": None}, "user_id"),
        ({"immutable": True}, "immutable"),
        ({"custom_categories": [{"a": "b"}]}, "custom_categories"),
        ({"structured_data_schema": {}}, "structured_data_schema"),
        ({"enable_graph": True}, "enable_graph"),
        ({"expiration_date": "2099-01-01"}, "expiration_date"),
        ({"timestamp": 1e20}, "timestamp"),
        ({"metadata": {"mem0": 1}}, "metadata.mem0"),
        ({"filters": {"user_id": "bo"}}, "filters.user_id"),
        ({"filters": {"colour": "red"}}, "filters.colour"),
        ({"version": "v9"}, "version"),
        ({"infer": False, "expiration_date": "9999-12-31"}, "expiration_date"),
    ],
    ids=str,
)
async def test_what_a_write_cannot_do_is_refused_by_name(
    mem0: httpx.AsyncClient, body: dict[str, Any], field: str
) -> None:
    answer = await mem0.post(ADD, json={"messages": "I like figs.", **ALEX, **body})
    assert fault(answer) == field


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"filters": {"type": "fact"}}, "filters"),
        ({"filters": {"OR": [ALEX, {"type": "fact"}]}}, "filters"),
        ({"filters": {**ALEX, "colour": "red"}}, "filters.colour"),
        ({"fields": ["colour"]}, "fields"),
        ({"keyword_search": False}, "keyword_search"),
        ({"query": "  "}, "query"),
        ({"reference_date": "soon"}, "reference_date"),
        ({"top_k": 0}, "top_k"),
    ],
    ids=str,
)
async def test_what_a_search_cannot_do_is_refused_by_name(
    mem0: httpx.AsyncClient, body: dict[str, Any], field: str
) -> None:
    await noted(mem0, "Figs are in the bowl.")
    answer = await mem0.post(SEARCH, json={"query": "figs", "filters": ALEX, "threshold": 0, **body})
    assert fault(answer) == field


async def test_a_project_is_the_tenant_whose_instructions_it_holds(
    mem0: httpx.AsyncClient, others_mem0: httpx.AsyncClient, tenant: Tenant
) -> None:
    own = (await mem0.get("/mem0/v1/ping/")).json()["project_id"]
    path = f"/mem0/api/v1/orgs/organizations/{own}/projects/{own}/"
    await tenant.client.put("/admin/policy", json={"keep_episodes": False, "extraction": {"exclude": ["salaries"]}})
    named = {"org_id": own, "project_id": own}  # the client says it in the path and beside it
    told = await mem0.patch(path, json={"custom_instructions": "Remember what the user cooks.", **named})
    assert told.json()["custom_instructions"] == "Remember what the user cooks."
    policy = (await tenant.client.get("/admin/policy")).json()
    assert (policy["keep_episodes"], policy["extraction"]["exclude"]) == (False, ["salaries"])
    asked = (await mem0.get(path, params={"fields": ["custom_instructions"], **named})).json()
    assert asked == {"id": own, "custom_instructions": "Remember what the user cooks."}
    assert (await mem0.patch(path, json={"custom_instructions": ""})).json()["custom_instructions"] is None
    refused: tuple[dict[str, Any], ...] = (
        {"custom_categories": []},
        {"custom_instructions": "x", "decay": True},
        {"multilingual": True},
    )
    for body in refused:
        assert (await mem0.patch(path, json=body)).status_code == 422
    assert fault(await mem0.get(path, params={"org_id": "another"})) == "org_id"
    for other in (await others_mem0.get(path), await others_mem0.patch(path, json={"custom_instructions": "x"})):
        assert other.status_code == 404


async def test_a_profile_needs_no_making(mem0: httpx.AsyncClient) -> None:
    body = {"operation": "trigger", "entity_type": "user", "entity_id": "alex"}
    assert (await mem0.post("/mem0/v2/profiles/jobs/", json=body)).json()["status"] == "succeeded"
    sample = {"operation": "sample", "entity_type": "user"}
    assert (await mem0.post("/mem0/v2/profiles/jobs/", json=sample)).status_code == 422


@pytest.mark.parametrize("path", REFUSED)
async def test_calls_without_a_counterpart_say_what_to_use(mem0: httpx.AsyncClient, path: str) -> None:
    answer = await mem0.post(f"/mem0{path.replace('{rest:path}', 'settings')}/", json={}, params={"org_id": "x"})
    assert answer.status_code == 501
    assert answer.json()["detail"].startswith("there are no ")


async def test_two_tenants_never_meet(mem0: httpx.AsyncClient, others_mem0: httpx.AsyncClient) -> None:
    note = await noted(mem0, "The safe is behind the clock.", run_id="monday")
    path = f"/mem0/v1/memories/{note['id']}"
    assert (await others_mem0.get(f"{path}/")).status_code == 404
    assert (await others_mem0.get(f"{path}/history/")).status_code == 404
    assert (await others_mem0.put(f"{path}/", json={"text": "moved"})).status_code == 404
    assert (await others_mem0.delete(f"{path}/")).status_code == 404
    body = {"memories": [{"memory_id": note["id"]}]}
    assert "error" in (await others_mem0.request("DELETE", "/mem0/v1/batch/", json=body)).json()["results"][0]
    for params in (ALEX, {"run_id": "monday"}, {"user_id": "*"}):
        assert await listed(others_mem0, params) == []
        assert (await others_mem0.delete("/mem0/v1/memories/", params=params)).json()["deleted"] == 0
    assert await searched(others_mem0, "Where is the safe?", threshold=0) == []
    assert [one["id"] for one in await listed(mem0)] == [note["id"]]


async def test_a_bound_key_stays_with_its_user(mem0: httpx.AsyncClient, tenant: Tenant) -> None:
    await noted(mem0, "Theirs is the purple bike.", user_id="bo")
    async with connected(tenant.app, None) as bound:
        bound.headers["Authorization"] = f"Token {await tenant.key('read', 'write', user_id='alex')}"
        mine = await noted(bound, "Mine is the green bike.")
        assert [one["id"] for one in await listed(bound)] == [mine["id"]]
        assert [one["id"] for one in await listed(bound, {"user_id": "*"})] == [mine["id"]]
        for filters in ({"user_id": "bo"}, {"OR": [ALEX, {"user_id": "bo"}]}):
            found = await bound.post(SEARCH, json={"query": "bike", "filters": filters, "threshold": 0})
            assert "purple" not in found.text
        wrong = await bound.post(ADD, json={"messages": "x", "filters": {"user_id": "bo"}})
        assert wrong.status_code in {403, 422}
        assert (await bound.delete("/mem0/v1/memories/", params=ALEX)).status_code == 403
        assert (await bound.get("/mem0/v1/entities/")).status_code == 403
    async with connected(tenant.app, None) as agent:
        agent.headers["Authorization"] = f"Token {await tenant.key('read', 'write', agent_id='nora')}"
        for filters in ({"user_id": "bo"}, {"user_id": "*"}, {"OR": [{"agent_id": "nora"}, {"user_id": "bo"}]}):
            for path in (LIST, SEARCH):
                body = {"filters": filters, **({"query": "bike", "threshold": 0} if path == SEARCH else {})}
                assert "purple" not in (await agent.post(path, json=body)).text
