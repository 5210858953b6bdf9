"""Erasing a memory: names that only it gave are nowhere, whichever entity bears them by then."""

from __future__ import annotations

from typing import Any

import httpx

from tests.erasure.dumps import dump, found
from tests.erasure.test_users import written
from tests.support import owner

ANA = {"user_id": "ana"}

BIND = """
    INSERT INTO pronoun_bindings (tenant_id, scope_id, pronoun, position, number, name, entity_type, said_at)
    SELECT tenant_id, id, 'she', 0, 1, 'Quillfeather', 'person', now() FROM scopes
"""


async def declared(client: httpx.AsyncClient, name: str, **fields: Any) -> tuple[str, str]:
    """Declare a person; return the path of the memory, and the id of the entity."""
    memory = await written(client, "entity", canonical_name=name, entity_type="person", **fields, **ANA)
    entities = (await client.get("/entities", params={"name": name, **ANA})).json()["entities"]
    return f"/memories/{memory['memory']['id']}", entities[0]["id"]


async def merge(client: httpx.AsyncClient, entity: str, into: str) -> None:
    answer = await client.post("/entities/merge", json={"into": into, "from": [entity], "force": True})
    assert answer.status_code == 200, answer.text


async def erase(client: httpx.AsyncClient, path: str) -> dict[str, Any]:
    answer = await client.delete(path)
    assert answer.status_code == 200, answer.text
    receipt: dict[str, Any] = answer.json()
    return receipt


async def test_names_lent_to_another_entity_go_with_the_memory_that_gave_them(
    client: httpx.AsyncClient, url: str
) -> None:
    more = {"aliases": ["Quillfeather", "Wobbegong"], "attributes": {"shoe": "Basilisk"}}
    path, lender = await declared(client, "Zephyrine Vexillum", **more)
    _, heir = await declared(client, "Marmotini", aliases=["Wobbegong"])
    await merge(client, lender, heir)
    shown = (await client.get(f"/entities/{heir}")).json()
    assert {"Zephyrine Vexillum", "Quillfeather", "Wobbegong"} <= set(shown["aliases"])
    await erase(client, path)
    assert found(await dump(url), ["Zephyrine", "Quillfeather", "Basilisk"]) == []
    shown = (await client.get(f"/entities/{heir}")).json()
    assert (shown["canonical_name"], shown["aliases"]) == ("Marmotini", ["Wobbegong"])
    assert shown["attributes"] == {}


async def test_names_lent_on_by_a_second_merge_go_too(client: httpx.AsyncClient, url: str) -> None:
    path, first = await declared(client, "Zephyrine Vexillum", aliases=["Quillfeather"])
    _, second = await declared(client, "Marmotini")
    _, third = await declared(client, "Tanzibar")
    await merge(client, first, second)
    await merge(client, second, third)
    await erase(client, path)
    assert found(await dump(url), ["Zephyrine", "Quillfeather"]) == []
    assert "Marmotini" in (await client.get(f"/entities/{third}")).json()["aliases"]


async def test_an_entity_that_only_a_merged_one_kept_goes_with_it(client: httpx.AsyncClient, url: str) -> None:
    path, lender = await declared(client, "Zephyrine Vexillum", aliases=["Quillfeather"])
    other, heir = await declared(client, "Marmotini", aliases=["Wobbegong"])
    await merge(client, lender, heir)
    await erase(client, other)
    receipt = await erase(client, path)
    assert receipt["counts"]["entities"] == 2
    assert found(await dump(url), ["Zephyrine", "Quillfeather", "Marmotini", "Wobbegong"]) == []
    assert (await client.get("/entities", params=ANA)).json()["entities"] == []


async def test_a_pronoun_no_longer_means_an_alias_that_went(client: httpx.AsyncClient, url: str) -> None:
    path, _ = await declared(client, "Zephyrine Vexillum", aliases=["Quillfeather"])
    await owner.ask(url, BIND)
    receipt = await erase(client, path)
    assert receipt["counts"]["pronoun_bindings"] == 1
    assert found(await dump(url), ["Quillfeather"]) == []


async def test_a_pronoun_still_means_a_name_that_another_memory_of_the_merged_gives(
    client: httpx.AsyncClient, url: str
) -> None:
    path, lender = await declared(client, "Zephyrine Vexillum", aliases=["Quillfeather"])
    _, heir = await declared(client, "Marmotini", aliases=["Quillfeather"])
    await merge(client, lender, heir)
    await owner.ask(url, BIND)
    await erase(client, path)
    assert found(await dump(url), ["Zephyrine"]) == []
    assert len(await owner.ask(url, "SELECT FROM pronoun_bindings")) == 1
