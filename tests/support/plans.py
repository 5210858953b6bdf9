"""Plans of prepared statements, as Postgres keeps them for all values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.db.session import ReadSession, SqlStatement


async def explained(
    session: ReadSession, statement: SqlStatement, values: Mapping[str, object], options: str
) -> list[Any]:
    """Return what EXPLAIN with these options says of a statement, prepared and executed with these values, by line."""
    given = ", ".join(f"'{one}'" for one in statement.arguments(values))
    await session.driver.execute(f"PREPARE explained AS {statement.sql}")
    return [row[0] for row in await session.driver.fetch(f"EXPLAIN ({options}) EXECUTE explained ({given})")]


def searches(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each index that a plan looks into, by the name of its table, and by what."""
    if "Index Name" in plan:
        yield plan["Relation Name"], plan["Index Cond"]
    for child in plan.get("Plans", ()):
        yield from searches(child)
