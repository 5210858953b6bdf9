"""Questions about synthetic memories, as HTTP requests and as the statements the read pipeline makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from app.db.session import Database
from app.db.sql import Model
from app.memory.registry import discover
from app.model import Visibility
from app.read.pipeline import ReadPipeline
from app.read.search import MemorySearch
from app.read.values import QueryRequest
from bench.capture import Statement, captured
from bench.client import Post
from bench.fill import LANGUAGE, MODEL
from bench.grammar import NOW, Grammar
from bench.world import World

ASKED_AT = NOW + timedelta(hours=1)
_ARMS = "WITH probe AS MATERIALIZED"


def questions(seed: str, memories: int, count: int) -> list[str]:
    """Return questions that memories of this scope answer, of all types mixed."""
    drafts = list(Grammar(seed).drafts(min(memories, 20 * count)))
    step = max(1, len(drafts) // count)
    return [draft.question for draft in drafts[::step]][:count]


def post(question: str, user: str, key: str) -> Post:
    """Return the question as a request to the service."""
    return Post.of("/query", {"query": question, "user_id": user, "now": ASKED_AT.isoformat()}, key)


def request(question: str, user: str) -> QueryRequest:
    """Return the question as the read pipeline takes it."""
    return QueryRequest(query=question, now=ASKED_AT, visibility=Visibility(user_id=user))


def reader(world: World, database: Database) -> ReadPipeline:
    """Return a read pipeline in this process, which records no accesses."""
    return ReadPipeline(
        database=database,
        embedder=world.embedder,
        types=discover(),
        search=MemorySearch(
            model=Model(id=MODEL, dimensions=world.embedder.dimensions), language=LANGUAGE, clock=_clock
        ),
    )


async def statements(world: World, tenant: UUID, asked: Sequence[QueryRequest]) -> list[list[Statement]]:
    """Return what each question makes the database do: its statements, in order."""
    database = Database(world.url, pool_size=1)
    pipeline = reader(world, database)
    found = []
    try:
        for one in asked:
            with captured() as seen:
                await pipeline.answer(tenant, one)
            found.append(list(seen))
    finally:
        await database.close()
    return found


def arms(seen: Sequence[Statement]) -> list[Statement]:
    """Return the retrieval statements among them: the one of all arms, or two when a filter was relaxed."""
    return [one for one in seen if one.sql.lstrip().startswith(_ARMS)]


def _clock() -> datetime:
    return ASKED_AT
