"""A dry run of a typed write: the decision that the write would come to, and nothing stored."""

from __future__ import annotations

import httpx

LIVES = {"user_id": "ann", "predicate": "lives-in", "object": "Graz"}


async def test_a_dry_run_decides_as_the_write_would_and_stores_nothing(client: httpx.AsyncClient) -> None:
    async def write(city: str, *, dry: bool) -> dict[str, object]:
        body = {**LIVES, "object": city}
        answer = await client.post("/memories/typed/fact", params={"dry_run": dry}, json=body)
        assert answer.status_code == (200 if dry else 201), answer.text
        found: dict[str, object] = answer.json()
        return found

    for city, decision in (("Graz", "added"), ("Graz", "merged"), ("Linz", "superseded")):
        before = (await client.get("/memories", params={"user_id": "ann"})).json()
        dry = await write(city, dry=True)
        assert (await client.get("/memories", params={"user_id": "ann"})).json()["memories"] == before["memories"]
        done = await write(city, dry=False)
        assert (dry["decision"], dry["reason"]) == (done["decision"], done["reason"])
        assert dry["decision"] == decision


async def test_a_dry_run_refuses_what_the_write_refuses(client: httpx.AsyncClient) -> None:
    answer = await client.post("/memories/typed/fact", params={"dry_run": True}, json={"user_id": "ann"})
    assert answer.status_code == 422
    misspelt = await client.post("/memories/typed/fact", params={"dryrun": True}, json=LIVES)
    assert misspelt.status_code == 422
    assert (await client.get("/memories", params={"user_id": "ann"})).json()["memories"] == []


async def test_a_secret_would_wait_in_a_dry_run(client: httpx.AsyncClient) -> None:
    body = {**LIVES, "predicate": "has-password", "object": "my password is Zq7!kd93Lm"}
    answer = await client.post("/memories/typed/fact", params={"dry_run": True}, json=body)
    assert answer.json()["decision"] == "review"
