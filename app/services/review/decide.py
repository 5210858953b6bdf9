"""Check, work out and apply a reviewer's decision; one transaction.

Whether a reviewer's decision fits its item: the action its status, what it names or states what it is about.

Carrying out what a reviewer decides: worked out on what a scope holds at one version, then written at once.

As with every write, nothing slow happens inside the transaction: what must be embedded or judged is, before it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never
from uuid import UUID

from app import ids
from app.db import contests, review, review_changes
from app.db.apply import ScopeMoved, apply
from app.db.audit import append
from app.db.memories import hype
from app.db.memories import read as memory_reads
from app.db.review import HiddenState
from app.db.session import ReadSession, WriteSession
from app.errors import Conflict, InvalidInput, NotFound
from app.memory import confidence, normalise
from app.memory.candidate import DIRECT_EXTRACTION, AffectedMemory, Candidate, WriteDecision
from app.memory.registry import Registry
from app.memory.review import ReviewAction, ReviewDecision, ReviewItem
from app.model import Actor, Memory, MemoryStatus
from app.write.conflict import merging
from app.write.hype import memories_without_questions
from app.write.persist import PersistResult
from app.write.pipeline import Looked, WritePipeline
from app.write.review import decide
from app.write.review.decide import ReviewAuditDetail, ReviewOutcome
from app.write.rows import PendingRows, WriteContext
from app.write.trace import StageTimes
from app.write.values import Decision, Resolved

_STANDING = frozenset({MemoryStatus.PENDING, MemoryStatus.ACTIVE, MemoryStatus.EXPIRED})


def check_action(item: ReviewItem, action: ReviewAction) -> None:
    """Raise InvalidInput when the action has no meaning for a memory of the item's status."""
    status = item.memory.status
    if action is ReviewAction.KEEP_BOTH and status is MemoryStatus.PENDING:
        raise InvalidInput("a pending memory stands beside nothing yet: accept it or reject it", field="action")
    if action in {ReviewAction.ACCEPT, ReviewAction.KEEP_BOTH} or status in _STANDING:
        return
    if status is not MemoryStatus.SUPERSEDED:
        raise InvalidInput(f"the memory is {status} already: accept takes it off the queue", field="action")
    if action is not ReviewAction.REJECT:
        raise InvalidInput(
            "the memory is superseded already: accept keeps it as history, reject forgets it", field="action"
        )


def check_statement(item: ReviewItem, choice: ReviewDecision) -> None:
    """Raise InvalidInput when what the reviewer states is about something else than the item."""
    if choice.statement is not None:
        _same(item.memory, choice.statement.subject(), choice.statement_type, "the statement", field="with.payload")


async def named_memory(session: ReadSession, tenant: UUID, item: ReviewItem, choice: ReviewDecision) -> Memory | None:
    """Return the memory that the choice names, None when it names none; raises NotFound, InvalidInput if it's unfit."""
    if choice.named is None:
        return None
    found = (await memory_reads.read_memories(session, tenant, [choice.named])).get(choice.named)
    name = ids.public(ids.MEMORY, choice.named)
    if found is None:
        raise NotFound(f"no such memory: {name}")
    if found.id == item.memory.id:
        raise InvalidInput("must name another memory than the one that is reviewed", field="with")
    if found.scope != item.memory.scope:
        raise InvalidInput(f"{name} is in another scope than the memory that is reviewed", field="with")
    if found.status is not MemoryStatus.ACTIVE:
        raise InvalidInput(f"{name} is {found.status}: name an active memory", field="with")
    if choice.action is ReviewAction.MERGE and found.type != item.memory.type:
        raise InvalidInput(f"{name} is a {found.type}, not a {item.memory.type}", field="with")
    beside = found.id in {side.memory.id for side in item.sides}
    if not beside and not await review.of_one_subject(session, tenant, (found.id, item.memory.id)):
        _same(item.memory, found.subject, found.type, name, field="with")
    return found


def _same(memory: Memory, subject: str | None, kind: str | None, name: str, *, field: str) -> None:
    """Raise InvalidInput unless both are about the same; what has no subject must at least be of the same type."""
    ours = None if memory.subject is None else normalise.normalise_name(memory.subject)
    theirs = None if subject is None else normalise.normalise_name(subject)
    if ours != theirs or (ours is None and kind != memory.type):
        raise InvalidInput(
            f"{name} is {_about(kind, subject)}, and {ids.public(ids.MEMORY, memory.id)} "
            f"{_about(memory.type, memory.subject)}: one takes the other's place only where both are about the same",
            field=field,
        )


