"""Look-up before a write: the scope's state, the entities that names may lead to, and recent referents of pronouns."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from app.db.session import ReadSession, statement
from app.db.sql import as_record
from app.memory.vocabulary import INVERSES


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeState:
    """A scope's version, which every write of it moves, and how its rows are indexed.

    `written_at`: the stamp of its last write, None before the first. `lexical_average` is the length that weights
    go by; `ann`: its vectors are in the vector index. `types`: the version of the tenant's own types.
    """

    version: int
    written_at: datetime | None
    lexical_average: float
    ann: bool
    types: int


_OF_ALIAS = """
    SELECT x.alias, x.entity_id FROM entity_aliases x
    WHERE x.tenant_id = :tenant AND x.scope_id = :scope AND x.alias = asked.alias
    OFFSET 0 -- a look-up by key, or all names of a small tenant are read
"""

_NAMED = f"""
    SELECT asked.wanted, a.alias, e.id, e.canonical_name, e.entity_type, e.mention_count,
        e.attributes ->> 'relationship' AS tie
    FROM unnest(CAST(:names AS text[]), CAST(:aliases AS text[])) AS asked(wanted, alias)
    CROSS JOIN LATERAL ({_OF_ALIAS}) a
    CROSS JOIN LATERAL (SELECT * FROM entities x WHERE x.tenant_id = :tenant AND x.id = a.entity_id OFFSET 0) e
