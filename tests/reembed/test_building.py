"""Building another model's vectors beside: complete, the same as when written with it, and never in the way."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from uuid import UUID

import asyncpg
import numpy as np
import pytest

from app.db import embedding_models
from app.db.embedding_models import Phase
from app.errors import ConfigurationError, Conflict, DatabaseUnavailable, ProviderMisconfigured, ProviderUnavailable
from app.features.reembedding import service as reembedding
from app.memory.candidate import Candidate
from app.model import Scope, ScopeKind
from tests.read.conftest import MakeStore, Store
from tests.reembed.conftest import Bag, Change, ask_questions, phases

pytestmark = pytest.mark.long

LONG = " ".join(f"word{n}" for n in range(95))


def candidates(store: Store, count: int = 12) -> list[Candidate]:
    """Memories of every shape of vectors: names, long ones in parts, turns with what came before, questions."""
    found = [
        store.candidate("preference", {"preference_key": f"tea.kind{n}", "preference_value": f"sort {n}"})
        for n in range(count)
    ]
    found += [
        store.candidate("fact", {"subject": f"Person{n} Miller", "predicate": "works-at", "object": f"Opera {n}"})
        for n in range(count)
    ]
    found += [
        store.candidate(
            "episodic",
            {"content": f"Melanie: I bought {n} violins, Caroline.", "session_id": "s", "sequence_number": n},
            context=f"Caroline: What did you buy, Melanie? {n}",
            session_id="s",
        )
        for n in range(count)
    ]
    found.append(store.candidate("episodic", {"content": LONG, "session_id": "t", "sequence_number": 1}))
    return found


async def vectors(store: Store, model: int) -> dict[tuple[str, int, str], str]:
    """Every vector of the tenant by what it is of."""
    column = "embedding" if model % 2 else "embedding_2"
    rows = await store.sql(
        f"SELECT m.content, i.part, i.kind, i.{column}::text AS vector FROM memory_index i "  # noqa: S608
        "JOIN memories m ON m.tenant_id = i.tenant_id AND m.id = i.memory_id WHERE i.tenant_id = $1 "
        f"UNION ALL SELECT q.question, q.ordinal, 'asked', q.{column}::text "
        "FROM hypothetical_embeddings q WHERE q.tenant_id = $1",
        store.tenant,
    )
    return {(row["content"], row["part"], row["kind"]): row["vector"] for row in rows}


async def test_every_row_gets_the_vector_it_would_have_been_written_with(
    store: Store, change: Change, make_store: MakeStore
) -> None:
    await ask_questions(store, await store.write(*candidates(store)))
    before = await vectors(store, 1)
    done = await change.steps.build()
    assert (done.filled, done.switched) == (len(before), True)
    assert await phases(store) == {"bag": Phase.ACTIVE, "wordllama-256": Phase.LEAVING}
    assert await vectors(store, 1) == before

    anew = await change.serving(await make_store())
    await ask_questions(anew, await anew.write(*candidates(anew)))
    assert await vectors(store, 2) == await vectors(anew, 2)
    assert None not in (await vectors(store, 2)).values()


async def test_it_goes_on_where_it_was_cut_off_and_embeds_nothing_twice(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembedding, "BATCH", 8)
    await ask_questions(store, await store.write(*candidates(store)))
    bag = Bag()
    calls = 0

    async def fails_later(_: Sequence[str]) -> None:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise ProviderUnavailable("the embedding provider is gone")

    bag.before = fails_later
    with pytest.raises(ProviderUnavailable):
        await Change(store=store, embedder=bag).steps.build()
    assert await phases(store) == {"wordllama-256": Phase.ACTIVE, "bag": Phase.BUILDING}
    kept = sum(one is not None for one in (await vectors(store, 2)).values())
    bag.seen.pop(0)  # what a new model is tried with
    assert kept == len(bag.seen) > 0
    done = await Change(store=store, embedder=bag).steps.build()
    assert done.filled == len(bag.seen) - kept
    assert len(bag.seen) == len(await vectors(store, 1)), "each text once, though it was cut off"


async def test_a_model_that_does_not_answer_what_is_configured_leaves_nothing_behind(store: Store) -> None:
    async def other_size(_: Sequence[str]) -> None:
        raise ProviderMisconfigured("it answers 384 dimensions, not 24")

    before = await phases(store)
    with pytest.raises(ProviderMisconfigured):
        await Change(store=store, embedder=Bag(before=other_size)).steps.build()
    assert await phases(store) == before


async def test_an_owner_whose_connection_is_lost_is_told_to_run_it_again(store: Store) -> None:
    await store.write(*candidates(store, 1))
    bag = Bag()

    async def cut(_: Sequence[str]) -> None:
        bag.before = None
        await store.sql(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
            "WHERE application_name = 'typed-memory reembed' AND datname = current_database()"
        )

    bag.before = cut
    with pytest.raises(DatabaseUnavailable):
        await Change(store=store, embedder=bag).steps.build()
    assert (await Change(store=store, embedder=bag).steps.build()).switched


async def test_two_runs_at_once_are_told_apart(store: Store) -> None:
    await store.write(*candidates(store, 1))
    bag, reached, goes_on = Bag(), asyncio.Event(), asyncio.Event()

    async def waits(_: Sequence[str]) -> None:
        reached.set()
        await goes_on.wait()

    bag.before = waits
    first = asyncio.create_task(Change(store=store, embedder=bag).steps.build())
    await reached.wait()
    for second in (Bag(), Bag(name="other")):
        with pytest.raises(Conflict, match="another `typed-memory reembed` is at work"):
            await Change(store=store, embedder=second).steps.build()
    goes_on.set()
    assert (await first).switched


async def test_what_is_written_rewritten_and_erased_meanwhile_is_right(store: Store) -> None:
    """A text that changes between its reading and its writing never leaves the vector of what it said before."""
    fact = {"subject": "Ana", "predicate": "works-at", "object": "the opera"}
    ids = await store.write(*candidates(store, 2), store.candidate("fact", fact))
    bag, meanwhile = Bag(), list[UUID]()

    async def interferes(_: Sequence[str]) -> None:
        bag.before = None
        meanwhile.append(await store.put("preference", {"preference_key": "tea.new", "preference_value": "oolong"}))
        await store.sql("UPDATE memories SET content = 'says something else' WHERE id = $1", ids[0])
        await store.sql("DELETE FROM memories WHERE id = $1", ids[1])

    bag.before = interferes
    await Change(store=store, embedder=bag).steps.build()
    rows = await store.sql("SELECT memory_id, embedding_2 IS NULL AS lacking FROM memory_index")
    assert not any(row["lacking"] for row in rows)
    assert {row["memory_id"] for row in rows} == {*ids, *meanwhile} - {ids[1]}
    assert "says something else" in bag.seen
    expected = await bag.embed(["says something else"])
    [[kept]] = await store.sql("SELECT embedding_2::text FROM memory_index WHERE memory_id = $1", ids[0])
    assert np.allclose(np.array(kept[1:-1].split(","), dtype=float), expected[0], atol=1e-2)


async def test_rows_that_others_hold_are_left_for_the_next_time(store: Store, change: Change) -> None:
    await change.steps.build()
    [memory] = await store.write(store.candidate("preference", {"preference_key": "a.b", "preference_value": "c"}))
    connection = await asyncpg.connect(store.url)
    held = "SELECT FROM memory_index WHERE tenant_id = $1 AND memory_id = $2 FOR UPDATE"
    async with connection.transaction():
        await connection.execute(held, store.tenant, memory)
        assert await change.keep_up() == 0
    await connection.close()
    assert await change.keep_up() == 1


async def test_every_tenant_is_built_and_asked_within_its_own(
    make_store: MakeStore, store: Store, change: Change
) -> None:
    other = await make_store()
    for one in (store, other):
        await ask_questions(one, [await one.put("fact", {"subject": "Ana", "predicate": "plays", "object": "violin"})])
    await change.steps.build()
    for one in (store, other):
        [found] = await (await change.serving(one)).found("Who plays the violin?")
        [[tenant]] = await store.sql("SELECT tenant_id FROM memories WHERE id = $1", found)
        assert tenant == one.tenant


@pytest.mark.parametrize("exact", [True, False])
async def test_a_large_scope_is_searched_by_the_new_index_and_owes_as_many_rows(
    store: Store,
    exact: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Vectors that earn their index do so under the new model: the trap of filtered indexes, once more."""
    monkeypatch.setattr("app.read.search.is_exact", lambda **_: exact)
    crowd = Scope(kind=ScopeKind.USER, user_id="crowd")
    wanted = await store.write(
        *(
            store.candidate("preference", {"preference_key": f"k.n{n}", "preference_value": f"tea {n}"})
            for n in range(40)
        )
    )
    await store.write(
        *(
            store.candidate("episodic", {"content": f"tea {n} barn", "session_id": "s", "sequence_number": n}, crowd)
            for n in range(400)
        )
    )
    await store.sql("UPDATE memory_index SET ann = true")
    for dimensions in (24, 48):
        change = Change(store=store, embedder=Bag(dimensions=dimensions, name=f"bag-{dimensions}"))
        await change.steps.build()
        served = await change.serving()
        found = await served.found("tea", top_k=100, types=("preference",), min_relevance=0.0)
        assert set(found) == set(wanted)
        plan = await store.sql(
            "SELECT indexdef FROM pg_indexes WHERE indexname = $1",
            embedding_models.index_name(served.reads.search.model.id),
        )
        assert f"halfvec({dimensions})" in plan[0]["indexdef"]
        await store.sql("UPDATE embedding_models SET seen_at = now() - interval '1 hour'")
        await change.steps.drop()


