"""A file from before an erasure brings back nothing of what was erased: no memories, and no names either."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.features.portability.imports import Imports
from tests.api.conftest import Tenant
from tests.erasure.dumps import dump, found
from tests.erasure.test_users import CANARIES, USER, idle, live, written
from tests.portability.files import exported, imported
from tests.support.waiting import eventually

SECRETS = ("Vexatrix", "Quorlinde", "zoe")


async def employed(client: httpx.AsyncClient) -> list[str]:
    """Write two employers of zoe, one after the other; return an export of her."""
    about: dict[str, Any] = {"user_id": "zoe", "subject": "user", "predicate": "works-at"}
    await written(client, "fact", object="Vexatrix Agency", **about)
    await written(client, "fact", object="Quorlinde Agency", **about)
    return await exported(client, user_id="zoe")


async def test_nothing_of_a_user_comes_back(client: httpx.AsyncClient, url: str) -> None:
    lines = await employed(client)
    assert {json.loads(line)["record"] for line in lines} >= {"entity", "memory", "memory_links"}
    await client.delete("/users/zoe", params={"mode": "sync"})
    left = found(await dump(url), SECRETS)
    for _ in range(2):
        done = await imported(client, lines)
        assert done["errors"] == []
        assert done["failed"] == 0
        assert done["imported"] == {}
        kinds = [json.loads(line)["record"] for line in lines]
        gone = [one for one in kinds if one not in {"header", "scope", "audit_event", "extraction_costs", "end"}]
        assert done["erased"] == len(gone), kinds
        assert found(await dump(url), SECRETS) == left


async def test_nothing_of_a_whole_conversation_comes_back(client: httpx.AsyncClient, url: str) -> None:
    await live(client, USER)
    await idle(client)
    lines = await exported(client, user_id=USER)
    kinds = {json.loads(line)["record"] for line in lines}
    assert kinds >= {"entity", "turn", "memory", "memory_links", "pronoun_bindings", "entity_merges"}
    await client.delete(f"/users/{USER}", params={"mode": "sync"})
    await idle(client)
    before = await dump(url)
    done = await imported(client, lines)
    assert done["errors"] == []
    assert set(done["imported"]) <= {"extraction_costs"}
    after = await dump(url)
    for table in ("scopes", "entities", "entity_aliases", "entity_past", "pronoun_bindings", "review_counts", "turns"):
        assert after[table] == before[table], table
    assert found(after, CANARIES) == found(before, CANARIES)


async def test_a_file_that_was_cut_off_before_its_memories_brings_no_names(client: httpx.AsyncClient, url: str) -> None:
    lines = await employed(client)
    await client.delete("/users/zoe", params={"mode": "sync"})
    left = found(await dump(url), SECRETS)
    first = next(number for number, line in enumerate(lines) if json.loads(line)["record"] == "memory")
    done = await imported(client, lines[:first])
    assert not done["complete"]
    assert done["failed"] == 0
    assert found(await dump(url), SECRETS) == left


async def test_a_strict_import_that_stops_at_a_wrong_line_brings_no_names(client: httpx.AsyncClient, url: str) -> None:
    lines = await employed(client)
    await client.delete("/users/zoe", params={"mode": "sync"})
    left = found(await dump(url), SECRETS)
    first = next(number for number, line in enumerate(lines) if json.loads(line)["record"] == "memory")
    content = "\n".join([*lines[:first], "no line of an export", *lines[first:]]).encode()
    answer = await client.post("/import", params={"strict": True}, content=content)
    assert answer.status_code == 422, answer.text
    assert f"line {first + 1}" in answer.text
    assert found(await dump(url), SECRETS) == left


@pytest.mark.long
@pytest.mark.parametrize("names_are", ["stored", "being stored"])
@pytest.mark.parametrize("ends_by", ["an error", "cancellation"])
async def test_an_import_that_is_cut_off_brings_no_names(
    tenant: Tenant, url: str, names_are: str, ends_by: str
) -> None:
    client, runtime = tenant.client, tenant.app.state.runtime
    actor = await runtime.keys.authenticate(client.headers["Authorization"].removeprefix("Bearer "))
    lines = await employed(client)
    await client.delete("/users/zoe", params={"mode": "sync"})
    left = found(await dump(url), SECRETS)
    first = next(number for number, line in enumerate(lines) if json.loads(line)["record"] == "memory")
    sent = asyncio.Event()

    async def stored() -> bool:
        return found(await dump(url), SECRETS) != left

    async def cut_off() -> AsyncIterator[tuple[int, bytes | None]]:
        for number, line in enumerate(lines[: first + 1], 1):
            yield number, line.encode()
        if names_are == "stored":
            await eventually(stored)
        sent.set()
        if ends_by == "an error":
            raise ConnectionError
        await asyncio.Event().wait()

    running = asyncio.create_task(runtime.service(Imports).run(actor, cut_off()))
    await sent.wait()
    if ends_by == "cancellation":
        running.cancel()
    with pytest.raises((ConnectionError, asyncio.CancelledError)):
        await running
    assert found(await dump(url), SECRETS) == left


async def test_names_of_one_erased_memory_stay_out_and_others_are_stored(client: httpx.AsyncClient, url: str) -> None:
    lines = await employed(client)
    # What was said of her since, in another file, names one of the two again.
    other = await written(client, "event", event_description="zoe left", participants=["Quorlinde Agency"],
                          user_id="zoe")  # fmt: skip
    later = await exported(client, user_id="zoe")
    facts = [one for line in lines if (one := json.loads(line))["record"] == "memory"]
    for fact in facts:
        assert (await client.delete(f"/memories/{fact['id']}")).status_code == 200
    assert not found(await dump(url), ["Vexatrix"])
    done = await imported(client, later)
    assert done["errors"] == []
    assert not found(await dump(url), ["Vexatrix"])
    entities = (await client.get("/entities", params={"user_id": "zoe"})).json()["entities"]
    assert "Quorlinde Agency" in {one["canonical_name"] for one in entities}
    assert (await client.get(f"/memories/{other['memory']['id']}")).json()["status"] == "active"


async def test_what_was_said_after_the_erasure_is_stored_with_its_names(
    client: httpx.AsyncClient, other_tenant: Tenant
) -> None:
    """Erased here, it goes on elsewhere: memories that came later are stored, with what they name counted anew."""
    lines, other_client = await employed(client), other_tenant.client
    assert (await imported(other_client, lines))["failed"] == 0
    await other_client.delete("/users/zoe", params={"mode": "sync"})
    await written(client, "event", event_description="zoe came back", participants=["Vexatrix Agency"], user_id="zoe")
    done = await imported(other_client, await exported(client, user_id="zoe"))
    assert done["failed"] == 0
    assert done["imported"]["memory"] == 1
    found_there = (await other_client.get("/entities", params={"user_id": "zoe"})).json()["entities"]
    counts = {one["canonical_name"]: one["mention_count"] for one in found_there}
    assert counts["Vexatrix Agency"] == 1
    assert "Quorlinde Agency" not in counts


async def test_what_was_told_in_erased_turns_alone_does_not_come_back(
    client: httpx.AsyncClient, other_client: httpx.AsyncClient
) -> None:
    """An import ends after its turns, the user is erased, and the file is sent again."""
    await live(client, USER)
    await idle(client)
    lines = await exported(client, user_id=USER)
    parsed = [json.loads(line) for line in lines]
    await imported(other_client, [line for line, one in zip(lines, parsed, strict=True) if one["record"] != "memory"])
    await other_client.delete(f"/users/{USER}", params={"mode": "sync"})
    await idle(other_client)
    memories = [one for one in parsed if one["record"] == "memory"]
    turns = [one for one in parsed if one["record"] == "turn"]
    told = [one for one in memories if one["evidence"] and all(each["turn_id"] for each in one["evidence"])]
    assert turns
    assert told
    # One was told elsewhere, too.
    known = told[0]
    known["evidence"].append({**known["evidence"][0], "id": str(uuid4()), "turn_id": None, "quote": "told elsewhere"})
    done = await imported(other_client, list(map(json.dumps, parsed)))
    assert done["failed"] == 0, done["errors"]
    assert done["imported"]["memory"] == len(memories) - len(told) + 1
    assert done["notices"]["evidence whose turn was erased here loses its words"] == len(known["evidence"]) - 1
    kept = (await other_client.get(f"/memories/{known['id']}")).json()
    assert {one["quote"] for one in kept["evidence"]} == {None, "told elsewhere"}
    for one in told[1:]:
        assert (await other_client.get(f"/memories/{one['id']}")).status_code == 404
