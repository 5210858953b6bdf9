"""Erasing a memory: nobody is asked any more whether another name means what it told of, and no record asks it."""

from __future__ import annotations

from typing import Any

import httpx

from tests.erasure.dumps import dump, found
from tests.erasure.test_names import ANA, declared, erase
from tests.erasure.test_users import written
from tests.support import owner

ASKED = "Zephyrina Vexillum may be the same as Zephyrine Vexillum"

BACKFILL = f"""
    WITH begun AS (
        INSERT INTO backfills (tenant_id, id, type, sources, classifier, status, actor, created_at)
        SELECT id, gen_random_uuid(), 'fact', ARRAY['fact'], 'rules', 'committed', 'somebody', now() FROM tenants
        WHERE id IN (SELECT tenant_id FROM memories)
        RETURNING tenant_id, id
    )
    INSERT INTO backfill_items (tenant_id, backfill_id, memory_id, scope_id, unit, state, effect, source, before,
        after, rests_on, seen_at)
    SELECT m.tenant_id, b.id, m.id, m.scope_id, 'u', 'planned', 'e', 'rules',
        jsonb_build_object('type', 'fact', 'review_note', m.review_note),
        jsonb_build_object('review_note', 'it is new; ' || m.review_note), '{{}}', now()
    FROM memories m JOIN begun b ON b.tenant_id = m.tenant_id WHERE m.review_note = '{ASKED}'
"""  # noqa: S608 - our own words


async def waiting(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    answer = await client.get("/admin/review", params=ANA)
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


async def asked_about(client: httpx.AsyncClient, **fields: Any) -> str:
    """State something of somebody whose name is like another's; return the path of the memory."""
    more = {"subject": "Zephyrina Vexillum", "predicate": "lives-in", "object": "Oslo", **fields}
    memory = await written(client, "fact", **more, **ANA)
    return f"/memories/{memory['memory']['id']}"


async def test_a_question_about_a_name_that_went_is_nowhere(client: httpx.AsyncClient, url: str) -> None:
    gone, _ = await declared(client, "Zephyrine Vexillum")
    body = {"content": "Zephyrina Vexillum lives in Oslo.", "session_id": "s", **ANA}
    turn = (await client.post("/turns?mode=sync", json=body, headers={"Idempotency-Key": "said"})).json()["turns"][0]
    [item] = await waiting(client)
    assert item["note"] == ASKED
    path = f"/memories/{item['memory']['id']}"
    await client.patch(path, json={"topic": "places"}, headers={"Idempotency-Key": "patch"})
    places = {one.split(" in ")[1].split(":")[0] for one in found(await dump(url), [ASKED])}
    assert {"memories", "memory_past", "audit_events", "turns", "idempotency_keys"} <= places
    before = (await client.get(path)).json()

    await erase(client, gone)

    assert found(await dump(url), ["Zephyrine"]) == []
    assert await waiting(client) == []
    assert await owner.ask(url, "SELECT FROM review_counts WHERE waiting > 0") == []
    after = (await client.get(path)).json()
    assert (after["status"], after["confidence"]) == ("active", before["confidence"])
    assert not after["needs_review"]
    told = (await client.get(f"/turns/{turn['id']}")).json()["candidates"]
    assert "nothing like it was known" in {one["reason"] for one in told}
    actions = [one["action"] for one in (await client.get(f"{path}/history")).json()["events"]]
    assert actions[-2:] == ["memory.standing", "review.settled"]
    verified = (await client.get("/admin/audit/verify", params={"memories": True})).json()
    assert verified["intact"] is True, verified


async def test_a_question_about_another_name_is_still_put(client: httpx.AsyncClient, url: str) -> None:
    gone, _ = await declared(client, "Zephyrine Vexillum")
    await written(client, "fact", subject="Bo", predicate="lives-in", object="Iceland", **ANA)
    await asked_about(client, object="Ireland")
    other = "Ireland may be the same as Iceland"
    [item] = await waiting(client)
    assert set(item["note"].split("; ")) == {ASKED, other}
    await erase(client, gone)
    [item] = await waiting(client)
    assert item["note"] == other
    assert found(await dump(url), ["Zephyrine"]) == []


async def test_a_backfill_does_not_bring_a_question_back(client: httpx.AsyncClient, url: str) -> None:
    gone, _ = await declared(client, "Zephyrine Vexillum")
    await asked_about(client)
    await owner.ask(url, BACKFILL)
    await erase(client, gone)
    assert found(await dump(url), ["Zephyrine"]) == []
    [row] = await owner.ask(url, "SELECT before::text AS before, after::text AS after FROM backfill_items")
    assert (row["before"], row["after"]) == ('{"type": "fact", "review_note": null}', '{"review_note": "it is new"}')


async def test_what_else_a_person_should_look_at_stays(client: httpx.AsyncClient, url: str) -> None:
    gone, _ = await declared(client, "Zephyrine Vexillum")
    path = await asked_about(client)
    answer = await client.post(f"{path}/feedback", json={"feedback": "wrong"})
    assert answer.status_code == 200, answer.text
    [item] = await waiting(client)
    assert ASKED in item["note"]
    await erase(client, gone)
    [item] = await waiting(client)
    assert (item["reason"], item["note"]) == ("reported_wrong", "reported wrong")
    assert found(await dump(url), ["Zephyrine"]) == []


async def test_a_name_that_another_memory_gives_is_still_asked_about(client: httpx.AsyncClient) -> None:
    gone, _ = await declared(client, "Zephyrine Vexillum")
    await written(client, "fact", subject="Zephyrine Vexillum", predicate="likes", object="sailing", **ANA)
    await asked_about(client)
    await erase(client, gone)
    [item] = await waiting(client)
    assert item["note"] == ASKED


async def test_another_scope_keeps_its_questions(client: httpx.AsyncClient) -> None:
    gone, _ = await declared(client, "Zephyrine Vexillum")
    bea = {"user_id": "bea"}
    await written(client, "entity", canonical_name="Zephyrine Vexillum", entity_type="person", **bea)
    await written(client, "fact", subject="Zephyrina Vexillum", predicate="lives-in", object="Oslo", **bea)
    await erase(client, gone)
    [item] = (await client.get("/admin/review", params=bea)).json()["items"]
    assert item["note"] == ASKED
