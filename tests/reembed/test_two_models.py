"""Two models in use at once: what a service with either writes is found by both, until one of them is dropped."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg
import pytest

from app.db.embedding_models import Phase
from app.errors import Conflict
from app.features.reembedding.service import VectorBackfill
from tests.read.conftest import Store
from tests.reembed.conftest import Bag, Change, ask_questions, phases, quiet

pytestmark = pytest.mark.long


@pytest.fixture
def old(store: Store) -> Change:
    return Change(store=store, embedder=store.reads.embedder)


async def put(store: Store, thing: str) -> object:
    memory = await store.put("fact", {"subject": "Ana", "predicate": "plays", "object": thing, "stateful": False})
    await ask_questions(store, [memory])
    return memory


async def lacking(store: Store) -> list[tuple[int, int]]:
    rows = await store.sql(
        "SELECT count(*) - count(model_id) AS one, count(*) - count(model_id_2) AS two FROM memory_index "
        "UNION ALL SELECT count(*) - count(model_id), count(*) - count(model_id_2) FROM hypothetical_embeddings"
    )
    return [(row["one"], row["two"]) for row in rows]


async def test_either_writes_and_both_find(store: Store, change: Change, old: Change) -> None:
    known = [await put(store, "violin")]
    await change.steps.build()
    new = await change.serving()
    known += [await put(store, "piano"), await put(new, "trumpet")]
    for served in (store, new):
        found = await served.found("What does Ana play?", min_relevance=0.0)
        assert set(found) == set(known), "other arms find what lacks a vector"
    assert await lacking(store) != [(0, 0), (0, 0)]
    assert await change.keep_up() > 0
    assert await old.keep_up() > 0
    assert await lacking(store) == [(0, 0), (0, 0)]
    assert (await change.keep_up(), await old.keep_up()) == (0, 0)


async def test_while_one_fills_in_another_leaves_it_to_that(store: Store, change: Change) -> None:
    await change.steps.build()
    await put(store, "piano")
    connection = await asyncpg.connect(store.url)
    await connection.execute("SELECT pg_advisory_lock(726194301, 2)")
    assert await change.keep_up() == 0
    await connection.close()
    assert await change.keep_up() > 0


async def test_a_service_with_one_model_looks_and_does_nothing(store: Store, old: Change) -> None:
    await put(store, "piano")
    assert await old.keep_up() == 0


async def test_vectors_are_dropped_when_nobody_works_with_them(store: Store, change: Change, old: Change) -> None:
    known = [await put(store, "violin"), await put(store, "piano")]
    await change.steps.build()
    await old.keep_up()
    with pytest.raises(Conflict, match="restart all"):
        await change.steps.drop()
    with pytest.raises(Conflict, match="run this with its TM_EMBEDDING"):
        await old.steps.drop()
    await quiet(store)
    await old.keep_up()
    with pytest.raises(Conflict, match="was seen 0 seconds ago"):
        await change.steps.drop()
    await quiet(store)
    late = await put(store, "harp")
    dropped = await change.steps.drop()
    assert dropped is not None
    assert (dropped[0].name, dropped[1]) == ("wordllama-256", sum(await rows(store)))
    assert await phases(store) == {"bag": Phase.ACTIVE}
    assert await lacking(store) == [(rows_, 0) for rows_ in await rows(store)]
    [[left]] = await store.sql("SELECT count(*) FROM pg_indexes WHERE indexname ~ '_(model|lacks)_1$'")
    assert left == 0
    assert set(await (await change.serving()).found("What does Ana play?")) == {*known, late}
    assert await change.steps.drop() is None


async def rows(store: Store) -> list[int]:
    return [
        (await store.sql(f"SELECT count(*) FROM {table}"))[0][0]  # noqa: S608
        for table in ("memory_index", "hypothetical_embeddings")
    ]


async def test_a_drop_that_was_cut_off_goes_on(store: Store, change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.features.reembedding.service.DROP_BATCH", 1)
    for thing in ("violin", "piano", "harp"):
        await put(store, thing)
    await change.steps.build()
    await quiet(store)
    cut = 0

    def cuts(what: str, done: int, _: int | None) -> None:
        nonlocal cut
        if what.startswith("dropping") and done == 2:
            cut = done
            raise KeyError("cut off")

    steps = change.steps
    object.__setattr__(steps, "report", cuts)
    with pytest.raises(KeyError):
        await steps.drop()
    assert await phases(store) == {"bag": Phase.ACTIVE, "wordllama-256": Phase.DROPPING}
    dropped = await change.steps.drop()
    assert dropped is not None
    assert dropped[1] + cut == sum(await rows(store))
    assert await phases(store) == {"bag": Phase.ACTIVE}


async def test_a_change_is_abandoned_before_it_is_made(store: Store, change: Change) -> None:
    await put(store, "violin")
    bag = Bag()

    async def fails(texts: Sequence[str]) -> None:
        if any("violin" in text for text in texts):
            raise Conflict("enough")

    assert await change.steps.abandon() is None
    await change.steps.build()
    await quiet(store)
    await change.steps.drop()
    third = Change(store=store, embedder=bag)
    bag.name, bag.before = "third", fails
    with pytest.raises(Conflict, match="enough"):
        await third.steps.build()
    with pytest.raises(Conflict, match=r"'third' .* is building"):
        await Change(store=store, embedder=Bag(name="fourth")).steps.build()
    abandoned = await third.steps.abandon()
    assert abandoned is not None
    assert abandoned[0].name == "third"
    assert await phases(store) == {"bag": Phase.ACTIVE}
    bag.before = None
    assert (await third.steps.build()).switched
    ids = await store.sql("SELECT id, name FROM embedding_models ORDER BY id")
    assert [(row["id"], row["name"]) for row in ids] == [(1, "wordllama-256"), (2, "bag"), (3, "third"), (5, "third")]


async def test_there_and_back_again(store: Store, change: Change, old: Change) -> None:
    """Before the drop a switch is taken back by a switch; after it, the old model is built like any new one."""
    known = {await put(store, "violin")}
    await change.steps.build()
    known.add(await put(await change.serving(), "trumpet"))
    assert (await old.steps.build()).switched
    assert await phases(store) == {"wordllama-256": Phase.ACTIVE, "bag": Phase.LEAVING}
    assert set(await store.found("What does Ana play?")) == known
    await change.steps.build()
    await quiet(store)
    await change.steps.drop()
    assert (await old.steps.build()).model.id == 3
    assert set(await (await old.serving()).found("What does Ana play?")) == known


async def test_what_lacks_vectors_of_the_active_model_is_mended_by_the_same_command(
    store: Store, change: Change
) -> None:
    await put(store, "violin")
    await change.steps.build()
    await put(store, "harp")
    done = await change.steps.build()
    assert (done.switched, done.filled > 0) == (False, True)


async def test_a_service_whose_model_is_dropped_fills_in_nothing(store: Store, change: Change) -> None:
    await put(store, "violin")
    await change.steps.build()
    await change.steps.drop(force=True)
    filling = VectorBackfill(database=store.database, embedder=store.reads.embedder, model_id=1, types=store.types)
    assert await filling.keep_up() == 0


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE memory_index SET model_id = 2",
        "UPDATE memory_index SET model_id_2 = 1, embedding_2 = embedding",
        "UPDATE memory_index SET model_id_2 = 2",
        "UPDATE memory_index SET embedding_2 = embedding",
        "UPDATE memory_index SET model_id = NULL, embedding = NULL",
        "INSERT INTO embedding_models (id, name, dimensions, active, phase) VALUES (4, 'x', 3, false, 'building')",
        "INSERT INTO embedding_models (id, name, dimensions, active) VALUES (6, 'x', 3, true)",
        "UPDATE embedding_models SET phase = 'leaving' WHERE active",
    ],
)
async def test_the_database_refuses_a_vector_out_of_its_place_and_a_third_model(
    store: Store, change: Change, statement: str
) -> None:
    await put(store, "violin")
    await change.steps.build()
    await store.sql("UPDATE memory_index SET model_id_2 = NULL, embedding_2 = NULL")
    with pytest.raises((asyncpg.CheckViolationError, asyncpg.UniqueViolationError)):
        await store.sql(statement)
