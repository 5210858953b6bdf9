"""Use cases of the review queue: list and count items, read one with its details, claim, comment, decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import ClassVar
from uuid import UUID

from app import ids
from app.db.apply.scope import retried
from app.db.audit import AuditWriter, append
from app.db.memories import read as memory_reads
from app.db.memories.listing import PagePosition
from app.db.session import SNAPSHOT, Database, ReadSession, WriteSession
from app.errors import Conflict, NotFound, ProviderError, TypedMemoryError
from app.features.erasure.service import Erasures
from app.features.review import decide
from app.features.review import sql as review
from app.features.review.decide import ErasureAccepted, OpenReview, ReviewDecisions, ReviewResult, StaleReview
from app.features.review.items import ReviewDecision, ReviewItem
from app.features.review.resolutions import ReviewOutcome
from app.features.review.sql import FoundReview, Passage, ReviewBacklog, ReviewClaim, ReviewComment, ReviewFilter
from app.memory.audit import AuditAction
from app.model import Actor, Memory, MemoryStatus
from app.services.pages import Page, cut_page
from app.services.recent import RecentValue, in_time
from app.write.screening import refuse_secrets

__all__ = [
    "ALIKE",
    "CLAIM",
    "COUNTED_SECONDS",
    "MOST_ALIKE",
    "NEIGHBOURS",
    "PATIENCE",
    "Detail",
    "Passage",
    "Results",
    "ReviewBacklog",
    "ReviewClaim",
    "ReviewComment",
    "ReviewExit",
    "ReviewFilter",
    "ReviewItemChanged",
    "ReviewNotes",
    "Reviews",
]

NEIGHBOURS = 2
"""Turns that are shown before and after a turn that is evidence."""

ALIKE = 0.80
"""Least cosine similarity of near-duplicates."""

MOST_ALIKE = 5
"""Most near-duplicates that are shown."""

COUNTED_SECONDS = 10.0
"""The time for which a count of items is cached."""

PATIENCE = 1.0
"""Seconds that counting may take where the count is optional."""

CLAIM = timedelta(minutes=15)
"""How long a claim lasts; claiming again prolongs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewExit:
    """The audit event by which a memory left the queue."""

    at: datetime
    actor: str
    event: str
    detail: Mapping[str, object]


class ReviewItemChanged(Conflict):
    """The item has changed since the reviewer saw it; `item` is its new state, None when it left the queue."""

    code: ClassVar[str] = "review-moved"
    title: ClassVar[str] = "The item has changed"

    def __init__(self, memory: UUID, item: ReviewItem | None, ended: ReviewExit | None) -> None:
        """Build the error from the memory's id, its present item, and how it left the queue."""
        name = ids.public(ids.REVIEW, memory)
        if item is not None:
            message = f"{name} has changed since version was read: look at `item` and decide again with its version"
        elif ended is not None:
            message = f"{name} was decided already: `decided` says by whom and how"
        else:
            message = f"{name} is not in the queue any more"
        super().__init__(message)
        self.item = item
        self.ended = ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """An item with its details; of an item that left the queue only the memory, if it exists, and how it left."""

    id: UUID
    memory: Memory | None
    item: ReviewItem | None = None
    ended: ReviewExit | None = None
    passages: Mapping[UUID, Passage] = field(default_factory=dict)
    near: tuple[tuple[Memory, float], ...] = ()
    foreseen: ReviewOutcome | None = None