async def test_an_index_whose_building_was_cut_off_is_built_anew(store: Store, change: Change) -> None:
    await store.write(*candidates(store, 1))
    await store.sql("UPDATE memory_index SET ann = true")
    await change.steps.build()
    name = embedding_models.index_name(2)
    await store.sql("UPDATE pg_index SET indisvalid = false WHERE indexrelid = $1::regclass", name)
    await change.steps.build()
    [[valid]] = await store.sql("SELECT indisvalid FROM pg_index WHERE indexrelid = $1::regclass", name)
    assert valid


async def test_a_service_starts_with_a_model_only_once_it_is_built(store: Store, change: Change) -> None:
    async def start(name: str, dimensions: int) -> Phase:
        return embedding_models.check(
            await embedding_models.read_models(store.database), name=name, dimensions=dimensions
        ).phase

    with pytest.raises(ConfigurationError, match="run `typed-memory reembed` with these settings"):
        await start("bag", 24)
    connection = await asyncpg.connect(store.url)
    await connection.execute(
        "INSERT INTO embedding_models (id, name, dimensions, active, phase) VALUES (2, 'bag', 24, false, 'building')"
    )
    await connection.close()
    with pytest.raises(ConfigurationError, match="let `typed-memory reembed` finish first"):
        await start("bag", 24)
    assert await start("wordllama-256", 256) is Phase.ACTIVE
    await change.steps.build()
    assert await start("bag", 24) is Phase.ACTIVE
    assert await start("wordllama-256", 256) is Phase.LEAVING
    with pytest.raises(ConfigurationError, match="run `typed-memory reembed` with these settings"):
        await start("bag", 25)


async def test_an_estimate_changes_nothing(store: Store, change: Change) -> None:
    await store.write(*candidates(store, 3))
    found = await change.steps.estimate()
    assert found.lacking == found.rows == len(await vectors(store, 1))
    assert found.bytes == found.rows * (2 * 24 + 8)
    assert await phases(store) == {"wordllama-256": Phase.ACTIVE}
    indexes = await store.sql("SELECT FROM pg_indexes WHERE indexname ~ 'lacks|model_2'")
    assert indexes == []
