"""Fills a store with synthetic memories, fast: the write pipeline's own rows, without its round trips.

Candidates go through the pipeline's stages (prepare, resolve, persist) with decisions that are known
beforehand, because the grammar makes no two memories that compete. The rows that come out are copied.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from uuid import UUID

import asyncpg

from app.db.apply.scope import LARGE
from app.db.sql import Row
from app.memory import normalise
from app.memory.candidate import Candidate
from app.memory.registry import Registry, discover
from app.memory.slots import transition
from app.memory.versions import Stated, Version
from app.model import UNKNOWN_TYPE, Scope
from app.providers.embeddings import Embedder
from app.write.embed import prepare
from app.write.persist import persist
from app.write.resolve import KnownName, names_of, resolve
from app.write.rows import PendingRows, WriteContext
from app.write.values import Believe, Prepared, Resolved, version_of
from bench.copying import copy_rows
from bench.grammar import NOW, TYPES, Draft, Grammar

CHUNK = 2_000
"""Drafts that are prepared and copied together."""

MODEL = 1
LANGUAGE = "english"
_EARLIER = timedelta(days=30)

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """What is to be filled: a scope of a tenant, how many memories of which types, and the seed they are made from."""

    tenant: UUID
    scope: Scope
    count: int
    seed: str
    types: tuple[str, ...] = TYPES


@dataclass(slots=True)
class _Filling:
    """A scope while it is being filled: its names and counters, as the database would have them."""

    bucket: Bucket
    drafts: Iterator[Draft]
    known: dict[str, KnownName] = field(default_factory=dict)
    average: float = 0.0
    version: int = 0
    memories: int = 0
    documents: int = 0
    length: int = 0
    ann: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Filler:
    """Fills scopes of existing tenants. `connection` is a superuser's; `embedder` is the service's own.

    Scopes of more than `large` memories are in the vector index.
    """

    connection: asyncpg.Connection
    embedder: Embedder
    types: Registry = field(default_factory=discover)
    large: int = LARGE

    async def fill(self, buckets: Sequence[Bucket], progress: Progress = lambda _count: None) -> None:
        """Fill scopes that are empty; `progress` is told how many memories were stored."""
        fillings = [
            _Filling(bucket, Grammar(bucket.seed, bucket.types).drafts(bucket.count), ann=bucket.count > self.large)
            for bucket in buckets
        ]
        storing: asyncio.Task[None] | None = None
        for work in _chunks(fillings):
            rows, count = await self._rows(work)
            if storing is not None:
                await storing
            # The next chunk is prepared while the database stores this one.
            storing = asyncio.create_task(self._store(rows, count, progress))
        if storing is not None:
            await storing
        await copy_rows(self.connection, {"scopes": [_scope_row(one) for one in fillings]})
        # As autovacuum would soon: it also moves the full-text index out of its pending list.
        await self.connection.execute("VACUUM (ANALYZE)")

    async def _store(self, rows: Mapping[str, Sequence[Row]], count: int, progress: Progress) -> None:
        await copy_rows(self.connection, rows)
        progress(count)

    async def _rows(self, work: Sequence[tuple[_Filling, Sequence[Draft]]]) -> tuple[dict[str, list[Row]], int]:
        """Return the rows of these drafts, of all their scopes together, and how many memories they are."""
        candidates = [
            candidate
            for filling, drafts in work
            for draft in drafts
            for candidate in self.candidates(draft, filling.bucket.scope)
        ]
        prepared = await prepare(candidates, embedder=self.embedder, now=NOW, language=LANGUAGE)
        return await asyncio.to_thread(_gather, work, prepared), len(candidates)

    def candidates(self, draft: Draft, scope: Scope) -> Iterator[Candidate]:
        """Yield the candidate of a draft and then, if there is one, that of the statement it replaced."""
        kind = self.types.get(draft.type)
        yield Candidate(type=kind, payload=kind.payload.model_validate(draft.payload), scope=scope, **draft.about)
        if draft.older is not None:
            about = {**draft.about, "stated_at": draft.about["stated_at"] - _EARLIER}
            yield Candidate(type=kind, payload=kind.payload.model_validate(draft.older), scope=scope, **about)


@asynccontextmanager
async def without_vector_indexes(connection: asyncpg.Connection) -> AsyncIterator[None]:
    """Drop the vector indexes of a database and build them anew afterwards: faster than growing them by rows."""
    found = await connection.fetch("SELECT indexname, indexdef FROM pg_indexes WHERE indexdef LIKE '% USING hnsw %'")
    for one in found:
        await connection.execute(f"DROP INDEX {one['indexname']}")
    yield
    await connection.execute("SET maintenance_work_mem = '3GB'")
    await connection.execute("SET max_parallel_maintenance_workers = 2")
    for one in found:
        await connection.execute(one["indexdef"])
    await connection.execute("RESET maintenance_work_mem")
    await connection.execute("RESET max_parallel_maintenance_workers")


def _chunks(fillings: Sequence[_Filling]) -> Iterator[list[tuple[_Filling, Sequence[Draft]]]]:
    """Yield work in chunks: one scope's drafts cut up, or many small scopes together."""
    work: list[tuple[_Filling, Sequence[Draft]]] = []
    room = CHUNK
    for filling in fillings:
        while drafts := tuple(islice(filling.drafts, room)):
            work.append((filling, drafts))
            room -= len(drafts)
            if room == 0:
                yield work
                work, room = [], CHUNK
    if work:
        yield work


