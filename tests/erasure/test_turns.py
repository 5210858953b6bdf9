"""A belief that was erased is not told by the turns that said it, nor by what was made of them."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import httpx
import pytest

from tests.api.conftest import Tenant
from tests.erasure.dumps import dump, found

SESSION: dict[str, Any] = {"user_id": "ana", "session_id": "s1"}


async def told(client: httpx.AsyncClient, *messages: str | tuple[str, str], **more: Any) -> list[dict[str, Any]]:
    """Send turns, a user's or (role, content), and return them with their reports."""
    turns = [
        {"role": "user", "content": one} if isinstance(one, str) else {"role": one[0], "content": one[1]}
        for one in messages
    ]
    answer = await client.post("/turns?mode=sync", json={"turns": turns, **SESSION, **more})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["turns"]
    return found


async def beliefs(client: httpx.AsyncClient, *words: str, kind: str | None = None) -> list[str]:
    """Return the ids of memories that hold all the words; turns are of type episodic."""
    listed = (await client.get("/memories", params={"user_id": "ana", "limit": 200})).json()["memories"]
    return [
        one["id"]
        for one in listed
        if all(word in one["content"] for word in words) and (one["type"] == "episodic") == (kind == "episodic")
    ]


async def everything(client: httpx.AsyncClient, words: str) -> str:
    """Return all that reads, questions and the export say, as one text."""
    said = []
    for mode in ("default", "historical", "audit"):
        asked = {"query": words, "user_id": "ana", "mode": mode, "min_relevance": 0, "top_k": 50}
        answer = (await client.post("/query", json=asked)).json()
        said.append(str((answer["memories"], answer["context"])))
    said.append((await client.get("/memories", params={"user_id": "ana", "limit": 200})).text)
    said.append((await client.get("/turns", params={"user_id": "ana", "limit": 200})).text)
    said.append((await client.get("/export")).text)
    return "\n".join(said).lower()


CHAT: tuple[str | tuple[str, str], ...] = (
    "I am allergic to Wobbegong and I live in Utrecht. The weather is fine today.",
    ("assistant", "Sorry to hear that you are allergic to Wobbegong! Do you like Utrecht?"),
    "I do. I work at Xanadine, and my dog is called Vexillum.",
    ("assistant", "So Xanadine pays you. Does Vexillum sleep well?"),
    "As I said, I am allergic to Wobbegong. The tram was late again.",
)

CANARIES = {"Wobbegong": "allergic", "Xanadine": "works", "Utrecht": "lives"}


@pytest.mark.long
@pytest.mark.parametrize("order", list(permutations(CANARIES)))
async def test_what_was_erased_is_told_nowhere(client: httpx.AsyncClient, url: str, order: tuple[str, ...]) -> None:
    await told(client, *CHAT)
    for place, word in enumerate(order):
        for one in await beliefs(client, word, CANARIES[word]):
            receipt = (await client.delete(f"/memories/{one}")).json()
            assert receipt["turns"] == []
        assert await beliefs(client, word) == await beliefs(client, word, kind="episodic") == []
        said = await everything(client, f"What do you know of {word}?")
        left = await dump(url)
        for erased in order[: place + 1]:
            assert erased.lower() not in said
            assert found(left, [erased]) == []
        for other in order[place + 1 :]:
            assert other.lower() in said
    shown = await everything(client, "Was the tram late?")
    assert "the tram was late again." in shown
    assert "the weather is fine today." in shown


