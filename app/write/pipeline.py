"""Typed candidates through the stages of a write, as DESIGN section 2 shows.

Nothing slow happens inside a transaction. A scope is read at a version, decisions are made on what was
read, and the write claims the scope at that version: if it moved, read and decide again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import assert_never
from uuid import UUID
from weakref import WeakValueDictionary

from app.db.apply.scope import Claimed, ScopeMoved, apply
from app.db.entities.write_lookup import ScopeState
from app.db.memories import hype
from app.db.memories import read as memory_reads
from app.db.session import Database, ReadSession, stamped
from app.errors import Conflict, ProviderError, TypedMemoryError, TypesMoved
from app.memory.candidate import Candidate, WriteOutcome
from app.memory.registry import Registry, Types
from app.memory.spec import Payload, Reclassified
from app.model import Actor, Memory, Scope
from app.providers.embeddings import Embedder
from app.providers.protocols import Judge
from app.write import lookup
from app.write.batching import Numbered, clashes, split_batch
from app.write.conflict import Said, decide
from app.write.dedup import DOUBTFUL, DUPLICATE, doubtful, repetition
from app.write.embed import prepare
from app.write.hype import memories_without_questions
from app.write.persist import PersistResult, memory_as_stored, persist
from app.write.resolve import KnownName, NameQuestion, apply_answers, ask, open_questions, resolve
from app.write.rows import PendingRows, WriteContext
from app.write.trace import StageTimes, timed
from app.write.values import Believe, Decision, Existing, Prepared, Resolved


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Candidates of a wave turned out to claim one slot: write it in pieces, cut at these places."""

    cuts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetypeNeeded:
    """Some candidates of a wave are of another type, now that their names are known."""

    changed: Mapping[int, Reclassified]


@dataclass(frozen=True, slots=True, kw_only=True)
class OlderTypes:
    """The tenant's own types have changed since they were read: this is their version now."""

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsJudge:
    """Some names may be those of known entities: the judge is asked before anything is decided."""

    questions: Sequence[NameQuestion]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """What a scope held at a version around resolved candidates: memories, by candidate, and what was said before."""

    state: ScopeState
    resolved: list[Resolved]
    rivals: list[list[Existing]]
    said: Said
    echoed: list[frozenset[UUID]]


