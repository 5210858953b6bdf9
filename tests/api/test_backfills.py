"""Backfills over HTTP: preview, look, commit by a job, undo, cancel; which step is legal when, and what is refused."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from app.features.backfill import jobs as backfill
from app.features.backfill.service import Backfills
from app.model import JobStatus
from app.runtime import Runtime
from tests.api.conftest import MakeClient, Tenant, fact, written
from tests.support.waiting import ended_job, eventually


async def takes(client: httpx.AsyncClient, told: str, **more: Any) -> str:
    memory = await written(client, **fact(predicate="takes", object=told, stateful=False, **more))
    return str(memory["id"])


async def previewed(client: httpx.AsyncClient, **body: Any) -> dict[str, Any]:
    answer = await client.post("/admin/backfills", json={"type": "medication", **body})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def stepped(client: httpx.AsyncClient, one: dict[str, Any], step: str) -> dict[str, Any]:
    """Take a step, wait for the job, and return the backfill."""
    answer = await client.post(f"/admin/backfills/{one['id']}/{step}")
    assert answer.status_code == 202, answer.text
    ended = await ended_job(client, answer.json()["job_id"])
    assert ended["status"] == JobStatus.SUCCEEDED, ended
    found: dict[str, Any] = (await client.get(f"/admin/backfills/{one['id']}")).json()
    return found


async def test_preview_commit_undo(client: httpx.AsyncClient) -> None:
    first = await takes(client, "metformin 500 mg")
    second = await takes(client, "metformin 850 mg")
    await written(client)
    one = await previewed(client)
    assert (one["status"], one["from"], one["job_id"]) == ("previewed", ["fact"], None)
    assert one["counts"]["looked_at"] == 3
    assert (one["counts"]["flagged"], one["counts"]["superseded"]) == (2, 1)
    by_id = {each["memory_id"]: each for each in one["sample"]}
    assert by_id[second]["after"]["type"] == "medication"
    assert by_id[second]["after"]["payload"]["dosage"] == "850 mg"
    assert by_id[first]["after"]["superseded_by"] == second
    assert "retired_at" not in by_id[first]["after"]
    assert "identity" not in by_id[first]["after"]
    done = await stepped(client, one, "commit")
    assert (done["status"], done["counts"]["committed"]) == ("committed", 2)
    memory = (await client.get(f"/memories/{second}")).json()
    assert (memory["type"], memory["medication_name"], memory["supersedes"]) == ("medication", "metformin", first)
    told = (await client.get(f"/memories/{second}/history")).json()
    assert "Made a medication on" in str(told)
    undone = await stepped(client, one, "undo")
    assert (undone["status"], undone["counts"]["undone"]) == ("undone", 2)
    assert (await client.get(f"/memories/{first}")).json()["status"] == "active"


async def test_every_memory_page_by_page(client: httpx.AsyncClient) -> None:
    taken = [await takes(client, f"metformin {dose} mg", user_id=f"u{dose}") for dose in range(500, 505)]
    one = await previewed(client)
    path, seen, cursor = f"/admin/backfills/{one['id']}/memories", [], None
    while True:
        page = (await client.get(path, params={"limit": 2, **({"cursor": cursor} if cursor else {})})).json()
        seen += [each["memory_id"] for each in page["memories"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == sorted(taken)
    assert (await client.get(path, params={"state": "skipped"})).json()["memories"] == []
    other = await client.get(path, params={"state": "planned", "cursor": "nonsense"})
    assert other.status_code == 422


async def test_the_same_commit_answers_the_same_job(client: httpx.AsyncClient) -> None:
    await takes(client, "metformin 500 mg")
    one = await previewed(client)
    answers = await asyncio.gather(*(client.post(f"/admin/backfills/{one['id']}/commit") for _ in range(4)))
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["job_id"] for answer in answers}) == 1
    await stepped(client, one, "commit")
    again = await client.post(f"/admin/backfills/{one['id']}/commit")
    assert again.json()["job_id"] == answers[0].json()["job_id"]


async def test_illegal_steps_say_where_it_is(client: httpx.AsyncClient) -> None:
    await takes(client, "metformin 500 mg")
    one = await previewed(client)
    undone = await client.post(f"/admin/backfills/{one['id']}/undo")
    assert (undone.status_code, "previewed" in undone.json()["detail"]) == (409, True)
    dropped = await client.post(f"/admin/backfills/{one['id']}/cancel")
    assert (dropped.status_code, dropped.json()["status"]) == (200, "cancelled")
    assert (await client.get(f"/admin/backfills/{one['id']}/memories")).json()["memories"] == []
    for step in ("commit", "undo"):
        refused = await client.post(f"/admin/backfills/{one['id']}/{step}")
        assert (refused.status_code, "cancelled" in refused.json()["detail"]) == (409, True)
    other = await previewed(client)
    await stepped(client, other, "commit")
    assert (await client.post(f"/admin/backfills/{other['id']}/cancel")).status_code == 409


async def test_only_the_scopes_that_are_named(client: httpx.AsyncClient) -> None:
    await takes(client, "metformin 500 mg", user_id="u1")
    await takes(client, "metformin 500 mg", user_id="u2")
    one = await previewed(client, user_id="u2")
    assert (one["counts"]["looked_at"], one["counts"]["flagged"]) == (1, 1)
    assert one["within"] == [{"kind": "user", "user_id": "u2", "agent_id": None}]
    assert (await previewed(client, user_id="nobody"))["counts"]["looked_at"] == 0


async def test_a_large_preview_is_a_job(client: httpx.AsyncClient) -> None:
    await takes(client, "metformin 500 mg")
    answer = await client.post("/admin/backfills?mode=async", json={"type": "medication"})
    assert (answer.status_code, answer.json()["status"]) == (202, "previewing")
    found: dict[str, Any] = {}

    async def previewed() -> bool:
        found.update((await client.get(f"/admin/backfills/{answer.json()['id']}")).json())
        return bool(found["status"] == "previewed")

    await eventually(previewed)
    assert found["counts"]["flagged"] == 1
    listed = (await client.get("/admin/backfills")).json()["backfills"]
    assert [each["id"] for each in listed] == [found["id"]]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"type": "nothing"}, "type"),
        ({"type": "fact"}, "classifier"),
        ({"type": "medication", "from": ["nothing"]}, "from"),
        ({"type": "medication", "from": ["medication"]}, "from"),
        ({"type": "medication", "from": ["preference"]}, "from"),
        ({"type": "medication", "from": []}, "from"),
        ({"type": "medication", "classifier": "model"}, "classifier"),
        ({"type": "medication", "classifier": "magic"}, "classifier"),
        ({}, "type"),
    ],
)
async def test_bad_input_names_the_field(client: httpx.AsyncClient, body: dict[str, Any], field: str) -> None:
    answer = await client.post("/admin/backfills", json=body)
    assert answer.status_code == 422
    assert field in str(answer.json().get("errors", answer.json()))


async def test_another_tenants_backfill_is_unknown(client: httpx.AsyncClient, other_client: httpx.AsyncClient) -> None:
    await takes(client, "metformin 500 mg")
    one = await previewed(client)
    for method, path in (
        ("GET", ""),
        ("GET", "/memories"),
        ("POST", "/commit"),
        ("POST", "/undo"),
        ("POST", "/cancel"),
    ):
        assert (await other_client.request(method, f"/admin/backfills/{one['id']}{path}")).status_code == 404
    assert (await other_client.get("/admin/backfills")).json()["backfills"] == []


async def test_only_administrators(tenant: Tenant, make_client: MakeClient) -> None:
    key = await tenant.key("read", "write")
    async with make_client(key) as client:
        assert (await client.get("/admin/backfills")).status_code == 403
        assert (await client.post("/admin/backfills", json={"type": "medication"})).status_code == 403


def test_the_job_is_known_by_its_kind(runtime: Runtime) -> None:
    assert backfill.HANDLER.kind == "backfill"
    assert runtime.service(Backfills).types is runtime.type_book
