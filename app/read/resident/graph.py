"""The graph arm (`retrieve.graph`) on what is held of scopes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple
from uuid import UUID

from app.read.resident.columns import Mask
from app.read.resident.scope import Edge, ResidentScope
from app.read.retrieve import Search
from app.read.retrieve.graph import (
    COMMON,
    DESCRIBED,
    EDGES,
    LOOKED_THROUGH,
    MENTIONS,
    NAMESAKES,
    ONE_HOP,
    SPEAKING,
    SPOKEN,
    TWO_HOPS,
    UNASKED,
)

_SPEAKER = "speaker"


class Seed(NamedTuple):
    """An entity that the question names: the place of the name in it, how rare it is, and whether it only spoke."""

    entity: UUID
    name: int
    rarity: float
    only_spoke: bool


class Step(NamedTuple):
    """An edge that is followed from an entity, for a name."""

    name: int
    near: UUID
    memory: UUID
    far: UUID
    asked: bool


class Hop(NamedTuple):
    """An entity some edges away from a name, the one before it on the way, and its weight."""

    name: int
    entity: UUID
    came_from: UUID
    weight: float


class Graph:
    """The entities and relations of some scopes, and the rows of them that may be seen, for a search."""

    def __init__(self, search: Search, sights: Sequence[tuple[ResidentScope, Mask]]) -> None:
        """Look at these scopes."""
        self.search = search
        self.sights = sights
        self.seeds = [
            Seed(one, place, entity.rarity, self._only_spoke(one))
            for place, mentioned in enumerate(search.mentioned)
            for entity in mentioned.entities
            for one in entity.ids
        ]

    def scores(self) -> Mapping[UUID, float]:
        """Return the score of each memory that a name leads to, the mean over the names."""
        best: dict[tuple[int, UUID], float] = {}
        for name, memory, score in self._told():
            if score > best.get((name, memory), 0.0):
                best[name, memory] = score
        total: dict[UUID, list[float]] = defaultdict(list)
        for (_, memory), score in sorted(best.items(), key=lambda each: each[0][0]):
            total[memory].append(score)
        names = max(1, len(self.search.mentioned))
        return {memory: sum(scores) / names for memory, scores in total.items()}

    def _told(self) -> Iterator[tuple[int, UUID, float]]:
        for seed in self.seeds:
            if seed.rarity >= COMMON:
                for memory, role in self._mentions(seed.entity, MENTIONS, speaking=seed.only_spoke):
                    spoken = SPEAKING if seed.only_spoke else 0.0
                    yield seed.name, memory, seed.rarity * (1.0 if role != _SPEAKER else spoken)
        first = [step for one in self.seeds for step in self._steps(one.name, one.entity, None)]
        one_hop = self._hops(first, ONE_HOP)
        second = [step for hop in one_hop for step in self._steps(hop.name, hop.entity, hop.came_from)]
        yield from ((step.name, step.memory, 1.0) for step in first if step.asked)
        yield from ((step.name, step.memory, ONE_HOP) for step in second if step.asked)
        yield from ((step.name, memory, DESCRIBED) for step in first for memory in self._descriptions(step.far))
        for hops, most in ((one_hop, MENTIONS // 8), (self._hops(second, TWO_HOPS), MENTIONS // 20)):
            for hop in hops:
                yield from ((hop.name, memory, hop.weight) for memory, _ in self._mentions(hop.entity, most))

    def _of(self, entity: UUID) -> Iterator[tuple[UUID, str]]:
        for scope, _ in self.sights:
            yield from scope.mentions.get(entity, ())

    def _only_spoke(self, entity: UUID) -> bool:
        said = [role for _, role in islice(self._of(entity), SPOKEN + 1)]
        return 1 <= len(said) <= SPOKEN and all(role == _SPEAKER for role in said)

    def _mentions(self, entity: UUID, most: int, *, speaking: bool = False) -> Iterator[tuple[UUID, str]]:
        recent = islice(self._of(entity), LOOKED_THROUGH)
        return islice((one for one in recent if speaking or one[1] != _SPEAKER), most)

    def _sees(self, memory: UUID) -> float | None:
        """Return the confidence of a memory that may be seen."""
        for scope, seen in self.sights:
            place = scope.owners.get(memory)
            if place is not None and (row := scope.first[place]) >= 0 and seen[row]:
                return float(scope.columns.rows["confidence"][row])
        return None

    def _steps(self, name: int, entity: UUID, came_from: UUID | None) -> Iterator[Step]:
        """Yield the edges of an entity that may be seen, those asked about first, without the way back."""
        found: list[tuple[bool, float, int, Edge]] = []
        for scope, _ in self.sights:
            there = scope.leaving.get(entity, ())
            back = (one for one in scope.arriving.get(entity, ()) if one.near != one.far)
            for one in (*there, *(Edge(one.memory, one.far, one.kind, one.near) for one in back)):
                confidence = self._sees(one.memory)
                if confidence is not None:
                    found.append((one.kind in self.search.relations, confidence, one.memory.int, one))
        found.sort(key=lambda each: each[:3], reverse=True)
        for asked, _, _, edge in found[:EDGES]:
            if edge.far != came_from:
                yield Step(name, entity, edge.memory, edge.far, asked)

    def _hops(self, steps: Sequence[Step], weight: float) -> list[Hop]:
        """Return the entities at the far ends, each with those that are one with it, but those that are named."""
        named = {one.entity for one in self.seeds}
        found: dict[tuple[int, UUID], Hop] = {}
        for step in steps:
            whole = weight if step.asked or not self.search.relations else weight * UNASKED
            for same in self._same(step.far):
                if same not in named:
                    hop = found.get((step.name, same), Hop(step.name, same, step.near, 0.0))
                    found[step.name, same] = hop._replace(weight=max(hop.weight, whole))
        return list(found.values())

    def _same(self, entity: UUID) -> Iterator[UUID]:
        for scope, _ in self.sights:
            known = scope.entities.get(entity)
            if known is not None:
                root = known.merged_into or known.id
                yield from dict.fromkeys((root, known.id, *scope.merged.get(root, ())))

    def _descriptions(self, far: UUID) -> list[UUID]:
        """Return the newest memories that may be seen and describe an entity, or one of its name."""
        described: set[UUID] = set()
        for scope, _ in self.sights:
            known = scope.entities.get(far)
            for alias in () if known is None else known.aliases:
                for namesake in scope.named.get(alias, ()):
                    described.update(memory for memory, role in scope.mentions.get(namesake, ()) if role == "identity")
        seen = (one for one in sorted(described, reverse=True) if self._sees(one) is not None)
        return list(islice(seen, NAMESAKES))
