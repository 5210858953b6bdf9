"""The migration that brings names into one writing, on rows as they were written before."""

from __future__ import annotations

import asyncio

import pytest

from app.db.migrate import downgrade, upgrade
from tests.api.conftest import connected, running, settings_for, written
from tests.support import owner

pytestmark = pytest.mark.long

NAME = "Ren\u00e9e D\u2019Souza"
OTHER = "Ren\u00e9e D'Souza"


async def test_names_of_one_writing_are_asked_about_and_stay_two(fresh_database_url: str) -> None:
    settings = settings_for(fresh_database_url)
    async with running(settings) as app, connected(app) as client:
        await written(client, subject=OTHER, predicate="lives-in", object="Goa")
        kept = await written(client, subject="Bystander", predicate="plays", object="chess")
    rename = [
        ("UPDATE entities SET canonical_name = $2 WHERE canonical_name = $1", ("Bystander", NAME)),
        ("UPDATE entity_aliases SET alias = lower($2), display = $2 WHERE display = $1", ("Bystander", NAME)),
    ]
    for statement, values in rename:
        await owner.ask(fresh_database_url, statement, *values)
    await asyncio.to_thread(downgrade, fresh_database_url, "0022")
    await asyncio.to_thread(upgrade, fresh_database_url)
    async with running(settings) as app, connected(app) as client:
        answer = await client.get("/entities", params={"user_id": "u1", "name": NAME})
        assert {one["canonical_name"] for one in answer.json()["entities"]} == {NAME, OTHER}
        [item] = (await client.get("/admin/review")).json()["items"]
        assert item["memory"]["id"] == kept["id"]
        assert f"{NAME} may be the same as {OTHER}" in str(item)
        moved = await written(client, subject=OTHER, predicate="lives-in", object="Pune")
        assert moved["supersedes"] is not None
        await written(client, subject=NAME, predicate="plays", object="go")
        answer = await client.get("/entities", params={"user_id": "u1", "name": NAME})
        assert len(answer.json()["entities"]) == 2
    before = await owner.ask(fresh_database_url, "SELECT alias, display FROM entity_aliases ORDER BY display")
    await asyncio.to_thread(downgrade, fresh_database_url, "0022")
    await asyncio.to_thread(upgrade, fresh_database_url)
    assert await owner.ask(fresh_database_url, "SELECT alias, display FROM entity_aliases ORDER BY display") == before
