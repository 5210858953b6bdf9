"""Rows as the write pipeline gathers them, stored through COPY: the same text, the same rules for what is there."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

import asyncpg
import numpy as np
from pgvector import HalfVector, SparseVector
from pydantic_core import to_json

from app.db.sql import ON_CONFLICT, Row

_NULL = "\\N"


async def copy_rows(connection: asyncpg.Connection, rows: Mapping[str, Sequence[Row]]) -> None:
    """Store rows by table name, in one transaction.

    The connection must be a superuser's: foreign keys are not checked row by row, and row-level security does
    not apply. What a table does with a row it has is what `app.db.sql` says.
    """
    async with connection.transaction():
        await connection.execute("SET LOCAL session_replication_role = replica")
        for table, given in rows.items():
            if given and table in ON_CONFLICT:
                await _through_a_stage(connection, table, given)
            elif given:
                await _copy(connection, table, given)


async def _through_a_stage(connection: asyncpg.Connection, table: str, rows: Sequence[Row]) -> None:
    stage = f"stage_{table}"
    columns = ", ".join(rows[0])
    await connection.execute(f"CREATE TEMP TABLE {stage} ON COMMIT DROP AS SELECT {columns} FROM {table} LIMIT 0")  # noqa: S608 - our own names
    await _copy(connection, stage, rows)
    await connection.execute(
        f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {stage} {ON_CONFLICT[table]}"  # noqa: S608 - our own names
    )


async def _copy(connection: asyncpg.Connection, table: str, rows: Sequence[Row]) -> None:
    columns = list(rows[0])
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerows([_written(row[column]) for column in columns] for row in rows)
    await connection.copy_to_table(
        table, source=io.BytesIO(text.getvalue().encode()), columns=columns, format="csv", null=_NULL
    )


def _written(value: object) -> object:
    """Return the value in Postgres' text format."""
    match value:
        case None:
            return _NULL
        case str() | int() | float():
            return value
        case UUID() | datetime():
            return str(value)
        case bytes():
            return f"\\x{value.hex()}"
        case HalfVector() | SparseVector():
            return _vector(value)
        case _:
            return json.dumps(value)


def _vector(value: HalfVector | SparseVector) -> str:
    if isinstance(value, SparseVector):
        return value.to_text()
    # Nine digits tell all numbers of half precision apart; pgvector's own text takes four times as long.
    return to_json(np.round(value.to_numpy().astype(np.float64), 9).tolist()).decode()