Results = list[ReviewResult | TypedMemoryError]
"""The results of several decisions, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviews:
    """The review queue; every method but `known_waiting` sees only the actor's tenant."""

    database: Database
    reviewing: ReviewDecisions
    erasing: Erasures
    clock: Callable[[], datetime]
    _waiting: RecentValue[Mapping[str, int]] = field(default_factory=RecentValue, repr=False)

    async def list(
        self,
        actor: Actor,
        wanted: ReviewFilter,
        *,
        min_age: timedelta | None = None,
        newest: bool = False,
        limit: int = 50,
        after: PagePosition | None = None,
    ) -> Page[ReviewItem, PagePosition]:
        """Return one page of the queue; with `min_age`, only items that have waited at least so long."""
        if min_age is not None:
            before = self.clock() - min_age
            wanted = replace(wanted, until=before if wanted.until is None else min(before, wanted.until))
        async with self.database.read(actor.tenant_id, **SNAPSHOT) as session:
            found = await review.page(session, actor.tenant_id, wanted, newest=newest, limit=limit + 1, after=after)
            page = cut_page(found, limit, lambda one: PagePosition(id=one.id, value=one.review_since))
            items = await review.with_sides(session, actor.tenant_id, [one.id for one in page.items])
        return Page(items=tuple(one.item for one in items), next=page.next)

    async def summary(self, actor: Actor) -> Sequence[ReviewBacklog]:
        """Return the numbers of items, by reason and age."""
        async with self.database.read(actor.tenant_id) as session:
            return await review.summary(session, actor.tenant_id, now=self.clock())

    async def get(self, actor: Actor, memory: UUID) -> Detail:
        """Return an item, or how it left the queue; raise NotFound when it was never in the queue."""
        tenant = actor.tenant_id
        async with self.database.read(tenant, **SNAPSHOT) as session:
            found = await review.find(session, tenant, memory)
            if found is None:
                ended = await self._find_exit(session, tenant, memory)
                left = await memory_reads.read_memory(session, tenant, memory)
                return Detail(id=memory, memory=left, ended=ids.require(ended, ids.REVIEW, memory))
            item = found.item
            turns = {one.turn_id for one in item.memory.evidence if one.turn_id is not None}
            passages = await review.passages(session, tenant, turns, each=NEIGHBOURS)
            near = await review.near(session, tenant, memory, likeness=ALIKE, most=MOST_ALIKE)
            pending = item.memory.status is MemoryStatus.PENDING
            opened = await decide.open_review(session, tenant, found) if pending else None
        return Detail(
            id=memory,
            memory=item.memory,
            item=item,
            passages=passages,
            near=tuple(near),
            foreseen=await self._preview(actor, opened),
        )

    async def decide(self, actor: Actor, memory: UUID, choice: ReviewDecision) -> ReviewResult:
        """Apply a decision to the item as the reviewer saw it, and return its result.

        Raises NotFound, InvalidInput when the action does not fit the item, ReviewItemChanged when the item is no
        longer at the version that the choice names, Conflict when other writes to its scope kept coming first.
        """
        refuse_secrets(reason=choice.reason)

        async def attempt(number: int) -> ReviewResult:
            try:
                return await self.reviewing.decide(actor, memory, choice, alone=number == 0)
            except ErasureAccepted:
                return await self._erase(actor, memory, choice)

        try:
            return await retried(attempt, self.reviewing.pipeline.conflict)
        except StaleReview:
            raise await self._changed_error(actor, memory) from None

    async def _erase(self, actor: Actor, memory: UUID, choice: ReviewDecision) -> ReviewResult:
        """Erase what a user asked to forget, unless the item has changed since the reviewer saw it."""

        async def unmoved(session: ReadSession) -> None:
            found = await review.find(session, actor.tenant_id, memory)
            if found is None or found.item.version != choice.version:
                raise StaleReview

        receipt = await self.erasing.memory(actor, memory, check=unmoved)
        return ReviewResult(outcome="erased", memory=None, affected=(), receipt=receipt)

    async def decide_all(self, actor: Actor, choices: Sequence[tuple[UUID, ReviewDecision]]) -> Results:
        """Apply decisions one after another, each in its own transaction, and return a result or an error for each."""
        results: Results = []
        for memory, choice in choices:
            try:
                results.append(await self.decide(actor, memory, choice))
            except TypedMemoryError as error:
                results.append(error)
        return results

    async def known_waiting(self) -> Mapping[str, int] | None:
        """Return the numbers of items of all tenants together, by reason; None when they can't be counted quickly."""
        return await in_time(self._waiting.get(self._read_waiting, seconds=COUNTED_SECONDS), patience=PATIENCE)

    async def _read_waiting(self) -> Mapping[str, int]:
        async with self.database.read(None) as session:
            return await review.waiting(session)

    async def _changed_error(self, actor: Actor, memory: UUID) -> TypedMemoryError:
        async with self.database.read(actor.tenant_id, **SNAPSHOT) as session:
            found = await review.find(session, actor.tenant_id, memory)
            ended = None if found is not None else await self._find_exit(session, actor.tenant_id, memory)
        if found is None and ended is None:
            return ids.missing(ids.REVIEW, memory)
        return ReviewItemChanged(memory, None if found is None else found.item, ended)

    async def _preview(self, actor: Actor, opened: OpenReview | None) -> ReviewOutcome | None:
        """Return the outcome of accepting a pending item; None for other items, or when it can't be computed now."""
        if opened is None:
            return None
        try:
            return await self.reviewing.preview(actor, opened)
        except (ProviderError, Conflict, StaleReview):
            return None

    async def _find_exit(self, session: ReadSession, tenant: UUID, memory: UUID) -> ReviewExit | None:
        row = await review.find_departure(session, tenant, memory)
        if row is None:
            return None
        return ReviewExit(at=row["occurred_at"], actor=row["actor"], event=row["action"], detail=row["detail"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewNotes:
    """Claims and comments. A claim tells other reviewers to leave an item alone; it locks nothing."""

    database: Database
    clock: Callable[[], datetime]

    async def claim(self, actor: Actor, memory: UUID, reviewer: str) -> ReviewClaim:
        """Claim an open item; raise NotFound, or Conflict while another reviewer's claim lasts."""
        now = self.clock()
        claimed = ReviewClaim(reviewer=reviewer, until=now + CLAIM)
        async with self.database.write(actor.tenant_id) as session:
            item = _open(await review.find(session, actor.tenant_id, memory), memory)
            if not await review.claim(session, actor.tenant_id, memory, claimed, now=now):
                held = await review.read_claims(session, actor.tenant_id, [memory], now=now)
                holder = next((f"{one.reviewer} until {one.until.isoformat()}" for one in held.values()), "another")
                raise Conflict(f"{ids.public(ids.REVIEW, memory)} is claimed by {holder}")
            await _log(session, actor, item, AuditAction.REVIEW_CLAIMED, reviewer, now)
        return claimed

    async def release(self, actor: Actor, memory: UUID, reviewer: str) -> None:
        """Give up a claim; without one nothing happens."""
        async with self.database.write(actor.tenant_id) as session:
            await review.release(session, actor.tenant_id, memory, reviewer)

    async def comment(self, actor: Actor, memory: UUID, text: str, reviewer: str) -> ReviewComment:
        """Comment on an open item; raise NotFound. The text is erased with the memory."""
        now = self.clock()
        comment = ReviewComment(id=ids.new(), reviewer=reviewer, comment=text, created_at=now)
        async with self.database.write(actor.tenant_id) as session:
            item = _open(await review.find(session, actor.tenant_id, memory), memory)
            await review.add_comment(session, actor.tenant_id, memory, comment)
            await _log(session, actor, item, AuditAction.REVIEW_COMMENTED, reviewer, now)
        return comment

    async def read(self, actor: Actor, memory: UUID) -> tuple[ReviewClaim | None, Sequence[ReviewComment]]:
        """Return the claim in force on an item, and the comments on it; raise NotFound without its memory."""
        async with self.database.read(actor.tenant_id) as session:
            ids.require(await memory_reads.read_memory(session, actor.tenant_id, memory), ids.REVIEW, memory)
            claims = await review.read_claims(session, actor.tenant_id, [memory], now=self.clock())
            return claims.get(memory), await review.read_comments(session, actor.tenant_id, memory)


def _open(found: FoundReview | None, memory: UUID) -> ReviewItem:
    if found is None:
        raise NotFound(f"no such open review: {ids.public(ids.REVIEW, memory)}")
    return found.item


async def _log(
    session: WriteSession, actor: Actor, item: ReviewItem, action: AuditAction, reviewer: str, now: datetime
) -> None:
    scope = item.memory.scope.id(actor.tenant_id)
    ledger = AuditWriter(tenant=actor.tenant_id, actor=actor.name, at=now, scope=scope)
    await append(session, [ledger.event(action, {"reviewer": reviewer}, memory=item.memory.id)])
