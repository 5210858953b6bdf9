"""Migrations and what belongs beside them: the registered embedding model and its vector index."""

from __future__ import annotations

from pathlib import Path

import asyncpg
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy.exc import DBAPIError

import migrations
from app.errors import ConfigurationError

PREPARE = (
    "migrate with a superuser's login in TM_MIGRATION_DATABASE_URL, or have a superuser run once in this database: "
    "CREATE EXTENSION vector; CREATE EXTENSION pg_trgm; CREATE EXTENSION btree_gin; CREATE EXTENSION btree_gist; "
    "CREATE ROLE typed_memory_runtime NOLOGIN; GRANT typed_memory_runtime TO the login that migrates"
)
"""What an owner who is no superuser needs."""

MIGRATIONS = Path(migrations.__file__).parent


def configuration(owner_url: str) -> Config:
    """Return Alembic's configuration for an owner login."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["url"] = owner_url
    return config


def upgrade(owner_url: str, revision: str = "head") -> None:
    """Bring the schema to a revision; blocking. Concurrent callers wait for one another.

    Raises ConfigurationError when the login may not do what the migrations need.
    """
    try:
        command.upgrade(configuration(owner_url), revision)
    except DBAPIError as error:
        cause = error.orig.__cause__ if error.orig is not None else None
        if isinstance(cause, asyncpg.InsufficientPrivilegeError):
            raise ConfigurationError(f"the login may not migrate ({cause}): {PREPARE}") from error
        raise


def downgrade(owner_url: str, revision: str) -> None:
    """Take the schema back to a revision; blocking."""
    command.downgrade(configuration(owner_url), revision)


def head() -> str:
    """Return the revision this code was written for."""
    found = ScriptDirectory(str(MIGRATIONS)).get_current_head()
    if found is None:
        raise RuntimeError("no migrations found")
    return found