"""  # noqa: S608 - composed of constants

_NEAR = statement(_NAMED)

_KNOWN = statement(
    f"""
    SELECT s.version, s.written_at, s.lexical_average, s.ann, t.types_version, found.*
    FROM (SELECT) AS always
    LEFT JOIN tenants t ON t.id = :tenant
    LEFT JOIN scopes s ON s.tenant_id = :tenant AND s.id = :scope
    CROSS JOIN LATERAL (
        SELECT CAST(NULL AS text[]) AS others, named.* FROM ({_NAMED}) named
        UNION ALL
        SELECT array_agg(x.alias), NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM entity_aliases x
        WHERE x.tenant_id = :tenant AND x.scope_id = :scope AND EXISTS (
            SELECT FROM unnest(CAST(:aliases AS text[])) AS asked(alias) WHERE NOT EXISTS ({_OF_ALIAS}))
    ) found
    """  # noqa: S608 - composed of constants
)

_IDENTIFIED = statement(
    """
    SELECT e.id AS asked, s.id, s.canonical_name, s.entity_type, s.mention_count,
        s.attributes ->> 'relationship' AS tie
    FROM entities e
    JOIN entities s ON s.tenant_id = :tenant AND s.id = coalesce(e.merged_into, e.id)
    WHERE e.tenant_id = :tenant AND e.scope_id = :scope AND e.id = ANY(:entities)
    """
)


async def read_names(
    session: ReadSession, *, tenant: UUID, scope: UUID, names: Collection[str]
) -> tuple[ScopeState, list[Record], list[str]]:
    """Return the scope's state, alias rows for the normalised names that are known in it, and every known name.

    A scope that has never been written is at version 0. `wanted` is the name a row was found for. The known names are
    left out if all that are asked for are among them. They are for the caller to compare: under row-level security no
    index finds names by likeness, and comparing trigrams with each takes the database ten times as long as sending it.
    """
    asked = list(names)
    rows = await session.fetch(_KNOWN, {"tenant": tenant, "scope": scope, "names": asked, "aliases": asked})
    others: list[str] = next((row["others"] for row in rows if row["others"] is not None), [])
    return _state(rows[0]), [row for row in rows if row["wanted"] is not None], others


_STATES = statement(
    """
    SELECT given.id AS scope_id, s.version, s.written_at, s.lexical_average, s.ann, t.types_version
    FROM unnest(CAST(:scopes AS uuid[])) AS given(id)
    LEFT JOIN tenants t ON t.id = :tenant
    LEFT JOIN scopes s ON s.tenant_id = :tenant AND s.id = given.id
    """
)

_NAMED_IN = statement(
    f"""
    SELECT asked.scope_id, asked.alias AS wanted, a.alias, e.id, e.canonical_name, e.entity_type, e.mention_count,
        e.attributes ->> 'relationship' AS tie
    FROM unnest(CAST(:scopes AS uuid[]), CAST(:names AS text[])) AS asked(scope_id, alias)
    CROSS JOIN LATERAL ({_OF_ALIAS.replace(":scope", "asked.scope_id")}) a
    CROSS JOIN LATERAL (SELECT * FROM entities x WHERE x.tenant_id = :tenant AND x.id = a.entity_id OFFSET 0) e
    """  # noqa: S608 - composed of constants
)

_ALL_NAMES = statement(
    """
    SELECT x.scope_id, array_agg(x.alias) AS aliases FROM entity_aliases x
    WHERE x.tenant_id = :tenant AND x.scope_id = ANY(:scopes) GROUP BY x.scope_id
    """
)


async def read_names_of(
    session: ReadSession, tenant: UUID, asked: Mapping[UUID, Collection[str]]
) -> dict[UUID, tuple[ScopeState, list[Record], list[str]]]:
    """Return what `read_names` does, for the names that are asked for in each of several scopes."""
    rows = await session.fetch(_STATES, {"tenant": tenant, "scopes": list(asked)})
    states = {row["scope_id"]: _state(row) for row in rows}
    found: dict[UUID, list[Record]] = {scope: [] for scope in asked}
    pairs = [(scope, name) for scope, names in asked.items() for name in names]
    if pairs:
        scopes, names = map(list, zip(*pairs, strict=True))
        for row in await session.fetch(_NAMED_IN, {"tenant": tenant, "scopes": scopes, "names": names}):
            found[row["scope_id"]].append(row)
    unknown = [scope for scope, names in asked.items() if set(names) - {row["wanted"] for row in found[scope]}]
    others: dict[UUID, list[str]] = {}
    if unknown:
        told = await session.fetch(_ALL_NAMES, {"tenant": tenant, "scopes": unknown})
        others = {row["scope_id"]: row["aliases"] for row in told}
    return {scope: (states[scope], found[scope], others.get(scope, [])) for scope in asked}


def _state(row: Record) -> ScopeState:
    return ScopeState(
        version=row["version"] or 0,
        written_at=row["written_at"],
        lexical_average=row["lexical_average"] or 0.0,
        ann=row["ann"] or False,
        types=row["types_version"] or 0,
    )


async def entities_by_id(
    session: ReadSession, *, tenant: UUID, scope: UUID, entities: Collection[UUID]
) -> list[Record]:
    """Return rows of entities of the scope by id, each as whom it was merged into, if it was; `asked` is the id."""
    return await session.fetch(_IDENTIFIED, {"tenant": tenant, "scope": scope, "entities": list(entities)})


async def read_near(
    session: ReadSession, *, tenant: UUID, scope: UUID, near: Mapping[str, Collection[str]]
) -> list[Record]:
    """Return alias rows for names, of the aliases that are `near` each."""
    names, aliases = zip(*((name, alias) for name, found in near.items() for alias in found), strict=True)
    values = {"tenant": tenant, "scope": scope, "names": list(names), "aliases": list(aliases)}
    return await session.fetch(_NEAR, values)


RING = 30
"""Assignments of a pronoun that a scope remembers (seed 001, stage 3)."""

CONVERSATIONS = 30
"""Latest conversations whose assignments are available (seed 001, stage 3)."""

MENTIONED = 30
"""Entities mentioned last that a name may be looked for among."""

LOOKED_THROUGH = 60
"""Newest memories of a scope, and as many of a session, that are looked through for them."""

TURNS = 3_000
"""Newest turns of a scope that its latest conversations are looked for in."""

SUBJECTS = ("subject", "from", "identity", "participant_0")
"""Roles of whom a memory is about: of those it mentions, the likeliest to be spoken of again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Referent:
    """Someone or something that was spoken of.

    `role` is the one in the memory that mentioned it last, or, with `of`, what it is to that one: `reports-to` of
    `user`. `pronoun`: not a mention, but an assignment of that pronoun, the `number`th of its scope; one that is
    not `alive` is of a conversation too long ago to count. `turn` is the one that said it, where one did: it
    distinguishes turns of one time, in their order.
    """

    name: str
    entity_type: str
    role: str
    last_said_at: datetime
    session_id: str | None = None
    of: str | None = None
    pronoun: str | None = None
    number: int | None = None
    alive: bool = True
    turn: UUID | None = None


