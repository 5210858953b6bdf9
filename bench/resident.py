"""Questions to scopes in memory beside the same questions to the database, in turns: `python -m bench.resident`.

Ratios of one run count, on any machine: each question is asked both ways, in changing order, and medians are printed.
"""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from time import perf_counter, thread_time

from threadpoolctl import threadpool_limits

from app.db import change_notes
from app.db.login import Login
from app.db.session import Database
from app.memory.registry import discover
from app.model import Actor, Scope, ScopeKind
from app.providers.factory import word_vectors
from app.read.near_words import NearWords
from app.read.pipeline import ReadPipeline
from app.read.resident.kept import Residents
from app.write.pipeline import WritePipeline
from bench.asking import questions, reader, request
from bench.fill import LANGUAGE, MODEL, Bucket, Filler
from bench.grammar import NOW, TYPES, Grammar
from bench.world import World, new_world, tenant_id

SIZES = {"turns": (788, ("episodic",)), "mixed": (788, TYPES), "large": (9_500, TYPES)}
ASKED = 40
LIMIT = 256_000_000

Times = Mapping[str, Sequence[tuple[float, float]]]
"""Seconds of the processor and of the clock, by the way that was asked."""


async def main() -> None:
    """Compare in a store of its own."""
    # As the service does.
    with threadpool_limits(limits=1, user_api="blas"):
        async with new_world() as world:
            await compare(world)


async def compare(world: World) -> None:
    """Fill a scope of each size, ask, and print medians and ratios."""
    await world.add_tenants([0])
    filler = Filler(connection=world.owner, embedder=world.embedder)
    buckets = [
        Bucket(tenant=tenant_id(0), scope=_scope(name), count=count, seed=name, types=types)
        for name, (count, types) in SIZES.items()
    ]
    await filler.fill(buckets)
    await change_notes.keep(Login(url=world.url, setting="", patience=0.0))
    database = Database(world.url)
    try:
        for name in SIZES:
            await measure(world, database, filler, name)
    finally:
        await database.close()


async def measure(world: World, database: Database, filler: Filler, name: str) -> None:
    """Ask a scope's questions both ways, first alone and then each after a write."""
    count, _ = SIZES[name]
    stored = reader(world, database)
    vectors = word_vectors(world.embedder)
    words = None if vectors is None else NearWords(vectors, LANGUAGE)
    stored = replace(stored, search=replace(stored.search, words=words))
    residents = Residents(database=database, model=MODEL, limit=LIMIT, at_once=True)
    held = replace(stored, residents=residents)
    asked = questions(name, count, ASKED)
    started = perf_counter()
    for question in asked[:3]:
        await held.answer(tenant_id(0), request(question, name))
        await residents.settled()
    say(f"{name}: loaded in {perf_counter() - started:.2f} s, {residents.size / count:.0f} bytes a memory")
    ways = {"store": stored, "memory": held}
    await in_turns(asked, name, ways)
    report(f"{name}, asked", await in_turns(asked, name, ways))
    drafts = list(Grammar(f"{name} more", ("episodic",)).drafts(4 * ASKED))
    writing = WritePipeline(
        database=database,
        embedder=world.embedder,
        model_id=MODEL,
        language=LANGUAGE,
        clock=lambda: NOW,
        types=discover(),
    )

    async def write() -> None:
        actor = Actor(tenant_id=tenant_id(0), key_id=None, name="bench")
        await writing.write(actor, list(filler.candidates(drafts.pop(), _scope(name))))

    report(f"{name}, after a write", await in_turns(asked, name, ways, before=write))


async def in_turns(
    asked: Sequence[str],
    user: str,
    ways: Mapping[str, ReadPipeline],
    before: Callable[[], Awaitable[None]] | None = None,
) -> Times:
    """Return the times of each question asked each way; `before` is done before each."""
    times: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for place, question in enumerate(asked):
        for way in sorted(ways, reverse=bool(place % 2)):
            if before is not None:
                await before()
            processor, clock = thread_time(), perf_counter()
            await ways[way].answer(tenant_id(0), request(question, user))
            times[way].append((thread_time() - processor, perf_counter() - clock))
    return times


def report(what: str, times: Times) -> None:
    """Print medians."""
    for column, measured in enumerate(("processor", "clock")):
        middle = {way: 1_000 * median(one[column] for one in found) for way, found in times.items()}
        ratio = middle["memory"] / middle["store"]
        say(f"{what}, {measured}: memory {middle['memory']:.1f} ms, store {middle['store']:.1f}, ratio {ratio:.2f}")


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _scope(name: str) -> Scope:
    return Scope(kind=ScopeKind.USER, user_id=name)


if __name__ == "__main__":
    asyncio.run(main())
