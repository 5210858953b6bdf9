"""Memories that a write may affect: of the same slot, of the same words, near in meaning.

A job asks again whether two say the same, where a write did not wait for the answer.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from uuid import UUID

from asyncpg import Record
from pgvector import HalfVector

from app.db import jobs
from app.db.embedding_models import index_name
from app.db.memories.read import VERSION_COLUMNS, version_fields
from app.db.memories.validity import is_or_was_believed, was_over_when_stated
from app.db.session import ReadSession, SqlStatement, WriteSession, statement
from app.db.sql import GivenRows, Model, has_vector, vector_of
from app.memory.versions import StateBeforeFold, Version
from app.model import MemoryStatus

NEAREST = 3
"""Number of nearest memories that a candidate is compared with."""

SAMENESS = "sameness"
"""The kind of the job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RivalQuery:
    """The look-ups of one candidate in its scope: its slot, its words, and, unless None, its meaning.

    With `under`, it is an ending of memories whose payload has one of the values `kept` in the field `under`; with
    `ahead`, of memories without a subject whose time, in the field `event_at`, lies ahead. `guards` are the types that
    guard against its type, `guarded_at` the slots of such guards, or prefixes of them.
    `referred` are memories that it refers to itself.

    With `open_under`, it leaves open how many values its slot holds, and is supposed to hold one where `supposed_one`:
    a memory without a slot is looked up that has `open_value` in that field and shows otherwise.
    """

    scope_id: UUID
    type: str
    slot: str | None
    identity: bytes
    stated_at: datetime
    subject_id: UUID | None
    embedding: HalfVector | None
    under: str | None = None
    kept: tuple[str, ...] = ()
    ahead: bool = False
    guards: tuple[str, ...] = ()
    guarded_at: tuple[str, ...] = ()
    open_under: str | None = None
    open_value: str | None = None
    supposed_one: bool = False
    referred: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """The bound of what is near in meaning: a cosine above it, by the vectors of a model.

    `indexed`: the vectors of the scopes are in the model's index, where the nearest are found without comparing all.
    """

    model: Model
    above: float
    indexed: bool


_SAID_BY_USER = statement(
    """
    SELECT DISTINCT e.memory_id, e.session_id
    FROM unnest(CAST(:memories AS uuid[]), CAST(:sessions AS text[])) AS asked(memory_id, session_id)
    JOIN evidence e ON e.tenant_id = :tenant AND e.memory_id = asked.memory_id AND e.session_id = asked.session_id
    WHERE e.role = 'user'
    """
)

_FIELDS = ", ".join(
    f"m.{name}"
    for name in (*VERSION_COLUMNS, "type_version", "content", "payload", "topic", "session_id", "sequence_number")
)

_ASKED = {
    "scope_id": "uuid",
    "type": "text",
    "slot": "text",
    "identity": "bytea",
    "stated_at": "timestamptz",
    "subject_id": "uuid",
    "embedding": "halfvec",
    "under": "text",
    "kept": "text[]",
    "ahead": "boolean",
    "guards": "text[]",
    "guarded_at": "text[]",
    "open_under": "text",
    "open_value": "text",
    "supposed_one": "boolean",
    "referred": "uuid[]",
}
"""The fields of a RivalQuery, by the types that Postgres reads them as."""

_WANTED = GivenRows(name="wanted", columns={"place": "int", **_ASKED})

_QUERIES = f"""
    WITH wanted AS MATERIALIZED (SELECT * FROM {_WANTED.sql})
"""  # noqa: S608 - composed of constants

_IDENTICAL = f"""
    SELECT wanted.place, CASE WHEN m.status IN ('pending', 'forgotten') THEN 'disowned'
            WHEN m.ended_at IS NULL THEN 'identical' ELSE 'over' END AS relation,
        NULL::float8 AS similarity, {_FIELDS}
    FROM wanted CROSS JOIN LATERAL (
        SELECT * FROM (
            SELECT x.* FROM memories x
            WHERE x.tenant_id = :tenant AND x.scope_id = wanted.scope_id AND x.identity = wanted.identity
              AND (x.slot = wanted.slot OR x.slot IS NULL OR wanted.slot IS NULL) OFFSET 0
        ) same WHERE same.status = 'active'
            OR (same.status = 'expired' AND {was_over_when_stated("same")} IS NOT TRUE
                AND (same.ended_at IS NULL OR same.stated_at > wanted.stated_at))
            OR (same.status = 'pending' AND same.review_reason = 'reported_wrong')
            OR (same.status = 'forgotten' AND same.retired_at IS NOT NULL
                AND same.ended_at IS NULL AND same.superseded_by IS NULL) -- rejected by a reviewer
        ORDER BY array_position(ARRAY['active', 'pending', 'forgotten'], same.status), same.ended_at IS NOT NULL,
            same.stated_at DESC, same.id LIMIT 1
    ) m
"""  # noqa: S608 - composed of constants

