"""A file from before an erasure brings back nothing of what was erased: no memories, and no names either."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from app.features.portability.imports import Imports
from tests.api.conftest import Tenant
from tests.erasure.dumps import dump, found
from tests.erasure.test_users import CANARIES, USER, idle, live, written
from tests.portability.files import exported, imported

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
        gone = [one for one in kinds if one not in {"header", "scope", "extraction_costs", "end"}]
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


@pytest.mark.parametrize("ends_by", ["an error", "cancellation"])
async def test_an_import_that_is_cut_off_brings_no_names(tenant: Tenant, url: str, ends_by: str) -> None:
    client, runtime = tenant.client, tenant.app.state.runtime
    actor = await runtime.keys.authenticate(client.headers["Authorization"].removeprefix("Bearer "))
    lines = await employed(client)
    await client.delete("/users/zoe", params={"mode": "sync"})
    left = found(await dump(url), SECRETS)
    first = next(number for number, line in enumerate(lines) if json.loads(line)["record"] == "memory")
    sent = asyncio.Event()

    async def cut_off() -> AsyncIterator[tuple[int, bytes | None]]:
        for number, line in enumerate(lines[: first + 1], 1):
            yield number, line.encode()
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


async def test_names_of_one_erased_memory_stay_out(client: httpx.AsyncClient, url: str, other_tenant: Tenant) -> None:
    """An import ends after its memories, they are erased one by one, and the file is sent again."""
    lines, other_client = await employed(client), other_tenant.client
    await client.delete("/users/zoe", params={"mode": "sync"})
    facts = [one for line in lines if (one := json.loads(line))["record"] == "memory"]
    last = max(number for number, line in enumerate(lines) if json.loads(line)["record"] == "memory")
    await imported(other_client, lines[: last + 1])
    for fact in facts:
        assert (await other_client.delete(f"/memories/{fact['id']}")).status_code == 200
    left = found(await dump(url), SECRETS)
    done = await imported(other_client, lines)
    assert "memory" not in done["imported"]
    assert "entity" not in done["imported"]
    assert found(await dump(url), SECRETS) == left


async def test_what_another_service_knows_of_an_erased_user_stays_out(
    client: httpx.AsyncClient, other_tenant: Tenant
) -> None:
    lines, other_client = await employed(client), other_tenant.client
    assert (await imported(other_client, lines))["failed"] == 0
    await other_client.delete("/users/zoe", params={"mode": "sync"})
    await written(client, "event", event_description="zoe came back", participants=["Vexatrix Agency"], user_id="zoe")
    done = await imported(other_client, await exported(client, user_id="zoe"))
    assert (done["failed"], done["imported"]) == (0, {})
    assert (await other_client.get("/entities", params={"user_id": "zoe"})).json()["entities"] == []


async def test_what_was_told_in_erased_turns_does_not_come_back(
    client: httpx.AsyncClient, other_client: httpx.AsyncClient
) -> None:
    """An import ends after its turns, the user is erased, and the file is sent again."""
    await live(client, USER)
    await idle(client)
    lines = await exported(client, user_id=USER)
    kinds = [json.loads(line)["record"] for line in lines]
    assert {"turn", "memory"} <= set(kinds)
    await imported(other_client, [line for line, kind in zip(lines, kinds, strict=True) if kind != "memory"])
    await other_client.delete(f"/users/{USER}", params={"mode": "sync"})
    await idle(other_client)
    done = await imported(other_client, lines)
    assert done["failed"] == 0, done["errors"]
    assert done["imported"] == {}
    assert done["erased"] > kinds.count("memory") + kinds.count("turn")
