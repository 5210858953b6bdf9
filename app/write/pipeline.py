"""The write pipeline for typed candidates: prepare, resolve, decide, persist; read without locks, write once.

Nothing slow happens inside a transaction. A scope is read at a version, decisions are made on what was
read, and the write claims the scope at that version: if it moved, read and decide again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from uuid import UUID
from weakref import WeakValueDictionary

from app.db import hypothetical, memories
from app.db.writing import Claimed, ScopeMoved, apply
from app.errors import Conflict, TypedMemoryError
from app.memory.candidate import Candidate, Outcome
from app.model import Actor, Memory, Scope
from app.write.answer import added
from app.write.deciding import Clash, Deciding, Looked
from app.write.hype import awaiting
from app.write.persist import Verdict, persist
from app.write.plan import Plan, Surroundings
from app.write.timing import Times, timed
from app.write.values import Prepared
from app.write.waves import Numbered, waves

ATTEMPTS = 3
"""Times a write is read and decided before its caller is asked to retry."""

_RETRY_AFTER = 0.2

_PLANS = {"plan_cache_mode": "force_generic_plan"}
"""A write that reads nothing back finds every row through a whole key: planning it anew, and with it each look-up of
a foreign key, takes longer than running it."""


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
    turnstile: Turnstile = field(default_factory=Turnstile)

    async def write(
        self, actor: Actor, candidates: Sequence[Candidate], times: Times | None = None
    ) -> list[Outcome | TypedMemoryError]:
        """Store the candidates and return what became of each, in their order.

        Candidates of one scope are decided in order, those that cannot touch one another together, each
        such wave in one transaction. Where a wave fails (others keep moving the scope, the database is gone)
        its candidates and the scope's later ones get the error in place of an outcome; earlier waves stay.
        Raises ProviderError when nothing could be embedded; nothing is stored then.
        """
        spent = Times() if times is None else times
        with timed(spent, "prepare"):
            prepared = await self.deciding.prepared(candidates)
        results: dict[int, Outcome | TypedMemoryError] = {}
        for scope, numbered in _by_scope(prepared).items():
            results.update(await self._write_scope(actor, scope, numbered, spent))
        for place, one in enumerate(prepared):
            result = results[place]
            if isinstance(result, Outcome):
                self.observe(one.candidate.type.counted_as, result.decision)
        return [results[place] for place in range(len(prepared))]

    async def preview(self, actor: Actor, candidates: Sequence[Candidate], times: Times | None = None) -> list[Outcome]:
        """Return what each candidate would come to against what is stored now; nothing is written.

        None of them sees the others. Raises ProviderError when nothing could be embedded.
        """
        spent = Times() if times is None else times
        with timed(spent, "prepare"):
            prepared = await self.deciding.prepared(candidates)
        outcomes: dict[int, Outcome] = {}
        for scope, numbered in _by_scope(prepared).items():
            looked = await self.deciding.looked(actor, scope, [one for _, one in numbered], spent, pieces=False)
            verdicts, plan = self._planned(actor, scope, looked)
            stored = added(plan, scope)
            told = [one.memory for one in verdicts if one.memory is not None and one.memory not in stored]
            async with self.deciding.database.read(actor.tenant_id) as session:
                stored |= await memories.fetch(session, actor.tenant_id, told)
            outcomes |= {
                place: _outcome(verdict, stored) for (place, _), verdict in zip(numbered, verdicts, strict=True)
            }
        return [outcomes[place] for place in range(len(prepared))]

    async def _write_scope(
        self, actor: Actor, scope: Scope, numbered: Sequence[Numbered], times: Times
    ) -> dict[int, Outcome | TypedMemoryError]:
        results: dict[int, Outcome | TypedMemoryError] = {}
        alone = len(numbered) == 1
        cut = [numbered] if alone else await asyncio.to_thread(lambda: list(waves(numbered)))
        for wave in cut:
            try:
                decided = await self._write_wave(actor, scope, [one for _, one in wave], times)
            except TypedMemoryError as error:
                results.update({place: error for place, _ in numbered if place not in results})
                break
            results.update(zip((place for place, _ in wave), decided, strict=True))
        return results

    async def _write_wave(self, actor: Actor, scope: Scope, wave: Sequence[Prepared], times: Times) -> list[Outcome]:
        async with self.turnstile.enter(scope.id(actor.tenant_id)):
            for _ in range(ATTEMPTS):
                try:
                    return await self._attempt(actor, scope, wave, times)
                except ScopeMoved:
                    self.conflict()
                except Clash as clash:
                    bounds = [0, *clash.cuts, len(wave)]
                    break
            else:
                raise Conflict(
                    "other writes to the same scope kept coming first: retry in a moment", retry_after=_RETRY_AFTER
                )
        pieces = [await self._write_wave(actor, scope, wave[first:last], times) for first, last in pairwise(bounds)]
        return [outcome for piece in pieces for outcome in piece]

    async def _attempt(self, actor: Actor, scope: Scope, wave: Sequence[Prepared], times: Times) -> list[Outcome]:
        tenant = actor.tenant_id
        looked = await self.deciding.looked(actor, scope, wave, times, pieces=True)
        with timed(times, "persist"):
            verdicts, plan = self._planned(actor, scope, looked)
            stored = added(plan, scope)
            told = [one.memory for one in verdicts if one.memory is not None and one.memory not in stored]
            async with self.deciding.database.write(tenant, **({} if told else _PLANS)) as session:
                claimed = await apply(
                    session, tenant=tenant, scope=scope, version=looked.state.version, changes=plan.changes()
                )
                stored |= await memories.fetch(session, tenant, told)
                if self.hype:
                    asked = awaiting(list(zip(looked.resolved, looked.decisions, verdicts, strict=True)))
                    at = self.deciding.clock()
                    await hypothetical.enqueue(session, tenant=tenant, scope=scope.id(tenant), memories=asked, now=at)
        self.keep_up(tenant, scope, claimed)
        return [_outcome(verdict, stored) for verdict in verdicts]

    def keep_up(self, tenant: UUID, scope: Scope, claimed: Claimed) -> None:
        """Say which upkeep a scope needs after a write."""
        if claimed.drifted:
            self.drifted(tenant, scope.id(tenant))
        if claimed.crowded:
            self.crowded(tenant, scope.id(tenant))

    def plan(self, actor: Actor, scope: Scope, looked: Looked) -> Plan:
        """Return the empty plan of a write to what was read."""
        now = self.deciding.clock()
        around = Surroundings(
            tenant=actor.tenant_id,
            scope=scope.id(actor.tenant_id),
            actor=actor.name,
            now=now if looked.state.written_at is None else max(now, looked.state.written_at),
            model_id=self.deciding.model_id,
            lexical_average=looked.state.lexical_average or _average_length([one.prepared for one in looked.resolved]),
            ann=looked.state.ann,
            language=self.deciding.language,
        )
        return Plan(around)

    def _planned(self, actor: Actor, scope: Scope, looked: Looked) -> tuple[list[Verdict], Plan]:
        plan = self.plan(actor, scope, looked)
        verdicts = [persist(plan, one, told) for one, told in zip(looked.resolved, looked.decisions, strict=True)]
        return verdicts, plan


def _by_scope(prepared: Sequence[Prepared]) -> dict[Scope, list[Numbered]]:
    found: dict[Scope, list[Numbered]] = {}
    for place, one in enumerate(prepared):
        found.setdefault(one.candidate.scope, []).append((place, one))
    return found


def _average_length(wave: Sequence[Prepared]) -> float:
    lengths = [len(one.terms) for prepared in wave for one in prepared.texts if one.terms is not None]
    return max(1.0, sum(lengths) / max(1, len(lengths)))


def _outcome(verdict: Verdict, stored: dict[UUID, Memory]) -> Outcome:
    return Outcome(
        decision=verdict.decided,
        reason=verdict.reason,
        memory=None if verdict.memory is None else stored[verdict.memory],
        affected=verdict.affected,
    )
