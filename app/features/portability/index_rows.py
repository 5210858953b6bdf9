"""Index rows and hypothetical questions of imported memories, with the file's vectors or new ones."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from app.db.sql import as_halfvec
from app.features.portability.records import Line, UnreadableLine
from app.lexical.bm25 import as_tsvector, document_weights, searched_terms, to_sparsevec
from app.lexical.counts import ScopeCounts
from app.memory.candidate import Candidate
from app.memory.registry import Registry
from app.memory.spec import MemoryType, Payload
from app.providers.embeddings import Embedder
from app.write.embed import search_texts, worded
from app.write.hype import question_vectors
from app.write.rows import ends_as_question

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


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryIndex:
    """A memory's index rows and questions, without the columns that the transaction gives; the terms of each row."""

    rows: Sequence[Mapping[str, Any]]
    terms: Sequence[tuple[str, ...] | None]
    questions: Sequence[Mapping[str, Any]]

    @property
    def counts(self) -> ScopeCounts:
        """Return what the memory adds to the counts of its scope."""
        found = ScopeCounts(memories=1)
        for row, terms in zip(self.rows, self.terms, strict=True):
            if terms is not None and row["kind"] == "context":
                found.contexts += 1
            elif terms is not None:
                found.add_text(terms)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLine(Line):
    """A memory's line of a known type with a valid payload; its index, once that was built.

    `orphaned`: the memory that replaced it is not there, so it is stored without it.
    """

    candidate: Candidate
    terms: tuple[str, ...]
    index: MemoryIndex | None = None
    orphaned: bool = False


@dataclass(slots=True, kw_only=True)
class ImportedMemory:
    """A memory on its way to the database: its row may change with its slot, its evidence with the turns that exist."""

    line: MemoryLine
    index: MemoryIndex
    scope_id: UUID
    row: dict[str, Any]
    evidence: Sequence[Mapping[str, Any]]

    @property
    def id(self) -> UUID:
        """Return the memory's id."""
        found: UUID = self.row["id"]
        return found

    @property
    def candidate(self) -> Candidate:
        """Return the candidate of the memory's line."""
        return self.line.candidate

    def index_rows(self, average: float) -> list[dict[str, Any]]:
        """Return its index rows with lexical weights for a scope's average text length, and what repeats its row."""
        shared = {name: self.row.get(name) for name in _SHARED}
        return [
            {**row, **_lexical(found, average), **shared}
            for row, found in zip(self.index.rows, self.index.terms, strict=True)
        ]


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

    def read(self, line: Line, types: Imported) -> MemoryLine:
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
        parts = [one["part"] for one in line.inner["memory_index"]]
        if len(parts) != len(set(parts)):
            raise UnreadableLine("memory_index: has a part twice")
        candidate = Candidate(
            type=spec,
            payload=payload,
            scope=line.scope,
            content=values["content"],
            context=values.get("context"),
            session_id=values.get("session_id"),
        )
        terms = searched_terms(values["content"], self.language)
        return MemoryLine(
            number=line.number,
            record=line.record,
            scope=line.scope,
            values=values,
            inner=line.inner,
            candidate=candidate,
            terms=terms,
        )

    async def index(self, lines: Sequence[MemoryLine], *, vectors: bool) -> list[MemoryLine]:
        """Return the lines with their indexes; with `vectors`, the vectors of the file are of this service's model.

        Raises ProviderError when texts without vectors can't be embedded.
        """
        rows = await self._rows(lines, vectors=vectors)
        questions = await self._questions(lines, vectors=vectors)
        terms = await asyncio.to_thread(lambda: list(map(self._terms, lines, rows)))
        return [
            replace(line, index=MemoryIndex(rows=own, terms=found, questions=asked))
            for line, own, found, asked in zip(lines, rows, terms, questions, strict=True)
        ]

    async def _rows(self, lines: Sequence[MemoryLine], *, vectors: bool) -> list[list[dict[str, Any]]]:
        """Return the index rows of memories, in the file's parts where it has their vectors."""
        wordless = [line for line in lines if not (vectors and self._has_vectors(line, "memory_index"))]
        texts = await asyncio.to_thread(_searched, wordless) if wordless else []
        flat = [text for one in texts for _, text in one]
        found = iter(await self.embedder.embed(flat, purpose="document") if flat else ())
        made: dict[int, list[dict[str, Any]]] = {}
        for line, own in zip(wordless, texts, strict=True):
            facts = next(iter(line.inner["memory_index"]), {})
            known = {name: value for name, value in facts.items() if name not in {"part", "kind", "embedding"}}
            made[line.number] = [
                {**_about(line), **known, "part": part, "kind": kind, "embedding": as_halfvec(next(found)).to_text()}
                for part, (kind, _) in enumerate(own)
            ]
        return [
            made.get(line.number) or [{**_about(line), **one} for one in line.inner["memory_index"]] for line in lines
        ]

    async def _questions(self, lines: Sequence[MemoryLine], *, vectors: bool) -> list[list[dict[str, Any]]]:
        """Return the questions of memories, with new vectors where the file's are not of this service's model."""
        questions = [[dict(one) for one in line.inner["hypothetical_embeddings"]] for line in lines]
        new: list[tuple[dict[str, Any], str]] = []
        for line, own in zip(lines, questions, strict=True):
            if own and not (vectors and self._has_vectors(line, "hypothetical_embeddings")):
                asked = question_vectors(line.candidate.payload, tuple(one["question"] for one in own))
                new += zip(own, asked, strict=True)
        if new:
            made = await self.embedder.embed([text for _, text in new], purpose="query")
            for (question, _), vector in zip(new, made, strict=True):
                question["embedding"] = as_halfvec(vector).to_text()
        return questions

    def _has_vectors(self, line: MemoryLine, table: str) -> bool:
        """Return whether the file has a whole set of vectors for a memory, not of its context alone."""
        rows, commas = line.inner[table], self.embedder.dimensions - 1
        whole = all(one.get("embedding") and one["embedding"].count(",") == commas for one in rows)
        return whole and any(one.get("kind") != "context" for one in rows)

    def _terms(self, line: MemoryLine, rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...] | None]:
        """Return the terms of each index row, None for all but the first of a kind."""
        found: list[tuple[str, ...] | None] = []
        seen: set[str] = set()
        for row in rows:
            kind = row["kind"]
            found.append(None if kind in seen else self._terms_of(line, kind))
            seen.add(kind)
        return found

    def _terms_of(self, line: MemoryLine, kind: str) -> tuple[str, ...]:
        if kind != "context":
            return line.terms
        return searched_terms(worded(line.values["content"], line.values.get("context"), kind), self.language)


