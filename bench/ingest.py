"""How fast turns are taken in: their acknowledgement beside a bare durable insert, and their way to memories."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from random import Random
from time import perf_counter

from app import ids
from app.db import jobs
from app.db import turns as turn_rows
from app.db.session import PLANNED_BY_KEY, Database, opening_of
from app.memory.extraction import Role, Turn
from app.model import Scope, ScopeKind
from bench.capture import Bare, Statement, Stopped, captured
from bench.client import Post, load, timed
from bench.figures import Book, Spread
from bench.stage import Stage
from bench.standin import StandIn, standing_in
from bench.words import pool
from bench.world import Service, World, key_of, new_world, serving, serving_bare_routes, tenant_id

CLIENTS = (1, 8)
ROUNDS = 4
TENANTS = 4
USERS = 8
"""Users of each tenant whose conversations come in at once."""

MANY = 25
"""Turns of a request that brings a piece of a conversation."""

CONCURRENCY = (16, 32)
"""Requests that the model takes at a time; the worker does as many jobs."""

DELAY = 0.5
"""Seconds that a model takes to answer."""

_USER = "user-0"
_SCOPE = Scope(kind=ScopeKind.USER, user_id=_USER)
_POLL_SECONDS = 0.02
_DONE_SECONDS = 300.0
_INSERT = """
    INSERT INTO turns (tenant_id, id, scope_id, session_id, role, content, occurred_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
"""
_ACKNOWLEDGED = ("what", "clients", "p50 ms", "p95 ms", "p99 ms", "turns a second", "p50 over bare")
_TAKEN_IN = ("extractor", "turns a request", "turns a second", "bound by the model", "of the rate at 0 ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A turn's words, and what a model says the user bought, kept or sold."""

    words: str
    predicate: str
    thing: str


async def ingest(stage: Stage, book: Book) -> None:
    """Measure turns, on a store of their own where no jobs run but theirs."""
    async with new_world() as world:
        await world.add_tenants(range(TENANTS))
        async with serving(world, TM_WORKER="off") as service, serving_bare_routes(world) as routes:
            await _acknowledged(stage, world, service, routes, book)
        await world.owner.execute("TRUNCATE turns, jobs, pgqueuer CASCADE")
        await _taken_in(stage, world, book)


async def _acknowledged(stage: Stage, world: World, service: Service, routes: Service, book: Book) -> None:
    rows: list[tuple[str, ...]] = []
    said = _conversation("acknowledgement")
    for clients in CLIENTS:
        stage.progress(f"acknowledgement of turns, {clients} clients", 0, 0)
        bare, own, empty, route, whole = await _beside(stage, world, service, routes, said, clients)
        if clients == 1:
            book.check("turn acknowledged p50 over a bare durable insert", whole.p50 / bare.p50, "<=", 2.5)
            book.check("the same over its transaction behind a bare route", whole.p50 / route.p50, "<=", 2)
        named = {
            "bare durable insert of a turn": bare,
            "its own transaction, with the job": own,
            "GET /healthz": empty,
            "its transaction behind a bare route": route,
            "POST /turns, one turn": whole,
        }
        for name, spread in named.items():
            rows.append((name, str(clients), *spread.cells(), f"{spread.p50 / bare.p50:.1f}"))
    note = (
        "The bare one begins, names its tenant, inserts the row and commits; the service's own inserts the job that is "
        "to process the turn, too. GET /healthz does nothing: what it takes is HTTP and routing alone. The bare "
        "route checks the body, runs the service's own transaction and answers. Nothing works on the queue meanwhile."
    )
    book.table("Acknowledgement of turns", _ACKNOWLEDGED, rows, note)


async def _beside(
    stage: Stage, world: World, service: Service, routes: Service, said: Iterator[Said], clients: int
) -> tuple[Spread, ...]:
    """Return the spreads, taken in turns, of bare inserts, own transactions, empty requests, bare routes and turns."""
    each, seconds = stage.sizes.requests // ROUNDS, stage.sizes.seconds
    inserts, owns, empty, bare_routes, whole = (list[Spread]() for _ in range(5))

    def posts() -> list[Post]:
        return [_post(0, _USER, [one]) for one in islice(said, each)]

    async def asked(port: int, requests: Sequence[Post]) -> Spread:
        return await load(port, requests, clients=clients, count=each, seconds=seconds)

    async with AsyncExitStack() as stack:
        for port in (routes.port, service.port):
            await asked(port, posts())
        workers = [await stack.enter_async_context(_bare(world)) for _ in range(clients)]
        for worker in workers:
            turns = [_turn(one.words) for one in islice(said, 2)]
            for one in (_inserting(turns[0]), *await _receiving(world, turns[1:])):
                await worker(one)
        for _ in range(ROUNDS):
            turns = [_turn(one.words) for one in islice(said, each)]
            inserts.append(await timed(workers, [_inserting(one) for one in turns], count=each, seconds=seconds))
            turns = [_turn(one.words) for one in islice(said, each)]
            owns.append(await timed(workers, await _receiving(world, turns), count=each, seconds=seconds))
            nothing = [Post.reading("/healthz")] * each
            empty.append(await asked(service.port, nothing))
            bare_routes.append(await asked(routes.port, posts()))
            whole.append(await asked(service.port, posts()))
    return tuple(map(Spread.joined, (inserts, owns, empty, bare_routes, whole)))


@asynccontextmanager
async def _bare(world: World) -> AsyncIterator[Callable[[Statement], Awaitable[None]]]:
    """Yield what runs a statement in a durable transaction of the tenant on a connection of its own."""
    connection = await world.bare()
    bare = Bare(connection)

    async def run(one: Statement) -> None:
        await bare.transaction(opening_of("BEGIN", tenant_id(0), PLANNED_BY_KEY), [one])

    try:
        yield run
    finally:
        await connection.close()


def _turn(words: str) -> Turn:
    return Turn(id=ids.new(), scope=_SCOPE, role=Role.USER, content=words, occurred_at=datetime.now(UTC))


def _inserting(turn: Turn) -> Statement:
    values = (tenant_id(0), turn.id, turn.scope.id(tenant_id(0)), "session", turn.role, turn.content, turn.occurred_at)
    return Statement(sql=_INSERT, names=(), values=values)


async def _receiving(world: World, turns: Sequence[Turn]) -> list[Statement]:
    """Return the statements by which the service takes these in; none of them is let through."""
    database, tenant, found = Database(world.url, pool_size=1), tenant_id(0), list[Statement]()
    try:
        for one in turns:
            with captured(until=("WITH new_",)) as seen, suppress(Stopped):
                async with database.write(tenant) as session:
                    await jobs.enqueue(
                        session,
                        tenant=tenant,
                        kind="ingest",
                        payload={"turns": [one.id.hex], "actor": "bench", "key": None},
                        scope=one.scope.id(tenant),
                        total=1,
                        now=one.occurred_at,
                        beside=turn_rows.received(tenant, [one], [{}]),
                    )
            found += seen
    finally:
        await database.close()
    return found


async def _taken_in(stage: Stage, world: World, book: Book) -> None:
    rows: list[tuple[str, ...]] = []
    async with serving(world) as service:
        for each in (1, MANY):
            rate = await _rate(stage, world, service, each, "rules", None)
            rows.append(("rules", str(each), f"{rate:,.0f}", "", ""))
    async with standing_in() as model:
        for concurrency in CONCURRENCY:
            async with serving(world, **_settings(model, concurrency)) as service:
                for each in (1, MANY):
                    rows += await _with_model(stage, world, service, model, concurrency=concurrency, each=each)
    note = (
        f"From the first request until the last turn is processed, {TENANTS} tenants of {USERS} users each. A model "
        f"that takes {DELAY * 1000:.0f} ms and so many requests at a time can't do more than its bound."
    )
    book.table(f"Ingest of {stage.sizes.turns:,} turns, end to end", _TAKEN_IN, rows, note)


async def _with_model(
    stage: Stage, world: World, service: Service, model: StandIn, *, concurrency: int, each: int
) -> list[tuple[str, ...]]:
    """Return the rows of a model that answers at once, and of one that takes its time."""
    rates = {
        delay: await _rate(stage, world, service, each, f"{concurrency} {delay}", (model, delay))
        for delay in (0.0, DELAY)
    }
    rows: list[tuple[str, ...]] = []
    for delay, rate in rates.items():
        what = f"model of {delay * 1000:.0f} ms, {concurrency} at a time"
        bound = f"{concurrency / delay:,.0f}" if delay else ""
        share = f"{rate / rates[0.0]:.2f}" if delay else ""
        rows.append((what, str(each), f"{rate:,.0f}", bound, share))
    return rows


async def _rate(
    stage: Stage, world: World, service: Service, each: int, what: str, model: tuple[StandIn, float] | None
) -> float:
    """Return how many turns a second become memories when requests bring so many `each`."""
    stage.progress(f"ingest, {what}, {each} a request", 0, stage.sizes.turns)
    said = list(islice(_conversation(f"{what} {each}"), stage.sizes.turns))
    if model is not None:
        standin, delay = model
        await standin.behave({one.words: [_found(one)] for one in said}, delay=delay)
    posts = [
        _post(place % TENANTS, f"{what}-{place // TENANTS % USERS}", said[start : start + each])
        for place, start in enumerate(range(0, len(said), each))
    ]
    before = await world.owner.fetchval("SELECT count(*) FROM turns")
    started = perf_counter()
    await load(service.port, posts, clients=max(CLIENTS), count=len(posts), seconds=_DONE_SECONDS)
    await _settled(stage, world, before + len(said))
    return len(said) / (perf_counter() - started)


async def _settled(stage: Stage, world: World, total: int) -> None:
    """Wait until so many turns are processed; RuntimeError when extraction failed for one."""
    async with asyncio.timeout(_DONE_SECONDS):
        while True:
            found = dict(await world.owner.fetch("SELECT status, count(*) FROM turns GROUP BY status"))
            if found.get("extraction_failed"):
                raise RuntimeError("extraction failed for a turn of the benchmark")
            waiting = found.get("received", 0)
            if not waiting and sum(found.values()) == total:
                return
            stage.progress("ingest", stage.sizes.turns - waiting, stage.sizes.turns)
            await asyncio.sleep(_POLL_SECONDS)


def _settings(model: StandIn, concurrency: int) -> dict[str, str]:
    return {
        "TM_LLM_PROVIDER": "openai",
        "TM_LLM_BASE_URL": f"http://127.0.0.1:{model.port}/v1",
        "TM_LLM_MODEL": "stand-in",
        "TM_LLM_API_KEY": "sk-stand-in",
        "TM_LLM_CONCURRENCY": str(concurrency),
        "TM_WORKER_CONCURRENCY": str(concurrency),
        "TM_WORKER_TENANT_CONCURRENCY": str(concurrency // TENANTS),
    }


def _conversation(seed: str) -> Iterator[Said]:
    """Yield turns without end, no two of them the same."""
    random = Random(seed)  # noqa: S311 - reproducible, not secret
    number = 0
    while True:
        number += 1
        thing = f"{pool('adjectives').draw(random)} {pool('nouns').draw(random)} {number}"
        person, place = pool("people").draw(random), pool("places").draw(random)
        predicate = random.choice(("bought", "kept", "sold"))
        yield Said(words=f"I {predicate} the {thing} with {person} in {place}.", predicate=predicate, thing=thing)


def _found(said: Said) -> Mapping[str, object]:
    payload = {"subject": "user", "predicate": said.predicate, "object": f"the {said.thing}", "stateful": False}
    return {"type": "fact", "payload": payload}


def _post(tenant: int, user: str, said: Sequence[Said]) -> Post:
    turns = [{"role": "user", "content": one.words} for one in said]
    body = {"user_id": user, "session_id": f"session of {user}", "turns": turns}
    return Post.of("/turns", body, key_of(tenant))
