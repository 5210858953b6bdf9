"""Migrations that follow the newest one for the time of a test, and a copy of this code that has one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.db import migrate
from app.db.tables import metadata
from tests.commands.program import ROOT

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


NEXT = f"""live.create_indexes({{"ix_memories_type_scratch": "memories (tenant_id, topic)"}})
    live.separately([
        *(f"ALTER TABLE {{table}} ADD COLUMN IF NOT EXISTS scratch integer NOT NULL DEFAULT 7"
          for table in {[table.name for table in metadata.sorted_tables]}),
        "ALTER TABLE memories DROP CONSTRAINT IF EXISTS ck_memories_scratch, "
        "ADD CONSTRAINT ck_memories_scratch CHECK (scratch > 0) NOT VALID",
    ])
    op.execute("CREATE TABLE scratch (tenant_id uuid NOT NULL REFERENCES tenants (id), id uuid PRIMARY KEY)")"""
"""What a migration may do under the release before it: a column in every table, an index, a constraint, a table."""


def next_release(folder: Path) -> str:
    """Copy this code into a folder, with one more migration; return the revision of that."""
    for name in ("app", "migrations"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    text = TEMPLATE.format(revision="9999", before=migrate.head(), upgrade=NEXT, downgrade="pass")
    (folder / "migrations" / "versions" / "9999_scratch.py").write_text(text)
    return "9999"


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
