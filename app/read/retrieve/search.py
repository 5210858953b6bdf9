"""The input of a search, and the SQL conditions that every arm repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from pgvector import HalfVector, SparseVector

from app.db.memories.validity import is_on_record, is_or_was_believed, is_true, is_valid
from app.db.sql import Model
from app.model import ReadMode
from app.read.values import Arm, Mentioned, Window

CONTENT = "('content', 'both')"
"""Kinds of index rows, as SQL, that hold what a memory says itself."""

CONTEXT = "('context', 'both')"
"""Kinds that hold it together with what came before; `both` where it stands alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilters:
    """The hard conditions of a question, the same in every arm.

    `now` is the caller's, `clock` the server's: without a time to travel to, a memory must have begun by
    the later of the two (a caller may set `now` back to ask as of a conversation's date, yet memories that
    were stored without a date began by the server's clock) and must not have ended by `now`. `known_at` takes the
    place of the server's clock: the store is read as it was then, and `now` is what the caller's was.
    `within`: only what happened in one of these windows. `metadata`: a JSON object that the metadata contain. `timed`:
    the question names windows, and what was folded into a summary is found by the time it tells of.
    """

    tenant: UUID
    scopes: tuple[UUID, ...]
    mode: ReadMode
    now: datetime
    clock: datetime
    as_of: datetime | None = None
    known_at: datetime | None = None
    min_confidence: float = 0.0
    types: tuple[str, ...] = ()
    topic: str | None = None
    metadata: str | None = None
    excluded: tuple[UUID, ...] = ()
    within: tuple[Window, ...] = ()
    timed: bool = False


class Shape(NamedTuple):
    """The form of a search: its arms, and which conditions and values it has.

    SQL is composed of this alone, once.
    """

    arms: tuple[Arm, ...]
    mode: ReadMode
    as_of: bool
    known_at: bool
    types: bool
    topic: bool
    metadata: bool
    excluded: bool
    within: bool
    timed: bool
    model: Model
    exact: bool
    questions: bool
    vector: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Everything the arms need. `exact`: compare with every visible vector, don't use the vector index.

    `vector` is the embedded question and `weights` its lexical half of BM25, `whole` the
    sum of those weights, `words` the question's words with what each weighs;
    `nominators` are the terms by which the lexical index nominates. `contexts`: some memory is indexed
    together with its earlier turns; otherwise the context arms would only repeat the others. `questions`: the
    share by which a memory gains from the best question it answers; 0 where none has any.
    """

    arms: frozenset[Arm]
    filters: SearchFilters
    depth: int
    model: Model
    exact: bool
    contexts: bool = True
    questions: float = 0.0
    vector: HalfVector | None = None
    weights: SparseVector | None = None
    whole: float = 0.0
    words: Mapping[str, float] = field(default_factory=dict)
    nominators: tuple[str, ...] = ()
    mentioned: tuple[Mentioned, ...] = ()
    relations: tuple[str, ...] = ()
    windows: tuple[Window, ...] = ()

    @property
    def shape(self) -> Shape:
        """What its statement depends on; arms that have nothing to go by are not asked."""
        filters = self.filters
        return Shape(
            arms=tuple(arm for arm in Arm if arm in self.arms and self.has_input(arm)),
            mode=filters.mode,
            as_of=filters.as_of is not None,
            known_at=filters.known_at is not None,
            types=bool(filters.types),
            topic=filters.topic is not None,
            metadata=filters.metadata is not None,
            excluded=bool(filters.excluded),
            within=bool(filters.within),
            timed=filters.timed,
            model=self.model,
            exact=self.exact,
            questions=self.questions > 0,
            vector=self.vector is not None,
        )

    def has_input(self, arm: Arm) -> bool:
        """Tell whether an arm has something to go by; one that hasn't nominates nothing."""
        match arm:
            case Arm.SEMANTIC:
                return self.vector is not None
            case Arm.SEMANTIC_CONTEXT:
                return self.vector is not None and self.contexts
            case Arm.LEXICAL:
                return bool(self.nominators)
            case Arm.LEXICAL_CONTEXT:
                return bool(self.nominators) and self.contexts
            case Arm.GRAPH:
                return bool(self.mentioned)
            case Arm.TEMPORAL:
                return bool(self.windows)


