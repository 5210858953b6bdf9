"""The source that a question's stages read from: the store, by SQL, or what is held of it in memory (`resident`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from pgvector import HalfVector

from app.db.memories import hype, ranking
from app.db.memories import read as memory_reads
from app.db.memories.excerpt import read_later_turns
from app.db.memories.heeded import HeededMemory, HeedQuery, read_told
from app.db.memories.ranking import AskingSession, Bounds, RankingRow, TurnEvidence
from app.db.session import ReadSession
from app.model import Memory
from app.read.retrieve import Retrieved, Search, read_links, retrieve
from app.read.values import Link

PLANNED_ALONE_FROM = 5_000
"""Memories in sight from which a question's search is planned for them alone: the plan for all is made for the scopes
that most tenants have, and reads a large one row by row. Planning takes some 20 ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsQuery:
    """Filters of ranking rows, as `ranking.read_ranking_rows` takes them."""

    ids: Sequence[UUID]
    windows: Sequence[Bounds] = ()
    whole: bool = False
    opening: int = 0
    metadata: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceQuery:
    """Filters of turn evidence, as `ranking.read_turn_evidence` takes them."""

    ids: Sequence[UUID]
    verbatim: Collection[str]
    instant: datetime
    asking: AskingSession | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterQuery:
    """Filters of later turns, as `later_turns.read_later_turns` takes them."""

    memory: UUID
    verbatim: Collection[str]
    assistants: Collection[UUID]
    least: float
    model: int


class ReadSource(Protocol):
    """A source of all that a question's stages read."""

    async def retrieve(self, search: Search) -> Retrieved:
        """Return what each arm nominates."""

    async def ranking_rows(self, query: RowsQuery) -> dict[UUID, RankingRow]:
        """Return the ranking rows of memories, by id."""

    async def turn_evidence(self, query: EvidenceQuery) -> dict[UUID, TurnEvidence]:
        """Return the evidence of turns, by id."""

    async def later_turns(self, query: LaterQuery) -> list[UUID]:
        """Return the turns told after a memory that are nearest to it."""

    async def told(self, heed: HeedQuery, scopes: Sequence[UUID]) -> tuple[HeededMemory, ...]:
        """Return turns in which users tell of what is to be heeded."""

    async def memories(self, ids: Sequence[UUID]) -> dict[UUID, Memory]:
        """Return whole memories, by id."""

    async def entity_names(self, ids: Collection[UUID]) -> Mapping[UUID, str]:
        """Return the names of entities, by id."""

    async def replaced(self, by: Collection[UUID]) -> list[UUID]:
        """Return the memories that these replaced."""

    async def links(self, search: Search, *, found: Sequence[UUID], anchors: Sequence[UUID]) -> tuple[Link, ...]:
        """Return statements and those that lead to them."""

    async def nearest_questions(
        self, ids: Sequence[UUID], vector: HalfVector, model: int
    ) -> Mapping[UUID, tuple[str, float]]:
        """Return the hypothetical question of each memory that is nearest to a vector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlSource:
    """The store, in one session; `known_at`: as it was known then. `large`: searches are planned for themselves."""

    session: ReadSession
    tenant: UUID
    known_at: datetime | None = None
    large: bool = False

    async def retrieve(self, search: Search) -> Retrieved:
        """Run the arms as one statement."""
        if self.large:
            await self.session.plan_each()
        return await retrieve(self.session, search)

    async def ranking_rows(self, query: RowsQuery) -> dict[UUID, RankingRow]:
        """Read the rows of those that exist, or did."""
        return await ranking.read_ranking_rows(
            self.session,
            tenant=self.tenant,
            ids=query.ids,
            windows=query.windows,
            whole=query.whole,
            opening=query.opening,
            metadata=query.metadata,
            known_at=self.known_at,
        )

    async def turn_evidence(self, query: EvidenceQuery) -> dict[UUID, TurnEvidence]:
        """Read the evidence that is known, or was."""
        return await ranking.read_turn_evidence(
            self.session,
            tenant=self.tenant,
            ids=query.ids,
            verbatim=query.verbatim,
            instant=query.instant,
            asking=query.asking,
            known_at=self.known_at,
        )

    async def later_turns(self, query: LaterQuery) -> list[UUID]:
        """Compare every later turn."""
        return await read_later_turns(
            self.session,
            tenant=self.tenant,
            memory=query.memory,
            verbatim=query.verbatim,
            assistants=query.assistants,
            least=query.least,
            model=query.model,
        )

    async def told(self, heed: HeedQuery, scopes: Sequence[UUID]) -> tuple[HeededMemory, ...]:
        """Compare every turn."""
        return await read_told(self.session, self.tenant, heed, scopes=scopes)

    async def memories(self, ids: Sequence[UUID]) -> dict[UUID, Memory]:
        """Read memories with the names of their entities."""
        return await memory_reads.read_memories(self.session, self.tenant, ids, known_at=self.known_at, named=True)

    async def entity_names(self, ids: Collection[UUID]) -> Mapping[UUID, str]:
        """Read the names."""
        return await ranking.read_entity_names(self.session, tenant=self.tenant, ids=ids)

    async def replaced(self, by: Collection[UUID]) -> list[UUID]:
        """Read what was replaced, latest statement first."""
        return await ranking.read_replaced(self.session, tenant=self.tenant, by=by, known_at=self.known_at)

    async def links(self, search: Search, *, found: Sequence[UUID], anchors: Sequence[UUID]) -> tuple[Link, ...]:
        """Follow the objects of statements."""
        return await read_links(self.session, search, found=found, anchors=anchors)

    async def nearest_questions(
        self, ids: Sequence[UUID], vector: HalfVector, model: int
    ) -> Mapping[UUID, tuple[str, float]]:
        """Compare the questions of these memories."""
        return await hype.read_nearest_questions(self.session, self.tenant, ids, vector, model=model)
