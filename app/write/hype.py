"""Stage 7: hypothetical questions, in the background (seed 001, Hypothetical Prompt Embeddings).

A question is embedded as questions are, without the names that stay out of its memory's own vectors.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from app.db.memories import hype
from app.db.memories.hype import EmbeddedQuestion, QuestionTarget
from app.db.session import PLANNED_BY_KEY, Database
from app.db.sql import as_halfvec
from app.lexical.embedding_text import without_names
from app.memory.registry import Registry, Types
from app.memory.spec import MemoryType, Payload
from app.providers.embeddings import Embedder
from app.providers.protocols import QuestionInput, Questions, QuestionWriter
from app.write.values import Believe, Decision, PersistResult, Resolved, spoken_names

BATCH = 64
"""Memories that get their questions in one transaction."""

_NO_VECTORS = np.empty((0, 0), dtype=np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hype:
    """Gives memories their questions. Doing it again leaves them with one set. `model_id` is the embedder's."""

    database: Database
    embedder: Embedder
    model_id: int
    writer: QuestionWriter
    types: Types

    async def ask(self, tenant: UUID, memories: Sequence[UUID]) -> AsyncIterator[int]:
        """Give the memories questions, a batch a transaction; yield how many were looked at after each.

        Those that are not active, or of a type that is not asked by questions, get none. Raises ProviderError
        when a batch could not be written or embedded; those before it are done then.
        """
        done = 0
        for batch in _batches(memories):
            await self._ask(tenant, batch)
            done += len(batch)
            yield done

    async def _ask(self, tenant: UUID, memories: Sequence[UUID]) -> None:
        async with self.database.read(tenant) as session:
            believed = await hype.read_targets(session, tenant, memories)
        types = await self.types.of(tenant)
        targets = await asyncio.to_thread(lambda: list(_with_payloads(believed, types, self.writer)))
        if not targets:
            return
        questions = await self.writer.write(
            [QuestionInput(content=one.content, payload=payload) for one, payload in targets]
        )
        texts = [
            text
            for (_, payload), asked in zip(targets, questions, strict=True)
            for text in question_vectors(payload, asked)
        ]
        vectors = await self.embedder.embed(texts, purpose="query") if texts else _NO_VECTORS
        asked = list(_asked([one for one, _ in targets], questions, vectors))
        async with self.database.write(tenant, **PLANNED_BY_KEY) as session:
            await hype.store_questions(session, tenant, asked, model=self.model_id)


def memories_without_questions(
    decided: Sequence[tuple[Resolved, Decision, PersistResult]], writer: QuestionWriter
) -> list[UUID]:
    """Return the new or rewritten memories of these decisions, whose questions are yet to be written."""
    return [
        verdict.memory
        for resolved, decision, verdict in decided
        if verdict.memory is not None
        and writer.covers(resolved.prepared.candidate.type)
        and _says_something_new(decision)
    ]


def question_vectors(payload: Payload, questions: Questions) -> list[str]:
    """Return the questions as they are embedded: names left out, as they are in the memory's own vectors."""
    names = spoken_names(payload.mentions())
    return [without_names(names, question) for question in questions]


def _says_something_new(decision: Decision) -> bool:
    """Return whether a decision adds an active memory or rewrites one; history gets no questions."""
    if not isinstance(decision, Believe):
        return False
    new = decision.transition.new
    return decision.rewritten is not None or (new is not None and new.active)


def _batches(memories: Sequence[UUID]) -> Iterator[list[UUID]]:
    left = iter(dict.fromkeys(memories))
    while batch := list(islice(left, BATCH)):
        yield batch


def _with_payloads(
    believed: Sequence[QuestionTarget], types: Registry, writer: QuestionWriter
) -> Iterator[tuple[QuestionTarget, Payload]]:
    """Yield the memories of types that get questions, with their payloads; invalid payloads are skipped."""
    asked: Mapping[str, MemoryType] = {one.name: one for one in types if writer.covers(one)}
    for one in believed:
        if one.type in asked:
            try:
                yield one, asked[one.type].read(one.payload, one.type_version)
            except ValidationError:
                continue


def _asked(
    believed: Sequence[QuestionTarget], questions: Sequence[Questions], vectors: NDArray[np.float32]
) -> Iterator[EmbeddedQuestion]:
    row = 0
    for one, own in zip(believed, questions, strict=True):
        embedded = tuple(zip(own, map(as_halfvec, vectors[row : row + len(own)]), strict=True))
        row += len(own)
        yield EmbeddedQuestion(memory=one.id, content=one.content, questions=embedded)
