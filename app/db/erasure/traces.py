"""Turns that hold words of a memory, the memories that keep them word for word, and what both lose by an erasure.

Callers that change anything hold the lock of the scope's row.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from app.db.memories.fading import FOLDED
from app.db.session import ReadSession, WriteSession, statement
from app.db.sql import as_record

MOST_SEARCHED = 5_000
"""Turns of a scope, the newest, in which the words of a memory are looked for."""

_SUMMARY_OF = statement(
    f"""
    SELECT f.into_id FROM memory_folds f
    JOIN memories m ON m.tenant_id = :tenant AND m.id = f.into_id AND m.provenance ? '{FOLDED}'
    WHERE f.tenant_id = :tenant AND f.memory_id = :memory
    """  # noqa: S608 - a constant
)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedTurn:
    """A turn: its words, those quoted for one memory and for others, and who the others are.

    `unquoted`: the memory rests on it without a quotation.
    """

    id: UUID
    scope_id: UUID
    role: str
    session_id: str | None
    occurred_at: datetime
    content: str
    report: Mapping[str, object] | None
    unquoted: bool
    quotes: tuple[str, ...]
    others: tuple[UUID, ...]
    other_quotes: tuple[str, ...]
    sessions: tuple[str, ...]


_QUOTED = """
    SELECT t.id, t.scope_id, t.role, t.session_id, t.occurred_at, t.content, t.report,
        coalesce(bool_or(e.memory_id = :memory AND e.quote IS NULL), false) AS unquoted,
        array_agg(DISTINCT e.quote) FILTER (WHERE e.memory_id = :memory AND e.quote IS NOT NULL) AS quotes,
        array_agg(DISTINCT e.memory_id) FILTER (WHERE e.memory_id <> :memory) AS others,
        array_agg(DISTINCT e.quote) FILTER (WHERE e.memory_id <> :memory AND e.quote IS NOT NULL) AS other_quotes,
        array_agg(DISTINCT e.session_id) FILTER (WHERE e.session_id IS NOT NULL) AS sessions
    FROM turns t LEFT JOIN evidence e ON e.tenant_id = :tenant AND e.turn_id = t.id
    WHERE t.tenant_id = :tenant AND t.id IN ({ids})
    GROUP BY t.tenant_id, t.id ORDER BY t.id
