"""Inserts of many rows of many tables in one statement, and vectors: their columns, and how they are sent.

Rows are sent as JSON, all of a table in one value. Vectors are sent beside them as arrays in the driver's binary form,
which takes a tenth of the time that numbers in a text take on either side.

A row has room for vectors of two embedding models: a model with an odd id uses `embedding` and `model_id`, a model with
an even id `embedding_2` and `model_id_2`. So a new model's vectors are built beside those that are searched, in the
same rows, and filters, erasure and cascades are the same for both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from asyncpg import Record
from numpy.typing import NDArray
from pgvector import HalfVector
from pydantic_core import to_json
from sqlalchemy.dialects import postgresql

from app.db.session import SqlStatement, WriteSession, statement
from app.db.tables import metadata

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Row = Mapping[str, object]

Result = TypeVar("Result", bound="DataclassInstance")

ON_CONFLICT: Mapping[str, str] = {
    "entities": """ON CONFLICT (tenant_id, id) DO UPDATE SET
        mention_count = entities.mention_count + excluded.mention_count,
        canonical_name = excluded.canonical_name,
        entity_type = CASE WHEN excluded.entity_type = 'unknown' THEN entities.entity_type
                           ELSE excluded.entity_type END,
        attributes = entities.attributes || excluded.attributes""",
    "entity_aliases": "ON CONFLICT DO NOTHING",
    "memory_entities": "ON CONFLICT DO NOTHING",
    "memory_links": "ON CONFLICT DO NOTHING",
    "scopes": "ON CONFLICT DO NOTHING",
    "lexical_terms": """ON CONFLICT (tenant_id, scope_id, term) DO UPDATE SET
        documents = lexical_terms.documents + excluded.documents""",
    "pronoun_bindings": """ON CONFLICT (tenant_id, scope_id, pronoun, position) DO UPDATE SET
        number = excluded.number, name = excluded.name, entity_type = excluded.entity_type,
        session_id = excluded.session_id, said_at = excluded.said_at""",
    "memory_usage": """ON CONFLICT (tenant_id, memory_id) DO UPDATE SET
        last_accessed_at = greatest(memory_usage.last_accessed_at, excluded.last_accessed_at)""",
}
"""The conflict clauses of tables whose rows may exist already; rows of other tables must be new."""


_ORDER: Mapping[str, int] = {table.name: place for place, table in enumerate(metadata.sorted_tables)}
"""Tables after those that they refer to: nodes of a cluster check foreign keys after each clause."""


def as_record(kind: type[Result], row: Any, **more: object) -> Result:  # noqa: ANN401 - asyncpg's or SQLAlchemy's
    """Return the columns of a row that are fields of a dataclass as one; `more` are its fields of other names."""
    return kind(**{name: more[name] if name in more else row[name] for name in kind.__dataclass_fields__})


def values_of(record: DataclassInstance) -> dict[str, Any]:
    """Return the fields of a dataclass by name, each as it is."""
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


async def insert_all(session: WriteSession, rows: Mapping[str, Sequence[Row]]) -> None:
    """Insert rows into tables, by table name, as one statement; all rows of a table have the same columns.

    Foreign keys among them hold, because Postgres checks them at the end of the statement.
    """
    inserts, parameters = as_clauses(rows)
    if inserts:
        await session.fetch(_insert(inserts), parameters)


async def update_row(session: WriteSession, table: str, where: str, keys: Row, values: Row) -> Record | None:
    """Set columns of the row that `where` chooses by its `keys`; return the row as it is then, None without one.

    `where` is SQL whose columns are written with the table's name, and whose parameters are the names of the keys.
    """
    given = given_rows(table, tuple(values))
    rows = await session.fetch(_update(table, where, tuple(values)), {**keys, **given.parameters([values])})
    return rows[0] if rows else None


@cache
def _update(table: str, where: str, columns: tuple[str, ...]) -> SqlStatement:
    sets = ", ".join(f"{column} = given.{column}" for column in columns)
    found = f"FROM {given_rows(table, columns).sql} WHERE {where} RETURNING {table}.*"
    return statement(f"UPDATE {table} SET {sets} {found}")  # noqa: S608 - our tables and columns


def as_clauses(rows: Mapping[str, Sequence[Row]], *, if_any: str | None = None) -> tuple[str, dict[str, object]]:
    """Return clauses of a WITH that insert rows in front of a caller's own statement, and their parameters.

    The parameters have the names of the tables, and of their columns of vectors. Without rows there are no clauses.
    With `if_any`, the name of another clause, they insert nothing unless that one returns a row.
    """
    tables = {name: tuple(given[0]) for name, given in rows.items() if given}
    ordered = tuple(sorted(tables.items(), key=lambda one: _ORDER[one[0]]))
    parameters: dict[str, object] = {}
    for name, columns in ordered:
        parameters |= given_rows(name, columns).parameters(rows[name])
    return _clauses(ordered, if_any), parameters


@cache
def _clauses(tables: tuple[tuple[str, tuple[str, ...]], ...], if_any: str | None) -> str:
    condition = "" if if_any is None else f"WHERE EXISTS (SELECT FROM {if_any})"
    return ",\n".join(
        f"new_{name} AS (INSERT INTO {name} ({', '.join(columns)}) SELECT {', '.join(columns)} "  # noqa: S608
        f"FROM {given_rows(name, columns).sql} {condition} "
        f"{ON_CONFLICT.get(name, '')} RETURNING 1)"
        for name, columns in tables
    )


@dataclass(frozen=True, kw_only=True)
class GivenRows:
    """Rows that a statement takes as parameters: as JSON under their name, each column of vectors beside it.

    `columns` are the types of the rows' columns. `written`: the vectors are texts, as in a file.
    """

    name: str
    columns: Mapping[str, str]
    written: bool = False

    @cached_property
    def sql(self) -> str:
        """An item of a FROM, with the alias `given`."""
        told = [f"{column} {kind}" for column, kind in self.columns.items() if column not in self._vectors]
        rows = f"json_to_recordset(CAST(:{self.name} AS json)) AS ({', '.join(told)})"
        given = "CAST(:{} AS text[])" if self.written else ":{}"
        arrays = [
            f"unnest(CAST({given.format(self._beside(column))} AS {self.columns[column]}[]))"
            for column in self._vectors
        ]
        names = [column for column in self.columns if column not in self._vectors] + [*self._vectors]
        return f"ROWS FROM ({', '.join([rows, *arrays])}) AS given({', '.join(names)})"

    def parameters(self, rows: Sequence[Row]) -> dict[str, object]:
        """Return the values of the statement's parameters for these rows."""
        if not self._vectors:
            return {self.name: as_json(rows)}
        told = [{column: value for column, value in row.items() if column not in self._vectors} for row in rows]
        vectors = {self._beside(column): [row[column] for row in rows] for column in self._vectors}
        return {self.name: as_json(told), **vectors}

    @cached_property
    def _vectors(self) -> tuple[str, ...]:
        return tuple(name for name, kind in self.columns.items() if kind.lower().startswith(("halfvec", "sparsevec")))

    def _beside(self, column: str) -> str:
        return f"{self.name}_{column}"


