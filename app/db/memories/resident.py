"""Queries of all rows of a scope, for a process that keeps them in memory, and of what changed since they were read.

Everything is read in the snapshot of one transaction (`SNAPSHOT`), whose text is kept with it. A later transaction
asks for the changes that were not visible in that snapshot, which triggers have noted under their transactions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Final, NamedTuple
from uuid import UUID

from pgvector import HalfVector, SparseVector

from app.db import change_notes
from app.db.memories.ranking import RANKING_ROWS, RankingRow
from app.db.session import ReadSession, SqlStatement, statement
from app.db.sql import columns_of

KEPT_SECONDS: Final = 900.0
"""For so long after it was last asked about a scope is held. What is erased leaves the process by then; and it must be
less than the hour for which changes are noted."""

CHUNK: Final = 250
"""Memories that are read by one statement: others wait while its rows are decoded."""

CHANGES: Final = """
        (SELECT jsonb_agg(jsonb_build_array(held.scope_id, c.transaction, c.memories, c.entities))
         FROM unnest(CAST(:held_scopes AS uuid[]), CAST(:held_at AS text[])) AS held(scope_id, at)
         CROSS JOIN LATERAL (
            SELECT x.transaction, x.memories, x.entities FROM scope_changes x
            WHERE x.tenant_id = :tenant AND x.scope_id = held.scope_id
              AND x.transaction >= CAST(CAST(pg_snapshot_xmin(CAST(held.at AS pg_snapshot)) AS text) AS bigint)
              AND NOT pg_visible_in_snapshot(
                CAST(CAST(x.transaction AS text) AS xid8), CAST(held.at AS pg_snapshot)) OFFSET 0
         ) c)"""
"""What changed in scopes since the snapshots as of which they are held, as a JSON array."""

STATE: Final = (
    f"""CAST(pg_current_snapshot() AS text) AS snapshot, ({change_notes.NOTED}) AS noted, {CHANGES} AS changes"""
)
"""The values of `content_state`."""

_STATE = statement(f"SELECT {STATE}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """The memories and entities of a scope that changed."""

    memories: frozenset[UUID] = frozenset()
    entities: frozenset[UUID] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A held scope as it is asked about: its id, and the snapshot as of which it is held."""

    scope: UUID
    snapshot: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentState:
    """The snapshot that a transaction sees, and what it sees changed in held scopes, by the transactions that did it.

    `noted` is the number of what notes changes (`change_notes.NOTED`): with none, or another than when a scope was
    read, nobody knows what has changed in it.
    """

    snapshot: str
    noted: int | None
    changes: Mapping[UUID, Mapping[int, Changed]]


def held_parameters(held: Sequence[Held]) -> dict[str, object]:
    """Return the values of `STATE` besides the tenant."""
    return {"held_scopes": [one.scope for one in held], "held_at": [one.snapshot for one in held]}


def content_state(
    snapshot: str, noted: int | None, changes: Sequence[tuple[str, int, Sequence[str], Sequence[str]]] | None
) -> ContentState:
    """Return the state that `STATE` tells of."""
    found: dict[UUID, dict[int, Changed]] = {}
    for scope, transaction, memories, entities in changes or ():
        found.setdefault(UUID(scope), {})[transaction] = Changed(
            memories=frozenset(map(UUID, memories)), entities=frozenset(map(UUID, entities))
        )
    return ContentState(snapshot=snapshot, noted=noted, changes=found)


async def read_content_state(session: ReadSession, tenant: UUID, held: Sequence[Held]) -> ContentState:
    """Return the session's snapshot, and what changed in held scopes since theirs."""
    [row] = await session.fetch(_STATE, {"tenant": tenant, **held_parameters(held)})
    return content_state(*row)


_IDS = statement("SELECT id FROM memories WHERE tenant_id = :tenant AND scope_id = :scope ORDER BY id")

_ENTITY_IDS = statement("SELECT id FROM entities WHERE tenant_id = :tenant AND scope_id = :scope")


