"""Claims of reviewers on items, and their comments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from app import ids
from app.db import review
from app.db.audit import AuditWriter, append
from app.db.memories import read as memory_reads
from app.db.review import ReviewClaim, ReviewComment
from app.db.session import Database, WriteSession
from app.errors import Conflict, NotFound
from app.memory.audit import AuditAction
from app.memory.review import ReviewItem
from app.model import Actor

__all__ = ["CLAIM", "ReviewClaim", "ReviewComment", "ReviewNotes"]

CLAIM = timedelta(minutes=15)
"""How long a claim lasts; claiming again prolongs it."""


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


def _open(item: ReviewItem | None, memory: UUID) -> ReviewItem:
    if item is None:
        raise NotFound(f"no such open review: {ids.public(ids.REVIEW, memory)}")
    return item


async def _log(
    session: WriteSession, actor: Actor, item: ReviewItem, action: AuditAction, reviewer: str, now: datetime
) -> None:
    scope = item.memory.scope.id(actor.tenant_id)
    ledger = AuditWriter(tenant=actor.tenant_id, actor=actor.name, at=now, scope=scope)
    await append(session, [ledger.event(action, {"reviewer": reviewer}, memory=item.memory.id)])
