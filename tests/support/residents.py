"""Questions that are asked both ways: of scopes in memory, and of the store, in one snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from pgvector import HalfVector

from app.db.apply.scope import LARGE
from app.db.memories.heeded import HeededMemory, HeedQuery
from app.read.pipeline import ReadPipeline
from app.read.resident.kept import Residents
from app.read.resident.source import ResidentSource
from app.read.search import Found, MemorySearch, Question
from app.read.source import ReadSource, SqlSource

NEAR = 1e-6
"""How far apart the scores of arms may be, which Postgres adds up in single precision."""

DERIVED = 1e-5
"""The same of what is made of these: relevance is a curve of them, up to ten times as steep."""


@dataclass
class BothWays:
    """What was asked both ways, and where the answers differed; `told` counts turns that answers may have to heed."""

    asked: int = 0
    held_before: int = 0
    told: int = 0
    differences: list[str] = field(default_factory=list)


def compared(found: Found) -> dict[str, Any]:
    """What is compared of an answer."""
    return {
        "arms": {arm.value: [one for one, _ in scored] for arm, scored in found.retrieved.arms.items()},
        "order": [one.id for one in found.ranked],
        "marks": [(one.notes, one.marks, one.later) for one in found.ranked],
        "memories": [found.memories.get(one.id) for one in found.ranked],
        "cut": [(one.id, one.why) for one in found.cut],
        "relaxed": (found.relaxed, found.looked_back),
    }


def arm_scores(found: Found) -> list[float]:
    return [score for _, one in sorted(found.retrieved.arms.items()) for _, score in one]


def numbers(found: Found) -> list[float]:
    return [x for one in found.ranked for x in (one.score, one.relevance, one.freshness, one.confidence)]


def difference(ours: Found, stored: Found) -> str:
    """Return what differs between two answers."""
    first, second = compared(ours), compared(stored)
    for name in first:
        if first[name] != second[name]:
            return f"{name}: {first[name]} in memory, {second[name]} stored"
    for what, of, least in (("scores of arms", arm_scores, NEAR), ("numbers", numbers, DERIVED)):
        apart = max((abs(a - b) for a, b in zip(of(ours), of(stored), strict=True)), default=0.0)
        if apart > least:
            return f"{what} by {apart}"
    return ""


@contextmanager
def asked_both_ways(*, loading: bool = True) -> Iterator[BothWays]:
    """Ask each question in the block of memory, and of the store; `loading`: also where a scope isn't held yet."""
    seen = BothWays()
    source_of, find, told_of = ReadPipeline._source, MemorySearch.find, ResidentSource.told

    async def source(self: ReadPipeline, residents: Residents, stored: SqlSource, question: Question) -> ReadSource:
        found = await source_of(self, residents, stored, question)
        seen.held_before += isinstance(found, ResidentSource)
        if isinstance(found, ResidentSource) or not loading or question.known.memories > LARGE:
            return found
        read = [await residents._read(stored.session, question.tenant, one) for one in question.scopes]
        loaded = [one for one in read if one is not None]
        for one in loaded:
            residents._keep(question.tenant, one)
        return ResidentSource(scopes=loaded, store=stored)

    async def found(self: MemorySearch, source: ReadSource, question: Question, vector: HalfVector) -> Found:
        ours = await find(self, source, question, vector)
        if isinstance(source, ResidentSource):
            stored = await find(self, source.store, question, vector)
            seen.asked += 1
            if what := difference(ours, stored):
                seen.differences.append(f"{question.request.query!r}: {what}")
        return ours

    async def told(self: ResidentSource, heed: HeedQuery, scopes: Sequence[UUID]) -> tuple[HeededMemory, ...]:
        ours = await told_of(self, heed, scopes)
        seen.told += len(ours)
        if ours != (stored := await self.store.told(heed, scopes)):
            seen.differences.append(f"{heed.told}: {ours} in memory, {stored} stored")
        return ours

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ResidentSource, "told", told)
        patch.setattr(ReadPipeline, "_source", source)
        patch.setattr(MemorySearch, "find", found)
        yield seen
