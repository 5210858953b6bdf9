"""What names a user is erased and exported with the user, in whatever scope it was said to lie."""

from __future__ import annotations

import json
from dataclasses import replace

import httpx
import pytest

from app import ids
from app.db import tables
from app.db.erasure import receipts
from tests.api.conftest import Tenant
from tests.api.test_scopes import BODIES, DOORS, define_own_type, seen, write
from tests.erasure.dumps import dump, found
from tests.erasure.test_users import idle
from tests.portability.files import exported, imported
from tests.support import owner
from tests.support.waiting import eventually

USER = "Canary-Xaver"
NOTE = "Zephyrine"


async def write_all(client: httpx.AsyncClient, door: str) -> dict[str, str]:
    """Write a memory of each type into each scope for the user; return their contents by id."""
    await define_own_type(client)
    scopes: tuple[dict[str, str], ...] = ({}, {"agent_id": "planner", "scope": "agent"}, {"scope": "global"})
    memories = [
        await write(client, door, kind, user_id=USER, metadata={"note": NOTE}, **where)
        for kind in BODIES
        for where in scopes
    ]
    contents = {str(one["id"]): str(one["content"]) for one in memories}
    assert len(contents) == len(BODIES) * len(scopes)
    return contents


@pytest.mark.parametrize("mode", ["sync", pytest.param("async", marks=pytest.mark.long)])
@pytest.mark.parametrize("door", DOORS)
async def test_an_erased_user_leaves_nothing_in_any_scope(
    client: httpx.AsyncClient, url: str, door: str, mode: str
) -> None:
    contents = await write_all(client, door)
    kept = await write(client, door, "standard", content="Rooms are booked at noon.", scope="global", user_id="bo")
    answer = await client.delete(f"/users/{USER}", params={"mode": mode})
    receipt = answer.json()
    if mode == "async":

        async def finished() -> bool:
            return bool((await client.get(f"/admin/erasures/{receipt['id']}")).json()["status"] == "finished")

        await eventually(finished)
    receipt = (await client.get(f"/admin/erasures/{receipt['id']}", params={"ids": True})).json()
    assert set(receipt["ids"]) == set(contents)
    assert receipt["counts"]["memories"] == len(contents)
    assert receipt["still_there"] == 0
    names = {"Volkswagen", "metformin", "Priya"}
    assert found(await dump(url), [USER, NOTE, *names, *contents.values()]) == []
    assert await seen(client, "What is known?", user_id="bo") == {kept["id"]}
    assert (await client.get("/admin/audit/verify")).json()["intact"] is True


async def test_an_export_of_a_user_has_what_lies_in_other_scopes_and_can_be_imported(
    client: httpx.AsyncClient, other_tenant: Tenant
) -> None:
    contents = await write_all(client, "batch")
    await write(client, "typed", "fact", object="Bosch", user_id="bo", scope="global", subject="Bo")
    lines = await exported(client, user_id=USER)
    told = [json.loads(line) for line in lines]
    assert {one["id"] for one in told if one["record"] == "memory"} == set(contents)
    assert told[0]["counts"]["memory"] == len(contents)
    assert "Bosch" not in "".join(lines)
    assert {one["memory_id"] for one in told if one["record"] == "audit_event"} >= set(contents)
    with_agent = [json.loads(line) for line in await exported(client, user_id=USER, agent_id="planner")]
    assert sum(one["record"] == "memory" for one in with_agent) == len(BODIES)
    summary = await imported(other_tenant.client, lines)
    assert (summary["failed"], summary["imported"]["memory"]) == (0, len(contents)), summary


SENT = ("My sister Zephyrine moved to Jabberwock last month.", "Did you hear the Snarkling last night?")


@pytest.mark.parametrize("keep_episodes", [True, False])
@pytest.mark.parametrize("mode", ["sync", pytest.param("async", marks=pytest.mark.long)])
async def test_turns_sent_to_everyone_are_exported_and_erased_with_the_user(
    client: httpx.AsyncClient, url: str, mode: str, *, keep_episodes: bool
) -> None:
    await client.put("/admin/policy", json={"keep_episodes": keep_episodes})
    about = {"scope": "global", "session_id": "kitchen", "metadata": {"channel": "door"}}
    for user, content in ((USER, SENT[0]), (USER, SENT[1]), ("bo", "I work at Volkswagen these days.")):
        answer = await client.post(f"/turns?mode={mode}", json={"content": content, "user_id": user, **about})
        assert answer.status_code in {200, 202}, answer.text
        await idle(client)
    stored = (await client.get("/turns", params={"all": True})).json()["turns"]
    assert [one["metadata"] for one in stored] == [about["metadata"]] * 3
    told = [json.loads(line) for line in await exported(client, user_id=USER)]
    assert {one["content"] for one in told if one["record"] == "turn"} == set(SENT)
    assert told[0]["counts"]["turn"] == len(SENT)
    receipt = (await client.delete(f"/users/{USER}", params={"mode": "sync"})).json()
    assert receipt["counts"]["turns"] == len(SENT)
    left = await dump(url)
    assert found(left, [USER, "Zephyrine", "Jabberwock", "Snarkling"]) == []
    assert found(left, ["Volkswagen"])
    [kept] = (await client.get("/turns", params={"all": True})).json()["turns"]
    assert kept["content"] == "I work at Volkswagen these days."
    assert {one["record"] for one in told} >= {"turn", "memory"}


@pytest.mark.one_server
async def test_they_are_found_by_an_index_under_row_level_security(tenant: Tenant, url: str) -> None:
    memory = await write(tenant.client, "typed", "standard", user_id="ana", scope="global")
    own = [column.name for column in tables.memories.columns if column.computed is None]
    changed = {"id": "gen_random_uuid()", "provenance": "'{}'"}
    chosen = ", ".join(changed.get(name, name) for name in own)
    crowd = f"INSERT INTO memories ({', '.join(own)}) SELECT {chosen} FROM memories, generate_series(1, 3000)"  # noqa: S608
    await owner.ask(url, crowd)
    await owner.ask(url, "ANALYZE memories")
    runtime = tenant.app.state.runtime
    actor = await runtime.keys.authenticate(tenant.client.headers["Authorization"].removeprefix("Bearer "))
    async with runtime.database.read(actor.tenant_id) as session:
        explain = replace(receipts.NAMED, sql=f"EXPLAIN {receipts.NAMED.sql}")
        plan = [row[0] for row in await session.fetch(explain, {"tenant": actor.tenant_id, "user": "ana"})]
        named = await receipts.named(session, actor.tenant_id, "ana")
    assert "ix_memories_names_user" in "".join(plan)
    assert list(named) == [ids.parse(ids.MEMORY, memory["id"])]
