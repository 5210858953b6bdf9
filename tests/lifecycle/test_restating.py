"""What had expired and is said again: the old belief comes back, unless it had ended or was replaced."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from app.memory.candidate import WriteDecision
from tests.lifecycle.aging import Aging

TEA: dict[str, Any] = {"predicate": "enjoys", "object": "tea", "stateful": False}
THEME = "editor.theme"


async def expired(old: Aging, type_name: str, about: dict[str, Any] | None = None, **payload: Any) -> Any:
    memory = await old.added(type_name, about, **payload)
    old.pass_(1_300)
    assert (await old.run("freshness"))["expired"] == 1
    return memory


async def actions(old: Aging, memory: Any) -> list[str]:
    return [row["action"] for row in await old.events(memory)]


@pytest.mark.parametrize(
    ("type_name", "payload"),
    [
        ("event", {"event_description": "deployed the API", "event_at": "2026-01-03"}),
        ("fact", TEA),
        ("preference", {"preference_key": THEME, "preference_value": "dark"}),
        ("entity", {"canonical_name": "Volkswagen", "entity_type": "organization"}),
        ("relation", {"from_entity": "User", "relation_type": "reports-to", "to_entity": "Sarah"}),
    ],
)
async def test_the_same_again_is_the_old_one_back(old: Aging, type_name: str, payload: dict[str, Any]) -> None:
    memory = await expired(old, type_name, **payload)
    again = await old.write(type_name, **payload)
    assert again.decision is WriteDecision.MERGED
    assert again.memory is not None
    assert again.memory.id == memory
    assert again.memory.parts.mentions == 2
    assert await old.status(memory) == "active"
    assert await actions(old, memory) == ["memory.expired", "memory.merged", "memory.revived"]
    [row] = await old.store.sql("SELECT status_since, updated_at FROM memories WHERE id = $1", memory)
    assert tuple(row) == (old.clock.now, old.clock.now)
    assert (await old.run("freshness"))["expired"] == 0


async def test_nearly_the_same_words_bring_it_back_too(old: Aging) -> None:
    said = {"content": "User really enjoys hiking in the mountains"}
    memory = await expired(old, "fact", said, predicate="enjoys", object="hiking", stateful=False)
    again = await old.write(
        "fact",
        {"content": "The user really enjoys hiking in the mountains"},
        predicate="enjoys",
        object="hiking",
        stateful=False,
    )
    assert again.memory is not None
    assert again.memory.id == memory
    assert await old.status(memory) == "active"


async def test_what_is_believed_is_preferred_to_what_has_expired(old: Aging) -> None:
    words = ("User really enjoys hiking in the mountains", "The user really enjoys hiking in the mountains")
    hiking = {"predicate": "enjoys", "object": "hiking", "stateful": False}
    first = await old.added("fact", {"content": words[0]}, **hiking)
    # Put beside each other as an import may, for a write would merge them.
    await old.store.sql("UPDATE memories SET type = 'decision' WHERE id = $1", first)
    second = await old.added("fact", {"content": words[1]}, **hiking)
    await old.store.sql("UPDATE memories SET type = 'fact', status = 'expired' WHERE id = $1", first)
    await old.store.sql("UPDATE memory_index SET status = 'expired' WHERE memory_id = $1", first)
    again = await old.write("fact", {"content": f"{words[0]}!!"}, **hiking)
    assert again.memory is not None
    assert again.memory.id == second
    assert await old.status(first) == "expired"


async def test_another_value_of_the_slot_simply_takes_it(old: Aging) -> None:
    dark = await expired(old, "preference", preference_key=THEME, preference_value="dark")
    light = await old.write("preference", preference_key=THEME, preference_value="light")
    assert light.decision is WriteDecision.ADDED
    assert light.affected == ()
    assert light.memory is not None
    assert not light.memory.contested
    assert await old.status(dark) == "expired"
    await old.use(dark)
    assert await old.revive(dark) == [], "its slot is held"
    dim = await old.write("preference", preference_key=THEME, preference_value="dark")
    assert dim.decision is WriteDecision.SUPERSEDED, "what is believed is replaced, by a new statement of its own"
    assert await old.status(dark) == "expired"


async def test_a_weak_word_against_an_expired_belief_stands_alone(old: Aging) -> None:
    await expired(old, "fact", predicate="works-at", object="Volkswagen")
    weak = {"source_strength": 0.2, "extractor_confidence": 0.9}
    added = await old.write("fact", weak, predicate="works-at", object="Rivian")
    assert added.decision is WriteDecision.ADDED
    assert added.memory is not None
    assert not added.memory.contested
    assert not added.memory.needs_review


async def test_an_earlier_statement_is_history_of_what_has_expired(old: Aging) -> None:
    dark = await expired(old, "preference", preference_key=THEME, preference_value="dark")
    late = {"stated_at": old.clock.now - timedelta(days=2_000)}
    added = await old.write("preference", late, preference_key=THEME, preference_value="light")
    assert added.memory is not None
    assert added.memory.superseded_by == dark
    assert (await old.status(added.memory.id), await old.status(dark)) == ("superseded", "expired")


async def test_what_had_ended_begins_anew(old: Aging) -> None:
    until = {"valid_until": old.clock.now + timedelta(days=3)}
    first = await old.added("fact", until, **TEA)
    home = await old.added("fact", until, predicate="stays-at", object="Rome")
    old.pass_(5)
    # Before the sweep: what is over is no longer what was said.
    again = await old.write("fact", predicate="stays-at", object="Rome")
    assert again.decision is WriteDecision.SUPERSEDED
    assert again.memory is not None
    assert again.memory.supersedes == home
    assert (await old.run("validity"))["ended"] == 1
    assert await old.status(first) == "expired"
    # And after it.
    second = await old.write("fact", **TEA)
    assert second.decision is WriteDecision.ADDED
    assert await old.status(first) == "expired"
    await old.use(first)
    assert await old.revive(first) == []


async def test_of_two_that_shared_a_slot_the_latest_returns(old: Aging) -> None:
    strong = await old.added("fact", predicate="works-at", object="Volkswagen")
    weak = await old.added(
        "fact", {"source_strength": 0.2, "extractor_confidence": 0.9}, predicate="works-at", object="Rivian"
    )
    old.pass_(1_300)
    assert (await old.run("freshness"))["expired"] == 2
    for memory in (strong, weak):
        await old.use(memory)
    [back] = await old.revive(strong, weak)
    assert back.id == strong
    assert (await old.status(strong), await old.status(weak)) == ("active", "expired")
