"""What understanding a question needs to know of the store, in one round trip."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, Integer, Text, TextClause, Uuid, bindparam, text
from sqlalchemy.dialects.postgresql import JSONB

from app.db import past
from app.db.session import ReadSession


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownEntity:
    """An alias that was asked for and the entity it leads to, with every entity merged into that one.

    `mentions` counts the memories about it, what it said apart; thousands are not counted to the end.
    """

    alias: str
    name: str
    entity_type: str
    mentions: int
    ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The visible scopes' counts, the asked terms' document frequencies, and the asked names' entities.

    `questions`: some of their memories are asked by questions. `types`: the version of the tenant's own types.
    """

    memories: int
    contexts: int
    documents: int
    index_rows: int
    frequencies: Mapping[int, int]
    entities: tuple[KnownEntity, ...]
    questions: bool = False
    types: int = 0


_KNOWN_NOW = """
        WITH RECURSIVE named AS (
            SELECT DISTINCT a.alias, coalesce(e.merged_into, e.id) AS root
            FROM entity_aliases a
            JOIN entities e ON e.tenant_id = a.tenant_id AND e.id = a.entity_id
            WHERE a.tenant_id = :tenant AND a.scope_id = ANY(:scopes) AND a.alias = ANY(:names)
        ), kin AS (
            SELECT DISTINCT root, root AS id FROM named
            UNION
            SELECT kin.root, e.id FROM kin
            JOIN entities e ON e.tenant_id = :tenant AND e.merged_into = kin.id
        )"""

_KNOWN_THEN = f"""
        WITH named AS (
            SELECT DISTINCT a.alias, coalesce(e.merged_into, e.id) AS root
            FROM {past.NAMES} a
            CROSS JOIN LATERAL (SELECT e.* FROM {past.ENTITIES} e WHERE e.id = a.entity_id OFFSET 0) e
            WHERE a.scope_id = ANY(:scopes) AND a.alias = ANY(:names)
        ), kin AS (
            SELECT named.root, same.id FROM (SELECT DISTINCT root FROM named) named
            CROSS JOIN LATERAL {past.family("named.root")} same
        )"""  # noqa: S608 - composed of constants


def _look_up(known: str, entities: str, mention: str) -> TextClause:
    """Return the statement, of the names and kin `known`; `mention` is a condition on `me`, a mention, to count."""
    asked = text(
        f"""{known}, family AS (
            SELECT kin.root, jsonb_agg(kin.id ORDER BY kin.id) AS ids, sum(told.mentions) AS mentions
            FROM kin CROSS JOIN LATERAL (
                SELECT count(*) AS mentions FROM (
                    SELECT me.role FROM memory_entities me
                    WHERE me.tenant_id = :tenant AND me.entity_id = kin.id{mention} LIMIT 4000
                ) newest WHERE newest.role <> 'speaker'
            ) told
            GROUP BY kin.root
        ), frequency AS (
            SELECT term, sum(documents) AS documents FROM lexical_terms
            WHERE tenant_id = :tenant AND scope_id = ANY(:scopes) AND term = ANY(:terms) GROUP BY term
        )
        SELECT
            (SELECT jsonb_build_array(
                 coalesce(sum(memory_count), 0), coalesce(sum(context_count), 0), coalesce(sum(lexical_documents), 0))
             FROM scopes WHERE tenant_id = :tenant AND id = ANY(:scopes)) AS counts,
            coalesce((SELECT types_version FROM tenants WHERE id = :tenant), 0) AS types,
            (SELECT greatest(0, reltuples) FROM pg_class WHERE oid = to_regclass(:vector_index)) AS index_rows,
            EXISTS (SELECT FROM unnest(CAST(:scopes AS uuid[])) AS bucket(scope_id) CROSS JOIN LATERAL (
                SELECT FROM hypothetical_embeddings q
                WHERE q.tenant_id = :tenant AND q.scope_id = bucket.scope_id LIMIT 1
            ) one) AS questions,
            (SELECT jsonb_object_agg(term, documents) FROM frequency) AS frequencies,
            (SELECT jsonb_agg(jsonb_build_array(n.alias, e.canonical_name, e.entity_type, f.mentions, f.ids)
                              ORDER BY n.alias, e.id)
             FROM named n
             JOIN family f ON f.root = n.root
             JOIN {entities} e ON e.tenant_id = :tenant AND e.id = n.root) AS entities
        """  # noqa: S608 - composed of constants
    ).bindparams(
        bindparam("scopes", type_=ARRAY(Uuid)),
        bindparam("names", type_=ARRAY(Text)),
        bindparam("terms", type_=ARRAY(Integer)),
        bindparam("vector_index", type_=Text),
    )
    return asked.columns(counts=JSONB, frequencies=JSONB, entities=JSONB)  # type: ignore[return-value]


_NOW = _look_up(_KNOWN_NOW, "entities", "")
_THEN = _look_up(
    _KNOWN_THEN,
    past.ENTITIES,
    """ AND EXISTS (
                        SELECT FROM memories m
                        WHERE m.tenant_id = :tenant AND m.id = me.memory_id AND m.recorded_at <= :known_at)""",
)


async def look_up(
    session: ReadSession,
    *,
    tenant: UUID,
    scopes: Sequence[UUID],
    names: Collection[str],
    terms: Collection[int],
    vector_index: str,
    known_at: datetime | None = None,
) -> Known:
    """Return what the visible scopes know of these normalised names and term indexes.

    `index_rows` are those of the vector index, by its name. `known_at`: whom the names led to then; the counts, which
    only weigh words, are those of now.
    """
    found: Any = await session.execute(
        _NOW if known_at is None else _THEN,
        {
            **({} if known_at is None else {"known_at": known_at}),
            "tenant": tenant,
            "scopes": list(scopes),
            "names": list(names),
            "terms": list(terms),
            "vector_index": vector_index,
        },
    )
    counts, types, index_rows, questions, frequencies, entities = found.one()
    memories, contexts, documents = counts
    return Known(
        memories=int(memories),
        contexts=int(contexts),
        documents=int(documents),
        index_rows=int(index_rows or 0),
        questions=questions,
        types=types,
        frequencies={int(term): int(count) for term, count in (frequencies or {}).items()},
        entities=tuple(
            KnownEntity(
                alias=alias,
                name=name,
                entity_type=kind,
                mentions=int(mentions),
                ids=tuple(UUID(one) for one in ids),
            )
            for alias, name, kind, mentions, ids in entities or ()
        ),
    )
