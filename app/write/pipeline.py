"""Candidates through the stages of a write.

Nothing slow happens inside a transaction. A scope is read at a version, decisions are made on what was
read, and the write claims the scope at that version: if it moved, read and decide again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import assert_never
from uuid import UUID

from app.db.apply.scope import Claimed, apply, retried
from app.db.memories import read as memory_reads
from app.db.memories.rivals import enqueue_sameness
from app.db.scopes import lock_scope
from app.db.session import PLANNED_BY_KEY, Database, ReadSession, WriteSession, stamped
from app.db.sql import Model
from app.errors import Conflict, ProviderError, TypedMemoryError
from app.memory.candidate import Candidate, WriteOutcome
from app.memory.registry import Registry, Types
from app.memory.spec import Reclassified
from app.model import Actor, Scope
from app.providers.embeddings import Embedder
from app.providers.protocols import Judge, QuestionWriter
from app.write import lookup
from app.write.batching import Numbered, by_scope, split_batch
from app.write.dedup import doubtful
from app.write.embed import average_length, prepare
from app.write.hype import memories_without_questions
from app.write.joint import Additions, JointlyWritten, JointWriting, write_jointly
from app.write.lookup import LookUpContext, NeedsJudge, Neighbourhood, OlderTypes, RetypeNeeded, Split
from app.write.persist import memory_as_stored, persist
from app.write.resolve import KnownName, NameQuestion, apply_answers, ask
from app.write.rows import PendingRows, WriteContext
from app.write.scope_locks import ScopeLocks
from app.write.trace import StageTimes, timed
from app.write.values import Believe, Decision, Existing, PersistResult, Prepared, Resolved
from app.write.wave import DecidedWave, collisions, decide_wave, grown_candidate, is_restated, unjudged_pairs


@dataclass(frozen=True, slots=True)
class _Writing:
    """The write of one wave: by whom and where, its candidates' places in the batch, and the results before it."""

    actor: Actor
    scope: Scope
    places: Sequence[int]
    times: StageTimes
    results: Results
    finish: Finish | None


LOOKS = 6
"""Times a scope is looked at for one decision: each obstacle is taken away once, and types may change meanwhile."""

_RETRY_AFTER = 0.2

JUDGE_SECONDS = 1.0
"""How long a write waits for a judge; without its answer two that may be the same are not, until a job has asked."""

Results = dict[int, WriteOutcome | TypedMemoryError]
"""Outcomes or errors of candidates, by their places in the batch."""

