"""A write finds the names that it uses by their keys, however many names its tenant has."""

from __future__ import annotations

import pytest

from app.db.entities import write_lookup
from app.db.session import PLANNED_BY_KEY
from app.providers.wordllama import WordllamaEmbedder
from tests.support.plans import explained, searches
from tests.support.stores import USER, open_store

pytestmark = pytest.mark.long

NAMES = 1_500


@pytest.mark.one_server
async def test_names_are_looked_up_by_key_in_a_store_of_one_tenant(
    fresh_database_url: str, embedder: WordllamaEmbedder
) -> None:
    store = await open_store(fresh_database_url, embedder)
    facts = [
        store.candidate("fact", subject=f"boat {one}", predicate="lives-in", object="Ghent") for one in range(NAMES)
    ]
    await store.write_all(facts)
    await store.sql("ANALYZE")
    values = {"tenant": store.tenant, "scope": USER.id(store.tenant), "names": "{boat 7}", "aliases": "{boat 7}"}
    async with store.database.read(store.tenant, **PLANNED_BY_KEY) as session:
        [found] = await explained(session, write_lookup._KNOWN, values, "FORMAT JSON")
    await store.database.close()
    looked = list(searches(found[0]["Plan"]))
    aliases = [by for table, by in looked if table == "entity_aliases"]
    assert sorted("alias = " in by for by in aliases) == [False, True, True], "all of a scope's once, for comparison"
    assert all("(id = " in by for table, by in looked if table == "entities")