_RECENT = statement(
    """
    WITH newest AS MATERIALIZED (
        (SELECT id, session_id, stated_at FROM memories
         WHERE tenant_id = :tenant AND scope_id = :scope ORDER BY id DESC LIMIT :memories)
        UNION
        (SELECT id, session_id, stated_at FROM memories
         WHERE tenant_id = :tenant AND scope_id = :scope AND session_id = :session ORDER BY id DESC LIMIT :memories)
    ), mentioned AS MATERIALIZED (
        SELECT * FROM (
            SELECT DISTINCT ON (root, n.session_id IS NOT DISTINCT FROM :session)
                coalesce(e.merged_into, e.id) AS root, me.role, n.session_id, n.stated_at, n.id
            FROM newest n
            JOIN memory_entities me ON me.tenant_id = :tenant AND me.memory_id = n.id AND me.role <> 'speaker'
            JOIN entities e ON e.tenant_id = :tenant AND e.id = me.entity_id
            WHERE n.stated_at <= :at
            ORDER BY root, n.session_id IS NOT DISTINCT FROM :session, n.stated_at DESC, n.id DESC,
                me.role = ANY(:subjects) DESC, me.role
        ) last ORDER BY stated_at DESC, id DESC LIMIT :mentioned
    ), owners AS MATERIALIZED (
        SELECT coalesce(e.merged_into, e.id) AS root FROM entity_aliases a
        JOIN entities e ON e.tenant_id = :tenant AND e.id = a.entity_id
        WHERE a.tenant_id = :tenant AND a.scope_id = :scope AND a.alias = ANY(:owners)
          AND CAST(:predicates AS text[]) <> '{}'
        UNION
        SELECT root FROM mentioned WHERE CAST(:predicates AS text[]) <> '{}'
    ), kin AS MATERIALIZED (
        SELECT root, root AS id FROM owners
        UNION ALL
        SELECT o.root, k.id FROM owners o JOIN entities k ON k.tenant_id = :tenant AND k.merged_into = o.root
    ), related AS (
        (SELECT o.root AS owner, r.relation_type AS role, r.to_entity AS other, CAST(NULL AS text) AS literal,
            m.session_id, m.stated_at
         FROM kin o JOIN relations r ON r.tenant_id = :tenant AND r.from_entity = o.id
         JOIN memories m ON m.tenant_id = :tenant AND m.id = r.memory_id AND m.status = 'active'
         WHERE r.relation_type = ANY(:predicates) ORDER BY m.stated_at DESC LIMIT :most)
        UNION ALL
        (SELECT o.root, i.forth, r.from_entity, NULL, m.session_id, m.stated_at
         FROM kin o JOIN relations r ON r.tenant_id = :tenant AND r.to_entity = o.id
         JOIN unnest(CAST(:forth AS text[]), CAST(:back AS text[])) AS i(forth, back) ON i.back = r.relation_type
         JOIN memories m ON m.tenant_id = :tenant AND m.id = r.memory_id AND m.status = 'active'
         ORDER BY m.stated_at DESC LIMIT :most)
        UNION ALL
        (SELECT o.root, p.name, me.entity_id, m.payload ->> 'object', m.session_id, m.stated_at
         FROM kin o CROSS JOIN unnest(CAST(:predicates AS text[])) AS p(name)
         JOIN memories m ON m.tenant_id = :tenant AND m.scope_id = :scope
             AND m.type IN (SELECT name FROM memory_types) AND m.slot = CAST(o.id AS text) || '|' || p.name
             AND m.status = 'active' AND m.payload ? 'object'
         LEFT JOIN memory_entities me ON me.tenant_id = :tenant AND me.memory_id = m.id AND me.role = 'object'
         ORDER BY m.stated_at DESC LIMIT :most)
        UNION ALL -- those of which somebody has several have no slot
        (SELECT o.root, m.payload ->> 'predicate', me.entity_id, m.payload ->> 'object', m.session_id, m.stated_at
         FROM kin o
         JOIN memories m ON m.tenant_id = :tenant AND m.scope_id = :scope AND m.subject_id = o.id
             AND m.type IN (SELECT name FROM memory_types) AND m.slot IS NULL AND m.speech_act = 'assertion'
             AND m.status = 'active' AND m.payload ->> 'predicate' = ANY(:predicates) AND m.payload ? 'object'
         LEFT JOIN memory_entities me ON me.tenant_id = :tenant AND me.memory_id = m.id AND me.role = 'object'
         ORDER BY m.stated_at DESC LIMIT :most)
    ), alive AS (
        SELECT session_id FROM (
            SELECT session_id, occurred_at FROM turns
            WHERE tenant_id = :tenant AND scope_id = :scope AND occurred_at <= :at AND session_id IS NOT NULL
            ORDER BY occurred_at DESC LIMIT :turns
        ) said GROUP BY session_id ORDER BY max(occurred_at) DESC LIMIT :conversations
    )
    SELECT e.canonical_name AS name, e.entity_type, m.role, CAST(NULL AS text) AS of, m.session_id, m.stated_at,
        CAST(NULL AS text) AS pronoun, CAST(NULL AS bigint) AS number, true AS alive,
        (SELECT v.turn_id FROM evidence v WHERE v.tenant_id = :tenant AND v.memory_id = m.id AND v.turn_id IS NOT NULL
         ORDER BY v.stated_at DESC, v.turn_id DESC LIMIT 1) AS turn
    FROM mentioned m JOIN entities e ON e.tenant_id = :tenant AND e.id = m.root
    UNION ALL
    SELECT coalesce(e.canonical_name, r.literal), coalesce(e.entity_type, 'unknown'), r.role, o.canonical_name,
        r.session_id, r.stated_at, NULL, NULL, true, NULL
    FROM related r
    JOIN entities o ON o.tenant_id = :tenant AND o.id = r.owner
    LEFT JOIN entities f ON f.tenant_id = :tenant AND f.id = r.other
    LEFT JOIN entities e ON e.tenant_id = :tenant AND e.id = coalesce(f.merged_into, f.id)
    UNION ALL
    SELECT b.name, b.entity_type, 'pronoun', NULL, b.session_id, b.said_at, b.pronoun, b.number,
        b.said_at <= :at
            AND (b.session_id IS NULL OR b.session_id IS NOT DISTINCT FROM :session
                 OR b.session_id IN (SELECT session_id FROM alive)), NULL
    FROM pronoun_bindings b WHERE b.tenant_id = :tenant AND b.scope_id = :scope
    """
)


