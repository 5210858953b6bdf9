"""How fast memories are written: the transaction's own statements bare, beside typed and batch writes over HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from app.db.session import PLANNED_BY_KEY, Database, opening_of, stamped
from app.memory.registry import discover
from app.model import Actor, Scope, ScopeKind
from app.providers.protocols import RuleQuestions
from app.write.batching import split_batch
from app.write.embed import prepare
from app.write.pipeline import WritePipeline
from bench.capture import Bare, Statement, Stopped, captured
from bench.client import Post, load, timed
from bench.figures import Book, Spread
from bench.fill import LANGUAGE, MODEL
from bench.grammar import NOW, TYPES, Draft, Grammar
from bench.stage import Stage, seed_of, user_of
from bench.world import Service, key_of, serving_bare_routes, tenant_id

CLIENTS = (1, 8, 32)
ROUNDS = 4
BATCH = 250
BATCHES = 3
_MARGIN = 8
"""Drafts left out between what is stored and what is written: the last of a filled scope may differ."""

_AT_ONCE = "WITH claimed"
_INSERT = ("WITH new_", _AT_ONCE)
_CLAIM = ("UPDATE scopes SET version", _AT_ONCE)
_COLUMNS = ("what", "clients", "p50 ms", "p95 ms", "p99 ms", "memories a second")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The statements of one write: of the look before it, and of its transaction."""

    reads: Sequence[Statement]
    changes: Sequence[Statement]


