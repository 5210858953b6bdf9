"""`typed-memory new-type`: what it writes works as it is, and what it refuses it says how to mend."""

from __future__ import annotations

import asyncio
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

import app
from app.command_line.terminal import CommandFailed
from app.db import migrate
from app.db.migrate import downgrade, upgrade
from app.main import create_app
from app.memory.spec import MemoryType
from app.operations.commands import new_type as commands_new_type
from app.operations.commands.new_type import new_type
from app.settings import Settings
from migrations import lint
from tests.commands.program import ROOT, run
from tests.db.embedded_service import value
from tests.memory import test_types

OURS = 'lint.isort.known-first-party = ["app", "migrations", "tests"]'
SHAPES: dict[str, dict[str, Any]] = {
    "remark": {},
    "goal_of_life": {"slot": "area", "definition": "what somebody lives for", "example": "I live for the mountains."},
    "payload": {"event": True},
}


@pytest.fixture(scope="module")
def service() -> FastAPI:
    """The application, which makes its OpenAPI document once."""
    return create_app(Settings.model_construct())


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: FastAPI) -> Path:
    """The folders of a checkout that the command writes to, which it takes for its own."""
    for folder in ("app/memory/types", "migrations", "tests/api"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.setattr(app, "__file__", str(tmp_path / "app" / "__init__.py"))
    monkeypatch.setattr(migrate, "MIGRATIONS", tmp_path / "migrations")
    monkeypatch.setattr(commands_new_type, "create_app", lambda _settings: service)
    return tmp_path


@pytest.fixture
def add() -> Callable[..., None]:
    def added(name: str, **options: Any) -> None:
        new_type(name, **{"slot": None, "event": False, "definition": None, "example": None, **options})

    return added


def loaded(path: Path) -> MemoryType:
    spec = importlib.util.spec_from_file_location(f"scaffolded_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    found: MemoryType = module.TYPE
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", SHAPES)
def test_what_it_writes_keeps_to_what_every_type_keeps_to(name: str, checkout: Path, add: Callable[..., None]) -> None:
    add(name, **SHAPES[name])
    one = loaded(checkout / "app" / "memory" / "types" / f"{name}.py")
    assert one.name == name
    test_types.test_a_type_explains_itself(one)
    [given] = one.examples[0].payloads
    for law in (
        test_types.test_an_example_is_a_valid_payload,
        test_types.test_a_payload_renders_as_one_self_contained_line,
        test_types.test_slot_and_value_depend_on_the_payload_alone,
        test_types.test_roles_of_mentions_are_distinct_and_edges_use_them,
        test_types.test_an_unknown_field_is_refused_by_name,
        test_types.test_text_with_nul_is_refused,
    ):
        law(one, given)
    payload = one.payload.model_validate(given)
    assert (payload.slot(test_types.refs_of(payload)) is not None) == ("slot" in SHAPES[name])
    assert (payload.event_time(UTC) is not None) == ("event" in SHAPES[name])


def test_what_it_writes_passes_the_linters(checkout: Path, add: Callable[..., None]) -> None:
    for name, options in SHAPES.items():
        add(name, **options)
    made = [path for name in SHAPES for path in checkout.rglob(f"*{name}.py")]
    assert len(made) == 3 * len(SHAPES)
    for check in (["check"], ["format", "--check"]):
        done = subprocess.run(  # noqa: S603 - ruff
            [sys.executable, "-m", "ruff", *check, "--config", ROOT / "pyproject.toml", "--config", OURS, *made],
            cwd=checkout,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout


def test_its_migrations_follow_one_another_and_can_run_on_a_live_service(
    checkout: Path, add: Callable[..., None], capfd: pytest.CaptureFixture[str]
) -> None:
    newest = migrate.head()
    for name, options in SHAPES.items():
        add(name, **options)
    assert migrate.head() == f"{int(newest) + len(SHAPES):04d}"
    assert list(lint.statements())[-3:] == [f"{int(newest) + place:04d}_{name}" for place, name in enumerate(SHAPES, 1)]
    assert lint.main() == 0, capfd.readouterr().out


async def test_its_migration_goes_up_and_down(
    checkout: Path, add: Callable[..., None], fresh_database_url: str
) -> None:
    add("remark")
    migration = checkout / "migrations" / "versions" / f"{migrate.head()}_remark.py"
    index = '{"ix_memories_type_remark_text": "memories (tenant_id, scope_id) WHERE type = \'remark\'"}'
    migration.write_text(migration.read_text().replace("INDEXES: dict[str, str] = {}", f"INDEXES = {index}"))
    for step, there in ((upgrade, 1), (downgrade, 0), (upgrade, 1)):
        await asyncio.to_thread(step, fresh_database_url, "-1" if step is downgrade else "head")
        assert await value(fresh_database_url, "SELECT count(*) FROM memory_types WHERE name = 'remark'") == there
        found = await value(fresh_database_url, "SELECT count(to_regclass('ix_memories_type_remark_text'))")
        assert found == there


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Allergy", "snake_case"),
        ("pet-peeve", "snake_case"),
        ("pet__peeve", "snake_case"),
        ("2fa", "snake_case"),
        ("../evil", "snake_case"),
        ("allergy ", "snake_case"),
        ("", "snake_case"),
        ("class", "keyword"),
        ("none", "keyword"),
        ("a" * 31, "at most 30 characters"),
        ("fact", "app/memory/types/fact.py is called 'fact' already"),
        ("procedure", "app/memory/types/procedural.py is called 'procedure' already"),
        ("query", "the route /memories/typed/query"),
        ("batch", "BatchItem, BatchWrite"),
        ("memory", "Memory"),
    ],
)
def test_a_name_that_will_not_do_is_refused(name: str, why: str, checkout: Path, add: Callable[..., None]) -> None:
    before = sorted(checkout.rglob("*"))
    with pytest.raises(CommandFailed, match=why):
        add(name)
    assert sorted(checkout.rglob("*")) == before


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"slot": "content"}, "every memory has 'content'"),
        ({"slot": "type"}, "every memory has 'type'"),
        ({"slot": "memory_type"}, "every memory has 'memory_type'"),
        ({"slot": "render"}, "every memory has 'render'"),
        ({"slot": "confidence"}, "every memory has 'confidence'"),
        ({"slot": "value"}, "every memory has 'value'"),
        ({"slot": "Some Field"}, "snake_case"),
        ({"slot": "area", "event": True}, "not both"),
        ({"definition": 'say "hello"'}, "double quotes"),
        ({"definition": "two\nlines"}, "one line"),
        ({"definition": "x" * 91}, "has 92 characters"),
        ({"example": "too short"}, "needs 5 words"),
    ],
)
def test_options_that_will_not_do_are_refused(
    options: dict[str, Any], why: str, checkout: Path, add: Callable[..., None]
) -> None:
    with pytest.raises(CommandFailed, match=why):
        add("allergy", **options)