_BEFORE = """
    m.tenant_id = :tenant AND m.scope_id = wanted.scope_id AND m.type = wanted.type AND m.slot = wanted.slot
    AND m.stated_at <= wanted.stated_at AND NOT m.contested AND m.status = 'superseded'
    ORDER BY m.stated_at DESC, m.id DESC LIMIT 1"""

_OF_SLOT = f"""
    SELECT wanted.place, 'slot' AS relation, NULL::float8 AS similarity, rival.*
    FROM wanted CROSS JOIN LATERAL (
        (SELECT {_FIELDS} FROM memories m
         WHERE m.tenant_id = :tenant AND m.scope_id = wanted.scope_id AND m.type = wanted.type AND m.slot = wanted.slot
           AND (m.status = 'active' OR (m.status = 'expired' AND m.ended_at IS NULL) OR (m.status = 'superseded'
                AND m.ended_at > greatest(m.valid_from, m.retired_at, wanted.stated_at))))
        UNION ALL
        (SELECT {_FIELDS} FROM memories m
         WHERE m.tenant_id = :tenant AND m.scope_id = wanted.scope_id AND m.type = wanted.type AND m.slot = wanted.slot
           AND m.stated_at > wanted.stated_at AND NOT m.contested
           AND {is_or_was_believed("m")} AND {was_over_when_stated("m")} IS NOT TRUE
         ORDER BY m.stated_at, m.id LIMIT 1)
        UNION ALL
        (SELECT {_FIELDS} FROM memories m WHERE {_BEFORE})
        UNION ALL
        (SELECT {_FIELDS} FROM (SELECT m.superseded_by AS id FROM memories m WHERE {_BEFORE}) last
         JOIN memories m ON m.tenant_id = :tenant AND m.id = last.id)
    ) rival
    WHERE wanted.slot IS NOT NULL AND wanted.under IS NULL
"""  # noqa: S608 - composed of constants
"""The holders of the slot, its former holders, and the neighbours in time, the last with its successor."""

_ENDED_BY = f"""
    SELECT wanted.place, 'ended' AS relation, NULL::float8 AS similarity, {_FIELDS}
    FROM wanted CROSS JOIN LATERAL (
        SELECT x.* FROM memories x
        WHERE x.tenant_id = :tenant AND x.scope_id = wanted.scope_id AND x.type = wanted.type AND x.slot = wanted.slot
          AND x.status = 'active'
        UNION
        SELECT x.* FROM memories x
        WHERE x.tenant_id = :tenant AND x.scope_id = wanted.scope_id AND x.type = wanted.type
          AND x.subject_id = wanted.subject_id AND x.status = 'active' AND x.payload ->> wanted.under = ANY(wanted.kept)
        UNION
        SELECT x.* FROM memories x
        WHERE wanted.ahead AND x.tenant_id = :tenant AND x.scope_id = wanted.scope_id AND x.type = wanted.type
          AND x.subject_id IS NULL AND x.status = 'active' AND x.stated_at < wanted.stated_at
          AND CAST(x.payload ->> 'event_at' AS timestamptz) >= date_trunc('day', wanted.stated_at)
    ) m
    WHERE wanted.under IS NOT NULL
"""  # noqa: S608 - composed of constants

_IS_HELD = """EXISTS (
    SELECT FROM memories h WHERE h.tenant_id = :tenant AND h.scope_id = {wanted}.scope_id AND h.type = {wanted}.type
        AND h.slot = {wanted}.slot AND h.status = 'active' OFFSET 0)"""
"""With the offset it is asked of each: else Postgres may read all that a tenant holds, to look all of them up."""

