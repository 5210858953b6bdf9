"""Index rows and hypothetical questions of imported memories, with the file's vectors or new ones."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from app.db.portability.imports import ScopeGrowth
from app.db.sql import as_halfvec
from app.lexical.bm25 import as_tsvector, document_weights, index_of, searched_terms, to_sparsevec
from app.memory.candidate import Candidate
from app.memory.registry import Registry
from app.memory.spec import MemoryType, Payload
from app.providers.embeddings import Embedder
from app.services.portability.records import Line, UnreadableLine
from app.write.embed import search_texts, worded
from app.write.hype import question_vectors
from app.write.rows import question_rows

_SHARED = (
    "type",
    "topic",
    "status",
    "confidence",
    "valid_from",
    "valid_until",
    "ended_at",
    "recorded_at",
    "retired_at",
    "stated_at",
    "session_id",
    "sequence_number",
)
"""Columns of a memory that its index rows repeat."""


@dataclass(slots=True, kw_only=True)
class ImportedMemory:
    """A memory's line with its index rows; columns of `index` and `questions` that need the transaction are missing."""

    line: Line
    candidate: Candidate
    scope_id: UUID
    row: dict[str, Any]
    index: list[dict[str, Any]] = field(default_factory=list)
    terms: list[tuple[str, ...] | None] = field(default_factory=list)
    questions: list[dict[str, Any]] = field(default_factory=list)

    @property
    def grown(self) -> ScopeGrowth:
        """Return what the memory adds to its scope's counters."""
        terms = [
            found
            for one, found in zip(self.index, self.terms, strict=True)
            if found is not None and one["kind"] != "context"
        ]
        return ScopeGrowth(
            memories=1,
            contexts=sum(
                one["kind"] == "context" and found is not None
                for one, found in zip(self.index, self.terms, strict=True)
            ),
            documents=len(terms),
            length=sum(map(len, terms)),
            terms=Counter(place for found in terms for place in {index_of(term) for term in found}),
        )


