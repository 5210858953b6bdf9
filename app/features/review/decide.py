"""Review decisions: check the reviewer's choice, decide as a write does, apply the result in one transaction.

As with every write, a provider is waited for outside any transaction. Where none is, as the embedder is in the process,
one transaction reads, decides and applies.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import assert_never
from uuid import UUID

from app import ids
from app.db.apply.scope import Claimed, ScopeMoved, apply
from app.db.erasure import holds
from app.db.memories import read as memory_reads
from app.db.memories import rivals
from app.db.memories.read import memory_of
from app.db.scopes import lock_scope
from app.db.session import SNAPSHOT, ReadSession, WriteSession, stamped
from app.errors import Conflict, InvalidInput
from app.features.erasure.service import Receipt
from app.features.review import resolutions as decisions
from app.features.review import sql as review
from app.features.review.items import ReviewAction, ReviewDecision, ReviewItem, version_of
from app.features.review.resolutions import ReviewAuditDetail, ReviewOutcome
from app.features.review.sql import FoundReview
from app.memory import confidence, normalise
from app.memory.candidate import DIRECT_EXTRACTION, AffectedMemory, Candidate, WriteDecision
from app.memory.versions import Version
from app.model import Actor, Memory, MemoryStatus, ReviewReason, Scope
from app.write.conflict import merge_into
from app.write.hype import memories_without_questions
from app.write.persist import links_of
from app.write.pipeline import WritePipeline
from app.write.remade import candidate_of
from app.write.rows import PendingRows, WriteContext
from app.write.values import Believe, Decision, Existing, PersistResult, Prepared, Resolved
from app.write.wave import DecidedWave

_STANDING = frozenset({MemoryStatus.PENDING, MemoryStatus.ACTIVE, MemoryStatus.EXPIRED})


def check_action(item: ReviewItem, action: ReviewAction) -> None:
    """Raise InvalidInput when the action does not apply to the status of the item's memory."""
    status = item.memory.status
    if item.memory.review is ReviewReason.ERASURE and action not in {ReviewAction.ACCEPT, ReviewAction.REJECT}:
        raise InvalidInput("the user asked to forget it: accept erases it, reject brings it back", field="action")
    if action is ReviewAction.END and status is not MemoryStatus.ACTIVE:
        raise InvalidInput(f"the memory is {status}: only what is believed ends", field="action")
    if action is ReviewAction.KEEP_BOTH and status is MemoryStatus.PENDING:
        raise InvalidInput("a pending memory competes with no other yet: accept it or reject it", field="action")
    if action in {ReviewAction.ACCEPT, ReviewAction.KEEP_BOTH} or status in _STANDING:
        return
    if status is not MemoryStatus.SUPERSEDED:
        raise InvalidInput(f"the memory is {status} already: accept takes it off the queue", field="action")
    if action is not ReviewAction.REJECT:
        raise InvalidInput(
            "the memory is superseded already: accept keeps it as history, reject forgets it", field="action"
        )


def check_statement(item: ReviewItem, choice: ReviewDecision) -> None:
    """Raise InvalidInput when the reviewer's own statement has another subject or type than the item."""
    if choice.statement is not None:
        _same(item.memory, choice.statement.subject(), choice.statement_type, "the statement", field="with.payload")


async def named_memory(session: ReadSession, tenant: UUID, item: ReviewItem, choice: ReviewDecision) -> Memory | None:
    """Return the memory that the choice names, None when it names none.

    Raises NotFound, or InvalidInput when the action can't take that memory.
    """
    if choice.named is None:
        return None
    stored = await memory_reads.read_memory(session, tenant, choice.named)
    found, name = ids.require(stored, ids.MEMORY, choice.named), ids.public(ids.MEMORY, choice.named)
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
    """Raise InvalidInput unless subjects match; without a subject, the types must match."""
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
"""Source strength of a reviewer's statement: the highest, because a reviewer saw all sides."""


_BROUGHT_BACK = "it brought back what a user asked to forget, which can be erased"


class StaleReview(Exception):
    """The item or a competing memory has changed since the reviewer saw it."""


