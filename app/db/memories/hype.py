"""Hypothetical questions that memories answer: their job, and their rows (seed 001, stage 7)."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from pgvector import HalfVector

from app.db import jobs
from app.db.session import ReadSession, SqlStatement, WriteSession, statement
from app.db.sql import GivenRows, columns_of

HYPE = "hype"
"""The kind of the job."""

MOST = 100
"""Most memories that a waiting job gathers: each write that adds one stores the list of all again."""

GATHERING = 2.0
"""Seconds that a job waits for more memories of its scope, so that a burst of writes makes one job, not many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionTarget:
    """The columns of an active memory that questions are generated from."""

    id: UUID
    type: str
    type_version: int
    content: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedQuestion:
    """Questions that a memory answers, each with its vector.

    `content` is the memory's content when they were generated.
    """

    memory: UUID
    content: str
    questions: tuple[tuple[str, HalfVector], ...]


def join(*, if_any: str | None = None) -> str:
    """Return SQL that adds memories to a scope's waiting job, if there is one, with the parameters of `joining`.

    With `if_any`, the name of a clause of a WITH, it does so only if that one returns a row.
    """
    condition = "" if if_any is None else f"EXISTS (SELECT FROM {if_any}) AND"
    return f"""
        UPDATE jobs SET progress_total = progress_total + :count,
            payload = jsonb_set(payload, '{{memories}}', payload -> 'memories' || CAST(:asked AS jsonb))
        WHERE {condition} tenant_id = :tenant AND id = (
            SELECT id FROM jobs
            WHERE tenant_id = :tenant AND status = 'queued' AND kind = :kind AND scope_id = :scope
              AND progress_total + :count <= :most
            ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
        )
        RETURNING id
    """  # noqa: S608 - our own names


_JOIN = statement(join())

_JOIN_EACH = statement(
    """
    UPDATE jobs SET progress_total = jobs.progress_total + given.count,
        payload = jsonb_set(jobs.payload, '{memories}', jobs.payload -> 'memories' || CAST(given.asked AS jsonb))
    FROM (
        SELECT one.*, waiting.id
        FROM unnest(CAST(:scopes AS uuid[]), CAST(:asked AS text[]), CAST(:counts AS int[]))
            AS one(scope_id, asked, count)
        CROSS JOIN LATERAL (
            SELECT id FROM jobs
            WHERE tenant_id = :tenant AND status = 'queued' AND kind = :kind AND scope_id = one.scope_id
              AND progress_total + one.count <= :most
            ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
        ) waiting
    ) given
    WHERE jobs.tenant_id = :tenant AND jobs.id = given.id
    RETURNING jobs.scope_id
    """
)

_ACTIVE = statement(
    """
    SELECT m.id, m.type, m.type_version, m.content, m.payload FROM unnest(CAST(:ids AS uuid[])) AS given(id)
    CROSS JOIN LATERAL (SELECT * FROM memories x WHERE x.tenant_id = :tenant AND x.id = given.id OFFSET 0) m
    WHERE m.status = 'active' ORDER BY m.id
    """
)

_LOCK = statement(
    """
    SELECT m.id, m.scope_id, m.content FROM memories m
    WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND m.status = 'active'
    ORDER BY m.id FOR NO KEY UPDATE
    """
)

_DROP = statement("DELETE FROM hypothetical_embeddings WHERE tenant_id = :tenant AND memory_id = ANY(:ids)")


_ASKED = GivenRows(
    name="asked",
    columns={
        "memory_id": "uuid",
        "ordinal": "smallint",
        "scope_id": "uuid",
        "question": "text",
        "embedding": "halfvec",
    },
)


@cache
def _keep(model: int) -> SqlStatement:
    at = columns_of(model)
    return statement(
        f"""
        INSERT INTO hypothetical_embeddings
            (tenant_id, memory_id, ordinal, scope_id, question, {at.model}, {at.vector}, ann)
        SELECT :tenant, given.memory_id, given.ordinal, given.scope_id, given.question, :model,
            given.embedding, s.ann
        FROM {_ASKED.sql}
        JOIN scopes s ON s.tenant_id = :tenant AND s.id = given.scope_id
        RETURNING memory_id
        """  # noqa: S608 - composed of constants
    )


def joining(memories: Sequence[UUID]) -> dict[str, object]:
    """Return the parameters of `join` besides the tenant and the scope."""
    return {"kind": HYPE, "asked": json.dumps([str(one) for one in memories]), "count": len(memories), "most": MOST}


