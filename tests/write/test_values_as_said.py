"""Values are compared as values: what differs in a code is another value, what is written anew is shown anew."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.memory.candidate import WriteDecision
from tests.support.stores import Store

NOW = datetime.now(UTC) - timedelta(days=9)


async def said_in_turn(store: Store, *values: str, kind: str = "preference", **fields: str) -> list[WriteDecision]:
    """Write one value after another; return what was decided."""
    name = "preference_value" if kind == "preference" else "object"
    decided = []
    for day, value in enumerate(values):
        given: dict[str, Any] = {"about": {"stated_at": NOW + timedelta(days=day)}, **fields, name: value}
        [outcome] = await store.write_all([store.candidate(kind, **given)])
        decided.append(outcome.decision)
    return decided


async def shown(store: Store) -> list[str]:
    rows = await store.sql(
        "SELECT coalesce(payload ->> 'preference_value', payload ->> 'object') AS value, content FROM memories "
        "WHERE tenant_id = $1 AND status = 'active' ORDER BY stated_at",
        store.tenant,
    )
    assert all(row["value"].rstrip(".") in row["content"] for row in rows)
    return [row["value"] for row in rows]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("~/Projects/Site", "~/projects/site"),
        ("--Verbose", "--verbose"),
        ("kq7Rw2", "kq7rw2"),
        (".bashrc", "bashrc"),
        ("MAX_SIZE=5", "max_size=5"),
        ("D:\\Data", "D:\\data"),
    ],
)
@pytest.mark.parametrize("kind", ["preference", "fact"])
async def test_a_code_in_other_letters_is_another_value(store: Store, first: str, second: str, kind: str) -> None:
    fields = {"preference_key": "build.target"} if kind == "preference" else {"predicate": "builds-into"}
    decided = await said_in_turn(store, first, second, first, kind=kind, **fields)
    assert decided == [WriteDecision.ADDED, WriteDecision.SUPERSEDED, WriteDecision.SUPERSEDED]
    assert await shown(store) == [first]


@pytest.mark.parametrize(
    ("first", "second"),
    [("oak table", "Oak Table"), ("PYTHON 3", "Python 3"), ("vim", "Vim."), ("M\u00fcnchen Ost", "M\u00dcNCHEN OST")],
)
@pytest.mark.parametrize("kind", ["preference", "fact"])
async def test_the_same_words_in_another_spelling_are_shown_as_said_last(
    store: Store, first: str, second: str, kind: str
) -> None:
    fields = {"preference_key": "office.desk"} if kind == "preference" else {"predicate": "desk-is"}
    decided = await said_in_turn(store, first, second, kind=kind, **fields)
    assert decided == [WriteDecision.ADDED, WriteDecision.MERGED]
    assert await shown(store) == [second]


async def test_a_spelling_stated_before_corrects_nothing(store: Store) -> None:
    await said_in_turn(store, "harbour", "Harbour", preference_key="city.place")
    about = {"stated_at": NOW - timedelta(days=3)}
    await store.write_all(
        [store.candidate("preference", about=about, preference_key="city.place", preference_value="HARBOUR")]
    )
    assert await shown(store) == ["Harbour"]


async def test_values_beside_one_another_differ_by_their_letters(store: Store) -> None:
    fields: dict[str, Any] = {"predicate": "deploys-from", "stateful": False}
    for path in ("/opt/Tool", "/opt/tool", "/opt/Tool"):
        await store.write("fact", object=path, **fields)
    assert sorted(await shown(store)) == ["/opt/Tool", "/opt/tool"]


async def test_what_was_stored_under_an_earlier_rule_is_the_same_value(store: Store) -> None:
    await said_in_turn(store, "/var/Log", preference_key="logs.folder")
    await store.sql(
        "UPDATE memories SET slot_value = lower(slot_value), identity = '\\x00' WHERE tenant_id = $1", store.tenant
    )
    assert await said_in_turn(store, "/var/Log", preference_key="logs.folder") == [WriteDecision.MERGED]
