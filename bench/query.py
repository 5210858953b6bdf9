"""How fast questions are answered: the retrieval statement bare, beside `POST /query` over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice

from bench.asking import arms, post, questions, request, statements
from bench.capture import Bare, Statement
from bench.client import Post, load, timed
from bench.figures import Book, Spread
from bench.stage import TENANT_SIZE, Stage, seed_of, user_of
from bench.world import key_of, tenant_id

CLIENTS = (1, 8, 32)
ROUNDS = 4
"""Bare and HTTP take turns, so that a machine that is busy for a while slows both."""

_COLUMNS = ("what", "clients", "p50 ms", "p95 ms", "p99 ms", "a second")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The floor and the whole, measured in turns with one client: arms alone, every statement, HTTP."""

    arms: Spread
    all: Spread
    http: Spread


async def scopes(stage: Stage, book: Book, sizes: Sequence[int]) -> dict[int, Pair]:
    """Measure questions to scopes of these sizes."""
    found: dict[int, Pair] = {}
    for size in sizes:
        await stage.have_scopes([size])
        user = user_of(size)
        asked = questions(seed_of(0, user), size, stage.sizes.questions)
        posts = [post(one, user, key_of(0)) for one in asked]
        seen = await statements(stage.world, tenant_id(0), [request(one, user) for one in asked])
        pair = await _pair(stage, f"questions to {size:,} memories", 0, seen, posts)
        more = await _crowds(stage, f"questions to {size:,} memories", posts)
        found[size] = pair
        book.table(f"Questions to a scope of {size:,} memories", _COLUMNS, [*_rows(pair), *_crowd_rows(more)])
        if size == stage.sizes.middle:
            _judge(book, size, pair, more)
    return found


def _judge(book: Book, size: int, pair: Pair, more: dict[int, Spread]) -> None:
    ratio = pair.http.p50 / pair.arms.p50
    book.check(f"/query p50 over the bare retrieval statement, {size:,} memories", ratio, "<=", 2.5)
    crowd = more[8]
    book.check("/query p99 over p50, 8 clients", crowd.p99 / crowd.p50, "<=", 3)


async def tenants(stage: Stage, book: Book) -> None:
    """Measure questions to small tenants while there are ever more of them."""
    few = range(1, stage.sizes.tenants[0] + 1)
    rows: list[tuple[str, ...]] = []
    p50: list[Spread] = []
    for count in stage.sizes.tenants:
        await stage.have_tenants(range(count + 1))
        label = f"questions among {count:,} tenants"
        pair = await _small(stage, label, few)
        p50.append(pair.http)
        rows += [
            (f"{count:,} tenants, statement bare", "1", *pair.arms.cells()),
            (f"{count:,} tenants, {len(few)} of them ask", "1", *pair.http.cells()),
        ]
        everyone = _posts(range(1, count + 1), stage.sizes.requests)
        spread = await load(stage.service.port, everyone, clients=1, count=len(everyone), seconds=stage.sizes.seconds)
        rows.append((f"{count:,} tenants, all of them ask", "1", *spread.cells()))
    note = "With all asking, most requests are a tenant's first: their key is looked up too."
    book.table(f"Questions to tenants of {TENANT_SIZE} memories", _COLUMNS, rows, note)
    name = f"/query p50 at {stage.sizes.tenants[-1]:,} tenants over p50 at {stage.sizes.tenants[0]:,}"
    book.check(name, p50[-1].p50 / p50[0].p50, "<", 1.2)


async def _small(stage: Stage, label: str, numbers: Sequence[int]) -> Pair:
    """Measure small tenants; the bare floor is that of one of them, asked its own questions."""
    first = numbers[0]
    asked = questions(seed_of(first, "user"), TENANT_SIZE, TENANT_SIZE)
    seen = await statements(stage.world, tenant_id(first), [request(one, "user") for one in asked])
    return await _pair(stage, label, first, seen, _posts(numbers, stage.sizes.questions))


def _posts(numbers: Sequence[int], count: int) -> list[Post]:
    """Return `count` questions, spread over the tenants."""
    step = max(1, len(numbers) // count)
    chosen = islice(cycle(numbers[::step]), count)
    asked = {number: questions(seed_of(number, "user"), TENANT_SIZE, TENANT_SIZE) for number in numbers[::step]}
    return [
        post(asked[number][place % len(asked[number])], "user", key_of(number)) for place, number in enumerate(chosen)
    ]


async def _pair(stage: Stage, label: str, number: int, seen: Sequence[list[Statement]], posts: Sequence[Post]) -> Pair:
    """Measure a tenant's statements bare and the requests over HTTP, in turns, one client each."""
    only_arms = [arms(one) for one in seen]
    count, port = stage.sizes.requests // ROUNDS, stage.service.port
    seconds = stage.sizes.seconds / ROUNDS
    connection = await stage.world.asking(tenant_id(number))
    spreads: dict[str, list[Spread]] = {"arms": [], "all": [], "http": []}
    try:
        bare = Bare(connection)
        for warm in (only_arms, seen):
            await timed([bare.run], warm, count=len(warm), seconds=seconds)
        await load(port, posts, clients=1, count=len(posts), seconds=seconds)
        for turn in range(ROUNDS):
            stage.progress(label, turn, ROUNDS)
            spreads["arms"].append(await timed([bare.run], only_arms, count=count, seconds=seconds))
            spreads["all"].append(await timed([bare.run], seen, count=count, seconds=seconds))
            spreads["http"].append(await load(port, posts, clients=1, count=count, seconds=seconds))
        stage.progress(label, ROUNDS, ROUNDS)
    finally:
        await connection.close()
    return Pair(**{name: Spread.joined(given) for name, given in spreads.items()})


async def _crowds(stage: Stage, label: str, posts: Sequence[Post]) -> dict[int, Spread]:
    found = {}
    for clients in CLIENTS[1:]:
        stage.progress(f"{label}, {clients} clients", 0, 0)
        port, seconds = stage.service.port, stage.sizes.seconds
        await load(port, posts, clients=clients, count=4 * clients, seconds=seconds)
        found[clients] = await load(port, posts, clients=clients, count=stage.sizes.requests, seconds=seconds)
    return found


def _rows(pair: Pair) -> list[tuple[str, ...]]:
    return [
        ("retrieval statement, bare", "1", *pair.arms.cells()),
        ("all of a question's statements, bare", "1", *pair.all.cells()),
        ("POST /query", "1", *pair.http.cells()),
    ]


def _crowd_rows(more: dict[int, Spread]) -> list[tuple[str, ...]]:
    return [("POST /query", str(clients), *spread.cells()) for clients, spread in more.items()]
