"""squawk reads the migrations: what a live service could not bear makes `make lint` red."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrations import lint
from tests.test_packaging import ROOT
from tests.upgrades.scratch import after_the_newest

HARMFUL = {
    "changing-column-type": "ALTER TABLE memories ALTER COLUMN type TYPE varchar(10)",
    "require-concurrent-index-creation": "CREATE INDEX ix_memories_type_scratch ON memories (tenant_id, topic)",
    "adding-required-field": "ALTER TABLE memories ADD COLUMN scratch integer NOT NULL",
    "constraint-missing-not-valid": "ALTER TABLE memories ADD CONSTRAINT ck_scratch CHECK (mentions > 0)",
    "adding-foreign-key-constraint": (
        "ALTER TABLE memories ADD CONSTRAINT fk_scratch FOREIGN KEY (topic) REFERENCES memory_types (name)"
    ),
    "renaming-column": "ALTER TABLE memories RENAME COLUMN topic TO theme",
    "ban-drop-column": "ALTER TABLE memories DROP COLUMN topic",
}
HARMLESS = [
    'op.add_column("memories", sa.Column("scratch", sa.Integer, nullable=False, server_default=sa.text("7")))',
    'live.create_indexes({"ix_memories_type_scratch": "memories (tenant_id, topic)"})',
    'op.execute("ALTER TABLE memories ADD CONSTRAINT ck_scratch CHECK (mentions > 0) NOT VALID")',
    'live.separately(["ALTER TABLE turns ADD COLUMN IF NOT EXISTS scratch integer NOT NULL DEFAULT 7"])',
]


def test_the_migrations_can_run_on_a_live_service(capfd: pytest.CaptureFixture[str]) -> None:
    assert lint.main() == 0, capfd.readouterr().out


@pytest.mark.parametrize("rule", HARMFUL)
def test_a_harmful_migration_is_refused(
    rule: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    after_the_newest(monkeypatch, tmp_path, f'op.execute("{HARMFUL[rule]}")')
    assert lint.main() == 1
    said = capfd.readouterr().out
    assert rule in said
    assert "9999_scratch.sql" in said


@pytest.mark.parametrize("statement", HARMLESS)
def test_a_harmless_migration_is_let_through(
    statement: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    after_the_newest(monkeypatch, tmp_path, statement)
    assert lint.main() == 0, capfd.readouterr().out


def test_what_was_looked_into_is_let_through_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    after_the_newest(monkeypatch, tmp_path, 'op.execute("ALTER TABLE memories DROP CONSTRAINT ck_memories_ended")')
    [scratch] = tmp_path.rglob("9999_scratch.py")
    assert lint.main() == 1
    scratch.write_text(scratch.read_text() + '\nHARMLESS = {"ban-drop-constraint": "for the test"}\n')
    capfd.readouterr()
    assert lint.main() == 0, capfd.readouterr().out


def test_every_migration_after_the_base_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    after_the_newest(monkeypatch, tmp_path, "pass")
    files = sorted(path.stem for path in (tmp_path / "migrations" / "versions").glob("[0-9]*.py"))
    assert list(lint.statements()) == [name for name in files if name[:4] > lint.SINCE]


def test_it_is_part_of_the_checks() -> None:
    assert "$(RUN) migrations.lint" in (ROOT / "Makefile").read_text()
