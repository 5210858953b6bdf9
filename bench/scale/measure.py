"""What a store of one size does: questions, writes, a bulk import, disk, vacuum and the vector index."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from time import perf_counter
from typing import Any

from app.db.session import Database
from app.db.sql import as_halfvec
from bench.asking import post, questions, request, statements
from bench.capture import Bare
from bench.client import Post, load, timed
from bench.figures import Spread
from bench.grammar import Grammar
from bench.recall import compared, filters_for
from bench.scale.shape import BLOCK, LARGE, TenantShape, block
from bench.stage import seed_of
from bench.world import Service, World, key_of, tenant_id
from bench.write import body_of

QUESTIONS = 40
REQUESTS = 120
ROUNDS = 4
"""Bare and HTTP take turns, so that a machine that is busy for a while slows both."""

SECONDS = 30.0
BATCH = 250
_TABLES = """
    SELECT c.relname AS name, pg_table_size(c.oid) AS rows, pg_indexes_size(c.oid) AS indexes
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname = 'public' ORDER BY pg_total_relation_size(c.oid) DESC
"""
_INDEXES = """
    SELECT indexrelname AS name, pg_relation_size(indexrelid) AS size FROM pg_stat_user_indexes
    WHERE pg_relation_size(indexrelid) > 100000 ORDER BY 2 DESC
"""
_COLUMNS = """
    SELECT attname AS name FROM pg_attribute
    WHERE attrelid = CAST($1 AS regclass) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""