def _about(kind: str | None, subject: str | None) -> str:
    article = "an" if str(kind)[:1] in "aeiou" else "a"
    return f"{article} {kind} about {'nothing that has a name' if subject is None else repr(subject)}"


STATED_BY_A_REVIEWER = 1.0
"""Source strength of what a reviewer states: someone who saw all sides."""


class StaleReview(Exception):
    """The item, or a side of it, is no longer as the reviewer saw it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewResult:
    """What a decision came to: a word for it, the memory that holds the belief now, what happened to others."""

    outcome: str
    memory: Memory | None
    affected: tuple[AffectedMemory, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """A decision worked out; `version` is the scope's that it was read at, None when nothing was read of it."""

    plan: PendingRows
    ruled: ReviewOutcome
    version: int | None = None
    asked: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDecisions:
    """Carries out decisions, each in one transaction."""

    pipeline: WritePipeline

    async def _types(self, actor: Actor) -> Registry:
        return await self.pipeline.deciding.types.of(actor.tenant_id)

    async def decide(
        self, actor: Actor, item: ReviewItem, choice: ReviewDecision, named: Memory | None
    ) -> ReviewResult:
        """Carry out a decision on an item as it was read, with the memory that it names.

        Raises Stale when item or sides have moved meanwhile, ScopeMoved when only what is around them has: read
        again and decide again. Raises Conflict when a pending memory can't be believed.
        """
        async with self.pipeline.turnstile.enter(item.memory.scope.id(actor.tenant_id)):
            work = await self._work(actor, item, choice, named)
            return await self._write(actor, item, choice, named, work)

    async def foreseen(self, actor: Actor, item: ReviewItem) -> ReviewOutcome | None:
        """Return what accepting a pending memory would come to; None when it couldn't be believed.

        A judge is not asked: looking costs nothing, so it may come out otherwise where one would find a duplicate.
        """
        unasked = replace(self.pipeline, deciding=replace(self.pipeline.deciding, judge=None))
        work = await ReviewDecisions(pipeline=unasked).believed(actor, item)
        return None if work is None else work.ruled

    async def _work(self, actor: Actor, item: ReviewItem, choice: ReviewDecision, named: Memory | None) -> _Work:
        match choice.action:
            case ReviewAction.ACCEPT if item.memory.status is MemoryStatus.PENDING:
                found = await self.believed(actor, item)
                if found is None:
                    raise Conflict("it can't be believed as it is: reject it, or supersede it with what it should say")
                return found
            case ReviewAction.MERGE if named is not None:
                return await self._merged(actor, item, named)
            case ReviewAction.SUPERSEDE_WITH if named is None:
                return await self._stated(actor, item, choice)
            case _:
                plan = PendingRows(self._surroundings(actor, item))
                return _Work(plan=plan, ruled=_plain(plan, item, choice.action, named))

    async def believed(self, actor: Actor, item: ReviewItem) -> _Work | None:
        """Work out what sending a pending memory through the pipeline from stage 3 comes to."""
        unshown = await self._unshown(actor, item.memory)
        candidate = decide.candidate_of(item.memory, unshown, await self._types(actor))
        looked, resolved = await self._looked(actor, candidate, item.memory, unshown)
        plan = self.pipeline.plan(actor, item.memory.scope, looked)
        [decision] = looked.decisions
        ruled = decide.accept(plan, item, resolved, decision)
        return None if ruled is None else self._read(looked, plan, ruled, resolved, decision)

    async def _merged(self, actor: Actor, item: ReviewItem, into: Memory) -> _Work:
        unshown = await self._unshown(actor, item.memory)
        candidate = decide.candidate_of(item.memory, unshown, await self._types(actor))
        looked, resolved = await self._looked(actor, candidate, item.memory, unshown)
        merge = merging(resolved, decide.existing_of(into), "a reviewer holds them to say the same")
        [decision] = await self.pipeline.deciding.rewritten([resolved], [merge])
        plan = self.pipeline.plan(actor, item.memory.scope, looked)
        ruled = decide.merge(plan, item, resolved, decision)
        return self._read(looked, plan, ruled, resolved, decision)

    async def _stated(self, actor: Actor, item: ReviewItem, choice: ReviewDecision) -> _Work:
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
        looked = await self.pipeline.deciding.looked(actor, candidate.scope, [certain], StageTimes(), pieces=False)
        [resolved], [decision] = looked.resolved, looked.decisions
        resolved = replace(resolved, prepared=replace(resolved.prepared, confidence=prepared.confidence))
        plan = self.pipeline.plan(actor, candidate.scope, looked)
        return self._read(looked, plan, decide.override(plan, item, resolved, decision), resolved, decision)

    async def _looked(
        self, actor: Actor, candidate: Candidate, memory: Memory, unshown: HiddenState
    ) -> tuple[Looked, Resolved]:
        """Decide about a stored memory's candidate, with the standing that the memory has."""
        [prepared] = await self.pipeline.deciding.prepared([candidate])
        held = confidence.meets_floor(memory.parts, memory.speech_act)
        prepared = replace(prepared, parts=memory.parts, confidence=held, identity=unshown.identity)
        looked = await self.pipeline.deciding.looked(actor, memory.scope, [prepared], StageTimes(), pieces=False)
        return looked, looked.resolved[0]

    async def _unshown(self, actor: Actor, memory: Memory) -> HiddenState:
        async with self.pipeline.deciding.database.read(actor.tenant_id) as session:
            found = await review.read_hidden(session, actor.tenant_id, memory.id)
        if found is None:
            raise StaleReview
        return found

    def _read(
        self, looked: Looked, plan: PendingRows, ruled: ReviewOutcome, resolved: Resolved, decision: Decision
    ) -> _Work:
        verdict = PersistResult(decided=WriteDecision.ADDED, reason=ruled.outcome, memory=ruled.memory)
        asked = memories_without_questions([(resolved, decision, verdict)]) if self.pipeline.hype else []
        return _Work(plan=plan, ruled=ruled, version=looked.state.version, asked=tuple(asked))

    def _surroundings(self, actor: Actor, item: ReviewItem) -> WriteContext:
        """Return what the rows of a decision share that indexes nothing new."""
        deciding = self.pipeline.deciding
        return WriteContext(
            tenant=actor.tenant_id,
            scope=item.memory.scope.id(actor.tenant_id),
            actor=actor.name,
            now=deciding.clock(),
            model_id=deciding.model_id,
            lexical_average=0.0,
            ann=False,
            language=deciding.language,
        )

    async def _write(
        self, actor: Actor, item: ReviewItem, choice: ReviewDecision, named: Memory | None, work: _Work
    ) -> ReviewResult:
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
            stored = await memory_reads.read_memories(session, tenant, {item.memory.id, *held, *others})
            told = ReviewAuditDetail(around=around, item=item, choice=choice, named=named)
            await append(session, told.events(ruled, stored, settled))
            await hype.enqueue(session, tenant=tenant, scope=around.scope, memories=list(work.asked), now=around.now)
        self.pipeline.keep_up(tenant, scope, claimed)
        return ReviewResult(
            outcome=ruled.outcome,
            memory=None if ruled.memory is None else stored.get(ruled.memory),
            affected=(*ruled.affected, *(AffectedMemory(id=one.id, change="uncontested") for one in settled)),
        )