class ErasureAccepted(Exception):
    """The decision is to erase what a user asked to forget, which is not a change of a memory."""


class NeedsMore(Exception):
    """The decision can't be made in the transaction that read the item: a provider is to be asked, or more is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewResult:
    """The result of a decision: its name, the memory that holds the belief now, and the changes of other memories.

    `receipt` is that of the erasure, where the decision was to erase.
    """

    outcome: str
    memory: Memory | None
    affected: tuple[AffectedMemory, ...]
    receipt: Receipt | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenReview:
    """An item with everything that a decision on it depends on; without `versions` where it was read to be accepted."""

    found: FoundReview
    named: Memory | None
    versions: Mapping[UUID, Version]

    @property
    def item(self) -> ReviewItem:
        """Return the item."""
        return self.found.item

    def existing(self, memory: Memory) -> Existing:
        """Return a memory of the item in the form that the pipeline decides on."""
        return decisions.existing_of(memory, self.versions[memory.id])


async def open_review(
    session: ReadSession, tenant: UUID, found: FoundReview, choice: ReviewDecision | None = None, *, whole: bool = True
) -> OpenReview:
    """Read what a decision on an item depends on; raises as `named_memory` does. Not `whole`: without versions."""
    named = None if choice is None else await named_memory(session, tenant, found.item, choice)
    seen = {
        one.id for one in (found.item.memory, *(side.memory for side in found.item.sides), named) if one is not None
    }
    versions = await rivals.read_versions(session, tenant, seen) if whole else {}
    return OpenReview(found=found, named=named, versions=versions)


async def _opened(
    session: ReadSession, tenant: UUID, memory: UUID, choice: ReviewDecision, *, alone: bool
) -> OpenReview:
    """Return the item if it is at the version that the choice names and the action fits it."""
    found = await review.find(session, tenant, memory)
    if found is None or found.item.version != choice.version:
        raise StaleReview
    item, accepts = found.item, choice.action is ReviewAction.ACCEPT
    check_action(item, choice.action)
    check_statement(item, choice)
    if accepts and item.memory.review is ReviewReason.ERASURE:
        raise ErasureAccepted
    whole = not (alone and accepts and item.memory.status is MemoryStatus.PENDING)
    return await open_review(session, tenant, found, choice, whole=whole)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """A prepared decision; `version` is the scope's version that it was read at."""

    plan: PendingRows
    outcome: ReviewOutcome
    version: int
    asked: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDecisions:
    """Applies decisions, each in one transaction."""

    pipeline: WritePipeline

    async def decide(self, actor: Actor, memory: UUID, choice: ReviewDecision, *, alone: bool) -> ReviewResult:
        """Apply a decision to an item; `alone`: in one transaction, if no provider is to be waited for.

        Raises StaleReview when the item is not at the version that the choice names, or competing memories have changed
        meanwhile, ScopeMoved when only other rows of the scope have: decide again. Raises ErasureAccepted where that
        is decided, Conflict when a pending memory can't be accepted.
        """
        pipeline, tenant = self.pipeline, actor.tenant_id
        if alone and pipeline.judge is None and pipeline.embedder.local:
            with suppress(NeedsMore):
                return await self._alone(actor, memory, choice)
        async with pipeline.database.read(tenant, **SNAPSHOT) as session:
            opened = await _opened(session, tenant, memory, choice, alone=False)
        scope = opened.item.memory.scope
        async with pipeline.turnstile.enter(scope.id(tenant)):
            work = await self._work(actor, opened, choice)
            async with pipeline.database.write(tenant, **stamped(work.plan.around.now)) as session:
                await _unmoved(session, tenant, opened, work.version)
                result, claimed = await self._store(session, actor, opened, choice, work)
        pipeline.keep_up(tenant, scope, claimed)
        return result

    async def _alone(self, actor: Actor, memory: UUID, choice: ReviewDecision) -> ReviewResult:
        """Read, decide and apply in one transaction; raises NeedsMore."""
        tenant, at = actor.tenant_id, self.pipeline.clock()
        deciding = ReviewDecisions(pipeline=replace(self.pipeline, clock=lambda: at))
        async with self.pipeline.changing(tenant, at) as session:
            opened = await _opened(session, tenant, memory, choice, alone=True)
            work = await deciding._work(actor, opened, choice, session)
            if work.version != opened.found.version:
                raise ScopeMoved
            result, claimed = await self._store(session, actor, opened, choice, work)
        self.pipeline.keep_up(tenant, opened.item.memory.scope, claimed)
        return result

    async def preview(self, actor: Actor, opened: OpenReview) -> ReviewOutcome | None:
        """Return the outcome of accepting a pending memory; None when it couldn't be accepted.

        The judge is not asked, to keep reads free of model calls, so a duplicate that only a judge finds is missed.
        """
        unasked = replace(self.pipeline, judge=None)
        work = await ReviewDecisions(pipeline=unasked)._prepare_accept(actor, opened)  # noqa: SLF001 - our own
        return None if work is None else work.outcome

    async def _work(
        self, actor: Actor, opened: OpenReview, choice: ReviewDecision, session: ReadSession | None = None
    ) -> _Work:
        """Prepare a decision, in a session if there is one; then raises NeedsMore where it can't be made in it."""
        pending = opened.item.memory.status is MemoryStatus.PENDING
        if opened.item.memory.review is ReviewReason.ERASURE:  # which is not to be: it is accepted again
            choice = replace(choice, action=ReviewAction.ACCEPT)
        match choice.action:
            case ReviewAction.ACCEPT if pending:
                found = await self._prepare_accept(actor, opened, session)
                if found is None:
                    raise Conflict(
                        "the memory can't be accepted as it is: reject it, or supersede it with a corrected statement"
                    )
                return found
            case ReviewAction.MERGE if opened.named is not None:
                reason = "a reviewer holds them to say the same"
                return await self._prepare_merge(actor, opened, opened.named, reason, session)
            case ReviewAction.SUPERSEDE_WITH if opened.named is None:
                return await self._prepare_statement(actor, opened, choice, session)
            case _:
                plan = PendingRows(write_context(self.pipeline, actor, opened.item.memory.scope))
                outcome = _outcome_of(plan, opened, choice)
                return _Work(plan=plan, outcome=outcome, version=opened.found.version)

    async def _prepare_accept(
        self, actor: Actor, opened: OpenReview, session: ReadSession | None = None
    ) -> _Work | None:
        """Prepare the acceptance of a pending memory, by the pipeline from stage 3 on."""
        decided, resolved = await self._decide_stored(actor, opened, session)
        plan = self.pipeline.plan(actor, opened.item.memory.scope, decided)
        [decision] = decided.decisions
        if not opened.versions and decisions.goes_into_another(decision):
            raise NeedsMore
        outcome = decisions.accept(plan, opened.item, resolved, decision, opened.versions)
        return None if outcome is None else self._work_of(decided, plan, outcome, resolved, decision)

    async def merge(self, actor: Actor, opened: OpenReview, into: Memory, reason: str) -> None:
        """Merge a memory that nobody reviews into another one; raises ScopeMoved when the scope has moved meanwhile."""
        scope = opened.item.memory.scope
        async with self.pipeline.turnstile.enter(scope.id(actor.tenant_id)):
            work = await self._prepare_merge(actor, opened, into, reason)
            if work.version != opened.found.version:
                raise ScopeMoved
            async with self.pipeline.database.write(actor.tenant_id, **stamped(work.plan.around.now)) as session:
                claimed = await self._apply(session, actor, scope, work)
        self.pipeline.keep_up(actor.tenant_id, scope, claimed)

    async def _prepare_merge(
        self, actor: Actor, opened: OpenReview, into: Memory, reason: str, session: ReadSession | None = None
    ) -> _Work:
        decided, resolved = await self._decide_stored(actor, opened, session)
        merged = merge_into(resolved, opened.existing(into), reason, now=decided.now)
        [decision] = await self.pipeline.rewritten([resolved], [merged])
        assert isinstance(decision, Believe)  # noqa: S101 - narrows for the type checker
        plan = self.pipeline.plan(actor, opened.item.memory.scope, decided)
        outcome = decisions.merge(plan, opened.item, resolved, decision, opened.versions)
        return self._work_of(decided, plan, outcome, resolved, decision)

    async def _prepare_statement(
        self, actor: Actor, opened: OpenReview, choice: ReviewDecision, session: ReadSession | None
    ) -> _Work:
        """Prepare the write of a reviewer's own statement, which has full source strength."""
        assert choice.statement is not None  # noqa: S101 - the choice was checked
        pipeline, item = self.pipeline, opened.item
        types = await pipeline.types.at(actor.tenant_id, opened.found.types)
        user = item.memory.provenance.get("user_id")
        candidate = Candidate(
            type=types.get(choice.statement_type or item.memory.type),
            payload=choice.statement,
            scope=item.memory.scope,
            stated_at=max(pipeline.clock(), item.memory.stated_at, *(one.stated_at for one in item.rivals)),
            source_strength=STATED_BY_A_REVIEWER,
            extractor_confidence=DIRECT_EXTRACTION,
            topic=item.memory.topic,
            provenance={"review": ids.public(ids.REVIEW, item.memory.id)} | ({} if user is None else {"user_id": user}),
            reviewed=True,
        )
        [prepared] = await pipeline.prepared([candidate])
        decided = await self._decide(actor, candidate, replace(prepared, confidence=1.0), session)
        [resolved], [decision] = decided.resolved, decided.decisions
        resolved = replace(resolved, prepared=replace(resolved.prepared, confidence=prepared.confidence))
        plan = self.pipeline.plan(actor, candidate.scope, decided)
        outcome = decisions.override(plan, item, resolved, decision, opened.versions)
        return self._work_of(decided, plan, outcome, resolved, decision)

    async def _decide_stored(
        self, actor: Actor, opened: OpenReview, session: ReadSession | None
    ) -> tuple[DecidedWave, Resolved]:
        """Decide on a stored memory's candidate, with the source strength that the memory has."""
        memory = opened.item.memory
        types = await self.pipeline.types.at(actor.tenant_id, opened.found.types)
        candidate = candidate_of(memory, opened.found.hidden, types)
        [prepared] = await self.pipeline.prepared([candidate])
        trust = confidence.capped_score(memory.parts, memory.speech_act)
        accepted = memory if memory.status is MemoryStatus.PENDING else None
        prepared = replace(
            prepared, parts=memory.parts, confidence=trust, identity=opened.found.hidden.identity, accepted=accepted
        )
        decided = await self._decide(actor, candidate, prepared, session)
        return decided, decided.resolved[0]

    async def _decide(
        self, actor: Actor, candidate: Candidate, prepared: Prepared, session: ReadSession | None
    ) -> DecidedWave:
        if session is None:
            return await self.pipeline.decide(actor, candidate.scope, [prepared])
        found = await self.pipeline.decide_alone(session, actor.tenant_id, candidate.scope, [prepared])
        if found is None:
            raise NeedsMore
        return found

    def _work_of(
        self, decided: DecidedWave, plan: PendingRows, outcome: ReviewOutcome, resolved: Resolved, decision: Decision
    ) -> _Work:
        result = PersistResult(decided=WriteDecision.ADDED, reason=outcome.outcome, memory=outcome.memory)
        writer = self.pipeline.hype
        asked = [] if writer is None else memories_without_questions([(resolved, decision, result)], writer)
        return _Work(plan=plan, outcome=outcome, version=decided.state.version, asked=tuple(asked))

    async def _store(
        self, session: WriteSession, actor: Actor, opened: OpenReview, choice: ReviewDecision, work: _Work
    ) -> tuple[ReviewResult, Claimed]:
        """Write a decision with its audit event; return its result, and the upkeep that the scope needs."""
        tenant, item, plan, outcome = actor.tenant_id, opened.item, work.plan, work.outcome
        asked = item.memory.review is ReviewReason.ERASURE
        told = ReviewAuditDetail(
            item=item,
            choice=choice,
            named=opened.named,
            changed=plan.changed,
            final=_BROUGHT_BACK if asked else decisions.finality(plan),
        )
        told.add(plan, outcome)
        beside = [one for one in (item.memory, *(side.memory for side in item.sides), opened.named) if one is not None]
        plan.touched = {one.id: one.status for one in beside} | plan.touched
        claimed = await self._apply(session, actor, item.memory.scope, work)
        if asked:
            await holds.release(session, tenant, item.memory.scope.id(tenant), now=plan.around.now)
        held = None
        if outcome.memory is not None:
            held = _as_decided(plan, opened.found) if outcome.memory == item.memory.id else None
            held = held or await memory_reads.read_memory(session, tenant, outcome.memory)
        name = "kept" if asked else outcome.outcome
        return ReviewResult(outcome=name, memory=held, affected=outcome.affected), claimed

    async def _apply(self, session: WriteSession, actor: Actor, scope: Scope, work: _Work) -> Claimed:
        """Write what was prepared, and queue the questions that it leaves to be asked."""
        changes = replace(work.plan.changes(), asked=work.asked)
        return await apply(session, tenant=actor.tenant_id, scope=scope, version=work.version, changes=changes)