_GUARDING = f"""
    SELECT wanted.place, 'guard' AS relation, NULL::float8 AS similarity, {_FIELDS}
    FROM wanted CROSS JOIN LATERAL (
        SELECT x.* FROM memories x
        WHERE x.tenant_id = :tenant AND x.scope_id = wanted.scope_id AND x.type = ANY(wanted.guards)
          AND x.subject_id = wanted.subject_id AND x.status = 'active'
          AND EXISTS (SELECT FROM unnest(wanted.guarded_at) AS held(slot)
                      WHERE x.slot = held.slot OR starts_with(x.slot, held.slot || '|')) OFFSET 0
    ) m
"""  # noqa: S608 - composed of constants

_BESIDE = f"""
    SELECT * FROM (
        SELECT DISTINCT ON (wanted.place) wanted.place, 'beside' AS relation, NULL::float8 AS similarity, {_FIELDS}
        FROM (
            SELECT DISTINCT w.scope_id, w.type, w.subject_id, w.open_under FROM wanted w
            WHERE w.open_under IS NOT NULL AND w.supposed_one <> {_IS_HELD.format(wanted="w")}
        ) about
        CROSS JOIN LATERAL (
            SELECT x.* FROM memories x
            WHERE x.tenant_id = :tenant AND x.scope_id = about.scope_id AND x.type = about.type
              AND x.subject_id = about.subject_id AND x.status = 'active' AND x.slot IS NULL
              AND x.speech_act = 'assertion' OFFSET 0 -- read once a subject, however many candidates are about it
        ) m
        JOIN wanted ON wanted.scope_id = about.scope_id AND wanted.type = about.type
            AND wanted.subject_id = about.subject_id AND wanted.open_under = about.open_under
            AND m.payload ->> about.open_under = wanted.open_value
        WHERE wanted.supposed_one <> {_IS_HELD.format(wanted="wanted")}
        ORDER BY wanted.place
    ) beside
"""  # noqa: S608 - composed of constants
"""A memory that stands beside others under what a candidate leaves open, where the slot doesn't say it already."""
_REFERRED = f"""
    SELECT wanted.place, 'referred' AS relation, NULL::float8 AS similarity, {_FIELDS}
    FROM wanted CROSS JOIN LATERAL (
        SELECT x.* FROM memories x
        WHERE x.tenant_id = :tenant AND x.scope_id = wanted.scope_id AND x.id = ANY(wanted.referred)
          AND x.status = 'active' OFFSET 0
    ) m
"""  # noqa: S608 - composed of constants

_REVIVABLE = "s.slot IS NULL AND (s.status = 'active' OR (s.status = 'expired' AND s.ended_at IS NULL))"

_SUBJECTS = "(SELECT DISTINCT scope_id, type, subject_id FROM wanted WHERE embedding IS NOT NULL)"


def _believed(columns: str, *, limit: str = "") -> str:
    """Return SQL for the memories, active or expired, of the type and subject of `about`.

    Those without a subject are read by an index of their own, hence the two queries.
    """
    here = f"s.tenant_id = :tenant AND s.scope_id = about.scope_id AND s.type = about.type AND {_REVIVABLE}"
    ways = ("s.subject_id = about.subject_id", "s.subject_id IS NULL AND about.subject_id IS NULL")
    return " UNION ALL ".join(f"(SELECT {columns} FROM memories s WHERE {here} AND {way} {limit})" for way in ways)  # noqa: S608 - composed of constants


def _compared(subjects: str) -> str:
    """Return SQL for the likeness of candidates to all that is believed of these subjects."""
    return f"""
        SELECT wanted.place, known.memory_id, known.status, -(known.embedding <#> wanted.embedding) AS similarity
        FROM wanted JOIN (
            SELECT about.scope_id, about.type, about.subject_id, s.status, i.memory_id, i.embedding
            FROM {subjects} about
            CROSS JOIN LATERAL ({_believed("s.id, s.status")} OFFSET 0) s
            CROSS JOIN LATERAL (
                SELECT x.memory_id, {vector_of("x")} AS embedding FROM memory_index x
                WHERE x.tenant_id = :tenant AND x.memory_id = s.id AND x.part = 0 AND {has_vector("x")} OFFSET 0
            ) i
            OFFSET 0 -- read once a subject, however many candidates are about it
        ) known ON known.scope_id = wanted.scope_id AND known.type = wanted.type
            AND known.subject_id IS NOT DISTINCT FROM wanted.subject_id
    """  # noqa: S608 - composed of constants


