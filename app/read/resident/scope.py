"""A scope in memory: a frozen value, and the value that comes of it by what changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.db.memories.ranking import RankingRow
from app.db.memories.resident import BeliefRow, Changed, SayingRow, ScopeRows
from app.db.memories.usage import StoredUse
from app.model import Memory, MemoryStatus
from app.read.resident.columns import IndexColumns, Places, columns_of

K = TypeVar("K")
V = TypeVar("V")

_PER_MEMORY: Final = 4_000
"""Bytes of a memory besides its columns: its ranking row, the beginning of what it says, and its places in look-ups."""

_PER_ANSWER: Final = 3_000
"""Bytes of a whole memory that was returned."""

_PER_ENTITY: Final = 900


class Edge(NamedTuple):
    """A relation, by the memory that states it."""

    memory: UUID
    near: UUID
    kind: str
    far: UUID


class Telling(NamedTuple):
    """The turns that match a pattern of what is to be heeded, and those that were not compared with it yet."""

    matching: frozenset[UUID]
    unread: frozenset[UUID]

    def after(self, changed: Collection[UUID]) -> Telling:
        """Return the same after a change of memories."""
        return Telling(self.matching.difference(changed), self.unread.union(changed))


class HeldEntity(NamedTuple):
    """An entity: its name, the one that it was merged into, what tells it from others of its name, and its aliases."""

    id: UUID
    name: str
    merged_into: UUID | None
    kind: str
    relationship: str | None
    aliases: Sequence[str]

    @property
    def shown(self) -> tuple[object, ...]:
        """What is shown with memories that mention it, or another of its name."""
        return self[1:5]


Index = Mapping[K, tuple[V, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """Vectors of hypothetical questions, each with the place of its memory."""

    owners: NDArray[np.int32]
    vectors: NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidentScope:
    """Everything that questions read of a scope, as of a snapshot.

    `noted` is the number of what has noted its changes since. `ids` are memories by their places, which index rows
    name; `owners` the places; places of what is gone stay unused. `high` and `low` are the halves of these ids as
    numbers. `mentions` are what mentions an entity, newest first, with the role. `answers` are whole memories as they
    were read by questions; they are added while the scope is held. So are `telling`, turns by what they match.
    """

    id: UUID
    snapshot: str = ""
    noted: int | None = None
    ids: tuple[UUID, ...] = ()
    high: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    low: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    owners: Mapping[UUID, int] = field(default_factory=dict)
    types: Places = field(default_factory=Places)
    speakers: Places = field(default_factory=Places)
    columns: IndexColumns = field(default_factory=IndexColumns.empty)
    first: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    questions: Questions = field(
        default_factory=lambda: Questions(owners=np.zeros(0, np.int32), vectors=np.zeros((0, 0), np.float32))
    )
    rows: Mapping[UUID, RankingRow] = field(default_factory=dict)
    standing: Mapping[UUID, BeliefRow] = field(default_factory=dict)
    slots: Index[tuple[str, str], UUID] = field(default_factory=dict)
    said: Index[UUID, SayingRow] = field(default_factory=dict)
    told: Index[UUID, SayingRow] = field(default_factory=dict)
    roles: Index[UUID, tuple[UUID, str]] = field(default_factory=dict)
    mentions: Index[UUID, tuple[UUID, str]] = field(default_factory=dict)
    edges: Index[UUID, Edge] = field(default_factory=dict)
    leaving: Index[UUID, Edge] = field(default_factory=dict)
    arriving: Index[UUID, Edge] = field(default_factory=dict)
    entities: Mapping[UUID, HeldEntity] = field(default_factory=dict)
    merged: Index[UUID, UUID] = field(default_factory=dict)
    named: Index[str, UUID] = field(default_factory=dict)
    answers: dict[UUID, Memory] = field(default_factory=dict)
    telling: dict[str, Telling] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes, about."""
        return (
            2_000
            + self.columns.size
            + self.questions.vectors.nbytes
            + _PER_MEMORY * len(self.standing)
            + _PER_ENTITY * len(self.entities)
            + _PER_ANSWER * len(self.answers)
        )

    @property
    def unused(self) -> int:
        """Places of memories that are gone."""
        return len(self.ids) - len(self.owners)