_CHANGING = ("type", "status", "topic", "confidence", "stated_at", "valid_from", "valid_until", "ended_at")
_CONSTANT = (
    *("tenant_id", "memory_id", "part", "kind", "scope_id", "recorded_at", "retired_at", "event_range"),
    *("speaker_id", "model_id", "embedding", "model_id_2", "embedding_2", "ann", "lexical", "tsv"),
)

_INDEX_THEN = f"""(
    SELECT {", ".join(f"x.{name}" for name in _CONSTANT)},
        {", ".join(f"CASE WHEN p.status IS NULL THEN x.{name} ELSE p.{name} END AS {name}" for name in _CHANGING)}
    FROM memory_index x LEFT JOIN LATERAL (
        SELECT {", ".join(f"was.{name}" for name in _CHANGING)} FROM memory_past was
        WHERE was.tenant_id = :tenant AND was.memory_id = x.memory_id AND was.believed_until > :known_at
        ORDER BY was.believed_until LIMIT 1
    ) p ON true
) i"""  # noqa: S608 - composed of constants
"""Index rows with what they are filtered by as it was: a look-up of its past for each row that is read.

What nominates is the row as it is now: where a memory's words were changed since, it is found by the new ones, and
shown and judged as it was."""


def indexed(shape: Shape) -> str:
    """Return the rows `i` that the arms read, as what follows FROM: those of the index, or what they were."""
    return _INDEX_THEN if shape.known_at else "memory_index i"


def visible(shape: Shape, *, scoped: bool = True) -> str:
    """Return the condition on `i`, a row of memory_index, that it may be seen at all.

    `scoped` False: the arm joins with the visible scopes itself.
    """
    conditions = [
        "i.tenant_id = :tenant",
        *(["i.scope_id = ANY(:scopes)"] if scoped else []),
        "i.confidence >= :min_confidence",
        *_statuses(shape),
        *_times(shape),
    ]
    return " AND ".join(conditions)


def type_filter(shape: Shape, *, scoped: bool = True, typed: bool = True) -> str:
    """Return the condition on `i` that it may be seen and can answer the question; `scoped` as above, `typed` alike."""
    conditions = [visible(shape, scoped=scoped)]
    if typed and shape.types:
        conditions.append("i.type = ANY(:types)")
    if shape.topic:
        conditions.append("folded(i.topic) = folded(:topic)")
    if shape.metadata:
        conditions.append("i.memory_id IN (SELECT memory_id FROM labelled)")
    if shape.excluded:
        conditions.append(
            "NOT EXISTS (SELECT FROM memory_entities x WHERE x.tenant_id = :tenant"
            " AND x.memory_id = i.memory_id AND x.entity_id = ANY(:excluded))"
        )
    if shape.within:
        conditions.append(
            "EXISTS (SELECT FROM unnest(CAST(:within_lower AS timestamptz[]), CAST(:within_upper AS timestamptz[]))"
            " AS named(lower, upper) WHERE i.event_range && tstzrange(named.lower, named.upper))"
        )
    return " AND ".join(conditions)


def in_each_scope(columns: str, shape: Shape, condition: str, *, each_type: bool = False) -> str:
    """Return the select of columns of the rows `i` that can answer and meet a condition, by one look-up a scope.

    With `scope_id = ANY(...)` a plan for any tenant reads all rows of a large one, because an average one has few.
    `OFFSET 0` keeps the planner from joining the scopes afterwards, which would do the same. `each_type`:
    by one look-up for each type, too, where rows are found by an index that has their type.
    """
    each_type = each_type and shape.types and not shape.known_at
    types = "CROSS JOIN unnest(CAST(:types AS text[])) AS wanted(type)" if each_type else ""
    typed = "AND i.type = wanted.type" if each_type else ""
    return f"""
        SELECT found.* FROM unnest(CAST(:scopes AS uuid[])) AS bucket(scope_id) {types}
        CROSS JOIN LATERAL (
            SELECT {columns} FROM {indexed(shape)}
            WHERE i.scope_id = bucket.scope_id {typed}
              AND {type_filter(shape, scoped=False, typed=not each_type)} AND {condition}
            OFFSET 0
        ) found"""  # noqa: S608 - composed of constants