def _gather(work: Sequence[tuple[_Filling, Sequence[Draft]]], prepared: Sequence[Prepared]) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {}
    rest = iter(prepared)
    for filling, drafts in work:
        own = [(next(rest), next(rest) if draft.older is not None else None) for draft in drafts]
        for table, given in _planned(filling, own).items():
            rows.setdefault(table, []).extend(given)
    return rows


def _planned(filling: _Filling, pairs: Sequence[tuple[Prepared, Prepared | None]]) -> dict[str, list[Row]]:
    """Return the rows of some memories of one scope, and remember what they changed about it."""
    bucket = filling.bucket
    scope_id = bucket.scope.id(bucket.tenant)
    filling.average = filling.average or _average(pairs)
    around = WriteContext(
        tenant=bucket.tenant,
        scope=scope_id,
        actor="bench",
        now=NOW,
        model_id=MODEL,
        lexical_average=filling.average,
        ann=filling.ann,
        language=LANGUAGE,
    )
    plan = PendingRows(around)
    for prepared, older in pairs:
        _persist(plan, filling, prepared, older)
    changes = plan.changes()
    filling.version += 1
    filling.memories += changes.counts.memories
    filling.documents += changes.counts.documents
    filling.length += changes.counts.length
    by_id = {row["id"]: dict(row) for row in changes.rows["memories"]}
    for one in changes.changed:
        by_id[one.id] |= one.values
    return {**{table: list(given) for table, given in changes.rows.items()}, "memories": list(by_id.values())}


def _persist(plan: PendingRows, filling: _Filling, prepared: Prepared, older: Prepared | None) -> None:
    scope = plan.around.scope
    resolved = resolve(prepared, _known(filling, prepared), scope)
    stored = _stated(plan, resolved, ())
    _remember(filling, resolved)
    if older is not None:
        _stated(plan, resolve(older, _known(filling, older), scope), [stored])


def _stated(plan: PendingRows, resolved: Resolved, versions: Sequence[Version]) -> Version:
    """Store a statement where the slot engine puts it; a fill has no repetitions."""
    policy = resolved.prepared.candidate.type.on_conflict
    found = transition(versions, Stated(new=version_of(resolved)), policy=policy, now=NOW)
    if found.new is None:
        raise AssertionError("a fill repeats nothing")
    persist(plan, resolved, Believe(transition=found))
    return found.new


def _known(filling: _Filling, prepared: Prepared) -> list[KnownName]:
    return [filling.known[name] for name in sorted(names_of([prepared])) if name in filling.known]


def _remember(filling: _Filling, resolved: Resolved) -> None:
    """Take up the names that a memory brought, as the next write would find them."""
    for mention in resolved.prepared.mentions:
        ref = resolved.refs.get(mention.role)
        alias = normalise.normalise_name(mention.name)
        if ref is not None and (ref.entity_type != UNKNOWN_TYPE or alias not in filling.known):
            filling.known[alias] = KnownName(
                wanted=alias,
                alias=alias,
                entity_id=ref.id,
                canonical=ref.name,
                entity_type=ref.entity_type,
                mention_count=1,
            )


def _average(pairs: Sequence[tuple[Prepared, Prepared | None]]) -> float:
    every = [one for pair in pairs for one in pair if one is not None]
    lengths = [len(text.terms) for one in every for text in one.texts if text.kind != "context" and text.terms]
    return max(1.0, sum(lengths) / max(1, len(lengths)))


def _scope_row(filling: _Filling) -> dict[str, object]:
    scope = filling.bucket.scope
    return {
        "tenant_id": filling.bucket.tenant,
        "id": scope.id(filling.bucket.tenant),
        "kind": scope.kind,
        "user_id": scope.user_id,
        "agent_id": scope.agent_id,
        "version": filling.version,
        "memory_count": filling.memories,
        "lexical_documents": filling.documents,
        "lexical_length": filling.length,
        "lexical_average": filling.average,
        "ann": filling.ann,
    }
