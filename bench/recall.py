"""How true the semantic arm is: the vector index against all vectors, under every filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from pgvector import HalfVector

from app.db.session import Database
from app.db.sql import Model, as_halfvec
from app.model import ReadMode, Scope, ScopeKind
from app.read.plan import OPEN
from app.read.retrieve import Search, SearchFilters, retrieve
from app.read.values import Arm
from bench.asking import ASKED_AT, questions
from bench.figures import Book
from bench.fill import MODEL
from bench.stage import Stage, seed_of, user_of
from bench.world import World, tenant_id

POOL = 50
"""Nearest memories that are compared, of those that the arm finds for a question."""

FEW = 25
"""Questions asked under each filter."""

SMALL = 1_000
"""A small scope among big ones: the vector index finds mostly other people's vectors."""


async def recall(stage: Stage, book: Book) -> None:
    """Compare what the index finds with what all vectors say, in the largest scope and under filters."""
    size = stage.sizes.largest
    await stage.have_scopes([SMALL, size])
    asked = questions(seed_of(0, user_of(size)), size, stage.sizes.questions)
    vectors = await stage.world.embedder.embed(asked, purpose="query")
    database = Database(stage.world.url, pool_size=1)
    rows, short = [], 0
    try:
        cases = _cases(size)
        for place, (name, filters) in enumerate(cases.items()):
            stage.progress("recall of the vector index", place, len(cases))
            chosen = vectors if filters == cases["no filter"] else vectors[:FEW]
            found, missing = await compared(stage.world, database, filters, [as_halfvec(one) for one in chosen])
            rows.append((name, f"{found:.3f}", str(missing)))
            short += missing
            if filters == cases["no filter"]:
                book.check(f"recall@{POOL} of the vector index, {size:,} memories", found, ">=", 0.95)
    finally:
        await database.close()
    book.check("rows the semantic arm owes under filters", short, "==", 0)
    note = (
        f"{len(asked)} questions, {FEW} under each filter; short: rows fewer than there are, up to {POOL} a question, "
        "all questions together."
    )
    book.table(
        f"The vector index against all vectors, {size:,} memories", ("filter", f"recall@{POOL}", "short"), rows, note
    )


def _cases(size: int) -> dict[str, SearchFilters]:
    whole = filters_for(user_of(size))
    return {
        "no filter": whole,
        "type relation": replace(whole, types=("relation",)),
        "types event, preference": replace(whole, types=("event", "preference")),
        "history too": replace(whole, mode=ReadMode.HISTORICAL),
        "topic politics (the rarest)": replace(whole, topic="politics"),
        "type relation, topic politics": replace(whole, types=("relation",), topic="politics"),
        "confidence above all there is": replace(whole, min_confidence=0.999),
        f"a scope of {SMALL:,} among the others": filters_for(user_of(SMALL)),
    }


def filters_for(user: str) -> SearchFilters:
    """Return the filters of a plain question of one of the main tenant's users."""
    scopes = (Scope(kind=ScopeKind.GLOBAL), Scope(kind=ScopeKind.USER, user_id=user))
    return SearchFilters(
        tenant=tenant_id(0),
        scopes=tuple(scope.id(tenant_id(0)) for scope in scopes),
        mode=ReadMode.DEFAULT,
        now=ASKED_AT,
        clock=ASKED_AT,
    )


async def compared(
    world: World, database: Database, filters: SearchFilters, vectors: Sequence[HalfVector]
) -> tuple[float, int]:
    """Return the mean recall of the approximate search, and how many rows it owes."""
    shares, missing = [], 0
    async with database.read(filters.tenant, plan_cache_mode="force_generic_plan") as session:
        for vector in vectors:
            lists: list[list[UUID]] = []
            for exact in (True, False):
                search = Search(
                    arms=frozenset({Arm.SEMANTIC}),
                    filters=filters,
                    depth=OPEN.depth,
                    model=Model(id=MODEL, dimensions=world.embedder.dimensions),
                    exact=exact,
                    vector=vector,
                )
                found = await retrieve(session, search)
                lists.append([memory for memory, _ in found.arms[Arm.SEMANTIC]])
            truth, near = (found[:POOL] for found in lists)
            missing += len(truth) - len(near)
            shares.append(len(set(truth) & set(near)) / len(truth) if truth else 1.0)
    return sum(shares) / len(shares), missing
