"""Vectors as the database keeps and reads them.

A row has room for vectors of two embedding models: one whose id is odd in `embedding` beside `model_id`, one whose id
is even in `embedding_2` beside `model_id_2`. So the vectors of a new model are built beside those that are searched,
in the rows that they belong to: what filters, erases and cascades is the same for both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic_core import to_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Where the vectors of a model are: the column of the vector, and that of the model it comes from."""

    vector: str
    model: str


_ODD = Columns(vector="embedding", model="model_id")
_EVEN = Columns(vector="embedding_2", model="model_id_2")


def columns_of(model_id: int) -> Columns:
    """Return where the vectors of a model are."""
    return _ODD if model_id % 2 else _EVEN


def as_columns(model_id: int, vector: object) -> dict[str, object]:
    """Return a model's vector as the columns of a row."""
    at = columns_of(model_id)
    return {at.model: model_id, at.vector: vector}


def vector_of(row: str, model: str = ":model") -> str:
    """Return SQL for a row's vector of a model, null where it has none; for where no index is to be used."""
    first, second = (f"WHEN {row}.{at.model} = {model} THEN {row}.{at.vector}" for at in (_ODD, _EVEN))
    return f"CASE {first} {second} END"


def has_vector(row: str, model: str = ":model") -> str:
    """Return SQL for whether a row has a vector of a model; null counts as no."""
    return f"{model} IN ({row}.{_ODD.model}, {row}.{_EVEN.model})"


def as_halfvec(vector: NDArray[np.float32]) -> str:
    """Return a vector in pgvector's text format, to the digits half precision keeps."""
    return to_json(np.round(vector.astype(np.float64), 7).tolist()).decode()