Finish = Callable[[WriteSession, Mapping[int, WriteOutcome | TypedMemoryError]], Awaitable[None]]
"""A caller's statements in the transaction of the last wave, given the outcomes of all candidates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePipeline:
    """Writes candidates. No provider is asked while a transaction is open.

    `hype` has the questions that new memories answer, written by a job. `timed` receives the seconds of each stage,
    `observe` (type, decision) for each candidate, `conflict` is called once a retry, `drifted` with (tenant, scope)
    when a scope's lexical weights should be made again, `crowded` when its vectors should go into the index.
    """

    database: Database
    embedder: Embedder
    model_id: int
    language: str
    clock: Callable[[], datetime]
    types: Types
    judge: Judge | None = None
    judge_seconds: float = JUDGE_SECONDS
    hype: QuestionWriter | None = None
    observe: Callable[[str, str], None] = lambda _type, _decision: None
    timed: Callable[[str, float], None] = lambda _stage, _seconds: None
    conflict: Callable[[], None] = lambda: None
    drifted: Callable[[UUID, UUID], None] = lambda _tenant, _scope: None
    crowded: Callable[[UUID, UUID], None] = lambda _tenant, _scope: None
    turnstile: ScopeLocks = field(default_factory=ScopeLocks)

    async def write(
        self,
        actor: Actor,
        candidates: Sequence[Candidate],
        times: StageTimes | None = None,
        finish: Finish | None = None,
    ) -> list[WriteOutcome | TypedMemoryError]:
        """Store the candidates and return the outcome of each, in their order.

        Candidates of one scope are decided in order, those that cannot touch one another together, each
        such wave in one transaction. Where a wave fails (others keep moving the scope, the database is gone)
        its candidates and the scope's later ones get the error in place of an outcome; earlier waves stay, and
        `finish` is not called unless the last wave is written. Raises ProviderError when nothing could be embedded;
        nothing is stored then.
        """
        spent = StageTimes() if times is None else times
        with timed(spent, "prepare"):
            prepared = await self.prepared(candidates)
        results: Results = {}
        scopes = {scope: await self._waves(numbered) for scope, numbered in by_scope(prepared).items()}
        last = next(reversed(scopes), None)
        if len(scopes) > 1 and self.judge is None:
            joint = [scope for scope, waves in scopes.items() if len(waves) == 1 and (finish is None or scope != last)]
            await self._write_jointly(actor, {scope: scopes[scope][0] for scope in joint}, spent, results)
        for scope, waves in scopes.items():
            if waves[0][0][0] not in results:
                await self._write_scope(actor, scope, waves, spent, results, finish if scope == last else None)
        for place, one in enumerate(prepared):
            result = results[place]
            if isinstance(result, WriteOutcome):
                self.observe(one.candidate.type.counted_as, result.decision)
        for stage, seconds in spent.items():
            self.timed(stage, seconds)
        return [results[place] for place in range(len(prepared))]

    async def _waves(self, numbered: Sequence[Numbered]) -> list[list[Numbered]]:
        """Return the candidates of one scope in waves that cannot affect one another."""
        if len(numbered) == 1:
            return [list(numbered)]
        return await asyncio.to_thread(list, split_batch(numbered, judged=self.judge is not None))

    async def _write_jointly(
        self, actor: Actor, waves: Mapping[Scope, Sequence[Numbered]], times: StageTimes, results: Results
    ) -> None:
        """Write the waves of many scopes in few transactions, where they only add; the others get no results."""
        writing = JointWriting(
            tenant=actor.tenant_id,
            by=self._look_up_context(actor.tenant_id, split=True),
            clock=self.clock,
            begin=partial(self.changing, actor.tenant_id),
            locks=self.turnstile,
            decide=lambda known, at: self._additions(actor, known, at, times),
            moved=self.conflict,
            times=times,
        )

        def told(scope: Scope, written: JointlyWritten | TypedMemoryError) -> None:
            places = [place for place, _ in waves[scope]]
            if isinstance(written, TypedMemoryError):
                results.update(dict.fromkeys(places, written))
                return
            outcomes = (verdict.outcome(written.stored) for verdict in written.verdicts)
            results.update(zip(places, outcomes, strict=True))
            self.keep_up(actor.tenant_id, scope, written.claimed)

        await write_jointly(writing, waves, told)

    def _additions(
        self, actor: Actor, known: Mapping[Scope, Neighbourhood], at: datetime, times: StageTimes
    ) -> dict[Scope, Additions]:
        """Return what is written of scopes whose candidates are decided on without a provider, and only add."""
        found = {}
        for scope, neighbourhood in known.items():
            decided = self._decided_alone(neighbourhood, at, times)
            if decided is None or decided.now != at or collisions(decided.decisions):
                continue
            with timed(times, "persist"):
                verdicts, plan = self._planned(actor, scope, decided)
                changes = replace(plan.changes(), asked=self._asked(decided, verdicts))
                stored = memory_as_stored(plan, scope)
            if changes.is_only_new and not changes.unified and all(one.memory in stored for one in verdicts):
                found[scope] = Additions(
                    version=decided.state.version, changes=changes, verdicts=verdicts, stored=stored
                )
        return found

    async def _write_scope(
        self,
        actor: Actor,
        scope: Scope,
        waves: list[list[Numbered]],
        times: StageTimes,
        results: Results,
        finish: Finish | None,
    ) -> None:
        """Write the candidates of one scope, wave by wave, and add their outcomes to the results."""
        numbered = [one for wave in waves for one in wave]
        while waves:
            wave = waves.pop(0)
            last = None if waves else finish
            try:
                done = await self._write_wave(actor, scope, wave, times, results, last)
            except TypedMemoryError as error:
                results.update({place: error for place, _ in numbered if place not in results})
                return
            if isinstance(done, Split):
                bounds = pairwise([0, *done.cuts, len(wave)])
                waves = [wave[first:end] for first, end in bounds] + waves
            else:
                results.update(done)

    async def _write_wave(
        self,
        actor: Actor,
        scope: Scope,
        wave: Sequence[Numbered],
        times: StageTimes,
        results: Results,
        finish: Finish | None,
    ) -> Results | Split:
        """Write candidates that cannot touch one another: read, decide, apply; again where others wrote meanwhile."""
        prepared = [one for _, one in wave]
        writing = _Writing(actor, scope, [place for place, _ in wave], times, results, finish)
        async with self.turnstile.enter(scope.id(actor.tenant_id)):
            return await retried(lambda number: self._attempt(writing, prepared, hold=number > 0), self.conflict)

    async def _attempt(self, writing: _Writing, wave: Sequence[Prepared], *, hold: bool) -> Results | Split:
        """Read, decide and apply in one transaction; in two where a provider is asked between. Raises ScopeMoved.

        With `hold` the scope is locked before it is read, so that no other write comes first in that transaction.
        """
        tenant, scope, times = writing.actor.tenant_id, writing.scope, writing.times
        by = self._look_up_context(tenant, split=True)
        for _ in range(LOOKS):
            at = self.clock()
            async with self.changing(tenant, at) as session:
                if hold:
                    await lock_scope(session, tenant, scope.id(tenant))
                found = await lookup.look_up(session, tenant, scope.id(tenant), wave, by, times)
                decided = self._decided_alone(found, at, times) if isinstance(found, Neighbourhood) else None
                if decided is not None and (cuts := collisions(decided.decisions)):
                    return Split(cuts=tuple(cuts))
                applied = None if decided is None else await self._apply(session, writing, decided)
            match found:
                case Neighbourhood():
                    if applied is None:
                        decided = await self._decide(found, self.clock(), times)
                        if cuts := collisions(decided.decisions):
                            return Split(cuts=tuple(cuts))
                        async with self.changing(tenant, decided.now) as session:
                            applied = await self._apply(session, writing, decided)
                    done, claimed = applied
                    self.keep_up(tenant, scope, claimed)
                    return done
                case Split():
                    return found
                case _:
                    wave, by = await self._past(found, wave, by, tenant, times)
        raise _types_kept_changing()

    def changing(self, tenant: UUID, at: datetime) -> AbstractAsyncContextManager[WriteSession]:
        """Open a transaction that finds every row, and each foreign key's, through a key, and stamps it so."""
        return self.database.write(tenant, **stamped(at), **PLANNED_BY_KEY)

    def _look_up_context(self, tenant: UUID, *, split: bool) -> LookUpContext:
        types, judged = self.types.known(tenant), self.judge is not None
        model = Model(id=self.model_id, dimensions=self.embedder.dimensions)
        return LookUpContext(types=types, model=model, judged=judged, split=split)

    async def _look_up(self, actor: Actor, scope: Scope, wave: Sequence[Prepared], times: StageTimes) -> Neighbourhood:
        """Read what the candidates may touch; names are asked about and candidates retyped where that turns out due.

        Raises TypesMoved when the type of a candidate is no longer what it was made with.
        """
        tenant = actor.tenant_id
        by = self._look_up_context(tenant, split=False)
        for _ in range(LOOKS):
            async with self.database.read(tenant, **PLANNED_BY_KEY) as session:
                found = await lookup.look_up(session, tenant, scope.id(tenant), wave, by, times)
            match found:
                case Neighbourhood():
                    return found
                case Split():
                    raise AssertionError("nothing is to be split")
                case _:
                    wave, by = await self._past(found, wave, by, tenant, times)
        raise _types_kept_changing()

    async def _past(
        self,
        found: OlderTypes | RetypeNeeded | NeedsJudge,
        wave: Sequence[Prepared],
        by: LookUpContext,
        tenant: UUID,
        times: StageTimes,
    ) -> tuple[Sequence[Prepared], LookUpContext]:
        """Return the candidates and the inputs of the next look-up, which no longer meets this obstacle."""
        match found:
            case OlderTypes(version=version):
                return wave, replace(by, types=await self.types.at(tenant, version))
            case RetypeNeeded(changed=changed):
                return await self._retyped(wave, changed, by.types), by
            case NeedsJudge(questions=questions):
                with timed(times, "resolve"):
                    return wave, replace(by, answers=await self._answers(questions))
            case _:
                assert_never(found)

    async def _decide(self, known: Neighbourhood, at: datetime, times: StageTimes) -> DecidedWave:
        """Return the decisions on what was read; the judge and the embedder are asked where that is due."""
        with timed(times, "dedup"):
            doubts = self._doubts(known)
            same = await self._judged(known.resolved, doubts)
        decided = decide_wave(known, doubts, same, at, times)
        with timed(times, "conflict"):
            return replace(decided, decisions=tuple(await self.rewritten(decided.resolved, decided.decisions)))

    def _decided_alone(self, known: Neighbourhood, at: datetime, times: StageTimes) -> DecidedWave | None:
        """Return the decisions on what was read, None where the judge or the embedder must be asked."""
        doubts = self._doubts(known)
        if any(doubts):
            return None
        decided = decide_wave(known, doubts, [{} for _ in doubts], at, times)
        return None if any(map(is_restated, decided.decisions)) else decided

    def _doubts(self, known: Neighbourhood) -> list[list[Existing]]:
        """Return, for each candidate, those about which only a judge can tell whether they say the same."""
        if self.judge is None:
            return [[] for _ in known.resolved]
        return [doubtful(one, near) for one, near in zip(known.resolved, known.rivals, strict=True)]

    async def _apply(self, session: WriteSession, writing: _Writing, decided: DecidedWave) -> tuple[Results, Claimed]:
        """Write what was decided; return the outcomes and the scope's upkeep, or raise ScopeMoved."""
        actor, scope = writing.actor, writing.scope
        tenant, version = actor.tenant_id, decided.state.version
        if lookup.is_planned_for_itself(len(decided.resolved), decided.state):
            await session.plan_once()
        with timed(writing.times, "persist"):
            verdicts, plan = self._planned(actor, scope, decided)
            stored = memory_as_stored(plan, scope)
            changes = replace(plan.changes(), asked=self._asked(decided, verdicts))
            claimed = await apply(session, tenant=tenant, scope=scope, version=version, changes=changes)
            pairs = unjudged_pairs(decided, verdicts)
            await enqueue_sameness(session, tenant=tenant, scope=scope.id(tenant), pairs=pairs, now=self.clock())
            others = [one.memory for one in verdicts if one.memory is not None and one.memory not in stored]
            if others:
                await session.plan_each()
                stored |= await memory_reads.read_memories(session, tenant, others)
            outcomes = (one.outcome(stored) for one in verdicts)
            done: Results = dict(zip(writing.places, outcomes, strict=True))
            if writing.finish is not None:
                await writing.finish(session, {**writing.results, **done})
        return done, claimed

    def _asked(self, decided: DecidedWave, verdicts: Sequence[PersistResult]) -> tuple[UUID, ...]:
        """Return the memories for which a job writes questions."""
        if self.hype is None:
            return ()
        made = zip(decided.resolved, decided.decisions, verdicts, strict=True)
        return tuple(memories_without_questions(list(made), self.hype))

    async def preview(
        self, actor: Actor, candidates: Sequence[Candidate], times: StageTimes | None = None
    ) -> list[WriteOutcome]:
        """Return what each candidate would come to against what is stored now; nothing is written.

        None of them sees the others. Raises ProviderError when nothing could be embedded.
        """
        spent = StageTimes() if times is None else times
        with timed(spent, "prepare"):
            prepared = await self.prepared(candidates)
        outcomes: dict[int, WriteOutcome] = {}
        for scope, numbered in by_scope(prepared).items():
            wave = [one for _, one in numbered]
            decided = await self.decide(actor, scope, wave, spent)
            verdicts, plan = self._planned(actor, scope, decided)
            stored = memory_as_stored(plan, scope)
            told = [one.memory for one in verdicts if one.memory is not None and one.memory not in stored]
            async with self.database.read(actor.tenant_id) as session:
                stored |= await memory_reads.read_memories(session, actor.tenant_id, told)
            outcomes |= {place: verdict.outcome(stored) for (place, _), verdict in zip(numbered, verdicts, strict=True)}
        return [outcomes[place] for place in range(len(prepared))]

    async def decide(
        self, actor: Actor, scope: Scope, wave: Sequence[Prepared], times: StageTimes | None = None
    ) -> DecidedWave:
        """Return what is decided about candidates of one scope, none of which sees the others; nothing is written."""
        spent = StageTimes() if times is None else times
        known = await self._look_up(actor, scope, wave, spent)
        return await self._decide(known, self.clock(), spent)

    async def decide_alone(
        self, session: ReadSession, tenant: UUID, scope: Scope, wave: Sequence[Prepared]
    ) -> DecidedWave | None:
        """Return what `decide` does, read in an open transaction; None where it can't be decided in there."""
        times = StageTimes()
        by = self._look_up_context(tenant, split=False)
        found = await lookup.look_up(session, tenant, scope.id(tenant), wave, by, times)
        return self._decided_alone(found, self.clock(), times) if isinstance(found, Neighbourhood) else None

    async def _answers(self, questions: Sequence[NameQuestion]) -> Mapping[str, Sequence[KnownName]]:
        """Return what the judge says of names, in time; what it says nothing of stays a name of its own."""
        said: list[int | None] = [None for _ in questions]
        if self.judge is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.judge_seconds):
                    said = await ask(self.judge, questions)
        return apply_answers({}, questions, said)

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
        self, resolved: Sequence[Resolved], doubts: Sequence[Sequence[Existing]]
    ) -> list[dict[UUID, bool]]:
        """Ask the judge about those that may say the same; without an answer in time they don't."""
        asked = [
            (place, other.id, (one.prepared.content, other.content))
            for place, (one, doubted) in enumerate(zip(resolved, doubts, strict=True))
            for other in doubted
        ]
        found: list[dict[UUID, bool]] = [{} for _ in resolved]
        if self.judge is not None and asked:
            with suppress(ProviderError, TimeoutError):
                async with asyncio.timeout(self.judge_seconds):
                    answers = await self.judge.same([pair for _, _, pair in asked])
                for (place, other, _), same in zip(asked, answers, strict=True):
                    found[place][other] = same
        return found

    async def prepared(self, candidates: Sequence[Candidate]) -> list[Prepared]:
        """Return the candidates with all that needs no look at the store; raises ProviderError."""
        return await prepare(candidates, embedder=self.embedder, now=self.clock(), language=self.language)

    async def rewritten(self, resolved: Sequence[Resolved], decisions: Sequence[Decision]) -> list[Decision]:
        """Return the decisions with every merged payload prepared again, so that it is found by its new words."""
        result = list(decisions)
        grown = {
            place: grown_candidate(resolved[place], decision, decision.payload)
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
            model_id=self.model_id,
            lexical_average=state.lexical_average or average_length([one.prepared for one in decided.resolved]),
            ann=state.ann,
            language=self.language,
        )
        return PendingRows(around)

    def _planned(self, actor: Actor, scope: Scope, decided: DecidedWave) -> tuple[list[PersistResult], PendingRows]:
        plan = self.plan(actor, scope, decided)
        results = [persist(plan, one, made) for one, made in zip(decided.resolved, decided.decisions, strict=True)]
        return results, plan


def _types_kept_changing() -> Conflict:
    return Conflict("the tenant's types kept changing: retry in a moment", retry_after=_RETRY_AFTER)
