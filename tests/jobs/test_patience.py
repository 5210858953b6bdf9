"""The worker's way to the database, where a connection breaks in the middle of an answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import asyncpg

from app.db.job_queue import ReconnectingDriver
from app.db.session import Database


class _Line:
    """A connection that stays open, and whose first answer fits no question if it is the first."""

    def __init__(self, number: int) -> None:
        self._number = number

    def is_closed(self) -> bool:
        return False

    async def fetch(self, _query: str) -> list[dict[str, Any]]:
        if self._number == 1:
            raise asyncpg.InternalClientError("got result for unknown protocol state 3")
        return [{"line": self._number}]


class _Lines:
    """A database that counts the connections it gives."""

    def __init__(self) -> None:
        self.given = 0

    @asynccontextmanager
    async def dedicated(self, **_settings: str) -> AsyncIterator[_Line]:
        self.given += 1
        yield _Line(self.given)


async def test_a_connection_whose_answers_fit_no_question_is_replaced_and_asked_again() -> None:
    driver = ReconnectingDriver(cast("Database", _Lines()))
    assert await driver.fetch("SELECT 1") == [{"line": 2}]
