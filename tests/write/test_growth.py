"""A scope's vectors go into the shared index when it has outgrown exact search, and not before."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from app.db.apply import scope
from app.features.portability.batch import ImportBatch, ImportContext
from app.features.portability.exports import ExportRequest, Exports
from app.features.portability.index_rows import Imported, ImportIndexer, imported
from app.features.portability.records import read
from app.memory.candidate import Candidate, WriteDecision
from app.services.limits import Quotas
from tests.support.stores import USER, Store


async def indexed(store: Store) -> tuple[int, int]:
    [row] = await store.sql(
        "SELECT count(*) FILTER (WHERE ann) AS inside, count(*) AS rows FROM memory_index WHERE tenant_id = $1",
        store.tenant,
    )
    return row["inside"], row["rows"]


async def test_a_small_scope_stays_out_of_the_vector_index(store: Store) -> None:
    await store.write("fact", predicate="likes", object="tea")
    await store.upkeep.settle()
    assert await indexed(store) == (0, 1)


async def test_a_scope_that_grows_is_indexed_and_stays_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope, "LARGE", 5)
    batch = [store.candidate("fact", predicate=f"has trait {place}", object=f"value {place}") for place in range(9)]
    await store.write_all(batch)
    assert (store.tenant, USER.id(store.tenant)) in store.upkeep._crowded
    await store.upkeep.settle()
    assert await indexed(store) == (9, 9)
    await store.write("fact", predicate="likes", object="tea")
    assert await indexed(store) == (10, 10), "a new row goes in as it is written"
    assert not store.upkeep._crowded


async def test_rows_that_a_crash_left_outside_are_noticed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope, "LARGE", 1)
    for thing in ("tea", "coffee", "milk"):
        await store.write("fact", predicate="likes", object=thing, stateful=False)
    await store.upkeep.settle()
    await store.sql("UPDATE memory_index SET ann = false WHERE tenant_id = $1", store.tenant)
    await store.write("fact", predicate="likes", object="water", stateful=False)
    await store.upkeep.settle()
    assert await indexed(store) == (4, 4)


async def import_changed(store: Store, word: str, other: str) -> None:
    """Import the line of the memory with a word again, under another id and with another word."""
    pieces = [piece async for piece in Exports(database=store.database).lines(store.actor, ExportRequest())]
    [line] = [line for line in b"".join(pieces).decode().splitlines() if word in line and '"memory"' in line]
    found = json.loads(line.replace(word, other)) | {"id": f"mem_{uuid4().hex}"}
    context = ImportContext(
        database=store.database,
        indexer=ImportIndexer(embedder=store.pipeline.embedder, language="english"),
        model_id=1,
        quotas=Quotas(database=store.database, clock=lambda: datetime.now(UTC)),
        clock=lambda: datetime.now(UTC),
        drifted=store.upkeep.mark,
        crowded=store.upkeep.crowd,
    )
    parsed = read(1, "memory", json.dumps(found).encode(), now=context.clock())
    readable = context.indexer.read(parsed, Imported(tenant=store.tenant, types=store.types))
    [readable] = await context.indexer.index([readable], vectors=False)
    one = imported(readable, store.tenant)
    assert one is not None
    # As if a file had filled the scope.
    await store.sql("UPDATE scopes SET imported_from = 'file' WHERE tenant_id = $1", store.tenant)
    await ImportBatch(context=context, actor=store.actor, file="file", averages={}).memories([one])


async def test_an_import_asks_for_upkeep_as_a_write_does(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope, "LARGE", 1)
    await store.write("fact", predicate="likes", object="tea", stateful=False)
    await store.write("fact", predicate="likes", object="seedling", stateful=False)
    await store.upkeep.settle()
    await import_changed(store, "seedling", "coffee")
    assert await indexed(store) == (3, 3)
    assert not store.upkeep._crowded, "all of it is in the vector index"
    await store.sql("UPDATE memory_index SET ann = false WHERE tenant_id = $1", store.tenant)
    await import_changed(store, "seedling", "milk")
    assert store.upkeep._crowded


SIZES = ("tiny", "small", "broad", "tall", "huge", "flat")
THINGS = ("teapot", "carpet", "lantern", "violin", "saddle", "ladder")
SAID = (
    ("The tiny teapot in the kitchen has a gray colour and a wooden handle", True),
    ("The huge saddle in the kitchen has a gray color and a wooden handle", True),
    ("The flat violin in the garden has a grey colour and a wooden handle", False),
    ("The harbour master rings the bell at noon", False),
)
"""What is said of a house, and whether that only spells otherwise what is known of it."""


@pytest.mark.parametrize("share", [1, 0.5, 0], ids=["in the vector index", "on its way into it", "compared in full"])
async def test_what_is_known_of_a_subject_is_found_however_much_it_is(
    store: Store, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    monkeypatch.setattr(scope, "LARGE", 1 if share else 10_000)

    def about(sentence: str) -> Candidate:
        return store.candidate("semantic", content=sentence, entity_id="the old house")

    known = [
        f"The {size} {thing} in the kitchen has a grey colour and a wooden handle" for size in SIZES for thing in THINGS
    ]
    await store.write_all([about(one) for one in known])
    await store.upkeep.settle()
    if share == 0.5:
        await store.sql(
            "UPDATE memory_index i SET ann = false FROM memories m WHERE i.tenant_id = $1 AND m.tenant_id = $1 "
            "AND m.id = i.memory_id AND m.content ~ '^The (tall|huge|flat) '",
            store.tenant,
        )
    inside, rows = await indexed(store)
    assert inside == rows * share
    outcomes = [await store.memories.write(store.actor, about(sentence)) for sentence, _ in SAID]
    assert [one.decision is WriteDecision.MERGED for one in outcomes] == [same for _, same in SAID]
    assert all("cosine" in one.reason for one, (_, same) in zip(outcomes, SAID, strict=True) if same)
