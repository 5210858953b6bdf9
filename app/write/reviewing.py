"""Carrying out what a reviewer decides: worked out on what a scope holds at one version, then written at once.

As with every write, nothing slow happens inside the transaction: what must be embedded or judged is, before it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never
from uuid import UUID

from app import ids
from app.db import contests, hypothetical, memories, review, review_changes
from app.db.audit import append
from app.db.review import Unshown
from app.db.session import WriteSession
from app.db.writing import ScopeMoved, apply
from app.errors import Conflict
from app.memory import confidence
from app.memory.candidate import DIRECT_EXTRACTION, Affected, Candidate, Decided
from app.memory.registry import Registry
from app.memory.review import Action, Item
from app.model import Actor, Memory, Status
from app.write import rebuilt, ruling
from app.write.decide import merging
from app.write.deciding import Looked
from app.write.hype import awaiting
from app.write.persist import Verdict
from app.write.pipeline import WritePipeline
from app.write.plan import Plan, Surroundings
from app.write.review_log import Choice, Told
from app.write.ruling import Ruled
from app.write.timing import Times
from app.write.values import Decision, Resolved

STATED_BY_A_REVIEWER = 1.0
"""Source strength of what a reviewer states: someone who saw all sides."""


class Stale(Exception):
    """The item, or a side of it, is no longer as the reviewer saw it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a decision came to: a word for it, the memory that holds the belief now, what happened to others."""

    outcome: str
    memory: Memory | None
    affected: tuple[Affected, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """A decision worked out; `version` is the scope's that it was read at, None when nothing was read of it."""

    plan: Plan
    ruled: Ruled
    version: int | None = None
    asked: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewing:
    """Carries out decisions, each in one transaction."""

    pipeline: WritePipeline

    async def _types(self, actor: Actor) -> Registry:
        return await self.pipeline.deciding.types.of(actor.tenant_id)

    async def decide(self, actor: Actor, item: Item, choice: Choice, named: Memory | None) -> Done:
        """Carry out a decision on an item as it was read, with the memory that it names.

        Raises Stale when item or sides have moved meanwhile, ScopeMoved when only what is around them has: read
        again and decide again. Raises Conflict when a pending memory can't be believed.
        """
        async with self.pipeline.turnstile.enter(item.memory.scope.id(actor.tenant_id)):
            work = await self._work(actor, item, choice, named)
            return await self._write(actor, item, choice, named, work)

    async def foreseen(self, actor: Actor, item: Item) -> Ruled | None:
        """Return what accepting a pending memory would come to; None when it couldn't be believed.

        A judge is not asked: looking costs nothing, so it may come out otherwise where one would find a duplicate.
        """
        unasked = replace(self.pipeline, deciding=replace(self.pipeline.deciding, judge=None))
        work = await Reviewing(pipeline=unasked).believed(actor, item)
        return None if work is None else work.ruled

    async def _work(self, actor: Actor, item: Item, choice: Choice, named: Memory | None) -> _Work:
        match choice.action:
            case Action.ACCEPT if item.memory.status is Status.PENDING:
                found = await self.believed(actor, item)
                if found is None:
                    raise Conflict("it can't be believed as it is: reject it, or supersede it with what it should say")
                return found
            case Action.MERGE if named is not None:
                return await self._merged(actor, item, named)
            case Action.SUPERSEDE_WITH if named is None:
                return await self._stated(actor, item, choice)
            case _:
                plan = Plan(self._surroundings(actor, item))
                return _Work(plan=plan, ruled=_plain(plan, item, choice.action, named))

    async def believed(self, actor: Actor, item: Item) -> _Work | None:
        """Work out what sending a pending memory through the pipeline from stage 3 comes to."""
        unshown = await self._unshown(actor, item.memory)
        candidate = rebuilt.candidate(item.memory, unshown, await self._types(actor))
        looked, resolved = await self._looked(actor, candidate, item.memory, unshown)
        plan = self.pipeline.plan(actor, item.memory.scope, looked)
        [decision] = looked.decisions
        ruled = ruling.believed(plan, item, resolved, decision)
        return None if ruled is None else self._read(looked, plan, ruled, resolved, decision)

    async def _merged(self, actor: Actor, item: Item, into: Memory) -> _Work:
        unshown = await self._unshown(actor, item.memory)
        candidate = rebuilt.candidate(item.memory, unshown, await self._types(actor))
        looked, resolved = await self._looked(actor, candidate, item.memory, unshown)
        merge = merging(resolved, rebuilt.existing(into), "a reviewer holds them to say the same")
        [decision] = await self.pipeline.deciding.rewritten([resolved], [merge])
        plan = self.pipeline.plan(actor, item.memory.scope, looked)
        ruled = ruling.merged(plan, item, resolved, decision)
        return self._read(looked, plan, ruled, resolved, decision)

    async def _stated(self, actor: Actor, item: Item, choice: Choice) -> _Work:
        """Work out what a reviewer's own statement comes to: it is weighed as certain, and stored as what it is."""
        assert choice.statement is not None  # noqa: S101 - the choice was checked
        now = self.pipeline.deciding.clock()
        types = await self._types(actor)
        candidate = Candidate(
            type=types.get(choice.statement_type or item.memory.type),
            payload=choice.statement,
            scope=item.memory.scope,
            stated_at=max(now, item.memory.stated_at, *(one.stated_at for one in item.rivals)),
            source_strength=STATED_BY_A_REVIEWER,
            extractor_confidence=DIRECT_EXTRACTION,
            topic=item.memory.topic,
            provenance={"review": ids.public(ids.REVIEW, item.memory.id)},
            reviewed=True,
        )
        [prepared] = await self.pipeline.deciding.prepared([candidate])
        certain = replace(prepared, confidence=1.0)
        looked = await self.pipeline.deciding.looked(actor, candidate.scope, [certain], Times(), pieces=False)
        [resolved], [decision] = looked.resolved, looked.decisions
        resolved = replace(resolved, prepared=replace(resolved.prepared, confidence=prepared.confidence))
        plan = self.pipeline.plan(actor, candidate.scope, looked)
        return self._read(looked, plan, ruling.overruled(plan, item, resolved, decision), resolved, decision)

    async def _looked(
        self, actor: Actor, candidate: Candidate, memory: Memory, unshown: Unshown
    ) -> tuple[Looked, Resolved]:
        """Decide about a stored memory's candidate, with the standing that the memory has."""
        [prepared] = await self.pipeline.deciding.prepared([candidate])
        held = confidence.believed(memory.parts, memory.speech_act)
        prepared = replace(prepared, parts=memory.parts, confidence=held, identity=unshown.identity)
        looked = await self.pipeline.deciding.looked(actor, memory.scope, [prepared], Times(), pieces=False)
        return looked, looked.resolved[0]

    async def _unshown(self, actor: Actor, memory: Memory) -> Unshown:
        async with self.pipeline.deciding.database.read(actor.tenant_id) as session:
            found = await review.unshown(session, actor.tenant_id, memory.id)
        if found is None:
            raise Stale
        return found

    def _read(self, looked: Looked, plan: Plan, ruled: Ruled, resolved: Resolved, decision: Decision) -> _Work:
        verdict = Verdict(decided=Decided.ADDED, reason=ruled.outcome, memory=ruled.memory)
        asked = awaiting([(resolved, decision, verdict)]) if self.pipeline.hype else []
        return _Work(plan=plan, ruled=ruled, version=looked.state.version, asked=tuple(asked))

    def _surroundings(self, actor: Actor, item: Item) -> Surroundings:
        """Return what the rows of a decision share that indexes nothing new."""
        deciding = self.pipeline.deciding
        return Surroundings(
            tenant=actor.tenant_id,
            scope=item.memory.scope.id(actor.tenant_id),
            actor=actor.name,
            now=deciding.clock(),
            model_id=deciding.model_id,
            lexical_average=0.0,
            ann=False,
            language=deciding.language,
        )

    async def _write(self, actor: Actor, item: Item, choice: Choice, named: Memory | None, work: _Work) -> Done:
        tenant, scope = actor.tenant_id, item.memory.scope
        around, ruled = work.plan.around, work.ruled
        async with self.pipeline.deciding.database.write(tenant) as session:
            version = await review_changes.hold(session, tenant, around.scope, version=work.version)
            await _unmoved(session, tenant, item, named)
            await review_changes.before_write(session, tenant, ruled.ruling, now=around.now)
            claimed = await apply(session, tenant=tenant, scope=scope, version=version, changes=work.plan.changes())
            await review_changes.after_write(session, tenant, ruled.ruling, now=around.now)
            settled = await contests.settle(session, tenant, around.scope, ruled.ruling.slots, now=around.now)
            held = () if ruled.memory is None else (ruled.memory,)
            others = (*(one.id for one in ruled.affected), *(one.id for one in settled))
            stored = await memories.fetch(session, tenant, {item.memory.id, *held, *others})
            told = Told(around=around, item=item, choice=choice, named=named)
            await append(session, told.events(ruled, stored, settled))
            await hypothetical.enqueue(
                session, tenant=tenant, scope=around.scope, memories=list(work.asked), now=around.now
            )
        self.pipeline.keep_up(tenant, scope, claimed)
        return Done(
            outcome=ruled.outcome,
            memory=None if ruled.memory is None else stored.get(ruled.memory),
            affected=(*ruled.affected, *(Affected(id=one.id, change="uncontested") for one in settled)),
        )


