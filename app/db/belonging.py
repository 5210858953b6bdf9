"""Whom `my sister` and the user's own name mean in the visible scopes, as part of the look-up of names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from app.db import past
from app.memory import vocabulary

_NAME: Final = "has-name"

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
    """What is asked for besides names; `stated_by` are the types whose memories say what somebody has."""

    stated_by: tuple[str, ...] = ()
    own: tuple[Own, ...] = ()

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
    """Where names, entities and memories are read, as SQL; memories by a condition on `x`."""

    names: str
    entities: str
    memories: Callable[[str], str]


def _memories(condition: str) -> str:
    return f"(SELECT x.* FROM memories x WHERE x.tenant_id = :tenant AND {condition})"  # noqa: S608 - of constants


NOW: Final = Rows(
    names="(SELECT a.* FROM entity_aliases a WHERE a.tenant_id = :tenant)", entities="entities", memories=_memories
)
THEN: Final = Rows(names=past.NAMES, entities=past.ENTITIES, memories=past.memories)


def called(rows: Rows) -> str:
    """Return the CTEs `me`, the users of the visible scopes, and `called`: the names among those asked that are theirs.

    A name counts in the scope in which it was said, and while the memory that says so is active.
    """
    name = f"x.scope_id = me.scope_id AND x.type = ANY(:stated_by) AND x.slot = CAST(me.root AS text) || '|{_NAME}'"
    return f"""me AS MATERIALIZED (
            SELECT DISTINCT a.scope_id, coalesce(e.merged_into, e.id) AS root
            FROM {rows.names} a
            CROSS JOIN LATERAL (
                SELECT e.* FROM {rows.entities} e WHERE e.tenant_id = :tenant AND e.id = a.entity_id OFFSET 0
            ) e
            WHERE a.scope_id = ANY(:scopes) AND a.alias = '{vocabulary.USER}'
        ), called AS (
            SELECT m.slot_value AS alias, me.root
            FROM me CROSS JOIN LATERAL {rows.memories(name)} m
            WHERE m.status = 'active' AND m.slot_value = ANY(:names)
        )"""  # noqa: S608 - composed of constants


def owned(rows: Rows) -> str:
    """Return the CTE `owned`: what is called one's own, the entities it leads to, and through what.

    Through a statement about the user (`user has-sibling Clara`, `user reports-to Priya`, `Priya manages user`), or
    through a description of the entity (`relationship: user's sister`).
    """
    about = "x.subject_id = me.root AND x.scope_id = me.scope_id AND x.type = ANY(:stated_by)"
    return f"""saying AS MATERIALIZED (
            SELECT asked.alias, m.id, m.scope_id, m.slot_value
            FROM me CROSS JOIN LATERAL {rows.memories(about)} m
            JOIN unnest(:own_aliases, :own_predicates) AS asked(alias, predicate)
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
            JOIN unnest(:own_aliases, :own_inverses) AS asked(alias, inverse) ON asked.inverse = r.relation_type
            CROSS JOIN LATERAL {rows.memories("x.id = r.memory_id")} m
            WHERE m.status = 'active' AND m.slot_value IS NOT NULL
            ORDER BY m.stated_at DESC, m.id DESC LIMIT {FOUND}
        ), described AS (
            SELECT asked.alias, o.entity_id AS id
            FROM unnest(:described_aliases, :described_words) AS asked(alias, words)
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
        ), owned AS (
            SELECT found.alias, coalesce(e.merged_into, e.id) AS root, found.through
            FROM (
                SELECT alias, id, 'statement' AS through FROM stated
                UNION SELECT alias, id, 'statement' FROM told
                UNION SELECT alias, id, 'description' FROM described
            ) found
            CROSS JOIN LATERAL (
                SELECT e.* FROM {rows.entities} e WHERE e.tenant_id = :tenant AND e.id = found.id OFFSET 0
            ) e
        )"""  # noqa: S608 - composed of constants