async def writes(stage: Stage, book: Book) -> None:
    """Measure writes to a scope of the main tenant that no question is measured on."""
    size, count = stage.sizes.written, stage.sizes.writes
    await stage.have_scopes([size])
    user = user_of(size)
    fresh = _fresh(seed_of(0, user), size, 16 * count + (2 * BATCHES + 2) * BATCH)
    rows: list[tuple[str, ...]] = []

    async with serving_bare_routes(stage.world) as routes:
        reads, bare, empty, stages, single = await _floor_and_http(stage, routes, user, fresh, count)
    book.check("typed write p50 over the bare transaction", single.p50 / bare.p50, "<=", 3)
    book.check("the same over its stages behind a bare route", single.p50 / stages.p50, "<=", 1.5)
    rows += [
        ("reads that a write is decided on, bare", "1", *reads.cells()),
        ("bare transaction", "1", *bare.cells()),
        ("GET /healthz", "1", *empty.cells()),
        ("its stages behind a bare route", "1", *stages.cells()),
        ("POST /memories/typed, mixed types", "1", *single.cells()),
    ]
    for kind, drafts in _by_type(fresh, count // ROUNDS).items():
        posts = _singles(iter(drafts), user)
        spread = await load(stage.service.port, posts, clients=1, count=len(posts), seconds=stage.sizes.seconds)
        rows.append((f"POST /memories/typed/{kind}", "1", *spread.cells()))
    for clients in CLIENTS[1:]:
        for apart in (False, True):
            stage.progress(f"typed writes, {clients} clients", 0, 0)
            spread = await _crowd(stage, user, fresh, clients=clients, count=count, apart=apart)
            what = "each client its own user" if apart else "all to one user"
            rows.append((f"POST /memories/typed, {what}", str(clients), *spread.cells()))

    stage.progress("batch writes", 0, 0)
    bare_batches, whole = await _batches(stage, user, fresh)
    many, most = BATCH * whole.per_second, BATCH * bare_batches.per_second
    waves = await _waves(stage, list(islice(fresh, BATCH)))
    note = (
        f"A batch is {BATCH} memories of mixed types. The pipeline stores it in waves of memories that cannot touch "
        f"one another, a transaction each: {waves} waves a batch here."
    )
    rows.append((f"a batch of {BATCH}: its stages behind a bare route", "1", *bare_batches.cells()[:3], f"{most:,.0f}"))
    rows.append((f"POST /memories/batch of {BATCH}", "1", *whole.cells()[:3], f"{many:,.0f}"))
    book.check("memories a second in batches over single writes", many / single.per_second, ">=", 10)
    book.check("memories a second in batches behind a bare route over the same", most / many, "<=", 1.5)
    book.table(f"Writes to a scope of {size:,} memories", _COLUMNS, rows, note)


async def _floor_and_http(
    stage: Stage, routes: Service, user: str, fresh: Iterator[Draft], count: int
) -> tuple[Spread, ...]:
    """Measure, in turns, by one client: a write's reads, its transaction, an empty request, a bare route, the write."""
    each = count // ROUNDS
    kept = await _transactions(stage, user, list(islice(fresh, each * ROUNDS)))
    connection = await stage.world.bare()
    reading = opening_of("BEGIN READ ONLY", tenant_id(0), PLANNED_BY_KEY)
    writing = opening_of("BEGIN", tenant_id(0), {**stamped(datetime.now(UTC)), **PLANNED_BY_KEY})
    bare = Bare(connection)
    reads, floor, empty, stages, whole = (list[Spread]() for _ in range(5))
    nothing = [Post.reading("/healthz")] * each

    async def asked(port: int, posts: Sequence[Post]) -> Spread:
        return await load(port, posts, clients=1, count=each, seconds=stage.sizes.seconds)

    def singles() -> list[Post]:
        return _singles(islice(fresh, each), user)

    try:
        for port in (routes.port, stage.service.port):
            await asked(port, singles())
        version = await _version(stage, user)
        for one in kept:
            await bare.transaction(reading, one.reads)
            changes = [change.with_value("version", version) for change in one.changes]
            await bare.transaction(writing, changes, ending="ROLLBACK")
        for turn in range(ROUNDS):
            stage.progress("typed writes and bare transactions", turn, ROUNDS)
            version = await _version(stage, user)

            async def read(written: Written) -> None:
                await bare.transaction(reading, written.reads)

            async def run(numbered: tuple[int, Written], version: int = version) -> None:
                place, own = numbered
                await bare.transaction(writing, [one.with_value("version", version + place) for one in own.changes])

            work = kept[turn * each : (turn + 1) * each]
            reads.append(await timed([read], work, count=len(work), seconds=3600))
            floor.append(await timed([run], list(enumerate(work)), count=len(work), seconds=3600))
            empty.append(await asked(stage.service.port, nothing))
            stages.append(await asked(routes.port, singles()))
            whole.append(await asked(stage.service.port, singles()))
    finally:
        await connection.close()
    return tuple(map(Spread.joined, (reads, floor, empty, stages, whole)))


async def _batches(stage: Stage, user: str, fresh: Iterator[Draft]) -> tuple[Spread, Spread]:
    """Measure batches behind a bare route and those of the service, in turns, by one client."""
    bare, whole = list[Spread](), list[Spread]()

    async def asked(port: int) -> Spread:
        posts = [_batch(list(islice(fresh, BATCH)), user)]
        return await load(port, posts, clients=1, count=1, seconds=3 * stage.sizes.seconds)

    async with serving_bare_routes(stage.world) as routes:
        await asked(routes.port)
        for _ in range(BATCHES):
            bare.append(await asked(routes.port))
            whole.append(await asked(stage.service.port))
    return Spread.joined(bare), Spread.joined(whole)


async def _transactions(stage: Stage, user: str, drafts: Sequence[Draft]) -> list[Written]:
    """Return what the write of each draft says to the database; none of them is let through."""
    world, scope = stage.world, Scope(kind=ScopeKind.USER, user_id=user)
    database = Database(world.url, pool_size=1)
    actor = Actor(tenant_id=tenant_id(0), key_id=None, name="bench")
    pipeline = WritePipeline(
        database=database,
        embedder=world.embedder,
        model_id=MODEL,
        language=LANGUAGE,
        clock=lambda: datetime.now(UTC),
        types=discover(),
        hype=RuleQuestions(language=LANGUAGE),
    )
    found = []
    try:
        for draft in drafts:
            [candidate, *_] = stage.filler.candidates(draft, scope)
            with captured(until=_INSERT) as seen, suppress(Stopped):
                await pipeline.write(actor, [candidate])
            starts = next(place for place, one in enumerate(seen) if one.sql.lstrip().startswith(_CLAIM))
            found.append(Written(reads=seen[:starts], changes=seen[starts:]))
    finally:
        await database.close()
    return found


async def _version(stage: Stage, user: str) -> int:
    scope = Scope(kind=ScopeKind.USER, user_id=user).id(tenant_id(0))
    found: int = await stage.world.owner.fetchval(
        "SELECT version FROM scopes WHERE tenant_id = $1 AND id = $2", tenant_id(0), scope
    )
    return found


async def _crowd(stage: Stage, user: str, fresh: Iterator[Draft], *, clients: int, count: int, apart: bool) -> Spread:
    users = [f"{user}-{place}" if apart else user for place in range(clients)]
    posts = [_single(draft, users[place % clients]) for place, draft in enumerate(islice(fresh, count))]
    return await load(stage.service.port, posts, clients=clients, count=count, seconds=stage.sizes.seconds)


async def _waves(stage: Stage, drafts: Sequence[Draft]) -> int:
    """Return in how many transactions the pipeline stores these."""
    scope = Scope(kind=ScopeKind.USER, user_id="user")
    candidates = [next(stage.filler.candidates(draft, scope)) for draft in drafts]
    prepared = await prepare(candidates, embedder=stage.world.embedder, now=NOW, language=LANGUAGE)
    return sum(1 for _ in split_batch(list(enumerate(prepared))))


def _fresh(seed: str, stored: int, count: int) -> Iterator[Draft]:
    """Yield memories that the scope does not have and that compete with none it has."""
    seen = 0
    for draft in Grammar(seed).drafts(stored + 2 * count):
        seen += 1 if draft.older is None else 2
        if seen > stored + _MARGIN:
            yield draft


def _by_type(fresh: Iterator[Draft], each: int) -> dict[str, list[Draft]]:
    """Return so many drafts of every type."""
    found: dict[str, list[Draft]] = {}
    for draft in fresh:
        kept = found.setdefault(draft.type, [])
        if len(kept) < each:
            kept.append(draft)
        if len(found) == len(TYPES) and all(len(one) == each for one in found.values()):
            break
    return dict(sorted(found.items()))


def _singles(drafts: Iterator[Draft], user: str) -> list[Post]:
    return [_single(draft, user) for draft in drafts]


def _single(draft: Draft, user: str) -> Post:
    return Post.of(f"/memories/typed/{draft.type}", body_of(draft, user), key_of(0))


def _batch(drafts: Sequence[Draft], user: str) -> Post:
    bodies = [{"type": draft.type, **body_of(draft, user)} for draft in drafts]
    return Post.of("/memories/batch", {"memories": bodies}, key_of(0))


def body_of(draft: Draft, user: str) -> dict[str, Any]:
    """Return the body of a typed write."""
    about = {name: value for name, value in draft.about.items() if value is not None and name != "stated_at"}
    return {
        **draft.payload,
        **about,
        "occurred_at": draft.about["stated_at"].isoformat(),
        "scope": "user",
        "user_id": user,
    }