def with_changes(scope: ResidentScope, changed: Changed, rows: ScopeRows, snapshot: str) -> ResidentScope:
    """Return the scope as of a later snapshot; `rows` are all that there are of what changed."""
    before = scope
    scope = _with_entities(scope, changed.entities, rows)
    same_names = _named_alike(before, scope, changed.entities)
    scope = _with_columns(scope, changed.memories, rows)
    scope = _with_standing(scope, changed.memories, rows)
    scope = _with_mentions(scope, changed.memories, rows)
    kept = {one: it for one, it in scope.answers.items() if one not in changed.memories} if same_names else {}
    telling = {pattern: one.after(changed.memories) for pattern, one in scope.telling.items()}
    return replace(scope, snapshot=snapshot, answers=kept, telling=telling)


def with_uses(scope: ResidentScope, uses: Mapping[UUID, StoredUse], snapshot: str) -> ResidentScope:
    """Return the scope as of a later snapshot, between which its memories were used and nothing else changed."""
    if not uses:
        return replace(scope, snapshot=snapshot)
    rows, answers = dict(scope.rows), dict(scope.answers)
    for one, use in uses.items():
        count, last = use.access_count, use.last_accessed_at
        if (row := rows.get(one)) is not None:
            rows[one] = row._replace(access_count=count, last_accessed_at=last)
        if (memory := answers.get(one)) is not None:
            usage = replace(memory.usage, stability=use.stability, sessions=use.sessions)
            answers[one] = replace(memory, access_count=count, last_accessed_at=last, usage=usage)
    return replace(scope, snapshot=snapshot, rows=rows, answers=answers)


def _named_alike(before: ResidentScope, after: ResidentScope, changed: Collection[UUID]) -> bool:
    """Tell whether entities are shown with memories as they were, which is by their names and those of others."""
    return all(
        (was := before.entities.get(one)) is not None
        and (now := after.entities.get(one)) is not None
        and was.shown == now.shown
        for one in changed
    )


def _with_columns(scope: ResidentScope, changed: Collection[UUID], rows: ScopeRows) -> ResidentScope:
    gone = [scope.owners[one] for one in changed if one in scope.owners]
    present = dict.fromkeys(one.memory_id for one in rows.parts)
    owners = {one: place for one, place in scope.owners.items() if one not in changed}
    owners |= {one: len(scope.ids) + place for place, one in enumerate(present)}
    types, speakers = Places(scope.types), Places(scope.speakers)
    new = columns_of(
        rows.parts,
        owners=owners,
        types=types,
        speakers=speakers,
        folded={one.id: one.folded_at for one in rows.beliefs if one.folded_at is not None},
    )
    columns = scope.columns.without(gone).joined(new)
    ids = (*scope.ids, *present)
    first = np.full(len(ids), -1, np.int32)
    whole = np.nonzero(columns.rows["part"] == 0)[0]
    first[columns.rows["owner"][whole]] = whole
    return replace(
        scope,
        ids=ids,
        high=np.concatenate([scope.high, np.array([one.int >> 64 for one in present], np.uint64)]),
        low=np.concatenate([scope.low, np.array([one.int & (2**64 - 1) for one in present], np.uint64)]),
        owners=owners,
        types=types,
        speakers=speakers,
        columns=columns,
        first=first,
        questions=_with_questions(scope.questions, gone, rows, owners),
    )


def _with_questions(known: Questions, gone: Collection[int], rows: ScopeRows, owners: Mapping[UUID, int]) -> Questions:
    asked = [(owners[memory], vector) for memory, vector in rows.questions if memory in owners]
    if not asked and not len(known.owners):
        return known
    keep = ~np.isin(known.owners, list(gone))
    new = np.array([vector.to_numpy() for _, vector in asked], np.float32)
    vectors = [one for one in (known.vectors[keep], new) if len(one)]
    return Questions(
        owners=np.concatenate([known.owners[keep], np.array([owner for owner, _ in asked], np.int32)]),
        vectors=np.concatenate(vectors) if vectors else np.zeros((0, 0), np.float32),
    )


