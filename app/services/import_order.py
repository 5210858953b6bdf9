"""In which order the memories of an import are stored: one that was replaced comes after the one that replaced it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from app.services.records import Line

MOST_WAITING = 10_000
"""Memories that wait for the one that replaced them."""


@dataclass(slots=True)
class Waiting:
    """Memories that wait for the one that replaced them, by its id."""

    _lines: dict[UUID, list[Line]] = field(default_factory=dict)
    _count: int = 0

    def __len__(self) -> int:
        """Return how many wait."""
        return self._count

    def add(self, line: Line) -> bool:
        """Let a memory wait; return False where too many do already."""
        if self._count >= MOST_WAITING:
            return False
        self._count += 1
        self._lines.setdefault(line.values["superseded_by"], []).append(line)
        return True

    def take(self, successors: Iterable[UUID | None]) -> list[Line]:
        """Return those that waited for any of these; they wait no longer."""
        found = [line for one in successors if one is not None for line in self._lines.pop(one, ())]
        self._count -= len(found)
        return found

    def free(self) -> list[Line]:
        """Return those whose successor does not wait itself; they wait no longer."""
        waiting = {line.id for lines in self._lines.values() for line in lines}
        return self.take([one for one in self._lines if one not in waiting])

    def circles(self) -> list[Line]:
        """Return those that replaced themselves, through others or not; they wait no longer."""
        lost = in_circles([line for lines in self._lines.values() for line in lines])
        found = [line for lines in self._lines.values() for line in lines if line.id in lost]
        left = [line for lines in self._lines.values() for line in lines if line.id not in lost]
        self._lines, self._count = {}, 0
        for line in left:
            self.add(line)
        return found


def ready(lines: Sequence[Line], there: set[UUID]) -> list[Line]:
    """Return the lines of memories whose successors are there, or come with them and are ready themselves."""
    by_id = {line.id: line for line in lines}
    settled: dict[UUID | None, bool] = {}
    for line in lines:
        path: list[UUID | None] = [line.id]
        at: UUID | None = line.values.get("superseded_by")
        while at in by_id and at not in there and at not in settled and at not in path:
            path.append(at)
            at = by_id[at].values.get("superseded_by")
        fine = at is None or at in there or settled.get(at, False)
        settled.update(dict.fromkeys(path, fine))
    return [line for line in lines if settled[line.id]]


def in_circles(lines: Sequence[Line]) -> set[UUID]:
    """Return the memories whose successors lead back to themselves."""
    after = {line.id: line.values["superseded_by"] for line in lines if line.id is not None}
    found: set[UUID] = set()
    seen: set[UUID] = set()
    for start in after:
        path: dict[UUID, int] = {}
        at: UUID | None = start
        while at in after and at not in seen and at not in path:
            path[at] = len(path)
            at = after[at]
        if at in path:
            found |= {one for one, place in path.items() if place >= path[at]}
        seen |= path.keys()
    return found


def without_successor(line: Line) -> Line:
    """Return a memory's line without the one that replaced it."""
    return replace(line, values={**line.values, "superseded_by": None})
