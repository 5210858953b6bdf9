"""The index rows of a scope as columns: one row a part of a memory, its vector, and its terms.

Times are microseconds since 1970; a bound that is not there is the least or the greatest number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.db.memories.resident import PartRow
from app.model import MemoryStatus

EARLIEST: Final = -(2**62)

LATEST: Final = 2**62

CONTENT: Final = 0

CONTEXT: Final = 1

BOTH: Final = 2

_KINDS: Final[Mapping[str, int]] = {"content": CONTENT, "context": CONTEXT, "both": BOTH}

STATUSES: Final[Mapping[str, int]] = {one.value: place for place, one in enumerate(MemoryStatus)}

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_COLUMNS: Final[Mapping[str, type[np.generic]]] = {
    "owner": np.int32,
    "part": np.int16,
    "kind": np.int8,
    "type": np.int16,
    "status": np.int8,
    "speaker": np.int32,
    "confidence": np.float64,
    **dict.fromkeys(("valid_from", "valid_until", "ended_at", "recorded_at", "retired_at", "stated_at"), np.int64),
    **dict.fromkeys(("event_lower", "event_upper", "folded_at"), np.int64),
    **dict.fromkeys(("event_whole", "timed", "dated", "has_vector"), np.bool_),
}
"""`owner` is the place of the memory among the scope's; `type` and `speaker` are places in its lists of those. `timed`:
it has a time, that is not empty; `event_whole`: its end belongs to it; `dated`: it has a time."""

_TIMES: Final[Mapping[str, int]] = {
    **dict.fromkeys(("valid_from", "recorded_at", "retired_at", "stated_at", "event_lower"), EARLIEST),
    **dict.fromkeys(("valid_until", "ended_at", "event_upper"), LATEST),
}
"""What stands for a time that is not there."""

Mask = NDArray[np.bool_]

Scores = NDArray[np.float64]


def mask(values: Any) -> Mask:  # noqa: ANN401 - of a column whose type numpy doesn't tell
    """Return the truth of each row."""
    return np.asarray(values, np.bool_)


def micros(at: datetime | None, otherwise: int) -> int:
    """Return an instant as a number."""
    if at is None:
        return otherwise
    since = at - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


class Places(dict[Any, int]):
    """Numbers of values, in the order in which they were first asked for."""

    def __missing__(self, value: object) -> int:
        self[value] = place = len(self)
        return place


@dataclass(frozen=True, slots=True, kw_only=True)
class Postings:
    """The terms of index rows, in order: for each that a row has, the row's place and its weight."""

    terms: NDArray[np.int32]
    rows: NDArray[np.int32]
    weights: NDArray[np.float32]

    @classmethod
    def of(cls, terms: Sequence[int], rows: Sequence[int], weights: Sequence[float]) -> Postings:
        """Return them in order."""
        return cls(
            terms=np.array(terms, np.int32), rows=np.array(rows, np.int32), weights=np.array(weights, np.float32)
        ).ordered()

    def ordered(self) -> Postings:
        """Return them in the order of terms."""
        by_term = np.argsort(self.terms, kind="stable")
        return Postings(terms=self.terms[by_term], rows=self.rows[by_term], weights=self.weights[by_term])

    def having(self, term: int) -> slice:
        """Return the places of a term."""
        first, last = np.searchsorted(self.terms, [term, term + 1])
        return slice(int(first), int(last))

    def moved(self, keep: Mask) -> Postings:
        """Return those of the rows that are kept, which move together."""
        left = keep[self.rows]
        places = np.cumsum(keep, dtype=np.int32) - 1
        return Postings(terms=self.terms[left], rows=places[self.rows[left]], weights=self.weights[left])

    def joined(self, more: Postings, after: int) -> Postings:
        """Return both; the rows of `more` stand after so many."""
        return Postings(
            terms=np.concatenate([self.terms, more.terms]),
            rows=np.concatenate([self.rows, more.rows + np.int32(after)]),
            weights=np.concatenate([self.weights, more.weights]),
        ).ordered()

    @property
    def size(self) -> int:
        """Bytes."""
        return self.terms.nbytes + self.rows.nbytes + self.weights.nbytes


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexColumns:
    """Index rows by columns, their vectors (zero where there is none of the model), and their terms."""

    rows: Mapping[str, NDArray[Any]]
    vectors: NDArray[np.float32]
    postings: Postings

    @classmethod
    def empty(cls) -> IndexColumns:
        """Return no rows."""
        none = {name: np.zeros(0, kind) for name, kind in _COLUMNS.items()}
        return cls(rows=none, vectors=np.zeros((0, 0), np.float32), postings=Postings.of((), (), ()))

    @property
    def count(self) -> int:
        """Rows."""
        return len(self.vectors)

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(one.nbytes for one in self.rows.values()) + self.vectors.nbytes + self.postings.size

    def without(self, owners: Sequence[int]) -> IndexColumns:
        """Return the rows of other memories."""
        keep = ~np.isin(self.rows["owner"], owners)
        if keep.all():
            return self
        return IndexColumns(
            rows={name: values[keep] for name, values in self.rows.items()},
            vectors=self.vectors[keep],
            postings=self.postings.moved(keep),
        )

    def joined(self, more: IndexColumns) -> IndexColumns:
        """Return the rows of both."""
        if not more.count:
            return self
        if not self.count:
            return more
        width = max(self.vectors.shape[1], more.vectors.shape[1])
        return IndexColumns(
            rows={name: np.concatenate([values, more.rows[name]]) for name, values in self.rows.items()},
            vectors=np.concatenate([_wide(self.vectors, width), _wide(more.vectors, width)]),
            postings=self.postings.joined(more.postings, self.count),
        )


def columns_of(
    parts: Sequence[PartRow],
    *,
    owners: Mapping[UUID, int],
    types: Mapping[str, int],
    speakers: Mapping[UUID, int],
    folded: Mapping[UUID, datetime],
) -> IndexColumns:
    """Return the columns of index rows; the mappings give what they have numbers."""
    values: dict[str, list[Any]] = {
        "owner": [owners[one.memory_id] for one in parts],
        "kind": [_KINDS[one.kind] for one in parts],
        "type": [types[one.type] for one in parts],
        "status": [STATUSES[one.status] for one in parts],
        "speaker": [-1 if one.speaker_id is None else speakers[one.speaker_id] for one in parts],
        "folded_at": [micros(folded.get(one.memory_id), LATEST) for one in parts],
        "has_vector": [one.vector is not None for one in parts],
    }
    for name in ("part", "confidence", "event_whole", "timed", "dated"):
        values[name] = [getattr(one, name) for one in parts]
    for name, otherwise in _TIMES.items():
        values[name] = [micros(getattr(one, name), otherwise) for one in parts]
    width = next((one.vector.dimensions() for one in parts if one.vector is not None), 0)
    vectors = np.zeros((len(parts), width), np.float32)
    terms, places, weights = list[int](), list[int](), list[float]()
    for place, one in enumerate(parts):
        if one.vector is not None:
            vectors[place] = one.vector.to_numpy()
        if one.lexical is not None:
            terms += one.lexical.indices()
            weights += one.lexical.values()
            places += [place] * (len(terms) - len(places))
    rows = {name: np.array(values[name], kind) for name, kind in _COLUMNS.items()}
    return IndexColumns(rows=rows, vectors=vectors, postings=Postings.of(terms, places, weights))


def _wide(vectors: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    if vectors.shape[1] == width:
        return vectors
    return np.zeros((len(vectors), width), np.float32)
