"""The write pipeline for typed candidates: prepare, resolve, decide, persist; read without locks, write once.

Nothing slow happens inside a transaction. A scope is read at a version, decisions are made on what was
read, and the write claims the scope at that version: if it moved, read and decide again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from uuid import UUID
from weakref import WeakValueDictionary

from sqlalchemy import RowMapping

from app.db import beliefs, memories
from app.db.session import Database
from app.db.writing import ScopeMoved, apply
from app.errors import Conflict, TypedMemoryError
from app.memory.candidate import Candidate, Outcome
from app.memory.spec import Payload
from app.model import Actor, Memory, Scope, SpeechAct
from app.providers.embeddings import Embedder
from app.write.decide import decide
from app.write.persist import Verdict, persist
from app.write.plan import Plan, Surroundings
from app.write.prepare import prepare
from app.write.resolve import SHORTEST, KnownName, names_of, resolve
from app.write.values import Decision, Existing, Merge, Prepared, Resolved
from app.write.waves import Numbered, clashes, waves

ATTEMPTS = 3
"""Times a write is read and decided before its caller is asked to retry."""

_RETRY_AFTER = 0.2


class _Clash(Exception):
    """Candidates of a wave turned out to claim one slot: write it in pieces, cut at these places."""

    def __init__(self, cuts: Sequence[int]) -> None:
        super().__init__(cuts)
        self.cuts = cuts


@dataclass(frozen=True, slots=True)
class Turnstile:
    """Lets one write of this process at a time into a scope, so that they don't outrun one another.

    It only saves retries: between processes, and for correctness, the scope's version decides.
    """

    _locks: WeakValueDictionary[UUID, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    @asynccontextmanager
    async def enter(self, scope: UUID) -> AsyncIterator[None]:
        """Wait for the scope and hold it."""
        lock = self._locks.get(scope)
        if lock is None:
            lock = asyncio.Lock()
            self._locks[scope] = lock
        async with lock:
            yield


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePipeline:
    """Writes candidates.

    `observe` is told (type, decision) for each, `conflict` once a retry, `drifted` (tenant, scope) when a
    scope's lexical weights should be made anew, `crowded` when its vectors should go into the index.
    """

    database: Database
    embedder: Embedder
    model_id: int
    language: str
    clock: Callable[[], datetime]
    observe: Callable[[str, str], None] = lambda _type, _decision: None
    conflict: Callable[[], None] = lambda: None
    drifted: Callable[[UUID, UUID], None] = lambda _tenant, _scope: None
    crowded: Callable[[UUID, UUID], None] = lambda _tenant, _scope: None
    turnstile: Turnstile = field(default_factory=Turnstile)

    async def write(self, actor: Actor, candidates: Sequence[Candidate]) -> list[Outcome | TypedMemoryError]:
        """Store the candidates and return what became of each, in their order.

        Candidates of one scope are decided in order, those that cannot touch one another together, each
        such wave in one transaction. Where a wave fails (others keep moving the scope, the database is gone)
        its candidates and the scope's later ones get the error in place of an outcome; earlier waves stay.
        Raises ProviderError when nothing could be embedded; nothing is stored then.
        """
        prepared = await prepare(candidates, embedder=self.embedder, now=self.clock(), language=self.language)
        by_scope: dict[Scope, list[Numbered]] = {}
        for place, one in enumerate(prepared):
            by_scope.setdefault(one.candidate.scope, []).append((place, one))
        results: dict[int, Outcome | TypedMemoryError] = {}
        for scope, numbered in by_scope.items():
            results.update(await self._write_scope(actor, scope, numbered))
        for place, one in enumerate(prepared):
            result = results[place]
            if isinstance(result, Outcome):
                self.observe(one.candidate.type.name, result.decision)
        return [results[place] for place in range(len(prepared))]

    async def _write_scope(
        self, actor: Actor, scope: Scope, numbered: Sequence[Numbered]
    ) -> dict[int, Outcome | TypedMemoryError]:
        results: dict[int, Outcome | TypedMemoryError] = {}
        cut = list(waves(numbered)) if len(numbered) == 1 else await asyncio.to_thread(lambda: list(waves(numbered)))
        for wave in cut:
            try:
                decided = await self._write_wave(actor, scope, [one for _, one in wave])
            except TypedMemoryError as error:
                results.update({place: error for place, _ in numbered if place not in results})
                break
            results.update(zip((place for place, _ in wave), decided, strict=True))
        return results

    async def _write_wave(self, actor: Actor, scope: Scope, wave: Sequence[Prepared]) -> list[Outcome]:
        async with self.turnstile.enter(scope.id(actor.tenant_id)):
            for _ in range(ATTEMPTS):
                try:
                    return await self._attempt(actor, scope, wave)
                except ScopeMoved:
                    self.conflict()
                except _Clash as clash:
                    bounds = [0, *clash.cuts, len(wave)]
                    break
            else:
                raise Conflict(
                    "other writes to the same scope kept coming first: retry in a moment", retry_after=_RETRY_AFTER
                )
        pieces = [await self._write_wave(actor, scope, wave[first:last]) for first, last in pairwise(bounds)]
        return [outcome for piece in pieces for outcome in piece]

    async def _attempt(self, actor: Actor, scope: Scope, wave: Sequence[Prepared]) -> list[Outcome]:
        tenant, scope_id = actor.tenant_id, scope.id(actor.tenant_id)
        async with self.database.read(tenant) as session:
            state = await beliefs.scope_state(session, tenant=tenant, scope=scope_id)
            rows = await beliefs.known_names(
                session, tenant=tenant, scope=scope_id, names=names_of(wave), shortest=SHORTEST
            )
            known = [_known_name(row) for row in rows]
            resolved = [resolve(one, known, scope_id) for one in wave]
            cuts = clashes(resolved)
            if cuts:
                raise _Clash(cuts)
            found = await beliefs.existing(
                session,
                tenant=tenant,
                scope=scope_id,
                model=self.model_id,
                wanted=[_wanted(one) for one in resolved],
            )
        near_by = [[_existing(row) for row in found if row["place"] == place] for place in range(len(wave))]
        decisions = [decide(one, existing) for one, existing in zip(resolved, near_by, strict=True)]
        decisions = await self._rewritten(resolved, decisions)
        around = Surroundings(
            tenant=tenant,
            scope=scope_id,
            actor=actor.name,
            now=self.clock(),
            model_id=self.model_id,
            lexical_average=state.lexical_average or _average_length(wave),
            ann=state.ann,
            language=self.language,
        )
        plan = Plan(around)
        verdicts = [persist(plan, one, decision) for one, decision in zip(resolved, decisions, strict=True)]
        async with self.database.write(tenant) as session:
            claimed = await apply(session, tenant=tenant, scope=scope, version=state.version, changes=plan.changes())
            wanted = [verdict.memory for verdict in verdicts if verdict.memory is not None]
            stored = await memories.fetch(session, tenant, wanted)
        if claimed.drifted:
            self.drifted(tenant, scope_id)
        if claimed.crowded:
            self.crowded(tenant, scope_id)
        return [_outcome(verdict, stored) for verdict in verdicts]

    async def _rewritten(self, resolved: Sequence[Resolved], decisions: Sequence[Decision]) -> list[Decision]:
        """Return the decisions with every merged payload prepared anew, so that it is found by its new words."""
        grown = [
            (place, _grown(resolved[place], decision, decision.payload))
            for place, decision in enumerate(decisions)
            if isinstance(decision, Merge) and decision.payload is not None
        ]
        if not grown:
            return list(decisions)
        prepared = await prepare(
            [candidate for _, candidate in grown],
            embedder=self.embedder,
            now=self.clock(),
            language=self.language,
        )
        result = list(decisions)
        for (place, _), one in zip(grown, prepared, strict=True):
            merge = result[place]
            if isinstance(merge, Merge):
                result[place] = replace(merge, rewritten=one)
        return result


def _grown(resolved: Resolved, decision: Merge, payload: Payload) -> Candidate:
    """Return the candidate of a belief that was restated: the new words, in the old one's place."""
    into = decision.into
    return replace(
        resolved.prepared.candidate,
        payload=payload,
        content=None,
        stated_at=max(into.stated_at, resolved.prepared.stated_at),
        topic=into.topic,
        session_id=into.session_id,
        sequence_number=into.sequence_number,
    )


