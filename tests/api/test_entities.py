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
