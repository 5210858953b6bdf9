"""Plans of prepared statements, as Postgres keeps them for all values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.db.session import ReadSession, SqlStatement


async def explained(
    session: ReadSession, statement: SqlStatement, values: Mapping[str, object], options: str
) -> list[Any]:
    """Return what EXPLAIN with these options says of a statement, prepared and executed with these values, by line."""
    given = ", ".join(f"'{one}'" for one in statement.arguments(values))
    await session.driver.execute(f"PREPARE explained AS {statement.sql}")
    return [row[0] for row in await session.driver.fetch(f"EXPLAIN ({options}) EXECUTE explained ({given})")]