def imported(line: MemoryLine, tenant: UUID) -> ImportedMemory | None:
    """Return a line's memory as a tenant's, None while it has no index."""
    if line.index is None:
        return None
    spec = line.candidate.type
    row = {
        **line.values,
        "type_tenant": spec.owner(tenant),
        "type_version": spec.version,
        "filter_key": spec.filter_key(line.values["payload"]),
    }
    return ImportedMemory(
        line=line,
        index=line.index,
        scope_id=line.candidate.scope.id(tenant),
        row=row,
        evidence=line.inner["evidence"],
    )


def _lexical(terms: Sequence[str] | None, average: float) -> dict[str, str | None]:
    if terms is None:
        return {"lexical": None, "tsv": None}
    weights = to_sparsevec(document_weights(terms, average_length=average)).to_text()
    return {"lexical": weights, "tsv": as_tsvector(terms)}


def _searched(lines: Sequence[MemoryLine]) -> list[list[tuple[str, str]]]:
    """Return the texts to embed of memories; memories recorded at one instant were written together."""
    together = defaultdict[object, list[int]](list)
    for place, line in enumerate(lines):
        together[line.values["recorded_at"]].append(place)
    found: dict[int, list[tuple[str, str]]] = {}
    for places in together.values():
        found |= zip(places, search_texts([lines[place].candidate for place in places]), strict=True)
    return [found[place] for place in range(len(lines))]


def _about(line: MemoryLine) -> dict[str, Any]:
    content = line.values["content"]
    return {"event_range": None, "speaker_id": None, "words": len(content.split()), "asks": ends_as_question(content)}
