"""Whatever is within the limits of a field is stored or refused by name: no index is too narrow for it."""

from __future__ import annotations

import random
from typing import Any

import httpx
import pytest

from app.memory.registry import discover
from app.memory.spec import MemoryType
from app.memory.types.procedural import Procedural

_DRAWN = random.Random(7)  # noqa: S311 - no secret
LONG = {
    "four bytes a letter": "".join(chr(_DRAWN.randrange(0x20000, 0x2A6D0)) for _ in range(200)),
    "signs that stand for words": "".join(chr(_DRAWN.randrange(0x3300, 0x3358)) for _ in range(200)),
    "signs that stand for a sentence": "".join(_DRAWN.choice("\ufdfa\ufdfb\u3316\u334a") for _ in range(200)),
    "letters that no two are alike": "".join(_DRAWN.choice("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(200)),
}
"""Texts of two hundred characters, the most that a name may have."""


def triggers(count: int) -> list[str]:
    return ["".join(_DRAWN.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(200)) for _ in range(count)]


async def test_a_procedure_for_many_long_occasions_is_stored_and_replaced(client: httpx.AsyncClient) -> None:
    occasions = triggers(20)
    body = {"content": "restart it", "trigger_conditions": occasions}
    first = await client.post("/memories/typed/procedural", json=body)
    assert first.status_code == 201, first.text
    again = await client.post(
        "/memories/typed/procedural",
        json={"content": "replace it", "trigger_conditions": [*reversed(occasions[1:]), occasions[0]]},
    )
    assert again.json()["decision"] == "superseded"
    other = await client.post(
        "/memories/typed/procedural", json={"content": "replace it", "trigger_conditions": occasions[:19]}
    )
    assert other.json()["decision"] == "added"


async def test_a_batch_with_many_long_occasions_is_stored_whole(client: httpx.AsyncClient) -> None:
    batch = [
        {"type": "procedural", "content": f"restart {place}", "trigger_conditions": triggers(14 + place)}
        for place in range(3)
    ]
    answer = await client.post("/memories/batch", json={"memories": batch})
    assert [one["decision"] for one in answer.json()["results"]] == ["added"] * 3


async def test_one_occasion_with_a_bar_is_not_two(client: httpx.AsyncClient) -> None:
    decisions = [
        (await client.post("/memories/typed/procedural", json={"content": what, "trigger_conditions": when})).json()
        for what, when in (("halt", ["a|b"]), ("go on", ["a", "b"]))
    ]
    assert [one["decision"] for one in decisions] == ["added", "added"]


def test_a_short_occasion_is_kept_as_it_was() -> None:
    one = Procedural(text="x", trigger_conditions=("CPU above 90%", "a \\ b"))
    assert one.slot({}) == "a \\ b|cpu above 90%"


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
@pytest.mark.parametrize("one", [pytest.param(one, id=one.name) for one in discover()])
async def test_no_field_is_too_long_for_its_index(client: httpx.AsyncClient, one: MemoryType, text: str) -> None:
    example = one.examples[0].payloads[0]
    for field, value in example.items():
        changed: dict[str, Any] = {**example, field: _longer(value, text), "user_id": "u1", "session_id": "s1"}
        answer = await client.post(f"/memories/typed/{one.name}", json=changed)
        assert answer.status_code in {201, 422}, answer.text
        if answer.status_code != 201:
            assert field in answer.json()["errors"][0]["field"]
    for field in ("topic", "session_id", "user_id", "agent_id"):
        answer = await client.post(f"/memories/typed/{one.name}", json={**example, "user_id": "u1", field: text})
        assert answer.status_code in {201, 422}, answer.text


def _longer(value: object, text: str) -> object:
    match value:
        case str():
            return text
        case list() | tuple():
            return [text]
        case dict():
            return {text: text}
        case _:
            return value
