"""docs/adding-a-type.md is followed word for word, in a copy of the source: one file under app/, one migration."""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from app.db import migrate
from migrations import lint
from tests.commands.program import ROOT, environment

pytestmark = pytest.mark.long

PAGE = (ROOT / "docs" / "adding-a-type.md").read_text()
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "*.egg-info", "results")
PYTHON = f"{shlex.quote(sys.executable)} -m"
STAND_INS = {
    r"\.venv/bin/typed-memory": f"{PYTHON} app.cli",
    r"make openapi": f"{PYTHON} app.cli openapi",
    r'make test ARGS="(.*)"': rf"{PYTHON} pytest -p no:cacheprovider \1",
}
"""What stands in for commands that would first make an environment of the copy's own."""


class Step(NamedTuple):
    """A block of the page, its kind, and the paragraph before it, which says what to do with it."""

    told: str
    kind: str
    block: str


def steps() -> Iterator[Step]:
    before = 0
    for found in re.finditer(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        told = PAGE[before : found.start()].strip().split("\n\n")[-1]
        yield Step(told, found[1], found[2])
        before = found.end()


def run(copy: Path, commands: str, server_url: str) -> str:
    for command, stand_in in STAND_INS.items():
        commands = re.sub(command, stand_in, commands)
    outside = {name: value for name, value in environment().items() if not name.startswith("PYTEST_")}
    done = subprocess.run(  # noqa: S603 - the page's commands are the point
        ["bash", "-eu", "-c", commands],  # noqa: S607
        cwd=copy,
        env={**outside, "TM_TEST_DATABASE_URL": server_url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def only(copy: Path, pattern: str) -> Path:
    [path] = copy.glob(pattern)
    return path


def follow(copy: Path, server_url: str) -> None:
    """Do what the page says, from top to bottom."""
    replaced = ""
    place = copy
    for step in steps():
        whole = re.fullmatch(r"`(\S+)`:", step.told)
        replace = re.fullmatch(r"In `(\S+)`, replace:", step.told)
        append = re.fullmatch(r"At the end of `(\S+)`, after two empty lines, add:", step.told)
        if step.kind == "bash":
            run(copy, step.block, server_url)
        elif whole:
            assert (copy / whole[1]).is_file()
            (copy / whole[1]).write_text(step.block)
        elif replace:
            place, replaced = only(copy, replace[1]), step.block
        elif step.told == "by:":
            assert place.read_text().count(replaced) == 1
            place.write_text(place.read_text().replace(replaced, step.block))
        elif append:
            only(copy, append[1]).write_text(f"{only(copy, append[1]).read_text()}\n\n{step.block}")
        else:
            assert step.told == "At the end of the table of types in `docs/concepts.md`, add:"
            page = copy / "docs" / "concepts.md"
            table = re.search(r"^\| type \| says .*?\|\n(?=\n)", page.read_text(), re.MULTILINE | re.DOTALL)
            assert table is not None
            page.write_text(page.read_text().replace(table[0], table[0] + step.block))


def contents(copy: Path) -> Mapping[str, str]:
    return {
        str(path.relative_to(copy)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in copy.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.parts[len(copy.parts)].endswith("_cache")
    }


@pytest.mark.timeout(600)
def test_the_page_is_true_and_nothing_else_is_touched(
    server_url: str, template: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "source"
    shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
    before = contents(copy)
    follow(copy, server_url)
    after = contents(copy)
    newest = max(path.name[:4] for path in (ROOT / "migrations" / "versions").glob("[0-9]*.py"))
    assert after.keys() - before.keys() == {
        "app/memory/types/allergy.py",
        f"migrations/versions/{int(newest) + 1:04d}_allergy.py",
        "tests/api/test_type_allergy.py",
    }
    assert before.keys() <= after.keys()
    assert {path for path in before if before[path] != after[path]} == {"docs/concepts.md", "openapi/openapi.json"}
    made = " ".join(sorted(after.keys() - before.keys()))
    run(copy, f"{PYTHON} ruff check {made} && {PYTHON} ruff format --check {made}", server_url)
    monkeypatch.setattr(migrate, "MIGRATIONS", copy / "migrations")
    assert lint.main() == 0, "its migration can run on a live service"
