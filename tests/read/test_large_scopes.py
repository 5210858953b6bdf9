"""A scope is asked about alike whether its rows are in the indexes of large scopes or all read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from app.model import Scope, ScopeKind, Visibility
from app.read.values import Arm, QueryRequest
from app.services.index_maintenance import IndexMaintenance
from tests.read.conftest import NOW, Store

TEAM = Scope(kind=ScopeKind.GLOBAL)

WAYS: dict[str, dict[str, Any]] = {
    "words": {"query": "Who plays the cello in Oslo?"},
    "words misspelt": {"query": "Who plays the celloo in Oslo?"},
    "what was said in a window": {"query": "What was said about the orchestra last week?"},
    "metadata": {"query": "Who plays the cello?", "metadata": {"project": "atlas"}},
    "a description": {"query": "What does my sister play?"},
}


async def filled(store: Store) -> datetime:
    for scope, who in ((TEAM, ("Priya", "Olu", "Clara")), (store.candidate("fact", _plays("x")).scope, ("Ben", "Eva"))):
        await store.write(
            *(
                store.candidate(
                    "fact", _plays(one), scope, **({"metadata": {"project": "atlas"}} if place % 2 == 0 else {})
                )
                for place, one in enumerate(who)
            ),
            *(
                store.candidate(
                    "episodic",
                    {"content": f"{one} told us about the orchestra in Oslo.", "session_id": "s", "speaker": one},
                    scope,
                    stated_at=NOW.replace(day=6 + place),
                )
                for place, one in enumerate(who)
            ),
        )
    await store.put("fact", {"subject": "user", "predicate": "has-sibling", "object": "Clara"})
    return datetime.now(UTC)


def _plays(who: str) -> dict[str, Any]:
    return {"subject": who, "predicate": "plays", "object": "the cello", "stateful": False}


async def answered(store: Store, **asked: Any) -> dict[Any, Any]:
    request = QueryRequest(now=NOW, visibility=Visibility(user_id="u1"), **asked)
    found = await store.reads.answer(store.tenant, request)
    arms = {arm: [(memory, round(score, 6)) for memory, score in hits] for arm, hits in found.arms.items()}
    return {"arms": arms, "hits": [one.memory.id for one in found.result.hits]}


@pytest.mark.parametrize("large", ["user_id = 'u1'", "user_id IS NULL", "true"], ids=["own", "shared", "both"])
async def test_large_and_small_scopes_give_the_same_answers(store: Store, large: str) -> None:
    then = await filled(store)
    every = {
        (way, known): {**asked, **({"known_at": then} if known else {})}
        for way, asked in WAYS.items()
        for known in (False, True)
    }
    before = {way: await answered(store, **asked) for way, asked in every.items()}
    assert all(one["hits"] for one in before.values())
    upkeep = IndexMaintenance(database=store.database, language="english")
    for [scope] in await store.sql(f"SELECT id FROM scopes WHERE tenant_id = $1 AND {large}", store.tenant):  # noqa: S608 - ours
        assert await upkeep.index(store.tenant, scope)
    assert {way: await answered(store, **asked) for way, asked in every.items()} == before


async def test_a_large_scope_is_searched_by_its_words(store: Store) -> None:
    """A row that its scope says is indexed, and is not, is not found: so it is not read either."""
    await filled(store)
    assert (await answered(store, **WAYS["words"]))["arms"][Arm.LEXICAL]
    await store.sql("UPDATE scopes SET indexed = true WHERE tenant_id = $1", store.tenant)
    found = await answered(store, **WAYS["words"])
    assert not found["arms"].get(Arm.LEXICAL)