MOST_NEAR = 4 * NEAREST
"""Memories of its subject that the vector index is asked for, nearest to a candidate."""


def _searched(model: Model) -> str:
    """Return SQL for the likeness of candidates to what is nearest, in a scope that the vector index has.

    Where m of its n memories are of the subject, n / m are visited for each that is found. So for k it is faster than
    to compare all from m = sqrt(k n) on; smaller subjects are compared, and all while the index is taking rows in.
    """
    enough = f"(SELECT ceil(sqrt({MOST_NEAR} * greatest(1, index_rows(:vector_index)))))"
    return f"""
        WITH subjects AS MATERIALIZED (
            SELECT about.scope_id, about.type, about.subject_id, few.counted > few.enough AND NOT EXISTS (
                SELECT FROM memory_index i WHERE i.tenant_id = :tenant AND i.scope_id = about.scope_id AND NOT i.ann
            ) AS large
            FROM {_SUBJECTS} about CROSS JOIN LATERAL (
                SELECT {enough} AS enough, count(*) AS counted
                FROM ({_believed("1", limit=f"LIMIT {enough} + 1")}) s
            ) few
        )
        {_compared("(SELECT * FROM subjects WHERE NOT large)")}
        UNION ALL
        SELECT wanted.place, near.memory_id, near.status, 1 - near.distance
        FROM subjects JOIN wanted ON wanted.embedding IS NOT NULL AND wanted.scope_id = subjects.scope_id
            AND wanted.type = subjects.type AND wanted.subject_id IS NOT DISTINCT FROM subjects.subject_id
        CROSS JOIN LATERAL (
            SELECT x.memory_id, s.status, {model.distance("x", "wanted.embedding")} AS distance FROM memory_index x
            CROSS JOIN LATERAL (
                SELECT s.status FROM memories s
                WHERE s.tenant_id = :tenant AND s.id = x.memory_id AND s.type = wanted.type
                  AND s.subject_id IS NOT DISTINCT FROM wanted.subject_id AND {_REVIVABLE} OFFSET 0
            ) s
            WHERE x.tenant_id = :tenant AND x.scope_id = wanted.scope_id AND x.part = 0 AND {model.condition("x")}
              AND x.ann
            ORDER BY distance LIMIT {MOST_NEAR}
        ) near
        WHERE subjects.large
    """  # noqa: S608 - composed of constants


@cache
def _alike(index: Model | None) -> str:
    """Return SQL for the nearest in meaning of those that are alike; `index`: the scope is in this model's index."""
    return f"""
    SELECT near.place, 'near' AS relation, near.similarity, {_FIELDS}
    FROM (
        SELECT place, memory_id, similarity,
            row_number() OVER (PARTITION BY place ORDER BY status, similarity DESC) AS rank
        FROM ({_compared(_SUBJECTS) if index is None else _searched(index)}) alike
        WHERE similarity > :likeness -- of unit vectors, the cosine
    ) near
    CROSS JOIN LATERAL (SELECT * FROM memories x WHERE x.tenant_id = :tenant AND x.id = near.memory_id OFFSET 0) m
    WHERE near.rank <= {NEAREST}
"""  # noqa: S608 - composed of constants


@cache
def _existing(*, slots: bool, near: str, endings: bool, guards: bool, opens: bool, referred: bool) -> SqlStatement:
    """Return the statement with only the look-ups that are needed, as each adds to the planning time."""
    ways = [_IDENTICAL, *([_OF_SLOT] if slots else []), *([near] if near else [])]
    ways += [*([_ENDED_BY] if endings else []), *([_GUARDING] if guards else [])]
    ways += [*([_BESIDE] if opens else []), *([_REFERRED] if referred else [])]
    return statement(f"{_QUERIES} {' UNION ALL '.join(ways)} ORDER BY place, similarity DESC NULLS LAST")


async def said_by_user(
    session: ReadSession, tenant: UUID, asked: Collection[tuple[UUID, str]]
) -> frozenset[tuple[UUID, str]]:
    """Return those of these (memory, session) pairs with evidence from a user's turn in that session."""
    values = {"tenant": tenant, "memories": [one for one, _ in asked], "sessions": [one for _, one in asked]}
    rows = await session.fetch(_SAID_BY_USER, values)
    return frozenset((row["memory_id"], row["session_id"]) for row in rows)


