"""What a store holds after writing: beliefs that stand twice, and beliefs that gave way to another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.memory import normalise
from app.write.dedup import DUPLICATE
from evals.verdicts import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A typed memory as it is stored; `about` is its subject, `place` the conversation it came from."""

    id: UUID
    place: str
    type: str
    about: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Twins:
    """Two active memories of one conversation and type that read nearly alike."""

    one: Held
    other: Held
    likeness: float
    same_words: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """A belief that gave way, and the one it gave way to."""

    old: Held
    new: Held

    @property
    def digest(self) -> str:
        """Return what the pair's verdict is kept under."""
        return digest(self.old.place, self.old.type, self.old.content, self.new.content)


def twins(held: Sequence[Held], vectors: NDArray[np.float32]) -> list[Twins]:
    """Return each pair of one place and type that says the same words, or of one subject too with a cosine over 0.92.

    `vectors` are of unit length, one a memory.
    """
    order = sorted(range(len(held)), key=lambda number: _shelf(held[number]))
    found = []
    for _, group in groupby(order, key=lambda number: _shelf(held[number])):
        members = list(group)
        cosines = vectors[members] @ vectors[members].T
        for row, first in enumerate(members):
            for column in range(row + 1, len(members)):
                one, other, likeness = held[first], held[members[column]], float(cosines[row, column])
                same = normalise.sentence(one.content) == normalise.sentence(other.content)
                if same or (likeness > DUPLICATE and one.about == other.about):
                    found.append(Twins(one=one, other=other, likeness=likeness, same_words=same))
    return found


def duplicates(pairs: Iterable[Twins]) -> set[UUID]:
    """Return every memory that stands twice."""
    return {one.id for pair in pairs for one in (pair.one, pair.other)}


def _shelf(one: Held) -> tuple[str, str]:
    return one.place, one.type
