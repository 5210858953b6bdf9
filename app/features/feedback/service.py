"""The use case of feedback on a memory: useful, not useful, or wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import assert_never
from uuid import UUID

from app import ids
from app.db.apply.memories import RowChange, bump_scopes, change_memories, row_change
from app.db.audit import AuditWriter, append
from app.db.memories import read as memory_reads
from app.db.memories import rivals, usage
from app.db.memories.usage import Use
from app.db.scopes import lock_memories
from app.db.session import Database, WriteSession
from app.db.sql import Row
from app.errors import Conflict
from app.memory import freshness
from app.memory.audit import AuditAction
from app.memory.freshness import EXPIRY
from app.memory.slots import accumulate, transition
from app.memory.versions import Removed, VersionChange
from app.model import Actor, Feedback, Memory, MemoryStatus, ReviewReason
from app.read.access import AccessTracker
from app.services.memories import visible_memory
from app.write.screening import refuse_secrets

MOST_NOTES = 10
"""Notes that are kept on a memory, the latest ones."""

_UNUSED = "it has no use that could be taken back"

NOTES = "feedback"
"""Where in a memory's provenance they are."""


class FeedbackEffect(StrEnum):
    """The effect of feedback on a memory."""

    COUNTED = "counted"
    REVIVED = "revived"
    SENT_TO_REVIEW = "sent_to_review"
    MARKED_FOR_REVIEW = "marked_for_review"
    ALREADY_IN_REVIEW = "already_in_review"


