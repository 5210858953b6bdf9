"""The README and its guides are true: their commands run, what they show comes out, their tables are the code's."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from pydantic import SecretStr

from app.cli import MODULES
from app.main import create_app
from app.memory.registry import discover
from app.settings import Settings
from tests.commands.program import ROOT, Served, environment
from tests.support.databases import Run, drop_database

PAGES = ("README.md", "docs/guide.md", "docs/operations.md")
"""Read in this order, as one: what a later page asks rests on what an earlier one wrote."""

README = "\n".join((ROOT / page).read_text() for page in PAGES)
TYPES = "|".join(spec.name for spec in discover())


class Example(NamedTuple):
    """Commands, and the lines that the README shows after them (an ellipsis stands for anything)."""

    commands: str
    shown: list[str]


def examples() -> list[Example]:
    """The `bash` blocks, each with the `text` block that comes before the next one."""
    found: list[Example] = []
    for kind, content in re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL):
        if kind == "bash":
            found.append(Example(content, []))
        elif kind == "text":
            found[-1].shown.extend(content.splitlines())
    return found


def pattern(shown: str) -> str:
    return ".*".join(re.escape(part) for part in shown.split("…"))


@pytest.fixture
def service(run: Run, server_url: str, template: str) -> Iterator[Served]:
    url = run.create(server_url, template)
    with Served(TM_DATABASE_URL=url) as served:
        yield served
    drop_database(url)


@pytest.mark.skipif(shutil.which("curl") is None, reason="the README's commands use curl")
def test_its_commands_run_and_what_it_shows_comes_out(service: Served, tmp_path: Path) -> None:
    end = "=== end of an example ==="
    python = shlex.quote(sys.executable)
    programs = {"typed-memory": f"{python} -m app.cli", "python": python}
    script = f"\necho; echo '{end}'\n".join(one.commands for one in examples())
    script = re.sub(r"\.venv/bin/(typed-memory|python)", lambda one: programs[one[1]], script)
    done = subprocess.run(  # noqa: S603 - the README's commands are the point
        ["bash", "-eu", "-c", script],  # noqa: S607
        cwd=tmp_path,
        env=environment(TM_URL=service.url, TM_API_KEY=service.key, PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(examples()) >= 8
    for example, printed in zip(examples(), done.stdout.split(end), strict=True):
        for shown in example.shown:
            assert re.search(pattern(shown), printed), f"not in the answer: {shown}\n{printed}"


def test_every_setting_is_listed_with_its_default() -> None:
    listed = dict(re.findall(r"^\| `TM_(\w+)` \| (.*?) ?\|", README, re.MULTILINE))
    assert list(listed) == [name.upper() for name in Settings.model_fields]
    for name, field in Settings.model_fields.items():
        default = field.get_default()
        assert not isinstance(default, SecretStr)
        shown = "" if default is None else f"`{str(default).lower() if isinstance(default, bool) else default}`"
        assert listed[name.upper()] == shown, name


def test_every_route_is_listed() -> None:
    listed = re.findall(r"^\| `((?:GET|POST|PATCH|PUT|DELETE) \S+)` \|", README, re.MULTILINE)
    paths = create_app(Settings.model_construct()).openapi()["paths"]
    routes = [f"{method.upper()} {path}" for path, methods in paths.items() for method in methods]
    generic = [re.sub(rf"^POST /memories/typed/(?:{TYPES})$", "POST /memories/typed/{type}", one) for one in routes]
    assert sorted(listed) == sorted(set(generic))


def test_every_type_is_listed_with_its_half_life_and_scope() -> None:
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([\w.]+) \| (\w+) \|$", README, re.MULTILINE)
    listed = {name: (half_life, scope) for name, half_life, scope in rows}
    assert listed == {
        spec.name: (f"{spec.half_life_days:g}" if spec.half_life_days else "never", spec.default_scope)
        for spec in discover()
    }


def test_every_command_is_listed() -> None:
    listed = re.findall(r"^\| `typed-memory ([\w-]+)", README, re.MULTILINE)
    assert sorted(listed) == sorted(MODULES)


def test_every_make_target_it_names_is_there() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake (serve|test|check|eval|bench|openapi|\w+(?=`))", README)) <= targets


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("evals/*.md")], ids=str)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, _, part in (one.partition("#") for one in re.findall(r"\]\(([^)\s]+)\)", page.read_text())):
        file = page.parent / target if target else page
        assert file.exists(), target
        headings = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE) if part else []
        assert not part or part in [re.sub(r"[^\w -]", "", one).lower().replace(" ", "-") for one in headings], part
