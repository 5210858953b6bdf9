from __future__ import annotations

from tests.api.conftest import Tenant


async def furnish(tenant: Tenant) -> dict[str, str]:
    """Priya with her other names, and a chain of relations; return ids by name."""
    for type_name, body in (
        ("entity", {"canonical_name": "Priya", "entity_type": "person", "aliases": ["P. Sharma", "the EM"]}),
        ("relation", {"from_entity": "Sarah", "relation_type": "works for", "to_entity": "the EM"}),
        ("relation", {"from_entity": "Priya", "relation_type": "manages", "to_entity": "Apollo"}),
        ("relation", {"from_entity": "Apollo", "relation_type": "uses", "to_entity": "Postgres"}),
    ):
        answer = await tenant.client.post(f"/memories/typed/{type_name}", json={"user_id": "u1", **body})
        assert answer.status_code == 201, answer.text
    found = (await tenant.client.get("/entities", params={"user_id": "u1"})).json()["entities"]
    return {one["canonical_name"]: one["id"] for one in found}


async def test_an_entity_is_found_by_any_of_its_names(tenant: Tenant) -> None:
    ids = await furnish(tenant)
    assert set(ids) == {"Priya", "Sarah", "Apollo", "Postgres"}
    for name in ("priya", "P. Sharma", "THE EM"):
        found = (await tenant.client.get("/entities", params={"all": True, "name": name})).json()["entities"]
        assert [one["id"] for one in found] == [ids["Priya"]]
        assert set(found[0]["aliases"]) == {"P. Sharma", "the EM"}
    nobody = (await tenant.client.get("/entities", params={"user_id": "u2"})).json()
    assert nobody == {"entities": [], "next_cursor": None}


async def test_entities_come_in_pages(tenant: Tenant) -> None:
    ids = await furnish(tenant)
    seen: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(4):
        page = (await tenant.client.get("/entities", params={"all": True, "limit": 1, **cursor})).json()
        seen += [one["id"] for one in page["entities"]]
        cursor = {"cursor": page["next_cursor"] or ""}
    assert sorted(seen) == sorted(ids.values())
    assert page["next_cursor"] is None
    other = await tenant.client.get("/entities", params={"limit": 1, "name": "Priya", "cursor": "nonsense"})
    assert other.status_code == 422


async def test_the_graph_grows_with_its_depth(tenant: Tenant) -> None:
    ids = await furnish(tenant)

    async def edges(depth: int) -> set[tuple[str, str, str, int]]:
        answer = (await tenant.client.get(f"/entities/{ids['Sarah']}/graph", params={"depth": depth})).json()
        return {
            (one["from_entity"]["name"], one["relation_type"], one["to_entity"]["name"], one["hop"])
            for one in answer["relations"]
        }

    one = {("Sarah", "reports-to", "Priya", 1)}
    two = one | {("Priya", "manages", "Apollo", 2)}
    assert await edges(1) == one
    assert await edges(2) == two
    assert await edges(3) == two | {("Apollo", "uses", "Postgres", 3)}
    too_deep = await tenant.client.get(f"/entities/{ids['Sarah']}/graph", params={"depth": 9})
    assert too_deep.status_code == 422


async def test_what_is_no_entity_is_not_found(tenant: Tenant) -> None:
    for path in ("/entities/ent_" + "0" * 32, "/entities/mem_" + "0" * 32, "/entities/nonsense"):
        assert (await tenant.client.get(path)).status_code == 404
        assert (await tenant.client.get(f"{path}/graph")).status_code == 404


async def describe(tenant: Tenant, said: str, **attributes: str) -> str:
    """Say at a time what a museum is like; return its id."""
    body = {"canonical_name": "Harbour Museum", "entity_type": "place", "attributes": attributes, "occurred_at": said}
    answer = await tenant.client.post("/memories/typed/entity", json={"user_id": "u1", **body})
    assert answer.status_code == 201, answer.text
    [found] = (await tenant.client.get("/entities", params={"user_id": "u1", "name": "Harbour Museum"})).json()[
        "entities"
    ]
    return str(found["id"])


async def test_a_changed_attribute_leaves_what_it_was_and_until_when(tenant: Tenant) -> None:
    await describe(tenant, "2025-03-01T00:00:00Z", director="Mads Holm", rooms="14")
    await describe(tenant, "2025-09-01T00:00:00Z", director="Ines Rocha")
    entity = await describe(tenant, "2026-02-01T00:00:00Z", director="Tomas Berg", rooms="15")
    found = (await tenant.client.get(f"/entities/{entity}")).json()
    assert found["attributes"] == {"director": "Tomas Berg", "rooms": "15"}
    former = [(one["name"], one["value"]) for one in found["former_attributes"]]
    assert former[-1] == ("director", "Mads Holm")
    assert sorted(former[:2]) == [("director", "Ines Rocha"), ("rooms", "14")]
    first = found["former_attributes"][-1]["retired_at"]
    then = (await tenant.client.get(f"/entities/{entity}", params={"known_at": first})).json()
    assert then["attributes"]["director"] == "Ines Rocha"
    assert [one["value"] for one in then["former_attributes"]] == ["Mads Holm"]


async def test_an_earlier_statement_told_late_leaves_the_attributes_of_now(tenant: Tenant) -> None:
    await describe(tenant, "2026-02-01T00:00:00Z", director="Tomas Berg")
    entity = await describe(tenant, "2023-02-01T00:00:00Z", director="Lea Brandt")
    found = (await tenant.client.get(f"/entities/{entity}")).json()
    assert (found["attributes"], found["former_attributes"]) == ({"director": "Tomas Berg"}, [])


async def test_erasing_what_was_said_of_an_entity_erases_what_it_was(tenant: Tenant) -> None:
    for said, place in (("2025-03-01T00:00:00Z", "Odense"), ("2026-03-01T00:00:00Z", "Aarhus")):
        entity = await describe(tenant, said, place=place)
    fact = {"user_id": "u1", "subject": "Harbour Museum", "predicate": "located-at", "object": "Aarhus"}
    assert (await tenant.client.post("/memories/typed/fact", json=fact)).status_code == 201
    [told] = (await tenant.client.get("/memories", params={"user_id": "u1", "type": "entity"})).json()["memories"]
    assert (await tenant.client.delete(f"/memories/{told['id']}")).status_code == 200
    assert "Odense" not in (await tenant.client.get(f"/entities/{entity}")).text


async def test_erasing_an_earlier_statement_keeps_the_attributes_of_now(tenant: Tenant) -> None:
    entity = await describe(tenant, "2026-02-01T00:00:00Z", director="Tomas Berg")
    await describe(tenant, "2023-02-01T00:00:00Z", director="Lea Brandt")
    listed = (await tenant.client.get("/memories", params={"user_id": "u1", "status": "superseded"})).json()["memories"]
    assert (await tenant.client.delete(f"/memories/{listed[0]['id']}")).status_code == 200
    assert (await tenant.client.get(f"/entities/{entity}")).json()["attributes"] == {"director": "Tomas Berg"}