"""

_SOURCES = statement(
    _QUOTED.format(ids="SELECT turn_id FROM evidence WHERE tenant_id = :tenant AND memory_id = :memory")
)

_HOLDING = statement(
    _QUOTED.format(
        ids="""
        SELECT said.id FROM (
            SELECT x.id, folded(x.content) AS content FROM turns x
            WHERE x.tenant_id = :tenant AND x.scope_id = :scope ORDER BY x.occurred_at DESC, x.id DESC LIMIT :most
        ) said
        WHERE NOT EXISTS (
            SELECT FROM unnest(CAST(:needles AS text[])) AS n(needle) WHERE strpos(said.content, folded(n.needle)) = 0
        )"""
    )
)

_BY_ID = statement(_QUOTED.format(ids="SELECT unnest(CAST(:ids AS uuid[]))"))

_VERBATIM = statement(
    """
    SELECT DISTINCT m.id, e.turn_id FROM evidence e
    JOIN memories m ON m.tenant_id = :tenant AND m.id = e.memory_id
    WHERE e.tenant_id = :tenant AND e.turn_id = ANY(:turns) AND m.scope_id = :scope AND m.type = ANY(:types)
    ORDER BY m.id
    """
)

_INDEXED = statement(
    """
    SELECT memory_id, status, valid_from, valid_until, ended_at, retired_at, confidence, recorded_at, speaker_id
    FROM memory_index WHERE tenant_id = :tenant AND memory_id = ANY(:ids) AND part = 0
    """
)

_UNQUOTE = statement(
    """
    UPDATE evidence SET quote = NULL
    WHERE tenant_id = :tenant AND turn_id = :turn AND quote = ANY(CAST(:quotes AS text[]))
    """
)

_FORGET_WORDING = (
    # The digest of a statement, from which a short text could be guessed.
    statement("UPDATE evidence SET statement = NULL WHERE tenant_id = :tenant AND memory_id = ANY(:ids)"),
    statement(
        """
        UPDATE memory_past SET was = was - 'content' - 'payload'
        WHERE tenant_id = :tenant AND memory_id = ANY(:ids)
        """
    ),
    statement("DELETE FROM hypothetical_embeddings WHERE tenant_id = :tenant AND memory_id = ANY(:ids)"),
)

_UNSUPPORTED = statement(
    """
    SELECT m.id FROM memories m
    WHERE m.tenant_id = :tenant AND m.id = ANY(:ids) AND NOT EXISTS (
        SELECT FROM evidence e WHERE e.tenant_id = :tenant AND e.memory_id = m.id AND e.turn_id IS NOT NULL)
    ORDER BY m.id
    """
)


async def sources(session: ReadSession, tenant: UUID, memory: UUID) -> list[QuotedTurn]:
    """Return the turns that a memory rests on."""
    return [_quoted_turn(row) for row in await session.fetch(_SOURCES, {"tenant": tenant, "memory": memory})]


async def holding(
    session: ReadSession, tenant: UUID, scope: UUID, *, memory: UUID, needles: Sequence[str]
) -> list[QuotedTurn]:
    """Return the newest turns of a scope that hold all of these texts, which are in lower case; none without a text."""
    if not needles:
        return []
    values = {"tenant": tenant, "scope": scope, "memory": memory, "needles": list(needles), "most": MOST_SEARCHED}
    return [_quoted_turn(row) for row in await session.fetch(_HOLDING, values)]


async def quoted(session: ReadSession, tenant: UUID, turns: Collection[UUID], *, memory: UUID) -> list[QuotedTurn]:
    """Return those of these turns that exist."""
    values = {"tenant": tenant, "ids": list(turns), "memory": memory}
    return [_quoted_turn(row) for row in await session.fetch(_BY_ID, values)]


async def verbatim_of(
    session: ReadSession, tenant: UUID, scope: UUID, *, turns: Collection[UUID], types: Collection[str]
) -> dict[UUID, UUID]:
    """Return the memories of these types that rest on the turns, each with its turn."""
    if not turns:
        return {}
    values = {"tenant": tenant, "scope": scope, "turns": list(turns), "types": list(types)}
    return {row["id"]: row["turn_id"] for row in await session.fetch(_VERBATIM, values)}


async def index_columns(
    session: ReadSession, tenant: UUID, memories: Collection[UUID]
) -> dict[UUID, Mapping[str, object]]:
    """Return the columns of the memories' index rows that depend neither on their words nor on their payload."""
    rows = await session.fetch(_INDEXED, {"tenant": tenant, "ids": list(memories)})
    return {row["memory_id"]: {name: value for name, value in row.items() if name != "memory_id"} for row in rows}


async def unquote(session: WriteSession, tenant: UUID, turn: UUID, quotes: Collection[str]) -> None:
    """Take these quotations of a turn off the evidence of other memories."""
    if quotes:
        await session.change(_UNQUOTE, {"tenant": tenant, "turn": turn, "quotes": list(quotes)})


async def forget_wording(session: WriteSession, tenant: UUID, memories: Collection[UUID]) -> None:
    """Erase what memories said before they were rewritten: former states, questions, digests."""
    for each in _FORGET_WORDING:
        await session.change(each, {"tenant": tenant, "ids": list(memories)})


async def unsupported(session: ReadSession, tenant: UUID, memories: Collection[UUID]) -> list[UUID]:
    """Return those of these memories that rest on no turn any more."""
    rows = await session.fetch(_UNSUPPORTED, {"tenant": tenant, "ids": list(memories)})
    return [row["id"] for row in rows]


def _quoted_turn(row: Any) -> QuotedTurn:  # noqa: ANN401 - asyncpg's
    lists = ("quotes", "others", "other_quotes", "sessions")
    return as_record(QuotedTurn, row, **{name: tuple(row[name] or ()) for name in lists})


async def summary_of(session: ReadSession, tenant: UUID, memory: UUID) -> UUID | None:
    """Return the summary that a memory was folded into; None where it was folded into nothing, or into what was known.

    What was known before says what somebody else said, not what its members say.
    """
    rows = await session.fetch(_SUMMARY_OF, {"tenant": tenant, "memory": memory})
    return rows[0]["into_id"] if rows else None