@cache
def given_rows(table: str, columns: tuple[str, ...], *, written: bool = False) -> GivenRows:
    """Return how rows of a table with these columns are given; `written`: with vectors as texts."""
    types = _types(table)
    return GivenRows(name=table, columns={column: types[column] for column in columns}, written=written)


@cache
def _types(name: str) -> Mapping[str, str]:
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    return {column.name: column.type.compile(dialect) for column in metadata.tables[name].columns}


@cache
def _insert(inserts: str) -> SqlStatement:
    return statement(f"WITH {inserts} SELECT 1")


def as_json(rows: Sequence[Row]) -> str:
    """Return rows as JSON that Postgres can convert to the columns' types."""
    return to_text([plain(row) for row in rows])


def to_text(value: object) -> str:
    """Return a value as JSON text."""
    return to_json(value, fallback=_mapping).decode()


def plain(row: Row) -> Row:
    """Return a row whose bytes are in Postgres's text format."""
    if bytes not in map(type, row.values()):
        return row
    return {**row, **{name: f"\\x{value.hex()}" for name, value in row.items() if isinstance(value, bytes)}}


def _mapping(value: object) -> dict[object, object]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"cannot write a {type(value).__name__} as JSON")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The columns of a model's vectors: of the vector, and of the model's id."""

    vector: str
    model: str


_ODD = Columns(vector="embedding", model="model_id")

_EVEN = Columns(vector="embedding_2", model="model_id_2")


def columns_of(model_id: int) -> Columns:
    """Return the columns of a model's vectors."""
    return _ODD if model_id % 2 else _EVEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """An embedding model whose vectors are compared; only they are comparable with one another."""

    id: int
    dimensions: int

    def vector(self, row: str) -> str:
        """Return SQL for its vector in a row that it is known to be in, as its index has it."""
        return f"{row}.{columns_of(self.id).vector}"

    def condition(self, row: str) -> str:
        """Return SQL for whether a row has its vector; its id must be literal to match its partial index."""
        return f"{row}.{columns_of(self.id).model} = {self.id:d}"

    def distance(self, row: str, other: str) -> str:
        """Return SQL for the cosine distance of a row's vector from another, by the expression of its index."""
        size = f"halfvec({self.dimensions:d})"
        return f"({self.vector(row)}::{size}) <=> CAST({other} AS {size})"


def as_columns(model_id: int, vector: object) -> dict[str, object]:
    """Return a model's vector as the columns of a row."""
    at = columns_of(model_id)
    return {at.model: model_id, at.vector: vector}


def vector_of(row: str, model: str = ":model") -> str:
    """Return SQL for a row's vector of a model, null where it has none; for use without an index."""
    first, second = (f"WHEN {row}.{at.model} = {model} THEN {row}.{at.vector}" for at in (_ODD, _EVEN))
    return f"CASE {first} {second} END"


def has_vector(row: str) -> str:
    """Return SQL for whether a row has a vector of the model `:model`; null counts as no."""
    return f":model IN ({row}.{_ODD.model}, {row}.{_EVEN.model})"


def as_halfvec(vector: NDArray[np.float32]) -> HalfVector:
    """Return a vector in half precision, as it is stored."""
    return HalfVector(vector)