LookUp = Neighbourhood | Split | RetypeNeeded | OlderTypes | NeedsJudge
"""What a look at a scope comes to: all that a decision needs, or what must be done before it can be had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedWave:
    """What was read of a scope at a version, and decided on it as of `now`."""

    state: ScopeState
    now: datetime
    resolved: tuple[Resolved, ...]
    decisions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """Reads a scope and decides about candidates. No provider is asked while a transaction is open."""

    database: Database
    embedder: Embedder
    model_id: int
    language: str
    clock: Callable[[], datetime]
    types: Types
    judge: Judge | None = None

    async def decide(
        self, actor: Actor, scope: Scope, wave: Sequence[Prepared], times: StageTimes, *, split: bool
    ) -> DecidedWave | Split:
        """Read what the candidates may touch, and decide; with `split`, those that claim one slot must be cut apart.

        Raises TypesMoved when the type of a candidate is no longer what it was made with.
        """
        types = self.types.known(actor.tenant_id)
        answers: Mapping[str, Sequence[KnownName]] | None = None if self.judge is not None else {}
        while True:
            async with self.database.read(actor.tenant_id) as session:
                found = await self._look_up(session, actor, scope, wave, types, answers, times, split=split)
            match found:
                case OlderTypes(version=version):
                    types = await self.types.at(actor.tenant_id, version)
                case RetypeNeeded(changed=changed):
                    wave = await self._retyped(wave, changed, types)
                case NeedsJudge(questions=questions):
                    with timed(times, "resolve"):
                        answers = apply_answers({}, questions, await self._answers(questions))
                case Split():
                    return found
                case Neighbourhood():
                    return await self._decided(found, times)
                case _:
                    assert_never(found)

    async def _look_up(
        self,
        session: ReadSession,
        actor: Actor,
        scope: Scope,
        wave: Sequence[Prepared],
        types: Registry,
        answers: Mapping[str, Sequence[KnownName]] | None,
        times: StageTimes,
        *,
        split: bool,
    ) -> LookUp:
        """Read names, then the memories around the candidates; `answers` are the judge's, None when not asked yet."""
        tenant, scope_id = actor.tenant_id, scope.id(actor.tenant_id)
        with timed(times, "resolve"):
            unasked = answers is None
            state, known = await lookup.read_names(session, tenant, scope_id, wave, shared=unasked)
            if types.version < state.types:
                return OlderTypes(version=state.types)
            _check_types(wave, types)
            for name, rows in (answers or {}).items():
                known[name] = [*known.get(name, ()), *rows]
            resolved = [resolve(one, lookup.about(one, known), scope_id) for one in wave]
            obstacle = _obstacle(resolved, known, unasked=unasked, split=split)
        if obstacle is not None:
            return obstacle
        with timed(times, "dedup"):
            rivals = await lookup.read_rivals(
                session,
                tenant,
                scope_id,
                resolved,
                types=types,
                model=self.model_id,
                likeness=DUPLICATE if self.judge is None else DOUBTFUL,
            )
            return Neighbourhood(
                state=state,
                resolved=lookup.without_clashes(resolved, rivals),
                rivals=rivals,
                said=await lookup.read_repeats(session, tenant, wave),
                echoed=await lookup.read_echoes(session, tenant, wave, rivals),
            )

    async def _decided(self, found: Neighbourhood, times: StageTimes) -> DecidedWave:
        """Return the decisions on what was read."""
        written_at, now = found.state.written_at, self.clock()
        now = now if written_at is None else max(now, written_at)
        with timed(times, "dedup"):
            same = await self._judged(found.resolved, found.rivals)
        with timed(times, "conflict"):
            decisions = [
                decide(one, near, now=now, said=found.said, repeated=repetition(one, near, alike), echoed=heard)
                for one, near, alike, heard in zip(found.resolved, found.rivals, same, found.echoed, strict=True)
            ]
            decisions = await self.rewritten(found.resolved, decisions)
        return DecidedWave(state=found.state, now=now, resolved=tuple(found.resolved), decisions=tuple(decisions))

    async def _answers(self, questions: Sequence[NameQuestion]) -> list[int | None]:
        return [None for _ in questions] if self.judge is None else await ask(self.judge, questions)

    async def _retyped(
        self, wave: Sequence[Prepared], changed: Mapping[int, Reclassified], types: Registry
    ) -> list[Prepared]:
        """Return the wave with some of its candidates as the type that they turned out to be."""
        other = {
            place: replace(
                wave[place].candidate,
                type=types.get(one.type),
                payload=types.get(one.type).payload.model_validate(one.payload),
            )
            for place, one in changed.items()
        }
        by_place = dict(zip(other, await self.prepared(list(other.values())), strict=True))
        return [by_place.get(place, one) for place, one in enumerate(wave)]

    async def _judged(
        self, resolved: Sequence[Resolved], rivals: Sequence[Sequence[Existing]]
    ) -> list[dict[UUID, bool]]:
        """Ask the judge about those that may say the same; without an answer they don't."""
        if self.judge is None:
            return [{} for _ in resolved]
        asked = [
            (place, other.id, (one.prepared.content, other.content))
            for place, (one, existing) in enumerate(zip(resolved, rivals, strict=True))
            for other in doubtful(one, existing)
        ]
        found: list[dict[UUID, bool]] = [{} for _ in resolved]
        if asked:
            with suppress(ProviderError):
                answers = await self.judge.same([pair for _, _, pair in asked])
                for (place, other, _), same in zip(asked, answers, strict=True):
                    found[place][other] = same
        return found

    async def prepared(self, candidates: Sequence[Candidate]) -> list[Prepared]:
        """Return the candidates with all that needs no look at the store; raises ProviderError."""
        return await prepare(candidates, embedder=self.embedder, now=self.clock(), language=self.language)

    async def rewritten(self, resolved: Sequence[Resolved], decisions: Sequence[Decision]) -> list[Decision]:
        """Return the decisions with every merged payload prepared anew, so that it is found by its new words."""
        result = list(decisions)
        grown = {
            place: _grown(resolved[place], decision, decision.payload)
            for place, decision in enumerate(decisions)
            if isinstance(decision, Believe) and decision.payload is not None
        }
        if grown:
            prepared = await self.prepared(list(grown.values()))
            for place, one in zip(grown, prepared, strict=True):
                decision = result[place]
                if isinstance(decision, Believe):
                    result[place] = replace(decision, rewritten=one)
        return result


def _check_types(wave: Sequence[Prepared], types: Registry) -> None:
    """Raise TypesMoved for a candidate that was made by another definition of its type."""
    for one in wave:
        if not types.holds(one.candidate.type):
            raise TypesMoved(
                f"the definition of type {one.candidate.type.name} has changed meanwhile: retry", retry_after=0.1
            )