@pytest.mark.parametrize("there", ["app/memory/types/allergy.py", "tests/api/test_type_allergy.py"])
def test_nothing_is_overwritten(there: str, checkout: Path, add: Callable[..., None]) -> None:
    (checkout / there).write_text("mine")
    with pytest.raises(CommandFailed, match=f"{there}: exists already"):
        add("allergy")
    assert (checkout / there).read_text() == "mine"
    assert [path.name for path in checkout.rglob("*allergy.py")] == [Path(there).name]


def test_two_newest_migrations_are_to_be_put_in_line(checkout: Path, add: Callable[..., None]) -> None:
    add("allergy")
    other = (checkout / "migrations" / "versions" / f"{migrate.head()}_allergy.py").read_text()
    (checkout / "migrations" / "versions" / "9998_other.py").write_text(
        other.replace(f'revision = "{migrate.head()}"', 'revision = "9998"', 1)
    )
    with pytest.raises(CommandFailed, match="put them in line"):
        add("remark")


def test_an_installed_copy_is_not_added_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, add: Callable[..., None]
) -> None:
    (tmp_path / "app" / "memory" / "types").mkdir(parents=True)
    monkeypatch.setattr(app, "__file__", str(tmp_path / "app" / "__init__.py"))
    with pytest.raises(CommandFailed, match=r"installed copy of it: clone the source"):
        add("allergy")


def test_the_command_tells_what_it_is_for() -> None:
    told = run("new-type", "--help")
    assert told.returncode == 0
    assert "typed-memory new-type allergy --slot allergen" in told.stdout
    refused = run("new-type", "fact")
    assert refused.returncode == 1
    assert "use another name" in refused.stderr
