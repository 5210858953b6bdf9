"""What understanding a question needs to know of the store, in one round trip."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy import ARRAY, Integer, Text, TextClause, Uuid, bindparam, text
from sqlalchemy.dialects.postgresql import JSONB

from app.db import belonging, past
from app.db.belonging import Belongings, Rows
from app.db.session import ReadSession


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownEntity:
    """An alias that was asked for and the entity it leads to, with every entity merged into that one.

    `mentions` counts the memories about it, what it said apart; thousands are not counted to the end. `through`: not
    by its name, but by a statement or a description that makes it what the alias, `user's sister`, says.
    """

    alias: str
    name: str
    entity_type: str
    mentions: int
    ids: tuple[UUID, ...]
    attributes: Mapping[str, str] = field(default_factory=dict)
    through: Literal["name", "statement", "description"] = "name"


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


NOTHING: Final = Belongings()

_KIN_NOW = """
            SELECT DISTINCT root, root AS id FROM named
            UNION
            SELECT kin.root, e.id FROM kin
            JOIN entities e ON e.tenant_id = :tenant AND e.merged_into = kin.id"""

_KIN_THEN = f"""
            SELECT named.root, same.id FROM (SELECT DISTINCT root FROM named) named
            CROSS JOIN LATERAL {past.family("named.root")} same"""  # noqa: S608 - composed of constants


def _known(rows: Rows, kin: str, *, owned: bool) -> str:
    """Return the CTEs of whom the names lead to; `owned`: and what is called one's own."""
    own = f", {belonging.owned(rows)}" if owned else ""
    theirs = "UNION SELECT alias, root, through FROM owned" if owned else ""
    return f"""
        WITH RECURSIVE {belonging.called(rows)}{own}, named AS (
            SELECT a.alias, coalesce(e.merged_into, e.id) AS root, 'name' AS through
            FROM {rows.names} a
            CROSS JOIN LATERAL (
                SELECT e.* FROM {rows.entities} e WHERE e.tenant_id = :tenant AND e.id = a.entity_id OFFSET 0
            ) e
            WHERE a.scope_id = ANY(:scopes) AND a.alias = ANY(:names)
            UNION SELECT alias, root, 'name' FROM called {theirs}
        ), kin AS ({kin}
        )"""  # noqa: S608 - composed of constants


def _look_up(rows: Rows, kin: str, mention: str, *, owned: bool) -> TextClause:
    """Return the statement; `mention` is a condition on `me`, a mention, to count."""
    asked = text(
        f"""{_known(rows, kin, owned=owned)}, family AS (
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
            (SELECT jsonb_agg(jsonb_build_array(
                        n.alias, e.canonical_name, e.entity_type, f.mentions, f.ids, e.attributes, n.through)
                    ORDER BY n.alias, e.id, n.through)
             FROM named n
             JOIN family f ON f.root = n.root
             JOIN {rows.entities} e ON e.tenant_id = :tenant AND e.id = n.root) AS entities
        """  # noqa: S608 - composed of constants
    ).bindparams(
        bindparam("scopes", type_=ARRAY(Uuid)),
        bindparam("names", type_=ARRAY(Text)),
        bindparam("terms", type_=ARRAY(Integer)),
        bindparam("vector_index", type_=Text),
        bindparam("stated_by", type_=ARRAY(Text)),
        *(bindparam(name, type_=ARRAY(Text)) for name in belonging.ASKED if owned),
    )
    return asked.columns(counts=JSONB, frequencies=JSONB, entities=JSONB)  # type: ignore[return-value]


_BY_THEN = """ AND EXISTS (
                        SELECT FROM memories m
                        WHERE m.tenant_id = :tenant AND m.id = me.memory_id AND m.recorded_at <= :known_at)"""

_NOW = {owned: _look_up(belonging.NOW, _KIN_NOW, "", owned=owned) for owned in (False, True)}
_THEN = {owned: _look_up(belonging.THEN, _KIN_THEN, _BY_THEN, owned=owned) for owned in (False, True)}


async def look_up(
    session: ReadSession,
    *,
    tenant: UUID,
    scopes: Sequence[UUID],
    names: Collection[str],
    terms: Collection[int],
    vector_index: str,
    known_at: datetime | None = None,
    belongings: Belongings = NOTHING,
) -> Known:
    """Return what the visible scopes know of these normalised names, term indexes and belongings.

    A name may be the user's own, as a memory says it. `index_rows` are those of the vector index, by its name.
    `known_at`: whom the names led to then; the counts, which only weigh words, are those of now.
    """
    found: Any = await session.execute(
        (_NOW if known_at is None else _THEN)[bool(belongings.own)],
        {
            **belongings.parameters(),
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
                attributes=attributes,
                through=through,
            )
            for alias, name, kind, mentions, ids, attributes, through in entities or ()
        ),
    )
