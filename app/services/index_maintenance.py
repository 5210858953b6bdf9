"""Maintenance of a scope's search index, so that it stays as good as when the scope was small.

Lexical weights are recomputed when the average length of a scope's texts has drifted, and vectors are added to the
vector index when the scope outgrows exact search.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from app.db import search_index
from app.db.search_index import IndexedText, LexicalWeights
from app.db.session import Database
from app.errors import TypedMemoryError
from app.lexical.bm25 import document_weights, searched_terms, to_sparsevec
from app.lexical.embedding_text import lead

log = structlog.get_logger("typed_memory.lifecycle")

BATCH = 500
PAUSE_SECONDS = 1.0
_START = (UUID(int=0), -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexMaintenance:
    """Maintains scopes that writes have marked.

    Until then BM25 stays within its tolerance, and vectors are searched exactly.
    """

    database: Database
    language: str
    _marked: set[tuple[UUID, UUID]] = field(default_factory=set)
    _crowded: set[tuple[UUID, UUID]] = field(default_factory=set)

    def mark(self, tenant: UUID, scope: UUID) -> None:
        """Queue a scope to have its lexical weights recomputed soon."""
        self._marked.add((tenant, scope))

    def crowd(self, tenant: UUID, scope: UUID) -> None:
        """Queue a scope to have its vectors added to the vector index soon, because it has outgrown exact search."""
        self._crowded.add((tenant, scope))

    async def run(self) -> None:
        """Maintain marked scopes until cancelled; a scope whose maintenance failed stays marked."""
        while True:
            await asyncio.sleep(PAUSE_SECONDS)
            await self.settle()

    async def settle(self) -> None:
        """Maintain every marked scope now."""
        for marked, mend in ((self._marked, self.reweigh), (self._crowded, self.index)):
            for tenant, scope in tuple(marked):
                marked.discard((tenant, scope))
                try:
                    await mend(tenant, scope)
                except TypedMemoryError:
                    marked.add((tenant, scope))
                except Exception:  # others wait, and this one may succeed later
                    log.exception("a scope's index could not be maintained", tenant=str(tenant), scope=str(scope))
                    marked.add((tenant, scope))

    async def index(self, tenant: UUID, scope: UUID) -> int:
        """Add the scope's vectors to the vector index, a batch a transaction; return how many."""
        async with self.database.write(tenant) as session:
            await search_index.use_vector_index(session, tenant, scope)
        done = 0
        while True:
            async with self.database.write(tenant) as session:
                added = await search_index.add_to_vector_index(session, tenant, scope, limit=BATCH)
            done += added
            if added < BATCH:
                return done

    async def reweigh(self, tenant: UUID, scope: UUID) -> int:
        """Recompute the lexical weights of the scope's rows for its true average length; return how many."""
        async with self.database.write(tenant) as session:
            average = await search_index.update_average_length(session, tenant, scope)
        if average is None:
            return 0
        done, after = 0, _START
        while True:
            async with self.database.read(tenant) as session:
                rows = await search_index.read_texts(session, tenant, scope, after=after, limit=BATCH)
            if not rows:
                break
            weighed = await asyncio.to_thread(self._weigh, rows, average)
            async with self.database.write(tenant) as session:
                await search_index.store_weights(session, tenant, scope, weighed)
            after = (rows[-1].memory_id, rows[-1].part)
            done += len(rows)
        async with self.database.write(tenant) as session:
            await search_index.mark_weighed(session, tenant, scope)
        return done

    def _weigh(self, rows: Sequence[IndexedText], average: float) -> list[LexicalWeights]:
        return [
            LexicalWeights(
                memory_id=row.memory_id,
                part=row.part,
                lexical=to_sparsevec(
                    document_weights(searched_terms(_indexed(row), self.language), average_length=average)
                ),
            )
            for row in rows
        ]


def _indexed(row: IndexedText) -> str:
    return f"{lead(row.context or '')} {row.content}" if row.kind == "context" else row.content