WIDE = ("memories", "memory_index", "audit_events")
"""Tables whose columns are weighed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleResult:
    """The figures of a store of one size; times are milliseconds at the median unless the name says another unit."""

    memories: int
    tenants: int
    largest_scope: int
    fill_seconds: float
    questions: dict[str, dict[str, float]]
    write: float
    event_to_largest: float | None
    batch_per_second: float
    import_per_second: float
    bytes_per_memory: float
    bytes_by_table: dict[str, float]
    bytes_by_index: dict[str, float]
    bytes_by_column: dict[str, dict[str, float]]
    recall: float
    rows_missing: int
    vacuum_seconds: float

    def as_json(self) -> dict[str, Any]:
        """Return the figures as JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Questions of one client over HTTP, and their statements bare."""

    http: Spread
    bare: Spread


async def asked(world: World, service: Service, number: int, user: str, wanted: Sequence[str]) -> Asked:
    """Measure questions to a scope, in turns with their statements, after each was asked once."""
    posts = [post(one, user, key_of(number)) for one in wanted]
    seen = await statements(world, tenant_id(number), [request(one, user) for one in wanted])
    plans = "force_custom_plan" if user == LARGE else "force_generic_plan"
    connection = await world.asking(tenant_id(number), plans=plans)
    http, bare = [], []
    try:
        run = Bare(connection).run
        await timed([run], seen, count=len(seen), seconds=SECONDS)
        await load(service.port, posts, clients=1, count=len(posts), seconds=SECONDS)
        for _ in range(ROUNDS):
            bare.append(await timed([run], seen, count=REQUESTS // ROUNDS, seconds=SECONDS))
            http.append(await load(service.port, posts, clients=1, count=REQUESTS // ROUNDS, seconds=SECONDS))
    finally:
        await connection.close()
    return Asked(http=Spread.joined(http), bare=Spread.joined(bare))


async def every_question(
    world: World, service: Service, shapes: Sequence[TenantShape], model: int
) -> dict[str, dict[str, float]]:
    """Return p50 and p99, over HTTP and bare, of each kind of scope: small, of a block, the largest."""
    small = shapes[-1]
    places = {"a scope of a few": (small.number, next(small.users()), small.last)}
    places |= {f"a scope of {BLOCK:,}": (one.number, block(0), BLOCK) for one in shapes if one.blocks}
    found = {
        name: await asked(world, service, number, user, questions(seed_of(model, user), size, QUESTIONS))
        for name, (number, user, size) in places.items()
    }
    if shapes[0].large:
        wanted = questions(seed_of(0, LARGE), shapes[0].large, QUESTIONS)
        found["the largest scope"] = await asked(world, service, 0, LARGE, wanted)
    return {
        name: {"p50": one.http.p50, "p99": one.http.p99, "bare": one.bare.p50, "bare_p99": one.bare.p99}
        for name, one in found.items()
    }


async def written(service: Service, shapes: Sequence[TenantShape]) -> tuple[float, float]:
    """Return p50 of single typed writes to a scope of a block, and the memories a second of batches."""
    drafts = Grammar("scale, written").drafts(REQUESTS + 12 * BATCH)
    key, user = next(key_of(one.number) for one in shapes if one.blocks), block(0)
    posts = [Post.of(f"/memories/typed/{one.type}", body_of(one, user), key) for one in islice(drafts, REQUESTS)]
    spread = await load(service.port, posts, clients=1, count=len(posts), seconds=SECONDS)
    batches = [
        Post.of("/memories/batch", {"memories": [{"type": one.type, **body_of(one, user)} for one in some]}, key)
        for some in (list(islice(drafts, BATCH)) for _ in range(4))
    ]
    many = await load(service.port, batches, clients=1, count=len(batches), seconds=SECONDS)
    return spread.p50, BATCH * many.per_second


async def event_to_largest(service: Service) -> float:
    """Return p50 of an event written to the largest scope: it is compared with what is known there of its subject."""
    drafts = (one for one in Grammar("scale, to the largest").drafts(20 * REQUESTS) if one.type == "event")
    posts = [Post.of("/memories/typed/event", body_of(one, LARGE), key_of(0)) for one in islice(drafts, REQUESTS)]
    spread = await load(service.port, posts, clients=1, count=len(posts), seconds=SECONDS)
    return spread.p50


async def sizes(world: World, memories: int) -> dict[str, Any]:
    """Return the bytes of a memory: in all, by table, by index, and by column of wide tables."""
    owner = world.owner
    tables = {row["name"]: (row["rows"] + row["indexes"]) / memories for row in await owner.fetch(_TABLES)}
    columns = {}
    for table in WIDE:
        names = [row["name"] for row in await owner.fetch(_COLUMNS, table)]
        listed = ", ".join(f"coalesce(sum(pg_column_size({name})), 0)" for name in names)
        share = min(100.0, 100 * 20_000 / max(1, memories))
        row = await owner.fetchrow(
            f"SELECT count(*), {listed} FROM {table} TABLESAMPLE SYSTEM ({share})"  # noqa: S608 - our own names
        )
        columns[table] = {name: float(size) / max(1, row[0]) for name, size in zip(names, row[1:], strict=True)}
    return {
        "bytes_per_memory": sum(tables.values()),
        "bytes_by_table": {name: size for name, size in tables.items() if size >= 1},
        "bytes_by_index": {row["name"]: row["size"] / memories for row in await owner.fetch(_INDEXES)},
        "bytes_by_column": columns,
    }


async def recall(world: World, shape: TenantShape) -> tuple[float, int]:
    """Return what share of the nearest the vector index finds in the largest scope, and the rows that it owes."""
    vectors = await world.embedder.embed(questions(seed_of(0, LARGE), shape.large, QUESTIONS), purpose="query")
    database = Database(world.url, pool_size=1)
    try:
        return await compared(world, database, filters_for(LARGE), [as_halfvec(one) for one in vectors])
    finally:
        await database.close()


async def vacuumed(world: World, number: int) -> float:
    """Return the seconds of a vacuum of the retrieval table after a tenant's rows are deleted."""
    async with world.owner.transaction():
        await world.owner.execute("DELETE FROM memory_index WHERE tenant_id = $1", tenant_id(number))
    began = perf_counter()
    await world.owner.execute("VACUUM memory_index")
    return perf_counter() - began


async def quiet(world: World) -> None:
    """Let what the fill left behind be written, so that it is not measured."""
    await world.owner.execute("CHECKPOINT")
    await asyncio.sleep(1)
