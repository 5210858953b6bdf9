"""The reads of a question from scopes in memory; what they don't hold is read in the question's own session.

That session sees the same snapshot as that of which the scopes are, so both give the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from pgvector import HalfVector

from app.db.memories.heeded import HeededMemory, HeedQuery, read_matching, read_told
from app.db.memories.ranking import Bounds, RankingRow, TurnEvidence
from app.db.memories.resident import read_recent_turns
from app.model import Memory
from app.read.resident import arms, evidence, filters
from app.read.resident.scope import ResidentScope, Telling
from app.read.retrieve import Retrieved, Search
from app.read.source import EvidenceQuery, LaterQuery, RowsQuery, SqlSource
from app.read.values import OPENING, Link, Window


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidentSource:
    """Scopes in memory: all that a question may see; `store` is the rest."""

    scopes: Sequence[ResidentScope]
    store: SqlSource

    async def retrieve(self, search: Search) -> Retrieved:
        """Run the arms on columns, unless they lack what is filtered by."""
        if not (search.exact and filters.can_answer(search.filters)):
            return await self.store.retrieve(search)
        return arms.retrieve(self.scopes, search)

    async def ranking_rows(self, query: RowsQuery) -> dict[UUID, RankingRow]:
        """Return the rows as they are held."""
        if query.whole or query.metadata is not None or query.opening != OPENING:
            return await self.store.ranking_rows(query)
        found: dict[UUID, RankingRow] = {}
        for scope in self.scopes:
            found |= {one: row for one in query.ids if (row := scope.rows.get(one)) is not None}
        if query.windows:
            for scope in self.scopes:
                outside = _outside(scope, query.windows)
                for one in found.keys() & outside:
                    found[one] = found[one]._replace(elsewhen=True)
        return found

    async def turn_evidence(self, query: EvidenceQuery) -> dict[UUID, TurnEvidence]:
        """Return the evidence as it is held; of turns told to other scopes, too, as it is stored."""
        if not query.ids:
            return {}
        if evidence.is_told_elsewhere(self.scopes, query.ids):
            return await self.store.turn_evidence(query)
        recent: frozenset[UUID] = frozenset()
        if query.asking is not None and evidence.is_told_in(self.scopes, query.ids, query.asking.session_id):
            recent = await read_recent_turns(
                self.store.session,
                self.store.tenant,
                scopes=query.asking.scopes,
                session_id=query.asking.session_id,
                most=query.asking.turns,
            )
        return evidence.turn_evidence(self.scopes, query, recent)

    async def later_turns(self, query: LaterQuery) -> list[UUID]:
        """Compare every later turn of the memory's scope."""
        return next(
            (evidence.later_turns(scope, query) for scope in self.scopes if query.memory in scope.owners),
            [],
        )

    async def told(self, heed: HeedQuery, scopes: Sequence[UUID]) -> tuple[HeededMemory, ...]:
        """Compare the turns that match, of which those are remembered that were compared before."""
        session, tenant = self.store.session, self.store.tenant
        types = {kind.name for kind in heed.types if kind.verbatim}
        among: set[UUID] = set()
        for scope in self.scopes:
            known = scope.telling.get(heed.told)
            if known is None:
                turns = frozenset(one.id for one in scope.standing.values() if one.type in types)
                known = Telling(frozenset(), turns)
            if known.unread:
                found = await read_matching(session, tenant, heed, known.unread)
                known = scope.telling[heed.told] = Telling(known.matching | found, frozenset())
            among |= known.matching
        return await read_told(session, tenant, heed, scopes=scopes, among=among) if among else ()

    async def memories(self, ids: Sequence[UUID]) -> dict[UUID, Memory]:
        """Return memories as they were last read, and read those that were not yet."""
        known = {one: scope.answers[one] for scope in self.scopes for one in ids if one in scope.answers}
        if unknown := [one for one in ids if one not in known]:
            read = await self.store.memories(unknown)
            for scope in self.scopes:
                scope.answers.update({one: it for one, it in read.items() if one in scope.owners})
            known |= read
        return known

    async def entity_names(self, ids: Collection[UUID]) -> Mapping[UUID, str]:
        """Return the names as they are held."""
        return {one: scope.entities[one].name for scope in self.scopes for one in ids if one in scope.entities}

    async def replaced(self, by: Collection[UUID]) -> list[UUID]:
        """Read what was replaced."""
        return await self.store.replaced(by)

    async def links(self, search: Search, *, found: Sequence[UUID], anchors: Sequence[UUID]) -> tuple[Link, ...]:
        """Follow the objects of statements in the store: few questions do."""
        return await self.store.links(search, found=found, anchors=anchors)

    async def nearest_questions(
        self, ids: Sequence[UUID], vector: HalfVector, model: int
    ) -> Mapping[UUID, tuple[str, float]]:
        """Read the questions, which are not held as they are worded."""
        return await self.store.nearest_questions(ids, vector, model)


def _outside(scope: ResidentScope, windows: Sequence[Bounds]) -> frozenset[UUID]:
    """Return the memories whose time overlaps with no window."""
    rows = scope.columns.rows
    inside = np.zeros(scope.columns.count, np.bool_)
    for lower, upper in windows:
        inside |= filters.happened_in(scope.columns, Window(lower=lower, upper=upper))
    found = np.nonzero(rows["dated"] & ~inside & (rows["part"] == 0))[0]
    return frozenset(scope.ids[one] for one in rows["owner"][found].tolist())