async def read_rivals(
    session: ReadSession, *, tenant: UUID, wanted: Sequence[RivalQuery], alike: Likeness | None = None
) -> list[Record]:
    """Return rows of memories that the candidates may affect; `place` is the candidate, `relation` the look-up.

    With `alike`, also those near in meaning, nearest first.
    """
    asked = [{"place": place, **{name: getattr(one, name) for name in _ASKED}} for place, one in enumerate(wanted)]
    values = {"tenant": tenant, **_WANTED.parameters(asked)}
    meanings = alike if any(one.embedding is not None for one in wanted) else None
    if meanings is not None:
        index = index_name(meanings.model.id)
        values |= {"model": meanings.model.id, "likeness": meanings.above, "vector_index": index}
    endings = any(one.under is not None for one in wanted)
    slots = any(one.slot for one in wanted if one.under is None)
    guards = any(one.guards and one.guarded_at for one in wanted)
    near = "" if meanings is None else _alike(meanings.model if meanings.indexed else None)
    opens = any(one.open_under is not None for one in wanted)
    referred = any(one.referred for one in wanted)
    ways = _existing(slots=slots, near=near, endings=endings, guards=guards, opens=opens, referred=referred)
    return await session.fetch(ways, values)


_VERSIONS = statement(
    f"""
    WITH named AS MATERIALIZED (
        SELECT m.id, m.scope_id, m.type, m.slot, m.supersedes, m.superseded_by FROM memories m
        WHERE m.tenant_id = :tenant AND m.id = ANY(:ids)
    ), around AS (
        SELECT id FROM named
        UNION
        SELECT m.id FROM named
        JOIN memories m ON m.tenant_id = :tenant AND m.scope_id = named.scope_id AND m.type = named.type
            AND m.slot = named.slot AND m.status = 'active'
        UNION
        SELECT supersedes FROM named
        UNION
        SELECT superseded_by FROM named
        UNION
        SELECT m.id FROM named JOIN memories m ON m.tenant_id = :tenant AND m.superseded_by = named.id
    )
    SELECT {_FIELDS}, m.status = 'pending' AND NOT EXISTS (
            SELECT FROM memory_past p
            WHERE p.tenant_id = :tenant AND p.memory_id = m.id AND p.status <> 'pending') AS unbelieved,
        folded.status AS folded_status, folded.ended_at AS folded_ended_at, folded.retired_at AS folded_retired_at
    FROM around CROSS JOIN LATERAL (
        SELECT * FROM memories x WHERE x.tenant_id = :tenant AND x.id = around.id OFFSET 0) m
    LEFT JOIN LATERAL (
        SELECT p.status, p.ended_at, CAST(p.was ->> 'retired_at' AS timestamptz) AS retired_at
        FROM memory_folds f JOIN memory_past p ON p.tenant_id = :tenant AND p.memory_id = f.memory_id
        WHERE f.tenant_id = :tenant AND f.memory_id = m.id AND f.into_id = m.superseded_by AND p.status <> 'superseded'
        ORDER BY p.believed_until DESC LIMIT 1
    ) folded ON m.superseded_by = ANY(:ids)
    """  # noqa: S608 - composed of constants
)


async def read_versions(session: ReadSession, tenant: UUID, memories: Collection[UUID]) -> dict[UUID, Version]:
    """Return these memories as versions, with the active memories of their slots and their chain neighbours."""
    rows = await session.fetch(_VERSIONS, {"tenant": tenant, "ids": sorted(memories)})
    return {
        row["id"]: Version(**version_fields(row), unbelieved=row["unbelieved"], folded=_before_fold(row))
        for row in rows
    }


def _before_fold(row: Record) -> StateBeforeFold | None:
    if row["folded_status"] is None:
        return None
    return StateBeforeFold(
        status=MemoryStatus(row["folded_status"]), ended_at=row["folded_ended_at"], retired_at=row["folded_retired_at"]
    )


async def enqueue_sameness(
    session: WriteSession, *, tenant: UUID, scope: UUID, pairs: Sequence[tuple[UUID, UUID]], now: datetime
) -> None:
    """Queue the question whether each newer memory of a scope says the same as an older one; nothing without pairs."""
    if pairs:
        payload = {"pairs": [[str(newer), str(older)] for newer, older in pairs]}
        await jobs.enqueue(
            session, tenant=tenant, kind=SAMENESS, payload=payload, now=now, total=len(pairs), scope=scope
        )
