"""What a change of the embedding model costs: vectors a second, what a question feels of it, and what is left of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from app.db.session import Database
from app.features.reembedding.service import Reembedding
from app.memory.registry import discover
from app.providers.embeddings import Embedder, Purpose, Vectors
from bench.asking import post, questions
from bench.client import load
from bench.figures import Book, Spread
from bench.stage import Stage, seed_of, user_of
from bench.world import key_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Renamed:
    """The service's embedder under another name, so that its vectors are another model's."""

    embedder: Embedder
    name: str = "another model"

    @property
    def dimensions(self) -> int:
        """Return the length of its vectors."""
        return self.embedder.dimensions

    @property
    def local(self) -> bool:
        """Return whether it runs in this process."""
        return self.embedder.local

    async def embed(self, texts: Sequence[str], *, purpose: Purpose = "document") -> Vectors:
        """Embed as the other does."""
        return await self.embedder.embed(texts, purpose=purpose)

    async def aclose(self) -> None:
        """Do nothing: the other is closed by its owner."""


async def reembed(stage: Stage, book: Book) -> None:
    """Build another model's vectors beside questions, whose scope is compared in full; drop the old ones after it."""
    middle, largest = stage.sizes.middle, stage.sizes.largest
    await stage.have_scopes(sorted({middle, largest}))
    database = Database(stage.world.url, pool_size=2)
    phases: dict[str, list[float]] = {}
    began = perf_counter()

    def report(what: str, done: int, of: int | None) -> None:
        phases.setdefault(what, []).append(perf_counter() - began)
        stage.progress(what, done, of or 0)

    steps = Reembedding(
        owner_url=stage.world.url,
        database=database,
        embedder=Renamed(embedder=stage.world.embedder),
        types=discover(),
        report=report,
    )
    try:
        alone = await _asked(stage, middle)
        began, beside = perf_counter(), list[Spread]()
        building = asyncio.create_task(steps.build())
        while not building.done():
            beside.append(await _asked(stage, middle))
        built = await building
        after = await _asked(stage, middle)
        began = perf_counter()
        dropped = await steps.drop(force=True)
        dropping = perf_counter() - began
    finally:
        await database.close()
    assert dropped is not None  # noqa: S101 - one was replaced just now
    indexing = built.seconds - max(phases["embedding with another model"])
    rows = [
        ("embed and write", f"{built.filled:,}", built.seconds - indexing),
        ("index, and look for what is new", f"{largest:,}", indexing),
        ("drop the old ones", f"{dropped[1]:,}", dropping),
    ]
    book.table(
        "Changing the embedding model, beside questions",
        ("step", "rows", "seconds", "rows a second"),
        [
            (what, count, f"{seconds:.1f}", f"{int(count.replace(',', '')) / seconds:,.0f}")
            for what, count, seconds in rows
        ],
        f"Scopes of {middle:,} memories, compared in full, and of {largest:,}, in the vector index of the old model.",
    )
    felt = Spread.joined(beside)
    asked = [
        ("before", "1", *alone.cells()),
        ("while it is changed", "1", *felt.cells()),
        ("after it, with vectors of both", "1", *after.cells()),
    ]
    book.table(
        "POST /query beside a change of the model", ("when", "clients", "p50 ms", "p95 ms", "p99 ms", "a second"), asked
    )
    book.check("/query p50 while the model is changed over before", felt.p50 / alone.p50, "<=", 2.0)


async def _asked(stage: Stage, size: int) -> Spread:
    user = user_of(size)
    asked = questions(seed_of(0, user), size, stage.sizes.questions)
    posts = [post(one, user, key_of(0)) for one in asked]
    return await load(stage.service.port, posts, clients=1, count=stage.sizes.requests, seconds=stage.sizes.seconds)
