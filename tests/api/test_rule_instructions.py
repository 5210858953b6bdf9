"""Instructions with the built-in rules, which read no words: names hold all the same."""

from __future__ import annotations

import httpx

SAID = "I live in Graz. I work at Siemens."


async def test_names_hold_for_the_rules_and_a_dry_run_says_that_words_do_not(client: httpx.AsyncClient) -> None:
    given = {"instructions": "Only hobbies.", "exclude": ["worksAt", "the names of colleagues"]}
    assert (await client.put("/admin/policy", json={"extraction": given})).status_code == 200
    body = {"content": SAID, "user_id": "ann", "extraction": {"exclude": ["plan"]}}

    dry = (await client.post("/turns", params={"dry_run": True}, json=body)).json()
    assert dry["extraction"]["told"] is None
    assert dry["extraction"]["named"] == ["worksAt", "plan"]

    [turn] = (await client.post("/turns", params={"mode": "sync"}, json=body)).json()["turns"]
    refused = [one["reason"] for one in turn["candidates"] if one["decision"] == "rejected"]
    assert refused == ["the instructions exclude 'worksAt'"]
    found = (await client.get("/memories", params={"user_id": "ann"})).json()["memories"]
    assert "user lives in Graz" in [one["content"] for one in found]
    assert not any("Siemens" in one["content"] for one in found)


async def test_what_rules_adopt_as_another_type_is_excluded_as_that(client: httpx.AsyncClient) -> None:
    body = {
        "content": "I take ramipril 5 mg every morning.",
        "user_id": "ann",
        "extraction": {"exclude": ["medication"]},
    }
    [turn] = (await client.post("/turns", params={"mode": "sync"}, json=body)).json()["turns"]
    assert [one["decision"] for one in turn["candidates"]] == ["rejected"]
    assert (await client.get("/memories", params={"user_id": "ann"})).json()["memories"] == []


async def test_instructions_of_an_export_come_back(client: httpx.AsyncClient, other_client: httpx.AsyncClient) -> None:
    own = {"instructions": "Über Räder. " * 100, "exclude": ["plan"]}
    body = {"content": SAID, "user_id": "ann", "extraction": own, "metadata": {"note": "ü" * 8_000}}
    [turn] = (await client.post("/turns", params={"mode": "sync"}, json=body)).json()["turns"]
    exported = await client.get("/export")
    imported = await other_client.post(
        "/import", content=exported.content, headers={"Content-Type": "application/x-ndjson"}
    )
    assert imported.status_code in {200, 202}, imported.text
    dry = await other_client.post(f"/turns/{turn['id']}/replay", params={"dry_run": True})
    assert dry.json()["extraction"]["exclude"] == ["plan"], dry.text