async def recent(
    session: ReadSession,
    tenant: UUID,
    scope: UUID,
    session_id: str | None,
    *,
    at: datetime,
    owners: Collection[str] = (),
    predicates: Collection[str] = (),
) -> list[Referent]:
    """Return what a turn said at `at` may refer to, the last said first.

    `predicates` are those that may say who `my manager` is; with none, nobody's relations are looked up. They are
    looked up of the owners, normalised names, and of everybody mentioned lately.
    """
    inverses = [(one, inverse) for one in predicates if (inverse := INVERSES.get(one)) is not None]
    rows = await session.fetch(
        _RECENT,
        {
            "tenant": tenant,
            "scope": scope,
            "session": session_id,
            "at": at,
            "owners": list(owners),
            "subjects": list(SUBJECTS),
            "predicates": list(predicates),
            "forth": [one for one, _ in inverses],
            "back": [inverse for _, inverse in inverses],
            "memories": LOOKED_THROUGH,
            "mentioned": MENTIONED,
            "most": MENTIONED,
            "turns": TURNS,
            "conversations": CONVERSATIONS,
        },
    )
    found = [as_record(Referent, row, last_said_at=row["stated_at"]) for row in rows]
    return sorted(found, key=_said_last, reverse=True)


def _said_last(one: Referent) -> tuple[datetime, int, int, bool]:
    turn = 0 if one.turn is None else one.turn.int
    return (one.last_said_at, turn, one.number or 0, one.role in SUBJECTS)