async def enqueue(session: WriteSession, *, tenant: UUID, scope: UUID, memories: Sequence[UUID], now: datetime) -> None:
    """Add memories of a scope to a waiting job that generates questions, or to a new one."""
    if not memories:
        return
    if not await session.fetch(_JOIN, {"tenant": tenant, "scope": scope, **joining(memories)}):
        await enqueue_new(session, tenant=tenant, scope=scope, memories=memories, now=now)


async def enqueue_each(
    session: WriteSession, *, tenant: UUID, asked: Mapping[UUID, Sequence[UUID]], now: datetime
) -> None:
    """Add memories of several scopes to their waiting jobs, as `enqueue` does, or to new ones."""
    given = [(scope, joining(memories)) for scope, memories in asked.items() if memories]
    if not given:
        return
    values = {
        "tenant": tenant,
        "kind": HYPE,
        "most": MOST,
        "scopes": [scope for scope, _ in given],
        "asked": [one["asked"] for _, one in given],
        "counts": [one["count"] for _, one in given],
    }
    joined = {row["scope_id"] for row in await session.fetch(_JOIN_EACH, values)}
    new = {
        scope: ({"memories": [str(one) for one in asked[scope]]}, len(asked[scope]))
        for scope, _ in given
        if scope not in joined
    }
    if new:
        await jobs.enqueue_each(session, tenant=tenant, kind=HYPE, payloads=new, now=now, delay=GATHERING)


async def enqueue_new(
    session: WriteSession, *, tenant: UUID, scope: UUID, memories: Sequence[UUID], now: datetime
) -> None:
    """Queue a job that generates questions for memories of a scope, a moment later."""
    payload, total = {"memories": [str(one) for one in memories]}, len(memories)
    await jobs.enqueue(
        session, tenant=tenant, kind=HYPE, payload=payload, now=now, total=total, scope=scope, delay=GATHERING
    )


async def read_targets(session: ReadSession, tenant: UUID, memories: Sequence[UUID]) -> list[QuestionTarget]:
    """Return the targets of those of the memories that are active."""
    rows = await session.fetch(_ACTIVE, {"tenant": tenant, "ids": list(memories)})
    return [QuestionTarget(**row) for row in rows]


async def store_questions(session: WriteSession, tenant: UUID, asked: Sequence[EmbeddedQuestion], *, model: int) -> int:
    """Replace the questions of memories; return the number of memories that got theirs.

    `model` is the one that embedded them. Memories that are no longer active or whose content has changed are skipped.
    The memories are locked until the transaction ends, so that concurrent jobs leave one set of questions.
    """
    by_id = {one.memory: one for one in asked}
    rows = await session.fetch(_LOCK, {"tenant": tenant, "ids": list(by_id)})
    current = {row["id"]: row["scope_id"] for row in rows if row["content"] == by_id[row["id"]].content}
    await session.change(_DROP, {"tenant": tenant, "ids": list(current)})
    given = [
        {
            "memory_id": memory,
            "ordinal": ordinal,
            "scope_id": scope,
            "question": question,
            "embedding": embedding,
        }
        for memory, scope in current.items()
        for ordinal, (question, embedding) in enumerate(by_id[memory].questions)
    ]
    values = {"tenant": tenant, "model": model, **_ASKED.parameters(given)}
    await session.fetch(_keep(model), values)
    return len(current)


@cache
def _matched(model: int) -> SqlStatement:
    at = columns_of(model)
    return statement(
        f"""
        SELECT DISTINCT ON (q.memory_id) q.memory_id, q.question,
            -(q.{at.vector} <#> CAST(:vector AS halfvec)) AS cosine
        FROM hypothetical_embeddings q
        WHERE q.tenant_id = :tenant AND q.memory_id = ANY(:ids) AND q.{at.model} = {model:d}
        ORDER BY q.memory_id, q.{at.vector} <#> CAST(:vector AS halfvec), q.ordinal
        """  # noqa: S608 - composed of constants
    )


async def read_nearest_questions(
    session: ReadSession, tenant: UUID, memories: Collection[UUID], vector: HalfVector, *, model: int
) -> dict[UUID, tuple[str, float]]:
    """Return the question of each memory that is nearest to a vector, with its cosine."""
    rows = await session.fetch(_matched(model), {"tenant": tenant, "ids": list(memories), "vector": vector})
    return {row["memory_id"]: (row["question"], row["cosine"]) for row in rows}
