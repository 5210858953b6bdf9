"""Migrations and what belongs beside them: the registered embedding model and its vector index."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

import migrations

MIGRATIONS = Path(migrations.__file__).parent


def configuration(owner_url: str) -> Config:
    """Return Alembic's configuration for an owner login."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["url"] = owner_url
    return config


def upgrade(owner_url: str, revision: str = "head") -> None:
    """Bring the schema to a revision; blocking. Concurrent callers wait for one another."""
    command.upgrade(configuration(owner_url), revision)


def downgrade(owner_url: str, revision: str) -> None:
    """Take the schema back to a revision; blocking."""
    command.downgrade(configuration(owner_url), revision)


def head() -> str:
    """Return the revision this code was written for."""
    found = ScriptDirectory(str(MIGRATIONS)).get_current_head()
    if found is None:
        raise RuntimeError("no migrations found")
    return found
