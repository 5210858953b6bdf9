"""The service's own SQL, caught as it leaves the pipelines, and run again bare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import asyncpg

from app.db.session import ReadSession, SqlStatement


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """SQL as the driver gets it, with the names and values of its parameters."""

    sql: str
    names: tuple[str, ...]
    values: tuple[object, ...]

    def with_value(self, name: str, value: object) -> Statement:
        """Return the statement with another value for one of its parameters."""
        pairs = zip(self.names, self.values, strict=True)
        return replace(self, values=tuple(value if one == name else old for one, old in pairs))


class Stopped(Exception):
    """The statement that was waited for was not let through."""


@contextmanager
def captured(*, until: tuple[str, ...] = ()) -> Iterator[list[Statement]]:
    """Yield a list that gathers every statement whose rows this process asks for.

    In place of the first that begins with one of `until`, Stopped is raised, so that its transaction rolls back.
    """
    seen: list[Statement] = []

    def gather(one: Statement) -> None:
        seen.append(one)
        if one.sql.startswith(until):
            raise Stopped

    async def fetch(
        session: ReadSession, statement: SqlStatement, values: Mapping[str, object]
    ) -> list[asyncpg.Record]:
        gather(Statement(sql=statement.sql, names=statement.names, values=tuple(statement.arguments(values))))
        return await past(session, statement, values)

    past = ReadSession.fetch
    with patch.object(ReadSession, "fetch", fetch):
        yield seen


class Bare:
    """A connection that runs captured statements as prepared ones, and nothing else."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection
        self._prepared: dict[str, Any] = {}

    async def run(self, statements: Sequence[Statement]) -> None:
        """Run statements one after another, fetching what they return."""
        for one in statements:
            prepared = self._prepared.get(one.sql)
            if prepared is None:
                prepared = self._prepared[one.sql] = await self._connection.prepare(one.sql)
            await prepared.fetch(*one.values)

    async def transaction(self, opening: str, statements: Sequence[Statement], *, ending: str = "COMMIT") -> None:
        """Run statements between `opening`, which begins a transaction, and `ending`."""
        await self._connection.execute(opening)
        await self.run(statements)
        await self._connection.execute(ending)