def _with_standing(scope: ResidentScope, changed: Collection[UUID], rows: ScopeRows) -> ResidentScope:
    """Return the scope with new ranking rows, and with the strongest of the slots that changed on all of theirs."""
    new = {one.id: one for one in rows.beliefs}
    was = [one for memory in changed if (one := scope.standing.get(memory)) is not None]
    standing = {**_without(scope.standing, changed), **new}
    slots = _moved(scope.slots, map(_slotted, was), map(_slotted, new.values()))
    ranking = {**_without(scope.rows, changed), **rows.ranking}
    for slot in {key for one in (*was, *new.values()) for key, _ in (_slotted(one),) if key is not None}:
        among = [standing[one] for one in slots.get(slot, ())]
        holding = [one for one in among if one.status == MemoryStatus.ACTIVE]
        strongest = max(one.confidence for one in holding) if any(one.contested for one in holding) else None
        for one in among:
            if one.id in ranking:
                held = strongest if one.status == MemoryStatus.ACTIVE else None
                ranking[one.id] = ranking[one.id]._replace(strongest=held)
    past = [one for memory in changed for one in scope.said.get(memory, ())]
    return replace(
        scope,
        standing=standing,
        slots=slots,
        rows=ranking,
        said=_moved(scope.said, ((one.memory, one) for one in past), ((one.memory, one) for one in rows.evidence)),
        told=_moved(
            scope.told,
            ((one.turn, one) for one in past),
            ((one.turn, one) for one in rows.evidence),
            order=lambda one: (one.memory, one.place),
        ),
    )


def _with_mentions(scope: ResidentScope, changed: Collection[UUID], rows: ScopeRows) -> ResidentScope:
    former = [(memory, *role) for memory in changed for role in scope.roles.get(memory, ())]
    edges = [Edge._make(one) for one in rows.relations]
    past = [one for memory in changed for one in scope.edges.get(memory, ())]
    return replace(
        scope,
        roles=_moved(
            scope.roles,
            ((memory, (entity, role)) for memory, entity, role in former),
            ((memory, (entity, role)) for memory, entity, role in rows.mentions),
        ),
        mentions=_moved(
            scope.mentions,
            ((entity, (memory, role)) for memory, entity, role in former),
            ((entity, (memory, role)) for memory, entity, role in rows.mentions),
            order=lambda one: (-one[0].int, one[1]),
        ),
        edges=_moved(scope.edges, ((one.memory, one) for one in past), ((one.memory, one) for one in edges)),
        leaving=_moved(scope.leaving, ((one.near, one) for one in past), ((one.near, one) for one in edges)),
        arriving=_moved(scope.arriving, ((one.far, one) for one in past), ((one.far, one) for one in edges)),
    )


def _with_entities(scope: ResidentScope, changed: Collection[UUID], rows: ScopeRows) -> ResidentScope:
    if not changed:
        return scope
    new = {one[0]: HeldEntity._make(one) for one in rows.entities}
    was = [one for entity in changed if (one := scope.entities.get(entity)) is not None]
    return replace(
        scope,
        entities={**_without(scope.entities, changed), **new},
        merged=_moved(scope.merged, map(_root, was), map(_root, new.values())),
        named=_moved(
            scope.named,
            ((alias, one.id) for one in was for alias in one.aliases),
            ((alias, one.id) for one in new.values() for alias in one.aliases),
        ),
    )


def _slotted(one: BeliefRow) -> tuple[tuple[str, str] | None, UUID]:
    return (None if one.slot is None else (one.type, one.slot)), one.id


def _root(one: HeldEntity) -> tuple[UUID | None, UUID]:
    return one.merged_into, one.id


def _without(known: Mapping[K, V], gone: Collection[K]) -> dict[K, V]:
    left = dict(known)
    for one in gone:
        left.pop(one, None)
    return left


def _moved(
    index: Index[K, V],
    gone: Iterable[tuple[K | None, V]],
    new: Iterable[tuple[K | None, V]],
    *,
    order: Callable[[V], Any] | None = None,
) -> dict[K, tuple[V, ...]]:
    """Return an index without some values and with others; values under None are in none."""
    left = dict(index)
    out: dict[K, set[V]] = defaultdict(set)
    into: dict[K, list[V]] = defaultdict(list)
    for key, value in gone:
        if key is not None:
            out[key].add(value)
    for key, value in new:
        if key is not None:
            into[key].append(value)
    for key in {*out, *into}:
        values = [one for one in left.get(key, ()) if one not in out.get(key, ())] + into.get(key, [])
        if order is not None:
            values.sort(key=order)
        if values:
            left[key] = tuple(values)
        else:
            left.pop(key, None)
    return left