async def test_a_past_read_does_not_tell_what_was_erased(client: httpx.AsyncClient) -> None:
    await told(client, *CHAT)
    [episode] = await beliefs(client, "Xanadine", "dog", kind="episodic")
    await client.patch(f"/memories/{episode}", json={"importance": 0.9})
    before = (await client.get(f"/memories/{episode}")).json()["recorded_at"]
    gone = (await beliefs(client, "Xanadine", "works"))[0]
    await client.delete(f"/memories/{gone}")
    for read in (f"/memories/{episode}", f"/memories/{episode}/history"):
        answer = await client.get(read, params={"known_at": before})
        assert answer.status_code == 200, answer.text
        assert "Xanadine" not in answer.text
    asked = {"query": "Where do I work?", "user_id": "ana", "known_at": before, "min_relevance": 0}
    assert "Xanadine" not in (await client.post("/query", json=asked)).text


async def test_an_episode_is_found_by_the_words_that_it_keeps(client: httpx.AsyncClient) -> None:
    await told(client, *CHAT)
    gone = (await beliefs(client, "Xanadine", "works"))[0]
    await client.delete(f"/memories/{gone}")
    asked = {"query": "What did you say about how Vexillum sleeps?", "user_id": "ana", "min_relevance": 0}
    hits = (await client.post("/query", json=asked)).json()["memories"]
    assert any("Does Vexillum sleep well?" in one["memory"]["content"] for one in hits)


async def test_the_receipt_names_turns_that_hold_the_words_and_takes_them_along(
    client: httpx.AsyncClient, url: str
) -> None:
    await told(client, "I am allergic to Xanadine. The weather is fine today.")
    [later, other] = await told(client, "My aunt sells Xanadine in Rome.", "My uncle sells harps.", session_id="s2")
    [gone] = await beliefs(client, "Xanadine", "allergic")
    asked = await client.delete(f"/memories/{gone}")
    assert asked.json()["turns"] == [later["id"]]
    assert "Xanadine" not in asked.text
    assert (await client.get(f"/turns/{later['id']}")).status_code == 200
    await told(client, "I am allergic to Xanadine, and I play chess on Mondays.", session_id="s3")
    [again] = await beliefs(client, "Xanadine", "allergic")
    receipt = (await client.delete(f"/memories/{again}", params={"with_turns": True})).json()
    assert receipt["turns"] == []
    assert receipt["counts"]["turns"] >= 2
    assert (await client.get(f"/turns/{later['id']}")).status_code == 404
    assert (await client.get(f"/turns/{other['id']}")).status_code == 200
    assert [one for one in receipt["unsupported"] if one not in receipt["kept"]] == []
    told_of = (await client.get("/memories", params={"user_id": "ana"})).json()["memories"]
    assert {one["id"] for one in told_of if not one["evidence"] or not one["evidence"][0]["turn_id"]} == set(
        receipt["unsupported"]
    )
    assert "xanadine" not in (await everything(client, "harps")).replace("aunt", "")
    assert not [row for row in found(await dump(url), ["allergic to Xanadine"]) if "allergic" in row.lower()]


async def test_a_turn_of_which_nothing_is_left_goes_with_its_episode(tenant: Tenant, url: str) -> None:
    client = tenant.client
    [turn] = await told(client, "I am allergic to Xanadine.")
    [gone] = await beliefs(client, "Xanadine", "allergic")
    receipt = (await client.delete(f"/memories/{gone}")).json()
    assert receipt["counts"]["turns"] == 1
    assert receipt["counts"]["memories"] == 2
    assert receipt["kept"] == []
    assert (await client.get(f"/turns/{turn['id']}")).status_code == 404
    assert found(await dump(url), ["Xanadine"]) == []


async def test_what_others_say_of_it_in_other_sessions_stays(client: httpx.AsyncClient) -> None:
    await told(client, "I am allergic to Xanadine. The weather is fine today.")
    [told_elsewhere] = await told(client, ("assistant", "Xanadine is a dye made of lichens."), session_id="s9")
    [gone] = await beliefs(client, "Xanadine", "allergic")
    receipt = (await client.delete(f"/memories/{gone}")).json()
    assert receipt["turns"] == [told_elsewhere["id"]]
    assert "lichens" in (await client.get(f"/turns/{told_elsewhere['id']}")).json()["content"]