def _obstacle(
    resolved: Sequence[Resolved], known: Mapping[str, Sequence[KnownName]], *, unasked: bool, split: bool
) -> NeedsJudge | RetypeNeeded | Split | None:
    """Return what must be done before memories are read, now that names are resolved; None when nothing must."""
    questions = open_questions(resolved, known) if unasked else ()
    if questions:
        return NeedsJudge(questions=questions)
    changed = {
        place: found
        for place, one in enumerate(resolved)
        if (found := one.prepared.candidate.payload.collapsed(one.refs)) is not None
    }
    if changed:
        return RetypeNeeded(changed=changed)
    cuts = clashes(resolved) if split else ()
    return Split(cuts=tuple(cuts)) if cuts else None


def _grown(resolved: Resolved, decision: Believe, payload: Payload) -> Candidate:
    """Return the candidate of a belief that was restated: the new words, in the old one's place."""
    into = decision.transition.holder
    assert isinstance(into, Existing)  # noqa: S101 - what is said again was read
    return replace(
        resolved.prepared.candidate,
        payload=payload,
        content=None,
        stated_at=into.stated_at,
        topic=into.topic,
        session_id=into.session_id,
        sequence_number=into.sequence_number,
    )


ATTEMPTS = 3
"""Times a write is read and decided before its caller is asked to retry."""

_RETRY_AFTER = 0.2

_PLANS = {"plan_cache_mode": "force_generic_plan"}
"""A write that reads nothing back finds every row through a whole key: planning it anew, and with it each look-up of
a foreign key, takes longer than running it."""


