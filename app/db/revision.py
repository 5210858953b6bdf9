"""Which schema the database has, as a service connection sees it."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.db.session import Database
from app.errors import DatabaseUnavailable


async def current(database: Database) -> str | None:
    """Return the revision of the schema, None before the first migration.

    Raises DatabaseUnavailable when the database cannot be asked.
    """
    try:
        async with database.read(None) as session:
            value = (await session.execute(text("SELECT version_num FROM alembic_version"))).scalar()
    except DatabaseUnavailable:
        raise
    except DBAPIError:
        return None
    return None if value is None else str(value)