def _average_length(wave: Sequence[Prepared]) -> float:
    lengths = [len(one.terms) for prepared in wave for one in prepared.texts if one.terms is not None]
    return max(1.0, sum(lengths) / max(1, len(lengths)))


def _known_name(row: RowMapping) -> KnownName:
    return KnownName(
        wanted=row["wanted"],
        alias=row["alias"],
        entity_id=row["id"],
        canonical=row["canonical_name"],
        entity_type=row["entity_type"],
        mention_count=row["mention_count"],
    )


def _wanted(resolved: Resolved) -> beliefs.Wanted:
    prepared = resolved.prepared
    by_meaning = prepared.candidate.type.dedup_by_meaning and resolved.slot is None
    return beliefs.Wanted(
        type=prepared.candidate.type.name,
        slot=resolved.slot,
        identity=prepared.identity,
        stated_at=prepared.stated_at,
        subject_id=resolved.subject_id,
        embedding=prepared.texts[0].embedding if by_meaning else None,
    )


def _existing(row: RowMapping) -> Existing:
    return Existing(
        relation=row["relation"],
        id=row["id"],
        type=row["type"],
        status=row["status"],
        content=row["content"],
        payload=row["payload"],
        slot=row["slot"],
        value=row["slot_value"],
        contested=row["contested"],
        stated_at=row["stated_at"],
        valid_from=row["valid_from"],
        valid_until=row["valid_until"],
        recorded_at=row["recorded_at"],
        confidence=row["confidence"],
        parts=memories.parts_of(row),
        speech_act=SpeechAct(row["speech_act"]),
        topic=row["topic"],
        session_id=row["session_id"],
        sequence_number=row["sequence_number"],
        similarity=row["similarity"],
    )


def _outcome(verdict: Verdict, stored: dict[UUID, Memory]) -> Outcome:
    return Outcome(
        decision=verdict.decided,
        reason=verdict.reason,
        memory=None if verdict.memory is None else stored[verdict.memory],
        affected=verdict.affected,
    )
