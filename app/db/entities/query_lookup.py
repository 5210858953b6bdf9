"""Look-up of a question's names, relationships (`my sister`) and scope settings, in one round trip."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Final, Literal
from uuid import UUID

import asyncpg

from app.db import time_travel
from app.db.memories import heeded, resident
from app.db.memories.heeded import NO_HEED, HeededMemory, HeedQuery
from app.db.memories.resident import ContentState, Held
from app.db.session import ReadSession, SqlStatement, statement
from app.lexical.bm25 import as_tsquery, index_of
from app.memory import vocabulary

_SAYS_NAME: Final = (
    "x.scope_id = me.scope_id AND x.type = stating.type AND x.slot = CAST(me.root AS text) || '|has-name'"
)

ASKED: Final = ("own_aliases", "own_predicates", "own_inverses", "described_aliases", "described_words")
"""The parameters of `owned`, arrays of text."""

FOUND = 24
"""Entities that what is called one's own may lead to before the question's words are held against them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """Something a question calls its own: `alias` is `user's sister`.

    `predicates`: those that lead to it, each with its inverse or nothing; `described`: a tsquery, in the terms of the
    lexical index, for entities that are described as it.
    """

    alias: str
    predicates: tuple[tuple[str, str | None], ...]
    described: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Belongings:
    """Kinds of things that a question asks about; `stated_by` are the types whose memories state possessions.

    `oneself`: it asks something of the asker, of whom others may have spoken by their name.
    """

    stated_by: tuple[str, ...] = ()
    own: tuple[Own, ...] = ()
    oneself: bool = False

    def parameters(self) -> dict[str, object]:
        """Return the values of `called` and `owned`."""
        pairs = [(one.alias, said, inverse) for one in self.own for said, inverse in one.predicates]
        asked = {
            "own_aliases": [alias for alias, _, _ in pairs],
            "own_predicates": [said for _, said, _ in pairs],
            "own_inverses": [inverse for _, _, inverse in pairs],
            "described_aliases": [one.alias for one in self.own],
            "described_words": [one.described for one in self.own],
        }
        return {"stated_by": list(self.stated_by), **(asked if self.own else {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """SQL sources of names, entities and memories; memories by a condition on `x`, looked up one by one."""

    names: str
    entities: str
    memories: Callable[[str], str]


def _memories_now(condition: str) -> str:
    return f"(SELECT x.* FROM memories x WHERE x.tenant_id = :tenant AND {condition} OFFSET 0)"  # noqa: S608 - of constants


def _memories_then(condition: str) -> str:
    return f"(SELECT one.* FROM {time_travel.memories(condition)} one OFFSET 0)"  # noqa: S608 - of constants


NOW: Final = Rows(
    names="(SELECT a.* FROM entity_aliases a WHERE a.tenant_id = :tenant)", entities="entities", memories=_memories_now
)

THEN: Final = Rows(names=time_travel.NAMES, entities=time_travel.ENTITIES, memories=_memories_then)


def _called(rows: Rows, names: str) -> str:
    """Return the source `a` of what bears one of these names in a visible scope, by one look-up a scope and name.

    A plan for any tenant would read all names of a large one for `= ANY(...)`, because an average one has few.
    """
    return f"""unnest(CAST(:scopes AS uuid[])) AS bucket(scope_id)
            CROSS JOIN unnest({names}) AS asked(alias)
            CROSS JOIN LATERAL (
                SELECT a.* FROM {rows.names} a
                WHERE a.scope_id = bucket.scope_id AND a.alias = asked.alias OFFSET 0
            ) a"""  # noqa: S608 - composed of constants


def _entity(rows: Rows, identity: str) -> str:
    """Return the look-up of an entity by its id as SQL."""
    return f"(SELECT e.* FROM {rows.entities} e WHERE e.tenant_id = :tenant AND e.id = {identity} OFFSET 0)"  # noqa: S608 - of constants


def possessions_of(rows: Rows) -> str:
    """Return the CTEs `me`, the users of the visible scopes, and `called`: the names among those asked that are theirs.

    A name counts in the scope in which it was said, and while the memory that says so is active.
    """
    return f"""me AS MATERIALIZED (
            SELECT DISTINCT a.scope_id, coalesce(e.merged_into, e.id) AS root
            FROM {_called(rows, f"ARRAY['{vocabulary.USER}']")}
            CROSS JOIN LATERAL {_entity(rows, "a.entity_id")} e
        ), called AS (
            SELECT m.slot_value AS alias, me.root
            FROM me CROSS JOIN unnest(CAST(:stated_by AS text[])) AS stating(type)
            CROSS JOIN LATERAL {rows.memories(_SAYS_NAME)} m
            WHERE m.status = 'active' AND m.slot_value = ANY(:names)
        )"""  # noqa: S608 - composed of constants


def _by_own_name(rows: Rows) -> str:
    """Return the CTE `by_name`: who bears the user's own name, where nothing says what they are to the user.

    It is most likely the user, spoken of by name; but somebody else may be called so, too.
    """
    return f"""by_name AS (
            SELECT '{vocabulary.USER}' AS alias, other.root, 'own name' AS through
            FROM me CROSS JOIN unnest(CAST(:stated_by AS text[])) AS stating(type)
            CROSS JOIN LATERAL {rows.memories(_SAYS_NAME)} m
            CROSS JOIN LATERAL (
                SELECT coalesce(e.merged_into, e.id) AS root
                FROM {rows.names} a CROSS JOIN LATERAL {_entity(rows, "a.entity_id")} e
                WHERE a.scope_id = me.scope_id AND a.alias = m.slot_value AND NOT e.attributes ? 'relationship' OFFSET 0
            ) other
            WHERE m.status = 'active' AND other.root <> me.root AND NOT EXISTS (
                SELECT FROM memory_entities o
                JOIN memory_entities p ON p.tenant_id = :tenant AND p.memory_id = o.memory_id AND p.entity_id = me.root
                CROSS JOIN LATERAL {rows.memories("x.id = o.memory_id")} s
                WHERE o.tenant_id = :tenant AND o.entity_id = other.root AND s.type = ANY(:stated_by)
                  AND s.status = 'active' AND s.id <> m.id)
        )"""  # noqa: S608 - composed of constants


def possession_query(rows: Rows) -> str:
    """Return the CTEs `owned`: what is called one's own, the entities it leads to, and through what; and `namesakes`.

    Through a statement about the user (`user has-sibling Clara`, `user reports-to Priya`, `Priya manages user`), or
    through a description of the entity (`relationship: user's sister`).
    """
    return f"""{_by_statement(rows)}, {_by_description(rows)}, owned AS (
            SELECT found.alias, coalesce(e.merged_into, e.id) AS root, found.through
            FROM (
                SELECT alias, id, 'statement' AS through FROM stated
                UNION SELECT alias, id, 'statement' FROM told
                UNION SELECT alias, id, 'description' FROM described
            ) found
            CROSS JOIN LATERAL {_entity(rows, "found.id")} e
        ), namesakes AS (
            SELECT owned.alias, other.id AS root, 'namesake' AS through
            FROM owned
            CROSS JOIN LATERAL {_entity(rows, "owned.root")} e
            CROSS JOIN LATERAL (
                SELECT x.id FROM {rows.entities} x
                WHERE x.tenant_id = :tenant AND x.scope_id = e.scope_id AND x.canonical_name = e.canonical_name
                  AND x.id <> e.id AND x.merged_into IS NULL OFFSET 0
            ) other
        )"""  # noqa: S608 - composed of constants


def _by_statement(rows: Rows) -> str:
    """Return the CTEs `stated` and `told`: what the user's own statements lead to, from either end."""
    about = "x.subject_id = me.root AND x.scope_id = me.scope_id AND x.type = ANY(:stated_by)"
    return f"""saying AS MATERIALIZED (
            SELECT asked.alias, m.id, m.scope_id, m.slot_value
            FROM me CROSS JOIN LATERAL {rows.memories(about)} m
            JOIN unnest(CAST(:own_aliases AS text[]), CAST(:own_predicates AS text[])) AS asked(alias, predicate)
                ON asked.predicate = coalesce(m.payload ->> 'predicate', m.payload ->> 'relation_type')
            WHERE m.status = 'active' AND m.slot_value IS NOT NULL
            ORDER BY m.stated_at DESC, m.id DESC LIMIT {FOUND}
        ), stated AS (
            SELECT s.alias, coalesce(
                (SELECT o.entity_id FROM memory_entities o
                 WHERE o.tenant_id = :tenant AND o.memory_id = s.id AND o.role IN ('object', 'to') LIMIT 1),
                (SELECT a.entity_id FROM {rows.names} a
                 WHERE a.scope_id = s.scope_id AND a.alias = s.slot_value
                 ORDER BY a.entity_id LIMIT 1)) AS id
            FROM saying s
        ), told AS (
            SELECT asked.alias, r.from_entity AS id
            FROM me
            JOIN entities k ON k.tenant_id = :tenant AND (k.id = me.root OR k.merged_into = me.root)
            JOIN relations r ON r.tenant_id = :tenant AND r.to_entity = k.id
            JOIN unnest(CAST(:own_aliases AS text[]), CAST(:own_inverses AS text[])) AS asked(alias, inverse)
                ON asked.inverse = r.relation_type
            CROSS JOIN LATERAL {rows.memories("x.id = r.memory_id")} m
            WHERE m.status = 'active' AND m.slot_value IS NOT NULL
            ORDER BY m.stated_at DESC, m.id DESC LIMIT {FOUND}
        )"""  # noqa: S608 - composed of constants


def _by_description(rows: Rows) -> str:
    """Return the CTE `described`: the entities whose description has the words of what is called one's own."""
    return f"""described AS (
            SELECT asked.alias, o.entity_id AS id
            FROM unnest(CAST(:described_aliases AS text[]), CAST(:described_words AS text[])) AS asked(alias, words)
            CROSS JOIN unnest(CAST(:scopes AS uuid[])) AS bucket(scope_id)
            CROSS JOIN LATERAL (
                SELECT i.memory_id FROM memory_index i
                WHERE i.tenant_id = :tenant AND i.scope_id = bucket.scope_id AND i.part = 0
                  AND i.tsv @@ CAST(asked.words AS tsquery)
                LIMIT {FOUND * 4}
            ) said
            JOIN memory_entities o
                ON o.tenant_id = :tenant AND o.memory_id = said.memory_id AND o.role = 'identity'
            CROSS JOIN LATERAL {rows.memories("x.id = said.memory_id")} m
            WHERE m.status = 'active' LIMIT {FOUND}
        )"""  # noqa: S608 - composed of constants


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownEntity:
    """An alias that was asked for and the entity it leads to, with every entity merged into that one.

    `mentions` counts the memories about it, what it said apart; thousands are not counted to the end. `through`: not
    by its name, but by a statement or a description that makes it what the alias, `user's sister`, says; a `namesake`
    bears the name of one that is.
    """

    alias: str
    name: str
    entity_type: str
    mentions: int
    ids: tuple[UUID, ...]
    attributes: Mapping[str, str] = field(default_factory=dict)
    through: Literal["name", "statement", "description", "namesake", "own name"] = "name"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryLookup:
    """The visible scopes' counts, the asked terms' document frequencies, and the asked names' entities.

    `stored`: they have memories. `questions`: some of these are asked by questions. `types`: the version of the
    tenant's own types.
    `heeded`: what answers must heed of what is known of the user.
    `content`: what changed in the scopes that the asking process holds.
    """

    memories: int
    contexts: int
    documents: int
    index_rows: int
    frequencies: Mapping[int, int]
    entities: tuple[KnownEntity, ...]
    stored: bool = True
    questions: bool = False
    types: int = 0
    heeded: tuple[HeededMemory, ...] = ()
    content: ContentState = field(default_factory=lambda: ContentState(snapshot="", noted=None, changes={}))


NOTHING: Final = Belongings()

_KIN_NOW = """
            SELECT DISTINCT root, root AS id FROM named
            UNION
            SELECT kin.root, e.id FROM kin
            JOIN entities e ON e.tenant_id = :tenant AND e.merged_into = kin.id"""

_KIN_THEN = f"""
            SELECT named.root, same.id FROM (SELECT DISTINCT root FROM named) named
            CROSS JOIN LATERAL {time_travel.entity_family("named.root")} same"""  # noqa: S608 - composed of constants


def _known(rows: Rows, kin: str, *, owned: bool, oneself: bool) -> str:
    """Return the CTEs of whom the names lead to, with what is called one's own, and who is called like oneself."""
    own = (f", {possession_query(rows)}" if owned else "") + (f", {_by_own_name(rows)}" if oneself else "")
    theirs = "UNION SELECT * FROM owned UNION SELECT * FROM namesakes" if owned else ""
    theirs += " UNION SELECT * FROM by_name" if oneself else ""
    return f"""
        WITH RECURSIVE {possessions_of(rows)}{own}, named AS (
            SELECT a.alias, coalesce(e.merged_into, e.id) AS root, 'name' AS through
            FROM {_called(rows, "CAST(:names AS text[])")}
            CROSS JOIN LATERAL {_entity(rows, "a.entity_id")} e
            UNION SELECT alias, root, 'name' FROM called {theirs}
        ), kin AS ({kin}
        )"""  # noqa: S608 - composed of constants


_COUNTED_NOW = (
    """
            SELECT term, sum(documents) AS documents FROM lexical_terms
            WHERE tenant_id = :tenant AND scope_id = ANY(:scopes) AND term = ANY(:terms) AND documents > 0
            GROUP BY term""",
    """
                 coalesce(sum(memory_count), 0), coalesce(sum(context_count), 0), coalesce(sum(lexical_documents), 0))
             FROM scopes WHERE tenant_id = :tenant AND id = ANY(:scopes)""",
)
"""The CTE of the words' document frequencies, and the counts of the scopes, as they are kept."""

_KNOWN_THEN = """i.tenant_id = :tenant AND i.scope_id = bucket.scope_id AND i.recorded_at <= :known_at
                    AND i.kind <> 'context'"""

_COUNTED_THEN = (
    f"""
            SELECT asked.term, count(*) AS documents
            FROM unnest(CAST(:terms AS int[]), CAST(:lexemes AS text[])) AS asked(term, lexeme)
            CROSS JOIN unnest(CAST(:scopes AS uuid[])) AS bucket(scope_id)
            CROSS JOIN LATERAL (
                SELECT FROM memory_index i WHERE {_KNOWN_THEN} AND i.tsv @@ CAST(asked.lexeme AS tsquery) OFFSET 0
            ) i GROUP BY asked.term""",  # noqa: S608 - composed of constants
    f"""
                 count(*) FILTER (WHERE i.part = 0),
                 (SELECT coalesce(sum(context_count), 0) FROM scopes WHERE tenant_id = :tenant AND id = ANY(:scopes)),
                 count(*) FILTER (WHERE i.lexical))
             FROM unnest(CAST(:scopes AS uuid[])) AS bucket(scope_id)
             CROSS JOIN LATERAL (
                SELECT i.part, i.tsv IS NOT NULL AS lexical FROM memory_index i WHERE {_KNOWN_THEN} OFFSET 0
             ) i""",  # noqa: S608 - composed of constants
)
"""The same, counted among what was known then: what a question found depends on how rare its words were."""


_BY_THEN = """ AND EXISTS (
                        SELECT FROM memories m
                        WHERE m.tenant_id = :tenant AND m.id = me.memory_id AND m.recorded_at <= :known_at)"""

_NONE: Final = "SELECT CAST(NULL AS jsonb)"


@cache
def _look_up(*, then: bool, owned: bool, oneself: bool, heeds: bool) -> SqlStatement:
    """Return the statement, of things as they are or were `then`, without the parts that are not asked for.

    Postgres prepares each part of a plan, also those that return nothing.
    """
    rows, kin, mention = (THEN, _KIN_THEN, _BY_THEN) if then else (NOW, _KIN_NOW, "")
    frequency, counts = _COUNTED_THEN if then else _COUNTED_NOW
    heeded_part = heeded.heeded_query(rows.memories) if heeds else _NONE
    return statement(
        f"""{_known(rows, kin, owned=owned, oneself=oneself)}, family AS (
            SELECT kin.root, jsonb_agg(kin.id ORDER BY kin.id) AS ids, sum(told.mentions) AS mentions
            FROM kin CROSS JOIN LATERAL (
                SELECT count(*) AS mentions FROM (
                    SELECT me.role FROM memory_entities me
                    WHERE me.tenant_id = :tenant AND me.entity_id = kin.id{mention} LIMIT 4000
                ) newest WHERE newest.role <> 'speaker'
            ) told
            GROUP BY kin.root
        ), frequency AS ({frequency}
        )
        SELECT
            (SELECT jsonb_build_array({counts}) AS counts,
            coalesce((SELECT types_version FROM tenants WHERE id = :tenant), 0) AS types,
            index_rows(:vector_index) AS index_rows,
            {resident.STATE},
            EXISTS (SELECT FROM unnest(CAST(:scopes AS uuid[])) AS bucket(scope_id) CROSS JOIN LATERAL (
                SELECT FROM memory_index i WHERE i.tenant_id = :tenant AND i.scope_id = bucket.scope_id LIMIT 1
            ) one) AS stored,
            EXISTS (SELECT FROM unnest(CAST(:scopes AS uuid[])) AS bucket(scope_id) CROSS JOIN LATERAL (
                SELECT FROM hypothetical_embeddings q
                WHERE q.tenant_id = :tenant AND q.scope_id = bucket.scope_id LIMIT 1
            ) one) AS questions,
            (SELECT jsonb_object_agg(term, documents) FROM frequency) AS frequencies,
            ({heeded_part}) AS heeded,
            (SELECT jsonb_agg(jsonb_build_array(
                        n.alias, e.canonical_name, e.entity_type, f.mentions, f.ids, e.attributes, n.through)
                    ORDER BY n.alias, e.id, n.through)
             FROM named n
             JOIN family f ON f.root = n.root
             CROSS JOIN LATERAL {_entity(rows, "n.root")} e) AS entities
        """  # noqa: S608 - composed of constants
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Keys of a question's look-up: normalised names, terms, belongings, and the rules of what its answer must heed."""

    names: Collection[str]
    terms: Sequence[str]
    belongings: Belongings = NOTHING
    heed: HeedQuery = NO_HEED

    def parameters(self, known_at: datetime | None) -> dict[str, object]:
        """Return these as the statement takes them, with the time from which is looked, if it is a former one."""
        then: dict[str, object] = {}
        if known_at is not None:
            then = {"known_at": known_at, "lexemes": [as_tsquery([term]) for term in self.terms]}
        return {
            **self.belongings.parameters(),
            **self.heed.parameters(),
            **then,
            "names": list(self.names),
            "terms": [index_of(term) for term in self.terms],
        }


async def look_up(
    session: ReadSession,
    asked: Asked,
    *,
    tenant: UUID,
    scopes: Sequence[UUID],
    vector_index: str,
    known_at: datetime | None = None,
    held: Sequence[Held] = (),
) -> QueryLookup:
    """Return what the visible scopes know of what is asked.

    A name may be the user's own, as a memory says it. `index_rows` are those of the vector index, by its name.
    `known_at`: whom the names led to then, and what was counted then. `held` are scopes that the caller has in memory.
    """
    values = {
        **asked.parameters(known_at),
        **resident.held_parameters(held),
        "tenant": tenant,
        "scopes": list(scopes),
        "vector_index": vector_index,
    }
    asks = _look_up(
        then=known_at is not None,
        owned=bool(asked.belongings.own),
        oneself=asked.belongings.oneself,
        heeds=bool(values["heeded_types"]),
    )
    [found] = await session.fetch(asks, values)
    return _read(found)


def _read(found: asyncpg.Record) -> QueryLookup:
    """Return the row of a look-up as values."""
    counts, types_version, index_rows, *state, stored, questions, frequencies, heeded_rows, entities = found
    memories, contexts, documents = counts
    return QueryLookup(
        memories=int(memories),
        contexts=int(contexts),
        documents=int(documents),
        index_rows=int(index_rows or 0),
        stored=stored,
        questions=questions,
        types=types_version,
        heeded=heeded.heeded_memories(heeded_rows),
        content=resident.content_state(*state),
        frequencies={int(term): int(count) for term, count in (frequencies or {}).items()},
        entities=tuple(
            KnownEntity(
                alias=alias,
                name=name,
                entity_type=kind,
                mentions=int(mentions),
                ids=tuple(UUID(one) for one in ids),
                attributes=attributes,
                through=through,
            )
            for alias, name, kind, mentions, ids, attributes, through in entities or ()
        ),
    )
