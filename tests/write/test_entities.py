from __future__ import annotations

import pytest

from app.memory.candidate import WriteDecision
from app.model import Scope, ScopeKind
from app.write.resolve import similarity
from tests.support.stores import Store


async def entities(store: Store) -> set[str]:
    rows = await store.sql(
        "SELECT canonical_name FROM entities WHERE tenant_id = $1 AND merged_into IS NULL AND canonical_name <> 'user'",
        store.tenant,
    )
    return {row["canonical_name"] for row in rows}


async def test_three_names_are_one_entity(store: Store) -> None:
    await store.write("entity", canonical_name="Priya", entity_type="person", aliases=["P. Sharma", "the EM"])
    await store.write("fact", subject="P. Sharma", predicate="has-role", object="engineering manager")
    await store.write("relation", from_entity="Sarah", relation_type="works for", to_entity="the EM")
    await store.write("relation", from_entity="priya", relation_type="manages", to_entity="Project Apollo")
    assert await entities(store) == {"Priya", "Sarah", "Project Apollo"}


async def test_names_met_before_they_are_declared_one_are_united(store: Store) -> None:
    await store.write("fact", subject="P. Sharma", predicate="has-role", object="engineering manager")
    await store.write("relation", from_entity="Sarah", relation_type="reports-to", to_entity="Priya")
    await store.write("entity", canonical_name="Priya", entity_type="person", aliases=["P. Sharma"])
    assert await entities(store) == {"Priya", "Sarah"}
    later = await store.write("fact", subject="P. Sharma", predicate="lives-in", object="Berlin")
    earlier = await store.write("fact", subject="Priya", predicate="lives-in", object="Berlin")
    assert (later.decision, earlier.decision) == (WriteDecision.ADDED, WriteDecision.MERGED)


async def test_a_typo_in_an_organization_is_the_same_organization(store: Store) -> None:
    await store.write("fact", predicate="works-at", object="Volkswagen")
    outcome = await store.write("fact", predicate="works-at", object="Volkswagon")
    assert outcome.decision is WriteDecision.MERGED
    assert await entities(store) == {"Volkswagen"}


@pytest.mark.parametrize(("first", "second"), [("Martin", "Martina"), ("Jon", "Jan"), ("Daniel", "Daniela")])
async def test_people_whose_names_are_near_stay_apart(store: Store, first: str, second: str) -> None:
    for name in (first, second):
        await store.write("entity", canonical_name=name, entity_type="person")
    assert await entities(store) == {first, second}


async def test_namesakes_of_different_types_stay_apart(store: Store) -> None:
    await store.write("entity", canonical_name="Jordan", entity_type="person")
    await store.write("entity", canonical_name="Jordan", entity_type="place")
    rows = await store.sql("SELECT entity_type FROM entities WHERE tenant_id = $1", store.tenant)
    assert sorted(row["entity_type"] for row in rows) == ["person", "place"]


async def test_a_nickname_that_two_people_share_does_not_make_them_one(store: Store) -> None:
    await store.write("entity", canonical_name="Sarah Lindqvist", entity_type="person", aliases=["Sarah"])
    other = await store.write("entity", canonical_name="Sarah Miller", entity_type="person", aliases=["Sarah"])
    assert other.decision is WriteDecision.ADDED
    assert await entities(store) == {"Sarah Lindqvist", "Sarah Miller"}


async def test_one_users_priya_is_not_anothers(store: Store) -> None:
    for user in ("u1", "u2"):
        await store.write(
            "entity", Scope(kind=ScopeKind.USER, user_id=user), canonical_name="Priya", entity_type="person"
        )
    rows = await store.sql("SELECT id FROM entities WHERE tenant_id = $1", store.tenant)
    assert len({row["id"] for row in rows}) == 2


async def test_an_entity_declared_again_gathers_aliases_and_attributes_and_is_found_by_them(store: Store) -> None:
    await store.write("entity", canonical_name="Volkswagen", entity_type="organization", aliases=["VW"])
    again = await store.write(
        "entity",
        canonical_name="Volkswagen",
        entity_type="organization",
        aliases=["Volkswagen Group"],
        attributes={"headquarters": "Wolfsburg"},
    )
    assert again.decision is WriteDecision.MERGED
    assert again.memory is not None
    assert again.memory.payload["aliases"] == ["VW", "Volkswagen Group"]
    assert "Wolfsburg" in again.memory.content
    rows = await store.sql(
        "SELECT tsvector_to_array(tsv) AS terms FROM memory_index WHERE tenant_id = $1 AND tsv IS NOT NULL",
        store.tenant,
    )
    assert len(rows) == 1
    assert "wolfsburg" in rows[0]["terms"]


def test_likeness_meets_the_seeds_own_example() -> None:
    assert similarity("volkswagon", "volkswagen") >= 0.85
