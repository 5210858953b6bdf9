"""What the second clock costs: questions to the past beside the same to the present, and keeping what is replaced."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import count

from app.model import Scope, ScopeKind
from bench.asking import ASKED_AT, questions
from bench.client import Post, load
from bench.figures import Book, Spread
from bench.stage import Stage, seed_of, user_of
from bench.world import key_of, tenant_id

ROUNDS = 4
WRITER = "user-of-many-minds"

_COLUMNS = ("what", "p50 ms", "p95 ms", "p99 ms", "a second")
_CHANGE = """
    UPDATE memories SET importance = 1 - importance, updated_at = $3
    WHERE tenant_id = $1 AND scope_id = $2 AND abs(hashtext(id::text)) % 2 = 0
"""


async def clocks(stage: Stage, book: Book) -> None:
    """Measure both on the middle scope; last, because it changes half of it."""
    size = stage.sizes.middle
    await stage.have_scopes([size])
    rows = await _questions(stage, book, size)
    rows += await _writes(stage, book)
    book.table(f"Two clocks, a scope of {size:,} memories", _COLUMNS, rows)


async def _questions(stage: Stage, book: Book, size: int) -> list[tuple[str, ...]]:
    user = user_of(size)
    asked = questions(seed_of(0, user), size, stage.sizes.questions)
    body = {"user_id": user, "now": ASKED_AT.isoformat()}
    now = [Post.of("/query", {"query": one, **body}, key_of(0)) for one in asked]
    then = [Post.of("/query", {"query": one, "known_at": body["now"], **body}, key_of(0)) for one in asked]
    rows: list[tuple[str, ...]] = []
    for label in ("nothing changed since", "half of them changed since"):
        if rows:
            scope = Scope(kind=ScopeKind.USER, user_id=user).id(tenant_id(0))
            await stage.world.owner.execute(_CHANGE, tenant_id(0), scope, ASKED_AT + timedelta(days=1))
            await stage.world.owner.execute("VACUUM ANALYZE memories, memory_past, memory_index")
        present, past = await _in_turns(stage, now, then)
        rows += [("/query", *present.cells()), (f"/query with known_at, {label}", *past.cells())]
        book.check(f"/query p50 with known_at over without, {label}", past.p50 / present.p50, "<=", 3)
    return rows


async def _in_turns(stage: Stage, first: Sequence[Post], second: Sequence[Post]) -> tuple[Spread, Spread]:
    found: tuple[list[Spread], list[Spread]] = ([], [])
    each, seconds = stage.sizes.requests // ROUNDS, stage.sizes.seconds / ROUNDS
    for posts in (first, second):
        await load(stage.service.port, posts, clients=1, count=len(posts), seconds=seconds)
    for turn in range(ROUNDS):
        stage.progress("questions to two clocks", turn, ROUNDS)
        for spreads, posts in zip(found, (first, second), strict=True):
            spreads.append(await load(stage.service.port, posts, clients=1, count=each, seconds=seconds))
    return Spread.joined(found[0]), Spread.joined(found[1])


async def _writes(stage: Stage, book: Book) -> list[tuple[str, ...]]:
    """Supersede one preference again and again, with what keeps the past and without it, in turns."""
    values = count()
    spreads: dict[str, list[Spread]] = {"ENABLE": [], "DISABLE": []}
    each = max(10, stage.sizes.writes // ROUNDS)
    for turn in range(2 * ROUNDS):
        stage.progress("writes that supersede", turn, 2 * ROUNDS)
        for switch, found in spreads.items():
            await stage.world.owner.execute(f"ALTER TABLE memories {switch} TRIGGER tg_memories_past")
            posts = [_preference(f"value {next(values)}") for _ in range(each)]
            found.append(await load(stage.service.port, posts, clients=1, count=each, seconds=stage.sizes.seconds))
    await stage.world.owner.execute("ALTER TABLE memories ENABLE TRIGGER tg_memories_past")
    kept, lost = Spread.joined(spreads["ENABLE"]), Spread.joined(spreads["DISABLE"])
    book.check("superseding write p50 with its past kept over without", kept.p50 / lost.p50, "<=", 1.2)
    return [("write that supersedes", *kept.cells()), ("the same, its past not kept", *lost.cells())]


def _preference(value: str) -> Post:
    body = {"preference_key": "mind.state", "preference_value": value, "user_id": WRITER}
    return Post.of("/memories/typed/preference", body, key_of(0))
