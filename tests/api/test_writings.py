"""One name in several writings is one person, shown as it was first said, wherever names are compared."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.conftest import written

WRITINGS = [
    ("Siobh\u00e1n O\u2019Dwyer", ["Siobh\u00e1n O'Dwyer", "Siobh\u00e1n O\u02bcDwyer", "siobha\u0301n o\u2018dwyer"]),
    ("Jean-Marc Roy", ["Jean\u2010Marc Roy", "Jean\u2011Marc Roy", "Jean\u2013Marc Roy", "Jean\u2015Marc Roy"]),
    ("Farida Haddad", ["\u2068Farida Haddad\u2069", "\u202aFarida\u202c Haddad", "Fari\u2060da Haddad"]),
    ("\u062e\u0627\u0644\u062f", ["\u062e\u064e\u0627\u0644\u0650\u062f", "\u062e\u0640\u0627\u0644\u062f"]),
    ("\u05d3\u05d5\u05d3", ["\u05d3\u05b8\u05bc\u05d5\u05b4\u05d3"]),
    ("Irmak Yi\u011fit", ["\u0130rmak Yi\u011fit", "IRMAK Y\u0130\u011e\u0130T", "\u0131rmak yi\u011fit"]),
    ("Nikos", ["\uff2e\uff49\uff4b\uff4f\uff53"]),
]


async def people(client: httpx.AsyncClient, **asked: Any) -> set[str]:
    answer = await client.get("/entities", params={"user_id": "u1", "limit": 100, **asked})
    assert answer.status_code == 200, answer.text
    return {one["canonical_name"] for one in answer.json()["entities"]} - {"user"}


@pytest.mark.parametrize(("first", "others"), WRITINGS)
async def test_every_writing_of_a_name_is_one_entity(client: httpx.AsyncClient, first: str, others: list[str]) -> None:
    await written(client, subject=first, predicate="lives-in", object="Porto")
    for other in others:
        await written(client, subject=other, predicate="plays", object=f"game {len(other)}", stateful=False)
    assert {first} <= await people(client)
    for writing in (first, *others):
        assert await people(client, name=writing) == {first}
        listed = await client.get("/memories", params={"user_id": "u1", "subject": writing})
        assert listed.json()["memories"], writing
        found = await client.post("/query", json={"query": f"Where does {writing} live?", "user_id": "u1"})
        contents = [one["memory"]["content"] for one in found.json()["memories"]]
        assert any("Porto" in content for content in contents), (writing, contents)


async def test_letters_that_tell_words_apart_keep_names_apart(client: httpx.AsyncClient) -> None:
    for name in ("Muller", "M\u00fcller", "\u30cf\u30ca", "\u30d0\u30ca", "NET", ".NET", "Jon", "Jan"):
        await written(client, subject=name, predicate="plays", object="go", stateful=False)
    assert len(await people(client)) == 8
