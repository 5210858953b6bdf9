"""Each worker on a few memories: what it changes, what it leaves, and what it writes down about it."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from app.errors import Conflict
from app.model import Category, SpeechAct
from tests.lifecycle.aging import START, Aging


async def test_an_event_expires_after_a_hundred_days_and_says_by_which_numbers(old: Aging) -> None:
    event = await old.added("event", event_description="deployed the API")
    old.pass_(99)
    assert await old.run("freshness") == {"expired": 0}
    now = old.pass_(1)
    assert await old.run("freshness") == {"expired": 1}
    assert await old.status(event) == "expired"
    [told] = await old.events(event)
    assert (told["action"], told["actor"], told["occurred_at"]) == ("memory.expired", "worker:freshness", now)
    detail = json.loads(told["detail"])
    assert detail["freshness"] == pytest.approx(2 ** (-100 / 30))
    assert detail["days"] == 100
    assert (detail["half_life_days"], detail["floor"], detail["boost"], detail["access_count"]) == (30, 0, 1, 0)
    [row] = await old.store.sql("SELECT retired_at, ended_at, status_since FROM memories WHERE id = $1", event)
    assert (row["retired_at"], row["ended_at"], row["status_since"]) == (None, None, now)
    assert await old.run("freshness") == {"expired": 0}
    assert len(await old.events(event)) == 1


async def test_gc_forgets_and_deletes(old: Aging) -> None:
    weak = {"speech_act": SpeechAct.HYPOTHETICAL}
    event = await old.added("event", weak, event_description="deployed the API")
    strong = await old.added("event", event_description="met the team in Berlin")
    old.pass_(100)
    await old.run("freshness")
    old.pass_(89.9)
    assert await old.run("gc") == {"purged": 0, "forgotten": 0}
    old.pass_(0.1)
    assert await old.run("gc") == {"purged": 0, "forgotten": 1}
    assert await old.status(event) == "forgotten"
    old.pass_(30)
    assert await old.run("gc") == {"purged": 1, "forgotten": 0}
    assert await old.store.sql("SELECT 1 FROM memories WHERE id = $1", event) == []
    assert [one["action"] for one in await old.events(event)] == ["memory.expired", "memory.forgotten", "memory.purged"]
    assert await old.status(strong) == "expired"
    assert await old.run("lexical-statistics") == {"scopes": 1, "corrected": 0, "terms": 0}


@pytest.mark.parametrize(
    ("days", "confidence", "forgotten"),
    [
        (90, 0.30, True),
        (90, 0.1 + 0.2, True),
        (89.99, 0.30, False),
        (90, 0.31, False),
        (1000, 0.9, False),
        (1000, 0.0, True),
    ],
)
async def test_forgetting_takes_ninety_days_and_little_confidence(
    old: Aging, days: float, confidence: float, *, forgotten: bool
) -> None:
    event = await old.added("event", event_description="deployed the API")
    old.pass_(100)
    await old.run("freshness")
    await old.store.sql("UPDATE memories SET confidence = $2 WHERE id = $1", event, confidence)
    old.pass_(days)
    assert await old.run("gc") == {"purged": 0, "forgotten": int(forgotten)}


async def test_validity_ends(old: Aging) -> None:
    fact = await old.added("fact", {"valid_until": START + timedelta(days=2)}, predicate="stays-at", object="Rome")
    await old.added("fact", predicate="likes", object="tea", stateful=False)
    old.pass_(1.99)
    assert await old.run("validity") == {"ended": 0}
    old.pass_(0.01)
    assert await old.run("validity") == {"ended": 1}
    assert await old.status(fact) == "expired"
    [told] = await old.events(fact)
    assert told["action"] == "memory.ended"


async def test_promotion(old: Aging) -> None:
    fact = await old.added("fact", predicate="has-name", object="Alex")
    for session in ("a", "b", "c", "c", "c"):
        old.pass_(14)
        await old.use(fact, count=2, session=session)
    assert await old.run("promotion", dry_run=True) == {"promoted": 1}
    assert await old.run("promotion") == {"promoted": 1}
    memory = await old.memory(fact)
    assert (memory.category, memory.half_life_days, memory.floor) == (Category.CORE, 120, 0.6)
    old.pass_(5_000)
    assert await old.run("freshness") == {"expired": 0}
    assert await old.run("promotion") == {"promoted": 0}


@pytest.mark.parametrize(
    ("accesses", "stability", "sessions", "promoted"),
    [(10, 0.85, 3, True), (9, 1.0, 5, False), (50, 0.84, 5, False), (50, 1.0, 2, False)],
)
async def test_core_takes_all_three(
    old: Aging, accesses: int, stability: float, sessions: int, *, promoted: bool
) -> None:
    fact = await old.added("fact", predicate="has-name", object="Alex")
    used = "UPDATE memory_usage SET access_count = $2, stability = $3, sessions = $4 WHERE memory_id = $1"
    await old.store.sql(used, fact, accesses, stability, [str(one) for one in range(sessions)])
    assert await old.run("promotion", dry_run=True) == {"promoted": int(promoted)}
    for other in ("category = 'core', half_life_days = 120", "category = 'procedural', half_life_days = NULL"):
        await old.store.sql(f"UPDATE memories SET {other} WHERE id = $1", fact)  # noqa: S608
        assert await old.run("promotion", dry_run=True) == {"promoted": 0}


COUNTED = (
    "SELECT * FROM scopes WHERE tenant_id = $1",
    "SELECT * FROM lexical_terms WHERE tenant_id = $1 ORDER BY term",
    "SELECT id, mention_count FROM entities WHERE tenant_id = $1 ORDER BY id",
)


async def test_counts_are_mended(old: Aging) -> None:
    await old.added("fact", predicate="works-at", object="Volkswagen")
    await old.added("fact", predicate="lives-in", object="Berlin")
    before = [await old.store.sql(query, old.store.tenant) for query in COUNTED]
    assert await old.run("lexical-statistics") == {"scopes": 1, "corrected": 0, "terms": 0}
    assert await old.run("mention-counts") == {"corrected": 0}
    for spoil in (
        "UPDATE scopes SET memory_count = 9, context_count = 9, lexical_documents = 9, lexical_length = 9",
        "UPDATE lexical_terms SET documents = documents + 1",
        "INSERT INTO lexical_terms SELECT tenant_id, id, 5, 3 FROM scopes",
        "UPDATE entities SET mention_count = 7",
    ):
        await old.store.sql(f"{spoil} WHERE tenant_id = $1", old.store.tenant)
    for dry_run in (True, False):
        found = await old.run("lexical-statistics", dry_run=dry_run)
        assert found == {"scopes": 1, "corrected": 1, "terms": len(before[1]) + 1}
        assert await old.run("mention-counts", dry_run=dry_run) == {"corrected": len(before[2])}
    assert [await old.store.sql(query, old.store.tenant) for query in COUNTED] == before


@pytest.mark.parametrize("swept", [False, True])
@pytest.mark.parametrize(("ends", "later"), [(300, 400), (20, None)])
async def test_an_end_that_is_put_off_was_none_whether_or_not_a_worker_ran(
    old: Aging, ends: int, later: int | None, *, swept: bool
) -> None:
    """However long ago it was stated: what lasts beyond today has not faded."""
    loan = await old.added(
        "event", {"valid_until": START + timedelta(days=ends)}, event_description="lent Tove the drill"
    )
    old.pass_(ends + 1)
    if swept:
        await old.run("validity")
    until = None if later is None else START + timedelta(days=later)
    patched = await old.store.memories.patch(old.store.actor, loan, {"valid_until": until})
    assert (patched.status, patched.valid_until) == ("active", until)
    await old.run("freshness")
    assert await old.status(loan) == "active"
    told = ["memory.ended", "memory.revived"] if swept else []
    assert sorted(one["action"] for one in await old.events(loan)) == sorted(["memory.changed", *told])


async def test_an_end_is_not_put_off_where_another_has_its_slot(old: Aging) -> None:
    ends = {"valid_until": START + timedelta(days=30)}
    first = await old.added("fact", ends, predicate="lives-in", object="Tromsø")
    old.pass_(31)
    await old.run("validity")
    second = await old.added("fact", predicate="lives-in", object="Bergen")
    later: dict[str, object] = {"valid_until": START + timedelta(days=60)}
    with pytest.raises(Conflict, match=f"mem_{second.hex} has taken its place"):
        await old.store.memories.patch(old.store.actor, first, later)
    assert (await old.status(first), (await old.memory(first)).valid_until) == ("expired", ends["valid_until"])
    await old.store.memories.patch(old.store.actor, first, {"valid_until": START + timedelta(days=10)})
    assert await old.status(first) == "expired"


async def test_an_access_brings_back_what_had_faded(old: Aging) -> None:
    event = await old.added("event", event_description="deployed the API")
    old.pass_(100)
    await old.run("freshness")
    assert await old.revive(event) == []
    await old.use(event)
    [back] = await old.revive(event)
    assert back.id == event
    assert back.fade.freshness == pytest.approx(1.2)
    assert await old.status(event) == "active"
    assert [one["action"] for one in await old.events(event)] == ["memory.expired", "memory.revived"]
    assert await old.revive(event) == []


async def test_an_access_does_not_bring_back_what_is_true_no_more(old: Aging) -> None:
    event = await old.added("event", event_description="deployed the API")
    old.pass_(100)
    await old.run("freshness")
    await old.store.sql("UPDATE memories SET valid_until = $2 WHERE id = $1", event, old.pass_(0))
    await old.use(event)
    assert await old.revive(event) == []
    await old.store.sql("UPDATE memories SET valid_until = NULL WHERE id = $1", event)
    assert [one.id for one in await old.revive(event)] == [event]
