"""The columns that ranking needs of hundreds of found memories, and the turns and beliefs that rest on one another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from app.db import time_travel
from app.db.memories.validity import is_or_was_believed
from app.db.session import ReadSession, SqlStatement, statement
from app.model import SpeechAct

Bounds = tuple[datetime | None, datetime | None]


class RankingRow(NamedTuple):
    """The columns of a memory that ranking uses, in the order of the statements below.

    `said` is a hash of its content, `words` its number of words, `opening` the beginning of its content, as long as
    requested; `asking` is its content where that ends as a question; `speaker_id` is the entity that said it.
    `predicate` is that of a fact, or the type of a relation that has one value. `elsewhen`: it happened at a time
    outside the question's; `dated`: when it happened is known. `volatile`: its slot changes too often and has not been
    reviewed yet. `payload` is None unless requested. `strongest` is the highest confidence among the memories that
    contest its slot, found or not, and unknown with `known_at`. `folded_into` is its summary, if any.
    """

    id: UUID
    scope_id: UUID
    type: str
    status: str
    subject: str | None
    slot: str | None
    contested: bool
    confidence: float
    session_id: str | None
    sequence_number: int | None
    stated_at: datetime
    last_accessed_at: datetime | None
    access_count: int
    half_life_days: float | None
    floor: float
    speaker_id: UUID | None
    said: int
    words: int
    asking: str | None
    elsewhen: bool
    speech_act: str
    opening: str = ""
    payload: Mapping[str, Any] | None = None
    slot_value: str | None = None
    volatile: bool = False
    strongest: float | None = None
    folded_into: UUID | None = None
    predicate: str | None = None
    dated: bool = False
    subject_id: UUID | None = None


_STRONGEST = """CASE WHEN m.slot IS NOT NULL AND m.status = 'active' AND (m.contested OR EXISTS (
                SELECT FROM memories c
                WHERE c.tenant_id = :tenant AND c.scope_id = m.scope_id AND c.type = m.type AND c.slot = m.slot
                  AND c.contested AND c.status = 'active'))
            THEN (SELECT max(r.confidence) FROM memories r
                  WHERE r.tenant_id = :tenant AND r.scope_id = m.scope_id AND r.type = m.type AND r.slot = m.slot
                    AND r.status = 'active') END"""


def _ranking_rows(source: str, *, used: str = "true", strongest: str = "CAST(NULL AS float8)") -> str:
    """Return the query of ranking rows; `source` is the memory `given.id` as a query, `used` a condition on uses.

    Each row is looked up: without statistics, or with those of small tenants, a join would walk through the tenant.
    """
    return f"""
        SELECT m.id, m.scope_id, m.type, m.status, m.subject, m.slot, m.contested, m.confidence,
            i.session_id, i.sequence_number, m.stated_at, u.last_accessed_at, coalesce(u.access_count, 0),
            m.half_life_days, m.floor, i.speaker_id, hashtextextended(m.content, 0), i.words,
            CASE WHEN i.asks THEN m.content END,
            i.event_range IS NOT NULL AND cardinality(CAST(:lower AS timestamptz[])) > 0 AND NOT EXISTS (
                SELECT FROM unnest(CAST(:lower AS timestamptz[]), CAST(:upper AS timestamptz[])) AS named(lower, upper)
                WHERE i.event_range && tstzrange(named.lower, named.upper)),
            m.speech_act, left(m.content, :opening), CASE WHEN CAST(:whole AS boolean) THEN m.payload END AS payload,
            m.slot_value, m.volatile AND m.needs_review, {strongest} AS strongest,
            CASE WHEN m.status = 'superseded' THEN (
                SELECT f.into_id FROM memory_folds f WHERE f.tenant_id = :tenant AND f.memory_id = m.id) END,
            coalesce(m.payload ->> 'predicate', CASE WHEN m.slot IS NOT NULL THEN m.payload ->> 'relation_type' END),
            i.event_range IS NOT NULL AS dated, m.subject_id
        FROM unnest(CAST(:ids AS uuid[])) AS given(id)
        CROSS JOIN LATERAL (SELECT * FROM {source} found OFFSET 0) m
        CROSS JOIN LATERAL (
            SELECT * FROM memory_index x WHERE x.tenant_id = :tenant AND x.memory_id = given.id AND x.part = 0 OFFSET 0
        ) i
        LEFT JOIN LATERAL (
            SELECT * FROM memory_usage x WHERE x.tenant_id = :tenant AND x.memory_id = given.id OFFSET 0
        ) u ON {used}
        WHERE CAST(:metadata AS jsonb) IS NULL OR m.metadata @> CAST(:metadata AS jsonb)
        """  # noqa: S608 - composed of constants


RANKING_ROWS: Final = _ranking_rows(
    "(SELECT * FROM memories x WHERE x.tenant_id = :tenant AND x.id = given.id)", strongest=_STRONGEST
)
_ROWS = statement(RANKING_ROWS)
_ROWS_THEN = statement(_ranking_rows(time_travel.memories("x.id = given.id"), used="u.last_accessed_at <= :known_at"))


async def read_ranking_rows(
    session: ReadSession,
    *,
    tenant: UUID,
    ids: Collection[UUID],
    windows: Sequence[Bounds] = (),
    whole: bool = False,
    opening: int = 0,
    metadata: str | None = None,
    known_at: datetime | None = None,
) -> dict[UUID, RankingRow]:
    """Return the ranking rows of the memories that exist, or, with `known_at`, of those that did, as they were, by id.

    `whole` requests payloads, `opening` that many characters of contents; `metadata` is a JSON object that the metadata
    of each contain. A memory that was used after `known_at` counts as never used, because only the last use is stored.
    `windows` are (lower, upper), None for open; a memory outside all of them is `elsewhen`.
    """
    if not ids:
        return {}
    here = {"tenant": tenant, "ids": list(ids), "whole": whole, "opening": opening, "metadata": metadata}
    here |= {"lower": [lower for lower, _ in windows], "upper": [upper for _, upper in windows]}
    then = {} if known_at is None else {"known_at": known_at}
    rows = await session.fetch(_ROWS if known_at is None else _ROWS_THEN, {**here, **then})
    return {row[0]: RankingRow._make(row) for row in rows}


_NAMES = statement(
    """
    SELECT e.id, e.canonical_name FROM unnest(CAST(:ids AS uuid[])) AS given(id)
    CROSS JOIN LATERAL (SELECT * FROM entities x WHERE x.tenant_id = :tenant AND x.id = given.id OFFSET 0) e
    """
)


async def read_entity_names(session: ReadSession, *, tenant: UUID, ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the names of these entities by id."""
    found = await session.fetch(_NAMES, {"tenant": tenant, "ids": list(ids)})
    return {row[0]: row[1] for row in found}