def _plain(plan: Plan, item: Item, action: Action, named: Memory | None) -> Ruled:
    """Return what an action comes to that takes nothing but what was read."""
    match action:
        case Action.ACCEPT:
            return ruling.upheld(plan, item)
        case Action.REJECT:
            return ruling.rejected(item)
        case Action.KEEP_BOTH:
            return ruling.kept(plan, item)
        case Action.SUPERSEDE_WITH | Action.MERGE:
            if named is None:
                raise AssertionError("the choice was checked: these name a memory, or state something")
            return ruling.replaced(plan, item, named)
        case _:
            assert_never(action)


async def _unmoved(session: WriteSession, tenant: UUID, item: Item, named: Memory | None) -> None:
    """Hold everything that the decision goes by; raise Stale or ScopeMoved when it is no longer as it was read."""
    seen = {item.memory.id, *(side.memory.id for side in item.sides), *([named.id] if named else [])}
    await review_changes.lock(session, tenant, seen)
    current = await review.find(session, tenant, item.memory.id)
    if current is None or current.version != item.version:
        raise Stale
    if named is not None:
        fresh = (await memories.fetch(session, tenant, [named.id])).get(named.id)
        if fresh is None or _standing(fresh) != _standing(named):
            raise ScopeMoved


def _standing(memory: Memory) -> tuple[object, ...]:
    return memory.status, memory.parts, memory.confidence, memory.payload, memory.slot, memory.contested