_ACTIONS = {
    Feedback.USEFUL: AuditAction.MEMORY_JUDGED_USEFUL,
    Feedback.NOT_USEFUL: AuditAction.MEMORY_JUDGED_NOT_USEFUL,
    Feedback.WRONG: AuditAction.MEMORY_JUDGED_WRONG,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFeedback:
    """Feedback on a memory: `at` is an aware time, `session` the conversation, `note` the caller's own words."""

    feedback: Feedback
    at: datetime
    session: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackResult:
    """The memory after feedback, the effect and its reason, and the freshness before and after, as of `at`."""

    memory: Memory
    at: datetime
    effect: FeedbackEffect
    reason: str
    freshness: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackService:
    """Feedback as callers give it; every method sees only the actor's tenant. `observe` is called with each effect."""

    database: Database
    tracker: AccessTracker
    clock: Callable[[], datetime]
    observe: Callable[[str, str], None] = lambda _feedback, _effect: None

    async def judge(self, actor: Actor, memory: UUID, word: MemoryFeedback) -> FeedbackResult:
        """Apply feedback to a memory; raise NotFound, Conflict, or InvalidInput for a secret in the note.

        Accesses that this process has not written yet are written first: the feedback is about one of them.
        """
        refuse_secrets(note=word.note, session_id=word.session)
        await self.tracker.flush()
        tenant = actor.tenant_id
        async with self.database.write(tenant) as session:
            await visible_memory(session, actor, memory)
            await lock_memories(session, tenant, [memory])
            before = ids.require(await memory_reads.read_memory(session, tenant, memory), ids.MEMORY, memory)
            if before.status is MemoryStatus.FORGOTTEN:
                raise Conflict(f"{ids.public(ids.MEMORY, memory)} was forgotten: feedback can't change that")
            await usage.count(session, tenant=tenant, memory=memory, feedback=word.feedback)
            effect, reason = await self._applied(session, actor, before, word)
            if word.note is not None:
                provenance = _noted(before, actor, word)
                noted = RowChange(id=memory, values={"provenance": provenance})
                await change_memories(session, tenant, [noted], at=self.clock())
            after = ids.require(await memory_reads.read_memory(session, tenant, memory), ids.MEMORY, memory)
            at = self._as_of(word)
            fresh = (freshness.of_memory(before, at), freshness.of_memory(after, at))
            judged = FeedbackResult(memory=after, at=at, effect=effect, reason=reason, freshness=fresh)
            await append(session, [self._event(actor, before, judged, word)])
        self.observe(word.feedback, judged.effect)
        return judged

    async def _applied(
        self, session: WriteSession, actor: Actor, memory: Memory, word: MemoryFeedback
    ) -> tuple[FeedbackEffect, str]:
        match word.feedback:
            case Feedback.USEFUL:
                found = await self._useful(session, actor, memory, word)
            case Feedback.NOT_USEFUL:
                await usage.take_back(session, tenant=actor.tenant_id, memory=memory.id)
                taken = "its last use is taken back, so it fades sooner" if memory.access_count else _UNUSED
                found = FeedbackEffect.COUNTED, taken
            case Feedback.WRONG:
                found = await self._wrong(session, actor, memory)
            case _:
                assert_never(word.feedback)
        return found

    async def _useful(
        self, session: WriteSession, actor: Actor, memory: Memory, word: MemoryFeedback
    ) -> tuple[FeedbackEffect, str]:
        """Count an access, and make an expired memory active again where that makes it fresh enough."""
        sessions = () if word.session is None else (ids.digest_of(actor.tenant_id, word.session),)
        use = Use(memory=memory.id, count=1, last=word.at, sessions=sessions)
        await usage.record(session, tenant=actor.tenant_id, uses=[use])
        if memory.status is not MemoryStatus.EXPIRED:
            return FeedbackEffect.COUNTED, "it counts as a use"
        now = self._as_of(word)
        back = await usage.revive(
            session, actor.tenant_id, [memory.id], now=now, actor=actor.name, reason="it was found useful"
        )
        if back:
            return FeedbackEffect.REVIVED, "it counts as a use, which made it fresh enough to be active again"
        used = ids.require(await memory_reads.read_memory(session, actor.tenant_id, memory.id), ids.MEMORY, memory.id)
        return FeedbackEffect.COUNTED, f"it counts as a use; the memory stays expired: {_why_not(used, now)}"

    async def _wrong(self, session: WriteSession, actor: Actor, memory: Memory) -> tuple[FeedbackEffect, str]:
        """Send an active memory to review; one that is no longer active is only marked for it."""
        tenant, now = actor.tenant_id, self.clock()
        marked: dict[str, object] = {"review_reason": ReviewReason.REPORTED_WRONG, "review_note": _note(memory)}
        marked["review_since"] = memory.review_since or now
        if memory.status is MemoryStatus.ACTIVE:
            versions = await rivals.read_versions(session, tenant, [memory.id])
            event = Removed(versions=frozenset({memory.id}), status=MemoryStatus.PENDING, reason="reported wrong")
            found = transition(versions.values(), event, policy=accumulate, now=now)
            changes = [row_change(one, at=now, more=_of(memory, one, marked)) for one in found.changes]
            await change_memories(session, tenant, changes, at=now)
            await bump_scopes(session, tenant, [memory.scope.id(tenant)], at=now)
            return FeedbackEffect.SENT_TO_REVIEW, "nobody is told it until a person has looked at it"
        if memory.needs_review:
            why = str(memory.review).replace("_", " ")
            return FeedbackEffect.ALREADY_IN_REVIEW, f"a person should look at it already: {why}"
        await change_memories(session, tenant, [RowChange(id=memory.id, values=marked)], at=now)
        return FeedbackEffect.MARKED_FOR_REVIEW, f"it is {memory.status} and stays so; a person should look at it"

    def _as_of(self, word: MemoryFeedback) -> datetime:
        """Return the time at which freshness is computed: now, or the feedback's time if its clock is ahead of ours."""
        return max(word.at, self.clock())

    def _event(self, actor: Actor, before: Memory, judged: FeedbackResult, word: MemoryFeedback) -> Row:
        after = judged.memory
        scope = before.scope.id(actor.tenant_id)
        ledger = AuditWriter(tenant=actor.tenant_id, actor=actor.name, at=self.clock(), scope=scope)
        moved = {} if before.status is after.status else {"status": [before.status, after.status]}
        detail = {
            "effect": judged.effect,
            "reason": judged.reason,
            "freshness": [round(one, 6) for one in judged.freshness],
            "access_count": [before.access_count, after.access_count],
            "times": getattr(after.usage, word.feedback),
        }
        return ledger.event(_ACTIONS[word.feedback], {**moved, **detail}, memory=before.id)


def _of(memory: Memory, change: VersionChange, marked: Mapping[str, object]) -> Mapping[str, object] | None:
    return marked if change.before.id == memory.id else None


def _why_not(memory: Memory, now: datetime) -> str:
    """Return why an expired memory that was just used stays expired."""
    if memory.valid_until is not None and memory.valid_until <= now:
        return "its validity is over"
    if freshness.of_memory(memory, now) <= EXPIRY:
        return f"its freshness is not over {EXPIRY}"
    return "another memory holds its place now"


def _note(memory: Memory) -> str:
    """Return the note for the reviewer; an earlier note is kept."""
    times = memory.usage.wrong + 1
    told = "reported wrong" if times == 1 else f"reported wrong {times} times"
    if memory.review is None:
        return told
    before = f"{memory.review}: {memory.review_note}" if memory.review_note else str(memory.review)
    return f"{told}; waited before because of {before}"


def _noted(memory: Memory, actor: Actor, word: MemoryFeedback) -> Mapping[str, object]:
    """Return the memory's provenance with one more note of the caller."""
    known = memory.provenance.get(NOTES)
    told = {"feedback": word.feedback, "at": word.at.isoformat(), "by": actor.name, "note": word.note}
    return {**memory.provenance, NOTES: [*(known if isinstance(known, list) else []), told][-MOST_NOTES:]}