def _as_decided(plan: PendingRows, found: FoundReview) -> Memory:
    """Return the memory of an item as a read would return it once the plan is written."""
    memory = found.item.memory.id
    change = plan.changed.get(memory)
    links = [*found.row["links"], *links_of(plan)[memory]]
    return memory_of({**found.row, **({} if change is None else change.values), "links": links})


def write_context(pipeline: WritePipeline, actor: Actor, scope: Scope) -> WriteContext:
    """Return the context of rows for a decision that indexes no new memory."""
    return WriteContext(
        tenant=actor.tenant_id,
        scope=scope.id(actor.tenant_id),
        actor=actor.name,
        now=pipeline.clock(),
        language=pipeline.language,
        model_id=pipeline.model_id,
    )


def _outcome_of(plan: PendingRows, opened: OpenReview, choice: ReviewDecision) -> ReviewOutcome:
    """Return the outcome of an action that needs no new statement."""
    item, versions = opened.item, opened.versions
    match choice.action:
        case ReviewAction.ACCEPT:
            return decisions.uphold(plan, item, versions)
        case ReviewAction.REJECT:
            return decisions.reject(plan, item, versions)
        case ReviewAction.KEEP_BOTH:
            return decisions.keep_both(plan, item, versions)
        case ReviewAction.END:
            return decisions.end(plan, item, choice.since or plan.around.now, versions)
        case ReviewAction.SUPERSEDE_WITH | ReviewAction.MERGE:
            if opened.named is None:
                raise AssertionError("the choice was checked: these name a memory, or state something")
            return decisions.supersede_with(plan, item, opened.named, versions)
        case _:
            assert_never(choice.action)


async def _unmoved(session: WriteSession, tenant: UUID, opened: OpenReview, version: int) -> None:
    """Lock everything that the decision depends on; raise StaleReview or ScopeMoved if it changed since it was read.

    The scope is locked first, as in every write. A memory that competes only since then moved its version.
    """
    item, named = opened.item, opened.named
    current_version = await lock_scope(session, tenant, item.memory.scope.id(tenant))
    told = {item.memory.id, *(side.memory.id for side in item.sides)}
    stamps = await review.lock(session, tenant, told | opened.versions.keys())
    if version_of({one: stamp for one, stamp in stamps.items() if one in told}) != item.version:
        raise StaleReview
    if named is not None:
        fresh = await memory_reads.read_memory(session, tenant, named.id)
        if fresh is None or _standing(fresh) != _standing(named):
            raise ScopeMoved
    if current_version != version or opened.found.version != version:
        raise ScopeMoved


def _standing(memory: Memory) -> tuple[object, ...]:
    return memory.status, memory.parts, memory.confidence, memory.payload, memory.slot, memory.contested
