"""Scopes are found by user, agent and kind, each with its number of memories."""

from __future__ import annotations

import pytest

from app.db.scopes import find_scopes, scopes_of_user
from app.model import Scope, ScopeKind
from tests.support.stores import Store

GLOBAL = Scope(kind=ScopeKind.GLOBAL)
ANA = Scope(kind=ScopeKind.USER, user_id="ana")
DESK = Scope(kind=ScopeKind.AGENT, agent_id="desk")
DESK_OF_ANA = Scope(kind=ScopeKind.AGENT, agent_id="desk", user_id="ana")
EVERY = {GLOBAL: 1, ANA: 2, DESK: 1, DESK_OF_ANA: 1}


async def fill(store: Store) -> None:
    for scope, memories in EVERY.items():
        for number in range(memories):
            await store.write("fact", scope, subject="office", predicate=f"has-part-{number}", object="desk")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, {*EVERY}),
        ({"user": "ana"}, {ANA, DESK_OF_ANA}),
        ({"agent": "desk"}, {DESK, DESK_OF_ANA}),
        ({"user": "ana", "agent": "desk"}, {DESK_OF_ANA}),
        ({"user": "ana", "kind": "user"}, {ANA}),
        ({"user": "ben"}, set()),
    ],
)
async def test_none_matches_any(store: Store, wanted: dict[str, str], found: set[Scope]) -> None:
    await fill(store)
    async with store.database.read(store.tenant) as session:
        named = {"user": None, "agent": None, **wanted}
        scopes = await find_scopes(session, store.tenant, **named)
    assert scopes == {one.id(store.tenant): EVERY[one] for one in found}
    assert list(scopes) == sorted(scopes)


async def test_the_scopes_of_a_user_are_named(store: Store) -> None:
    await fill(store)
    async with store.database.read(store.tenant) as session:
        of_ana = await scopes_of_user(session, store.tenant, "ana")
        of_nobody = await scopes_of_user(session, store.tenant, "")
    assert of_ana == {ANA.id(store.tenant): 2, DESK_OF_ANA.id(store.tenant): 1}
    assert of_nobody == {}
