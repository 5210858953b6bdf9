"""The proof of an import: what its file says of each memory, compared with what is stored at the end.

Of a memory in the file a few dozen bytes are kept: its id, its line, and a digest of each column that tells what is
believed and since when.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from app import ids
from app.db.session import Database
from app.features.portability.records import Line
from app.features.portability.sql import imports
from app.features.portability.sql.imports import TOLD_COLUMNS

MOST_DIFFERENCES = 1_000
"""Most differences that a summary lists; the others are only counted."""

_READ = 1_000
"""Memories that are compared at a time."""

_RECORD = struct.Struct(f"<16sQ{len(TOLD_COLUMNS)}H")

_UNTOLD = 0xFFFF
"""The digest of a column that the file does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A column of a stored memory that holds another value than its line in the file."""

    line: int
    memory_id: str
    field: str
    stored: str | None


@dataclass(slots=True)
class ImportProof:
    """The memories of a file as it tells them. `own` are those with a slot that stand here as the file says.

    Between them the file has decided; only with others do they compete for a slot.
    """

    own: set[UUID] = field(default_factory=set)
    _told: bytearray = field(default_factory=bytearray)

    def note(self, lines: Iterable[Line]) -> None:
        """Keep what the lines of memories say."""
        for line in lines:
            if line.id is not None:
                self._told += _RECORD.pack(line.id.bytes, line.number, *_digests(line.values))

    def adopt(self, lines: Sequence[Line], stored: Mapping[UUID, Mapping[str, Any]]) -> None:
        """Count memories that were here before as the file's own where they stand as it says."""
        for line in lines:
            row = None if line.id is None else stored.get(line.id)
            if row is not None and line.values.get("slot") is not None and not any(_unlike(_digests(line.values), row)):
                self.own.add(row["id"])

    async def differences(self, database: Database, tenant: UUID) -> tuple[int, list[Difference]]:
        """Return how many stored memories differ from what the file says of them, and the first differences."""
        count, found = 0, list[Difference]()
        piece = _READ * _RECORD.size
        for at in range(0, len(self._told), piece):
            told = list(_RECORD.iter_unpack(self._told[at : at + piece]))
            async with database.read(tenant) as session:
                stored = await imports.told_columns(session, tenant, [UUID(bytes=one[0]) for one in told])
            for one in told:
                row = stored.get(UUID(bytes=one[0]))
                unlike = [] if row is None else list(_unlike(one[2:], row))
                count += bool(unlike)
                if row is not None and len(found) < MOST_DIFFERENCES:
                    found += [_difference(one[1], row, name) for name in unlike]
        return count, found[:MOST_DIFFERENCES]


def _difference(line: int, row: Mapping[str, Any], name: str) -> Difference:
    value = None if row[name] is None else _text(row[name])
    return Difference(line=line, memory_id=ids.public(ids.MEMORY, row["id"]), field=name, stored=value)


def _unlike(told: Sequence[int], row: Mapping[str, Any]) -> Iterator[str]:
    for name, one, other in zip(TOLD_COLUMNS, told, _digests(row), strict=True):
        if one not in {other, _UNTOLD}:
            yield name


def _digests(values: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(_digest(values[name]) if name in values else _UNTOLD for name in TOLD_COLUMNS)


def _digest(value: object) -> int:
    return 0 if value is None else 1 + zlib.crc32(_text(value).encode()) % (_UNTOLD - 1)


def _text(value: object) -> str:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else str(value)
