"""Whether others' memories change one's own answers: the same ids in the same order, at the same speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from app.db.session import Database
from bench.asking import post, questions, reader, request
from bench.client import load
from bench.figures import Book, Spread
from bench.stage import Stage, seed_of
from bench.world import key_of, tenant_id

SIZE = 2_000
QUIET = "user-quiet"
"""Asked in this process, which records no accesses: an access would rightly change the next answer."""

BUSY = "user-busy"
"""Asked over HTTP, for the time it takes."""

Answers = list[list[UUID]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """Answers, times and the number of memories, before the neighbours came."""

    answers: Answers
    spread: Spread
    memories: int


async def before(stage: Stage) -> Before:
    """Ask before the neighbours come."""
    await stage.have_tenants((0,))
    await stage.have_users({QUIET: SIZE, BUSY: SIZE})
    return Before(answers=await _answers(stage), spread=await _spread(stage), memories=await _memories(stage))


async def after(stage: Stage, book: Book, earlier: Before) -> None:
    """Ask the same again now that they are here."""
    answers, spread = await _answers(stage), await _spread(stage)
    changed = sum(1 for one, other in zip(earlier.answers, answers, strict=True) if one != other)
    memories = await _memories(stage)
    came = memories - earlier.memories
    book.check(f"answers that {came:,} memories of others changed, of {len(answers)}", changed, "==", 0)
    book.check(f"/query p50 with {came:,} memories of others over without", spread.p50 / earlier.spread.p50, "<", 1.2)
    book.table(
        f"Questions to a scope of {SIZE:,} memories, alone and among neighbours",
        ("memories in the store", "p50 ms", "p95 ms", "p99 ms", "a second"),
        [(f"{earlier.memories:,}", *earlier.spread.cells()), (f"{memories:,}", *spread.cells())],
    )


async def _answers(stage: Stage) -> Answers:
    database = Database(stage.world.url, pool_size=1)
    pipeline = reader(stage.world, database)
    try:
        found = []
        for question in _asked(stage, QUIET):
            answer = await pipeline.answer(tenant_id(0), request(question, QUIET))
            found.append([hit.memory.id for hit in answer.result.hits])
        return found
    finally:
        await database.close()


async def _spread(stage: Stage) -> Spread:
    stage.progress("questions among neighbours", 0, 0)
    posts = [post(question, BUSY, key_of(0)) for question in _asked(stage, BUSY)]
    port, seconds = stage.service.port, stage.sizes.seconds
    await load(port, posts, clients=1, count=len(posts), seconds=seconds)
    return await load(port, posts, clients=1, count=stage.sizes.requests, seconds=seconds)


def _asked(stage: Stage, user: str) -> Sequence[str]:
    return questions(seed_of(0, user), SIZE, stage.sizes.neighbour_questions)


async def _memories(stage: Stage) -> int:
    found: int = await stage.world.owner.fetchval("SELECT count(*) FROM memories")
    return found
