"""A batch means what its items mean one after another, where they name, repeat or end what others of it say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from app.memory.candidate import Candidate, WriteDecision
from tests.support.stores import Store

Said = tuple[str, dict[str, Any]]
MakeStore = Callable[[], Awaitable[Store]]


def fact(subject: str, predicate: str, what: str, **more: object) -> Said:
    return ("fact", {"subject": subject, "predicate": predicate, "object": what, **more})


CASES: dict[str, Sequence[Said]] = {
    "three that are alike by way of the second": [
        ("semantic", {"content": content})
        for content in (
            "the chess club meets daily",
            "The chess club meets every day",
            "chess club meets daily.",
        )
    ],
    "a name that the first item makes known is an object of the second, said twice": [
        fact("Oona", "has-height", "tall"),
        fact("Piet", "trusts", "Oona"),
        fact("Piet", "trusts", "Oona"),
    ],
    "a literal that becomes the name of somebody": [
        fact("Piet", "likes", "Quill"),
        ("relation", {"from_entity": "Rafe", "relation_type": "works-with", "to_entity": "Quill"}),
        fact("Piet", "likes", "Quill"),
    ],
    "a company and its misspelling": [
        fact("Piet", "works-at", "Mitsubishi"),
        fact("Oona", "works-at", "Mitsubichi"),
        fact("Oona", "works-at", "Mitsubishi"),
    ],
    "two forms of a name": [fact("Margaret Oduya", "has-height", "tall"), fact("Peggy Oduya", "has-age", "forty")],
    "a company and a place of one name": [fact("Piet", "works-at", "Saturn"), fact("Oona", "lives-in", "Saturn")],
    "one name in two spellings": [fact("OONA", "has-height", "tall"), fact("oona", "has-age", "forty")],
    "a name of two kinds that is then a subject": [
        ("entity", {"canonical_name": "Korvan", "entity_type": "organization"}),
        fact("Piet", "lives-in", "Korvan"),
        fact("Korvan", "lives-in", "Lumen"),
        fact("Korvan", "lives-in", "Lumen"),
    ],
    "a name that only something doubted says before": [
        fact("Margaret Oduya", "has-height", "tall"),
        (
            "fact",
            {"subject": "M. Oduya", "predicate": "has-age", "object": "forty", "about": {"source_strength": 0.05}},
        ),
        fact("M. Oduya", "has-role", "cook"),
    ],
    "a tie, and the name again": [
        fact("Oona", "has-height", "tall"),
        ("entity", {"canonical_name": "Oona", "entity_type": "person", "attributes": {"relationship": "user's aunt"}}),
        fact("Oona", "has-age", "forty"),
    ],
}


def candidates(store: Store, said: Sequence[Said]) -> list[Candidate]:
    return [store.candidate(kind, **payload) for kind, payload in said]


async def told(store: Store) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return what is stored, without ids and times: memories, and entities with their names."""
    memories = await store.sql(
        "SELECT type, content, status, review_reason, mentions FROM memories WHERE tenant_id = $1 ORDER BY 1, 2, 3",
        store.tenant,
    )
    entities = await store.sql(
        """SELECT e.canonical_name, e.entity_type, e.attributes ->> 'relationship', e.mention_count,
            array(SELECT a.alias FROM entity_aliases a WHERE a.tenant_id = $1 AND a.entity_id = e.id ORDER BY 1)
        FROM entities e WHERE e.tenant_id = $1 ORDER BY 1, 2, 3""",
        store.tenant,
    )
    return [tuple(one) for one in memories], [tuple(one) for one in entities]


@pytest.mark.parametrize("case", CASES)
async def test_a_batch_leaves_what_its_items_leave_one_after_another(make_store: MakeStore, case: str) -> None:
    together, apart = await make_store(), await make_store()
    batch = await together.write_all(candidates(together, CASES[case]))
    single = [(await apart.write_all([one]))[0] for one in candidates(apart, CASES[case])]
    assert [one.decision for one in batch] == [one.decision for one in single]
    assert await told(together) == await told(apart)


async def test_the_same_words_say_the_same_when_their_object_becomes_a_name(store: Store) -> None:
    outcomes = [
        (await store.write_all([one]))[0]
        for one in candidates(store, CASES["a literal that becomes the name of somebody"])
    ]
    assert [one.decision for one in outcomes] == [WriteDecision.ADDED, WriteDecision.ADDED, WriteDecision.MERGED]