_REPLACED = statement(
    f"""
    SELECT m.id FROM memories m
    WHERE m.tenant_id = :tenant AND m.superseded_by = ANY(:ids) AND {is_or_was_believed("m")}
    ORDER BY m.stated_at DESC, m.id DESC
    """  # noqa: S608 - composed of constants
)

_REPLACED_THEN = statement(
    f"""
    WITH ever AS MATERIALIZED (
        SELECT id FROM memories WHERE tenant_id = :tenant AND superseded_by = ANY(:ids)
        UNION
        SELECT successor.supersedes FROM {time_travel.memories("x.id = ANY(:ids)")} successor
    )
    SELECT m.id FROM ever CROSS JOIN LATERAL (
        SELECT * FROM {time_travel.memories("x.id = ever.id")} was OFFSET 0
    ) m WHERE m.superseded_by = ANY(:ids) AND {is_or_was_believed("m")}
    ORDER BY m.stated_at DESC, m.id DESC
    """  # noqa: S608 - composed of constants
)


async def read_replaced(
    session: ReadSession, *, tenant: UUID, by: Collection[UUID], known_at: datetime | None = None
) -> list[UUID]:
    """Return the memories that these replaced, by `known_at` if given, latest statement first; no rejected ones."""
    then = {} if known_at is None else {"known_at": known_at}
    found = await session.fetch(_REPLACED_THEN if then else _REPLACED, {"tenant": tenant, "ids": list(by), **then})
    return [row[0] for row in found]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBelief:
    """A belief that a turn stated, `quote` being its words; `over_at` is when it ceased to hold, None if it holds.

    `words` is the number of words of what is believed. `replaced_by` is what holds its place now; a belief that was
    rejected or ended has none. `withdrawn` says that it was rejected, or reported wrong and not yet reviewed.
    """

    id: UUID
    speech_act: SpeechAct
    quote: str | None = None
    words: int = 0
    over_at: datetime | None = None
    replaced_by: UUID | None = None
    withdrawn: bool = False


class TurnEvidence(NamedTuple):
    """The role of a turn's speaker, and the beliefs that rest on the turn.

    `recent`: it is one of the last turns of the session that asks.
    """

    role: str | None = None
    beliefs: tuple[TurnBelief, ...] = ()
    recent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingSession:
    """The session that asks, in the scopes where it may be, and how many of its last turns its caller still has."""

    session_id: str
    scopes: Sequence[UUID]
    turns: int


