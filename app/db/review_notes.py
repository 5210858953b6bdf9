"""Queries of claims on review items and of comments on them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from app.db.session import ReadSession, WriteSession, statement


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewClaim:
    """A reviewer's claim on an item, which lapses at `until`."""

    reviewer: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewComment:
    """A reviewer's comment on an item."""

    id: UUID
    reviewer: str
    comment: str
    created_at: datetime


_CLAIM = statement(
    """
    INSERT INTO review_claims AS c (tenant_id, memory_id, reviewer, until)
    VALUES (:tenant, :memory, :reviewer, :until)
    ON CONFLICT (tenant_id, memory_id) DO UPDATE SET reviewer = excluded.reviewer, until = excluded.until
        WHERE c.reviewer = excluded.reviewer OR c.until <= :now
    RETURNING reviewer
    """
)

_CLAIMS = statement(
    """
    SELECT memory_id, reviewer, until FROM review_claims
    WHERE tenant_id = :tenant AND memory_id = ANY(:memories) AND until > :now
    """
)

_RELEASE = statement(
    """
    DELETE FROM review_claims WHERE tenant_id = :tenant AND memory_id = :memory AND reviewer = :reviewer
    """
)

_COMMENT = statement(
    """
    INSERT INTO review_comments (tenant_id, id, memory_id, reviewer, comment, created_at)
    VALUES (:tenant, :id, :memory, :reviewer, :comment, :now)
    """
)

_COMMENTS = statement(
    """
    SELECT id, reviewer, comment, created_at FROM review_comments
    WHERE tenant_id = :tenant AND memory_id = :memory ORDER BY created_at, id
    """
)


async def claim(session: WriteSession, tenant: UUID, memory: UUID, claimed: ReviewClaim, *, now: datetime) -> bool:
    """Store a claim unless another reviewer's is in force; return whether it is stored."""
    values = {"tenant": tenant, "memory": memory, "reviewer": claimed.reviewer, "until": claimed.until, "now": now}
    return bool(await session.fetch(_CLAIM, values))


async def release(session: WriteSession, tenant: UUID, memory: UUID, reviewer: str) -> None:
    """Delete a reviewer's claim."""
    await session.fetch(_RELEASE, {"tenant": tenant, "memory": memory, "reviewer": reviewer})


async def read_claims(
    session: ReadSession, tenant: UUID, memories: Collection[UUID], *, now: datetime
) -> dict[UUID, ReviewClaim]:
    """Return the claims in force on these memories."""
    rows: Any = await session.fetch(_CLAIMS, {"tenant": tenant, "memories": list(memories), "now": now})
    return {row["memory_id"]: ReviewClaim(reviewer=row["reviewer"], until=row["until"]) for row in rows}


async def add_comment(session: WriteSession, tenant: UUID, memory: UUID, comment: ReviewComment) -> None:
    """Store a comment."""
    values = {"id": comment.id, "reviewer": comment.reviewer, "comment": comment.comment, "now": comment.created_at}
    await session.fetch(_COMMENT, {"tenant": tenant, "memory": memory, **values})


async def read_comments(session: ReadSession, tenant: UUID, memory: UUID) -> tuple[ReviewComment, ...]:
    """Return the comments on an item, oldest first."""
    rows: Any = await session.fetch(_COMMENTS, {"tenant": tenant, "memory": memory})
    return tuple(ReviewComment(**dict(row)) for row in rows)
