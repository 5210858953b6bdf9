"""Migrations that follow the newest one for the time of a test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.db import migrate

TEMPLATE = """
import sqlalchemy as sa
from alembic import op

from migrations import live

revision = "{revision}"
down_revision = "{before}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    {upgrade}


def downgrade() -> None:
    {downgrade}
"""


def after_the_newest(
    monkeypatch: pytest.MonkeyPatch, folder: Path, upgrade: str, downgrade: str = "pass", revision: str = "9999"
) -> Path:
    """Have this process find one more migration, in a copy of all; return where they are."""
    before = migrate.head()
    copy = folder / "migrations"
    if copy != migrate.MIGRATIONS:
        shutil.copytree(migrate.MIGRATIONS, copy, ignore=shutil.ignore_patterns("__pycache__"))
        monkeypatch.setattr(migrate, "MIGRATIONS", copy)
    text = TEMPLATE.format(revision=revision, before=before, upgrade=upgrade, downgrade=downgrade)
    (copy / "versions" / f"{revision}_scratch.py").write_text(text)
    return copy