def of_memory(memory: str, shape: Shape) -> str:
    """Return the join with the first row `i` of a memory: found by its key, whatever else is asked of it."""
    return f"""CROSS JOIN LATERAL (
            SELECT * FROM {indexed(shape)}
            WHERE i.tenant_id = :tenant AND i.memory_id = {memory} AND i.part = 0 OFFSET 0
        ) i"""  # noqa: S608 - composed of constants


def labelled(shape: Shape) -> list[str]:
    """Return the CTE of the memories whose metadata may contain what is asked for, if anything is; ranking looks again.

    With a time of knowledge, also of those whose metadata did, and were changed since.
    """
    if not shape.metadata:
        return []
    then = """
        UNION SELECT p.memory_id FROM memory_past p
        WHERE p.tenant_id = :tenant AND p.scope_id = ANY(:scopes) AND p.believed_until > :known_at
          AND p.was -> 'metadata' @> :metadata"""
    return [
        f"""
    labelled AS MATERIALIZED (
        SELECT l.memory_id FROM memory_labels l
        WHERE l.tenant_id = :tenant AND l.scope_id = ANY(:scopes)
          AND l.label = ANY(ARRAY(SELECT metadata_labels(:metadata)))
        GROUP BY l.memory_id HAVING count(*) = (SELECT count(*) FROM metadata_labels(:metadata))
        {then if shape.known_at else ""}
    )"""  # noqa: S608 - composed of constants
    ]


def parameters(filters: SearchFilters) -> dict[str, object]:
    """Return the values of the conditions; unused ones are left out where the statement is bound."""
    clock = filters.known_at or filters.clock
    return {
        "tenant": filters.tenant,
        "scopes": list(filters.scopes),
        "min_confidence": filters.min_confidence,
        "begun": filters.as_of or max(filters.now, clock),
        "instant": filters.as_of or filters.now,
        "known_at": filters.known_at,
        "types": list(dict.fromkeys(filters.types)),
        "topic": filters.topic,
        "metadata": filters.metadata,
        "excluded": list(filters.excluded),
        "within_lower": [window.lower for window in filters.within],
        "within_upper": [window.upper for window in filters.within],
    }


def bounds(windows: Sequence[Window]) -> dict[str, object]:
    """Return the values of the named windows."""
    return {
        "window_lower": [window.lower for window in windows],
        "window_upper": [window.upper for window in windows],
        "window_told": [window.told for window in windows],
    }


_FOLDED = """i.status = 'superseded' AND EXISTS (
        SELECT FROM memory_folds f
        WHERE f.tenant_id = :tenant AND f.memory_id = i.memory_id AND f.folded_at = i.retired_at)
    AND EXISTS (
        SELECT FROM unnest(CAST(:window_lower AS timestamptz[]), CAST(:window_upper AS timestamptz[]))
            AS named(lower, upper)
        WHERE coalesce(i.event_range, tstzrange(i.stated_at, i.stated_at, '[]'))
            && tstzrange(named.lower, named.upper))"""
"""The condition that a summary stands for `i`, and that it tells of a named window, for which it stands itself."""


def _statuses(shape: Shape) -> list[str]:
    """Return the conditions on the status; what was rejected before it was ever believed is for no read.

    What was replaced by something that had yet to begin is believed until then.
    """
    if shape.mode is ReadMode.AUDIT:
        return [is_on_record("i")]
    if shape.mode is ReadMode.HISTORICAL or shape.as_of:
        return [is_or_was_believed("i")]
    folded = f" OR ({_FOLDED})" if shape.timed else ""
    return [
        f"(i.status = 'active' OR (i.status = 'superseded' AND i.ended_at > greatest(i.retired_at, :instant)){folded})"
    ]


def _times(shape: Shape) -> list[str]:
    """Return the conditions on both clocks.

    With a known instant the rows are those of that instant (`indexed`): what was recorded later is not there, and what
    was learnt later of the others is not on them. Historical and audit reads show every time, unless they ask for one.
    """
    conditions: list[str] = []
    if shape.known_at:
        conditions.append("i.recorded_at <= :known_at")
    if shape.mode is not ReadMode.DEFAULT and not shape.as_of:
        return conditions
    holds = is_true if shape.as_of else is_valid
    return [*conditions, holds("i", ":instant", begun=":begun")]
