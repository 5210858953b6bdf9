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

from app.model import MemoryStatus

EARLIEST: Final = -(2**62)

LATEST: Final = 2**62

CONTENT: Final = 0

CONTEXT: Final = 1

BOTH: Final = 2

_KINDS: Final[Mapping[str, int]] = {"content": CONTENT, "context": CONTEXT, "both": BOTH}

STATUSES: Final[Mapping[str, int]] = {one.value: place for place, one in enumerate(MemoryStatus)}

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_ROW: Final = np.dtype(
    [
        ("owner", np.int32),
        ("part", np.int16),
        ("kind", np.int8),
        ("type", np.int16),
        ("status", np.int8),
        ("speaker", np.int32),
        ("confidence", np.float64),
        ("valid_from", np.int64),
        ("valid_until", np.int64),
        ("ended_at", np.int64),
        ("recorded_at", np.int64),
        ("retired_at", np.int64),
        ("stated_at", np.int64),
        ("event_lower", np.int64),
        ("event_upper", np.int64),
        ("event_whole", np.bool_),
        ("timed", np.bool_),
        ("dated", np.bool_),
        ("folded_at", np.int64),
        ("has_vector", np.bool_),
    ]
)
"""`owner` is the place of the memory among the scope's; `type` and `speaker` are places in its lists of those. `timed`:
it has a time, that is not empty; `event_whole`: its end belongs to it; `dated`: it has a time."""

_TERM: Final = np.dtype([("term", np.int32), ("row", np.int32), ("weight", np.float32)])

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
class IndexColumns:
    """Index rows, their vectors (zero where there is none of the model), and the weights of their terms."""

    rows: NDArray[np.void]
    vectors: NDArray[np.float32]
    terms: NDArray[np.void]

    @classmethod
    def empty(cls) -> IndexColumns:
        """Return no rows."""
        return cls(rows=np.zeros(0, _ROW), vectors=np.zeros((0, 0), np.float32), terms=np.zeros(0, _TERM))

    @property
    def size(self) -> int:
        """Bytes."""
        return self.rows.nbytes + self.vectors.nbytes + self.terms.nbytes

    def without(self, owners: Sequence[int]) -> IndexColumns:
        """Return the rows of other memories."""
        if not owners or not len(self.rows):
            return self
        keep = ~np.isin(self.rows["owner"], owners)
        if keep.all():
            return self
        terms = self.terms[keep[self.terms["row"]]]
        terms["row"] = (np.cumsum(keep) - 1)[terms["row"]]
        return IndexColumns(rows=self.rows[keep], vectors=self.vectors[keep], terms=terms)

    def joined(self, more: IndexColumns) -> IndexColumns:
        """Return the rows of both."""
        if not len(more.rows):
            return self
        if not len(self.rows):
            return more
        terms = more.terms.copy()
        terms["row"] += len(self.rows)
        width = max(self.vectors.shape[1], more.vectors.shape[1])
        return IndexColumns(
            rows=np.concatenate([self.rows, more.rows]),
            vectors=np.concatenate([_wide(self.vectors, width), _wide(more.vectors, width)]),
            terms=np.concatenate([self.terms, terms]),
        )


def columns_of(
    parts: Sequence[Mapping[str, Any]],
    *,
    owners: Mapping[UUID, int],
    types: Mapping[str, int],
    speakers: Mapping[UUID, int],
    folded: Mapping[UUID, datetime],
) -> IndexColumns:
    """Return the columns of rows as `resident.read_scope_rows` reads them; the mappings give what they have numbers."""
    rows = np.zeros(len(parts), _ROW)
    terms: list[NDArray[np.void]] = []
    width = next((one["vector"].dimensions() for one in parts if one["vector"] is not None), 0)
    vectors = np.zeros((len(parts), width), np.float32)
    for place, one in enumerate(parts):
        rows[place] = (
            owners[one["memory_id"]],
            one["part"],
            _KINDS[one["kind"]],
            types[one["type"]],
            STATUSES[one["status"]],
            -1 if one["speaker_id"] is None else speakers[one["speaker_id"]],
            one["confidence"],
            micros(one["valid_from"], EARLIEST),
            micros(one["valid_until"], LATEST),
            micros(one["ended_at"], LATEST),
            micros(one["recorded_at"], EARLIEST),
            micros(one["retired_at"], EARLIEST),
            micros(one["stated_at"], EARLIEST),
            micros(one["event_lower"], EARLIEST),
            micros(one["event_upper"], LATEST),
            one["event_whole"],
            one["timed"],
            one["dated"],
            micros(folded.get(one["memory_id"]), LATEST),
            one["vector"] is not None,
        )
        if one["vector"] is not None:
            vectors[place] = one["vector"].to_numpy()
        if one["lexical"] is not None:
            found = np.zeros(len(one["lexical"].indices()), _TERM)
            found["term"], found["weight"] = one["lexical"].indices(), one["lexical"].values()
            found["row"] = place
            terms.append(found)
    return IndexColumns(rows=rows, vectors=vectors, terms=np.concatenate(terms) if terms else np.zeros(0, _TERM))


def _wide(vectors: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    if vectors.shape[1] == width:
        return vectors
    return np.zeros((len(vectors), width), np.float32)