def _behind(memory: str, holder: str, *, said: str = "", given: str = "") -> SqlStatement:
    """Return the query of turn evidence.

    `memory` is the memory `b.memory_id` as a source, and `holder` those that may hold the slot of that memory, `m`;
    `said` and `given` are conditions on the evidence of the turn's own memory and of its beliefs.
    """
    return statement(
        f"""
        WITH recent AS MATERIALIZED (
            SELECT t.id FROM turns t
            WHERE t.tenant_id = :tenant AND t.scope_id = ANY(CAST(:scopes AS uuid[])) AND t.session_id = :session
            ORDER BY t.occurred_at DESC, t.sequence_number DESC NULLS LAST, t.id DESC LIMIT :recent
        )
        SELECT said.memory_id, said.role, said.turn_id IN (SELECT id FROM recent),
            m.id, m.speech_act, b.quote, cardinality(string_to_array(m.content, ' ')),
            coalesce(now.id, m.superseded_by),
            CASE WHEN m.ended_at <= CAST(:instant AS timestamptz) AND m.status <> 'active' AND b.stated_at < m.ended_at
                      AND (now.id IS NULL OR now.slot_value IS DISTINCT FROM m.slot_value) THEN m.ended_at
                 WHEN m.status = 'forgotten' AND m.ended_at IS NULL THEN m.retired_at
                 WHEN m.status = 'pending' AND m.review_reason = 'reported_wrong' THEN m.review_since END,
            m.status IN ('forgotten', 'pending')
        FROM evidence said
        LEFT JOIN LATERAL (
            SELECT e.memory_id, e.id, e.quote, e.stated_at FROM evidence e
            WHERE e.tenant_id = :tenant AND e.turn_id = said.turn_id AND e.memory_id <> said.memory_id{given}
        ) b ON true
        LEFT JOIN {memory} m ON m.tenant_id = :tenant AND m.id = b.memory_id
            AND m.type <> ALL(CAST(:verbatim AS text[]))
        LEFT JOIN {holder} now ON now.tenant_id = :tenant AND now.scope_id = m.scope_id AND now.type = m.type
            AND now.slot = m.slot AND now.status = 'active' AND NOT now.contested AND m.status <> 'active'
        WHERE said.tenant_id = :tenant AND said.memory_id = ANY(CAST(:ids AS uuid[])) AND said.turn_id IS NOT NULL{said}
        ORDER BY said.memory_id, said.id, b.memory_id, b.id
        """  # noqa: S608 - composed of constants
    )


_BEHIND = _behind("memories", "memories")

_IN_ITS_SLOT = """m.status <> 'active' AND x.scope_id = m.scope_id AND x.type = m.type AND x.slot = ANY(ARRAY[m.slot,
            (SELECT own.slot FROM memories own WHERE own.tenant_id = :tenant AND own.id = m.id)])"""
"""The slot of `m` then and now: a merge of entities since has moved it, and those that were in it."""

_BEHIND_THEN = _behind(
    f"LATERAL (SELECT * FROM {time_travel.memories('x.id = b.memory_id')} was OFFSET 0)",  # noqa: S608 - of constants
    f"LATERAL (SELECT * FROM {time_travel.memories(_IN_ITS_SLOT)} was OFFSET 0)",  # noqa: S608 - of constants
    said=" AND said.recorded_at <= :known_at",
    given=" AND e.recorded_at <= :known_at",
)


async def read_turn_evidence(
    session: ReadSession,
    *,
    tenant: UUID,
    ids: Collection[UUID],
    verbatim: Collection[str],
    instant: datetime,
    asking: AskingSession | None = None,
    known_at: datetime | None = None,
) -> dict[UUID, TurnEvidence]:
    """Return the turn evidence of memories of `verbatim` types, by id; `instant` is when beliefs should hold.

    The last turns of the session `asking` are `recent`.

    With `known_at`, the evidence that was known then, and the beliefs as they were.

    A belief is over where what was said before its end is asked about after it, and where it was rejected or reported
    wrong. What says that something ended is evidence of it, too, and is not over.
    """
    if not ids:
        return {}
    here = {
        "tenant": tenant,
        "ids": list(ids),
        "verbatim": list(verbatim),
        "instant": instant,
        "session": None if asking is None else asking.session_id,
        "scopes": [] if asking is None else list(asking.scopes),
        "recent": 0 if asking is None else asking.turns,
    }
    then = {} if known_at is None else {"known_at": known_at}
    rows = await session.fetch(_BEHIND_THEN if then else _BEHIND, {**here, **then})
    said: dict[UUID, tuple[str | None, bool]] = {}
    beliefs: Mapping[UUID, list[TurnBelief]] = defaultdict(list)
    for memory, role, recent, belief, act, quote, words, replaced_by, over_at, withdrawn in rows:
        said[memory] = (role, recent)
        if belief is not None:
            beliefs[memory].append(
                TurnBelief(
                    id=belief,
                    speech_act=SpeechAct(act),
                    quote=quote,
                    words=words,
                    over_at=over_at,
                    replaced_by=replaced_by,
                    withdrawn=withdrawn,
                )
            )
    return {
        memory: TurnEvidence(role=role, beliefs=tuple(beliefs[memory]), recent=recent)
        for memory, (role, recent) in said.items()
    }