@dataclass(slots=True, kw_only=True)
class Imported:
    """The tenant's types, by which the lines of a file are read, and the tenant's version for each of the file's."""

    tenant: UUID
    types: Registry
    versions: dict[tuple[str, int], int] = field(default_factory=dict)

    def spec(self, name: str, version: int) -> MemoryType:
        """Return the type of a memory in the version that it was written with, or raise UnreadableLine.

        A version that does not exist here is read as the present one.
        """
        found = self.types.by_name.get(name)
        if found is None:
            raise UnreadableLine(
                f"type: unknown memory type {name[:80]!r}: the file has no definition of it, nor has the tenant"
            )
        if (version == 0) != (found.version == 0):
            there, here = ("the tenant's own", "built in") if version else ("built in", "the tenant's own")
            raise UnreadableLine(f"type: {name[:80]!r} is {there} in the file, and {here} here")
        return found.at(self.versions.get((name, version), found.version))


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportIndexer:
    """Builds the index rows of imported memories."""

    embedder: Embedder
    language: str

    def with_candidate(self, line: Line, types: Imported) -> Line:
        """Return a memory's line with its candidate and its terms; raise UnreadableLine for another type or payload."""
        values = line.values
        spec = types.spec(values["type"], values.get("type_version") or 0)
        try:
            payload: Payload = spec.payload.model_validate(values["payload"])
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            raise UnreadableLine(f"payload.{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
        if line.scope is None:
            raise UnreadableLine("scope: is required")
        candidate = Candidate(
            type=spec,
            payload=payload,
            scope=line.scope,
            content=values["content"],
            context=values.get("context"),
            session_id=values.get("session_id"),
        )
        return replace(line, candidate=candidate, terms=searched_terms(values["content"], self.language))

    def parse(self, line: Line, types: Imported) -> ImportedMemory:
        """Return a line as a memory of a known type with a valid payload, or raise UnreadableLine."""
        line = self.with_candidate(line, types) if line.candidate is None else line
        candidate = line.candidate
        assert candidate is not None  # noqa: S101 - narrows for the type checker
        spec = candidate.type
        row = {
            **line.values,
            "type_tenant": spec.owner(types.tenant),
            "type_version": spec.version,
            "filter_key": spec.filter_key(line.values["payload"]),
        }
        return ImportedMemory(line=line, candidate=candidate, scope_id=candidate.scope.id(types.tenant), row=row)

    async def revive(self, given: Sequence[ImportedMemory], *, vectors: bool, dimensions: int) -> None:
        """Set the memories' index rows and questions; with `vectors`, those of the file are of this service's model.

        Raises ProviderError when texts without vectors can't be embedded.
        """
        wordless = [one for one in given if not (vectors and _embedded(one, "memory_index", dimensions))]
        texts = await asyncio.to_thread(_searched, wordless)
        flat = [text for one in texts for _, text in one]
        found = iter(await self.embedder.embed(flat, purpose="document") if flat else ())
        for revived, own in zip(wordless, texts, strict=True):
            facts = next(iter(revived.line.inner["memory_index"]), {})
            known = {name: value for name, value in facts.items() if name not in {"part", "kind", "embedding"}}
            revived.index = [
                {**_about(revived), **known, "part": part, "kind": kind, "embedding": as_halfvec(next(found)).to_text()}
                for part, (kind, _) in enumerate(own)
            ]
        done = {id(one) for one in wordless}
        for revived in given:
            if id(revived) not in done:
                revived.index = [{**_about(revived), **one} for one in revived.line.inner["memory_index"]]
        await self._ask(given, vectors=vectors, dimensions=dimensions)
        await asyncio.to_thread(self._word, given)

    async def _ask(self, given: Sequence[ImportedMemory], *, vectors: bool, dimensions: int) -> None:
        """Set the questions, with new vectors where the file's are not of this service's model."""
        new: list[tuple[dict[str, Any], str]] = []
        for revived in given:
            revived.questions = [dict(one) for one in revived.line.inner["hypothetical_embeddings"]]
            if revived.questions and not (vectors and _embedded(revived, "hypothetical_embeddings", dimensions)):
                asked = question_vectors(revived.candidate.payload, tuple(one["question"] for one in revived.questions))
                new += zip(revived.questions, asked, strict=True)
        if new:
            made = await self.embedder.embed([text for _, text in new], purpose="query")
            for (question, _), vector in zip(new, made, strict=True):
                question["embedding"] = as_halfvec(vector).to_text()

    def _word(self, given: Sequence[ImportedMemory]) -> None:
        for revived in given:
            seen: set[str] = set()
            for one in revived.index:
                kind = one["kind"]
                revived.terms.append(None if kind in seen else self._terms(revived, kind))
                seen.add(kind)

    def _terms(self, revived: ImportedMemory, kind: str) -> tuple[str, ...]:
        if kind != "context":
            return revived.line.terms
        return searched_terms(worded(revived.row["content"], revived.row.get("context"), kind), self.language)


def lexical_weights(revived: ImportedMemory, average: float) -> None:
    """Set the lexical columns of a memory's index rows for the average text length of its scope."""
    for row, found in zip(revived.index, revived.terms, strict=True):
        row["lexical"] = row["tsv"] = None
        if found is not None:
            row["lexical"] = to_sparsevec(document_weights(found, average_length=average)).to_text()
            row["tsv"] = as_tsvector(found)


def index_rows(revived: ImportedMemory) -> list[dict[str, Any]]:
    """Return the index rows with the columns that repeat those of the memory."""
    shared = {name: revived.row.get(name) for name in _SHARED}
    return [{**row, **shared} for row in revived.index]


def _searched(given: Sequence[ImportedMemory]) -> list[list[tuple[str, str]]]:
    """Return the texts to embed of memories; memories recorded at one instant were written together."""
    together = defaultdict[object, list[int]](list)
    for place, one in enumerate(given):
        together[one.row["recorded_at"]].append(place)
    found: dict[int, list[tuple[str, str]]] = {}
    for places in together.values():
        found |= zip(places, search_texts([given[place].candidate for place in places]), strict=True)
    return [found[place] for place in range(len(given))]


def _about(revived: ImportedMemory) -> dict[str, Any]:
    content = revived.row["content"]
    return {"event_range": None, "speaker_id": None, "words": len(content.split()), "asks": question_rows(content)}


def _embedded(revived: ImportedMemory, table: str, dimensions: int) -> bool:
    """Return whether the file has a whole set of vectors for a memory."""
    rows = revived.line.inner[table]
    return bool(rows) and all(one.get("embedding") and one["embedding"].count(",") == dimensions - 1 for one in rows)