_PARTS = """
        SELECT i.memory_id, i.part, i.kind, i.type, i.status, i.confidence, i.valid_from, i.valid_until, i.ended_at,
            i.recorded_at, i.retired_at, i.event_range IS NOT NULL AND NOT isempty(i.event_range) AS timed,
            i.event_range IS NOT NULL AS dated, lower(i.event_range) AS event_lower,
            upper(i.event_range) AS event_upper, coalesce(upper_inc(i.event_range), false) AS event_whole,
            i.stated_at, i.speaker_id,
            CASE WHEN i.{at.model} = {model:d} THEN i.{at.vector} END AS vector, i.lexical
        FROM unnest(CAST(:ids AS uuid[])) AS given(id)
        CROSS JOIN LATERAL (
            SELECT * FROM memory_index x WHERE x.tenant_id = :tenant AND x.memory_id = given.id OFFSET 0
        ) i
        ORDER BY i.memory_id, i.part"""

_QUESTIONS = """
        SELECT q.memory_id, q.{at.vector} AS vector FROM hypothetical_embeddings q
        WHERE q.tenant_id = :tenant AND q.memory_id = ANY(CAST(:ids AS uuid[])) AND q.{at.model} = {model:d}
        ORDER BY q.memory_id, q.ordinal"""

_BELIEFS = """
        SELECT m.id, m.type, m.slot, m.slot_value, m.status, m.contested, m.confidence, m.speech_act, m.ended_at,
            m.retired_at, m.superseded_by, m.review_reason, m.review_since,
            cardinality(string_to_array(m.content, ' ')) AS words,
            (SELECT f.folded_at FROM memory_folds f WHERE f.tenant_id = :tenant AND f.memory_id = m.id) AS folded_at
        FROM unnest(CAST(:ids AS uuid[])) AS given(id)
        CROSS JOIN LATERAL (SELECT * FROM memories x WHERE x.tenant_id = :tenant AND x.id = given.id OFFSET 0) m"""

_EVIDENCE = """
        SELECT said.memory_id, said.turn_id, said.role, said.quote, said.stated_at, EXISTS (
            SELECT FROM evidence e JOIN memories m ON m.tenant_id = :tenant AND m.id = e.memory_id
            WHERE e.tenant_id = :tenant AND e.turn_id = said.turn_id AND m.scope_id <> :scope) AS elsewhere,
            (SELECT t.session_id FROM turns t WHERE t.tenant_id = :tenant AND t.id = said.turn_id) AS session_id
        FROM evidence said
        WHERE said.tenant_id = :tenant AND said.memory_id = ANY(CAST(:ids AS uuid[])) AND said.turn_id IS NOT NULL
        ORDER BY said.memory_id, said.id"""

_MENTIONS = """
        SELECT memory_id, entity_id, role FROM memory_entities
        WHERE tenant_id = :tenant AND memory_id = ANY(CAST(:ids AS uuid[])) ORDER BY memory_id, entity_id, role"""

_RELATIONS = """
        SELECT memory_id, from_entity, relation_type, to_entity FROM relations
        WHERE tenant_id = :tenant AND memory_id = ANY(CAST(:ids AS uuid[])) ORDER BY memory_id, id"""

_ENTITIES = """
        SELECT e.id, e.canonical_name, e.merged_into, e.entity_type, e.attributes ->> 'relationship', ARRAY(
            SELECT a.alias FROM entity_aliases a
            WHERE a.tenant_id = :tenant AND a.entity_id = e.id AND a.scope_id = e.scope_id ORDER BY a.alias) AS aliases
        FROM unnest(CAST(:entities AS uuid[])) AS given(id)
        CROSS JOIN LATERAL (SELECT * FROM entities x WHERE x.tenant_id = :tenant AND x.id = given.id OFFSET 0) e"""


@cache
def _scope_rows(model: int) -> SqlStatement:
    """Return the statement of `ScopeRows`: an array of each table's rows, in one trip."""
    at = columns_of(model)
    queries = (
        *(RANKING_ROWS, _PARTS.format(at=at, model=model), _QUESTIONS.format(at=at, model=model)),
        *(_BELIEFS, _EVIDENCE, _MENTIONS, _RELATIONS, _ENTITIES),
    )
    arrays = (f"ARRAY(SELECT ROW(r.*) FROM ({one}) r)" for one in queries)  # noqa: S608 - composed of constants
    return statement(f"SELECT {', '.join(arrays)}")


_RECENT = statement(
    """
    SELECT t.id FROM turns t
    WHERE t.tenant_id = :tenant AND t.scope_id = ANY(CAST(:scopes AS uuid[])) AND t.session_id = :session
    ORDER BY t.occurred_at DESC, t.sequence_number DESC NULLS LAST, t.id DESC LIMIT :recent
    """
)