def _plain(plan: PendingRows, item: ReviewItem, action: ReviewAction, named: Memory | None) -> ReviewOutcome:
    """Return what an action comes to that takes nothing but what was read."""
    match action:
        case ReviewAction.ACCEPT:
            return decide.uphold(plan, item)
        case ReviewAction.REJECT:
            return decide.reject(item)
        case ReviewAction.KEEP_BOTH:
            return decide.keep_both(plan, item)
        case ReviewAction.SUPERSEDE_WITH | ReviewAction.MERGE:
            if named is None:
                raise AssertionError("the choice was checked: these name a memory, or state something")
            return decide.supersede_with(plan, item, named)
        case _:
            assert_never(action)


async def _unmoved(session: WriteSession, tenant: UUID, item: ReviewItem, named: Memory | None) -> None:
    """Hold everything that the decision goes by; raise Stale or ScopeMoved when it is no longer as it was read."""
    seen = {item.memory.id, *(side.memory.id for side in item.sides), *([named.id] if named else [])}
    await review_changes.lock(session, tenant, seen)
    current = await review.find(session, tenant, item.memory.id)
    if current is None or current.version != item.version:
        raise StaleReview
    if named is not None:
        fresh = (await memory_reads.read_memories(session, tenant, [named.id])).get(named.id)
        if fresh is None or _standing(fresh) != _standing(named):
            raise ScopeMoved


def _standing(memory: Memory) -> tuple[object, ...]:
    return memory.status, memory.parts, memory.confidence, memory.payload, memory.slot, memory.contested