@dataclass(frozen=True, slots=True)
class ScopeLocks:
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

    `hype`: new memories get the questions they answer, by a job. `observe` is told (type, decision) for each,
    `conflict` once a retry, `drifted` (tenant, scope) when a scope's lexical weights should be made anew,
    `crowded` when its vectors should go into the index.
    """

    deciding: Deciding
    hype: bool = False
    observe: Callable[[str, str], None] = lambda _type, _decision: None
    conflict: Callable[[], None] = lambda: None
    drifted: Callable[[UUID, UUID], None] = lambda _tenant, _scope: None
    crowded: Callable[[UUID, UUID], None] = lambda _tenant, _scope: None
    turnstile: ScopeLocks = field(default_factory=ScopeLocks)

    async def write(
        self, actor: Actor, candidates: Sequence[Candidate], times: StageTimes | None = None
    ) -> list[WriteOutcome | TypedMemoryError]:
        """Store the candidates and return what became of each, in their order.

        Candidates of one scope are decided in order, those that cannot touch one another together, each
        such wave in one transaction. Where a wave fails (others keep moving the scope, the database is gone)
        its candidates and the scope's later ones get the error in place of an outcome; earlier waves stay.
        Raises ProviderError when nothing could be embedded; nothing is stored then.
        """
        spent = StageTimes() if times is None else times
        with timed(spent, "prepare"):
            prepared = await self.deciding.prepared(candidates)
        results: dict[int, WriteOutcome | TypedMemoryError] = {}
        for scope, numbered in _by_scope(prepared).items():
            results.update(await self._write_scope(actor, scope, numbered, spent))
        for place, one in enumerate(prepared):
            result = results[place]
            if isinstance(result, WriteOutcome):
                self.observe(one.candidate.type.counted_as, result.decision)
        return [results[place] for place in range(len(prepared))]

    async def preview(
        self, actor: Actor, candidates: Sequence[Candidate], times: StageTimes | None = None
    ) -> list[WriteOutcome]:
        """Return what each candidate would come to against what is stored now; nothing is written.

        None of them sees the others. Raises ProviderError when nothing could be embedded.
        """
        spent = StageTimes() if times is None else times
        with timed(spent, "prepare"):
            prepared = await self.deciding.prepared(candidates)
        outcomes: dict[int, WriteOutcome] = {}
        for scope, numbered in _by_scope(prepared).items():
            wave = [one for _, one in numbered]
            decided = await self.deciding.decide(actor, scope, wave, spent, split=False)
            assert isinstance(decided, DecidedWave)  # noqa: S101 - nothing is to be split
            verdicts, plan = self._planned(actor, scope, decided)
            stored = memory_as_stored(plan, scope)
            told = [one.memory for one in verdicts if one.memory is not None and one.memory not in stored]
            async with self.deciding.database.read(actor.tenant_id) as session:
                stored |= await memory_reads.read_memories(session, actor.tenant_id, told)
            outcomes |= {
                place: _outcome(verdict, stored) for (place, _), verdict in zip(numbered, verdicts, strict=True)
            }
        return [outcomes[place] for place in range(len(prepared))]

    async def _write_scope(
        self, actor: Actor, scope: Scope, numbered: Sequence[Numbered], times: StageTimes
    ) -> dict[int, WriteOutcome | TypedMemoryError]:
        results: dict[int, WriteOutcome | TypedMemoryError] = {}
        alone = len(numbered) == 1
        cut = [numbered] if alone else await asyncio.to_thread(lambda: list(split_batch(numbered)))
        for wave in cut:
            try:
                decided = await self._write_wave(actor, scope, [one for _, one in wave], times)
            except TypedMemoryError as error:
                results.update({place: error for place, _ in numbered if place not in results})
                break
            results.update(zip((place for place, _ in wave), decided, strict=True))
        return results

    async def _write_wave(
        self, actor: Actor, scope: Scope, wave: Sequence[Prepared], times: StageTimes
    ) -> list[WriteOutcome]:
        """Read, decide and write, again where others wrote to the scope meanwhile."""
        async with self.turnstile.enter(scope.id(actor.tenant_id)):
            for _ in range(ATTEMPTS):
                decided = await self.deciding.decide(actor, scope, wave, times, split=True)
                if isinstance(decided, Split):
                    break
                with timed(times, "persist"):
                    outcomes = await self._apply(actor, scope, decided)
                if outcomes is not None:
                    return outcomes
                self.conflict()
            else:
                raise Conflict(
                    "other writes to the same scope kept coming first: retry in a moment", retry_after=_RETRY_AFTER
                )
        bounds = pairwise([0, *decided.cuts, len(wave)])
        pieces = [await self._write_wave(actor, scope, wave[first:last], times) for first, last in bounds]
        return [outcome for piece in pieces for outcome in piece]

    async def _apply(self, actor: Actor, scope: Scope, decided: DecidedWave) -> list[WriteOutcome] | None:
        """Write what was decided, in one transaction; None when the scope has moved since it was read."""
        tenant, version = actor.tenant_id, decided.state.version
        results, plan = self._planned(actor, scope, decided)
        stored = memory_as_stored(plan, scope)
        others = [one.memory for one in results if one.memory is not None and one.memory not in stored]
        settings = stamped(decided.now) | ({} if others else _PLANS)
        try:
            async with self.deciding.database.write(tenant, **settings) as session:
                claimed = await apply(session, tenant=tenant, scope=scope, version=version, changes=plan.changes())
                stored |= await memory_reads.read_memories(session, tenant, others)
                if self.hype:
                    asked = memories_without_questions(
                        list(zip(decided.resolved, decided.decisions, results, strict=True))
                    )
                    await hype.enqueue(
                        session, tenant=tenant, scope=scope.id(tenant), memories=asked, now=self.deciding.clock()
                    )
        except ScopeMoved:
            return None
        self.keep_up(tenant, scope, claimed)
        return [_outcome(one, stored) for one in results]

    def keep_up(self, tenant: UUID, scope: Scope, claimed: Claimed) -> None:
        """Say which upkeep a scope needs after a write."""
        if claimed.drifted:
            self.drifted(tenant, scope.id(tenant))
        if claimed.crowded:
            self.crowded(tenant, scope.id(tenant))

    def plan(self, actor: Actor, scope: Scope, decided: DecidedWave) -> PendingRows:
        """Return the empty plan of a write to what was read."""
        state = decided.state
        around = WriteContext(
            tenant=actor.tenant_id,
            scope=scope.id(actor.tenant_id),
            actor=actor.name,
            now=decided.now,
            model_id=self.deciding.model_id,
            lexical_average=state.lexical_average or _average_length([one.prepared for one in decided.resolved]),
            ann=state.ann,
            language=self.deciding.language,
        )
        return PendingRows(around)

    def _planned(self, actor: Actor, scope: Scope, decided: DecidedWave) -> tuple[list[PersistResult], PendingRows]:
        plan = self.plan(actor, scope, decided)
        results = [persist(plan, one, made) for one, made in zip(decided.resolved, decided.decisions, strict=True)]
        return results, plan


def _by_scope(prepared: Sequence[Prepared]) -> dict[Scope, list[Numbered]]:
    found: dict[Scope, list[Numbered]] = {}
    for place, one in enumerate(prepared):
        found.setdefault(one.candidate.scope, []).append((place, one))
    return found


def _average_length(wave: Sequence[Prepared]) -> float:
    lengths = [len(one.terms) for prepared in wave for one in prepared.texts if one.terms is not None]
    return max(1.0, sum(lengths) / max(1, len(lengths)))


def _outcome(verdict: PersistResult, stored: dict[UUID, Memory]) -> WriteOutcome:
    return WriteOutcome(
        decision=verdict.decided,
        reason=verdict.reason,
        memory=None if verdict.memory is None else stored[verdict.memory],
        affected=verdict.affected,
    )