class PartRow(NamedTuple):
    """An index row of a memory."""

    memory_id: UUID
    part: int
    kind: str
    type: str
    status: str
    confidence: float
    valid_from: datetime | None
    valid_until: datetime | None
    ended_at: datetime | None
    recorded_at: datetime | None
    retired_at: datetime | None
    timed: bool
    dated: bool
    event_lower: datetime | None
    event_upper: datetime | None
    event_whole: bool
    stated_at: datetime | None
    speaker_id: UUID | None
    vector: HalfVector | None
    lexical: SparseVector | None


class BeliefRow(NamedTuple):
    """The slot of a memory, how it ended, and since when a summary stands for it."""

    id: UUID
    type: str
    slot: str | None
    slot_value: str | None
    status: str
    contested: bool
    confidence: float
    speech_act: str
    ended_at: datetime | None
    retired_at: datetime | None
    superseded_by: UUID | None
    review_reason: str | None
    review_since: datetime | None
    words: int
    folded_at: datetime | None


class SayingRow(NamedTuple):
    """Evidence of a memory from a turn, and its place among all that was read with it.

    `elsewhere`: the turn is evidence of memories of other scopes, too.
    """

    place: int
    memory: UUID
    turn: UUID
    role: str | None
    quote: str | None
    stated_at: datetime
    elsewhere: bool
    session_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeRows:
    """The rows of some of a scope's memories and entities, table by table; those that are gone have none.

    `ranking` are the ranking rows of memories that are in the index, with `opening` characters of what they say.
    `questions` are memories with the vectors of questions that they answer, `mentions` memories with entities and
    roles, `relations` memories with both ends and the type between these, `entities` with name, what each was merged
    into, type, relationship to the user, and aliases.
    """

    ranking: Mapping[UUID, RankingRow]
    parts: Sequence[PartRow]
    questions: Sequence[tuple[UUID, HalfVector]]
    beliefs: Sequence[BeliefRow]
    evidence: Sequence[SayingRow]
    mentions: Sequence[tuple[UUID, UUID, str]]
    relations: Sequence[tuple[UUID, UUID, str, UUID]]
    entities: Sequence[tuple[UUID, str, UUID | None, str, str | None, Sequence[str]]]


async def read_memory_ids(session: ReadSession, tenant: UUID, scope: UUID) -> list[UUID]:
    """Return the ids of all memories of a scope, in order."""
    return [row["id"] for row in await session.fetch(_IDS, {"tenant": tenant, "scope": scope})]


async def read_entity_ids(session: ReadSession, tenant: UUID, scope: UUID) -> list[UUID]:
    """Return the ids of all entities of a scope."""
    return [row["id"] for row in await session.fetch(_ENTITY_IDS, {"tenant": tenant, "scope": scope})]


async def read_scope_rows(
    session: ReadSession,
    tenant: UUID,
    scope: UUID,
    *,
    memories: Collection[UUID] = (),
    entities: Collection[UUID] = (),
    model: int,
    opening: int,
) -> ScopeRows:
    """Return the rows of memories and entities of a scope; `model` is the one whose vectors are read."""
    values = {"tenant": tenant, "scope": scope, "ids": list(memories), "entities": list(entities), "opening": opening}
    every: dict[str, object] = {"whole": False, "metadata": None, "lower": [], "upper": []}
    [found] = await session.fetch(_scope_rows(model), {**values, **every})
    ranking, parts, questions, beliefs, evidence, mentions, relations, known = found
    return ScopeRows(
        ranking={row[0]: RankingRow._make(row) for row in ranking},
        parts=[PartRow._make(row) for row in parts],
        questions=questions,
        beliefs=[BeliefRow._make(row) for row in beliefs],
        evidence=[SayingRow(place, *row) for place, row in enumerate(evidence)],
        mentions=mentions,
        relations=relations,
        entities=known,
    )


async def read_recent_turns(
    session: ReadSession, tenant: UUID, *, scopes: Sequence[UUID], session_id: str, most: int
) -> frozenset[UUID]:
    """Return the last turns of a session."""
    values = {"tenant": tenant, "scopes": list(scopes), "session": session_id, "recent": most}
    return frozenset(row["id"] for row in await session.fetch(_RECENT, values))
