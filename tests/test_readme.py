"""The README and docs/ are true: commands run and print what is shown, tables match the code, links resolve."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pydantic import SecretStr

from app.cli import MODULES
from app.memory.registry import discover
from app.settings import Settings
from tests.commands.program import ROOT, Served, environment
from tests.support.databases import Run, drop_database
from tests.support.openapi import document

PAGES = ("README.md", "docs/quickstart.md", "docs/cookbook.md", "docs/api.md", "docs/mcp.md", "docs/clients.md")
"""Pages with commands, run in this order against one service: a later page may use what an earlier one stored."""

FOLLOWED_ELSEWHERE = {"docs/adding-a-type.md"}
"""Pages whose commands a test of their own runs."""

TYPES = "|".join(spec.name for spec in discover())


class Example(NamedTuple):
    """Commands of a page, and the lines of output shown after them (an ellipsis stands for anything)."""

    page: str
    commands: str
    shown: list[str]


def blocks(page: str) -> list[tuple[str, str]]:
    """Return the fenced blocks of a page: language and content."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", text_of(page), re.MULTILINE | re.DOTALL)


def text_of(page: str) -> str:
    return (ROOT / page).read_text()


def examples() -> list[Example]:
    """Return the `bash` blocks, each with the `text` block that follows it directly; `sh` blocks are not run."""
    found: list[Example] = []
    for page in PAGES:
        before = ""
        for kind, content in blocks(page):
            if kind == "bash":
                found.append(Example(page, content, []))
            elif kind == "text" and before == "bash":
                found[-1].shown.extend(content.splitlines())
            before = kind
    return found


def rows(page: str, pattern: str) -> list[Any]:
    """Return what a pattern finds in the rows of a page's tables."""
    return re.findall(pattern, text_of(page), re.MULTILINE)


def pattern(shown: str) -> str:
    return ".*".join(re.escape(part) for part in shown.split("…"))


def missing(shown: list[str], printed: str) -> str | None:
    """Return the first line shown that was not printed; lines are looked for in the order they are shown in."""
    at = 0
    for line in shown:
        found = re.compile(pattern(line)).search(printed, at)
        if found is None:
            return line
        at = found.end()
    return None


@pytest.fixture
def service(run: Run, server_url: str, template: str) -> Iterator[Served]:
    url = run.create(server_url, template)
    with Served(TM_DATABASE_URL=url) as served:
        yield served
    drop_database(url)


@pytest.mark.long
@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("jq")), reason="the commands use curl and jq")
@pytest.mark.timeout(900)
def test_commands_run_and_print_what_the_pages_show(service: Served, tmp_path: Path) -> None:
    end = "=== end of an example ==="
    python = shlex.quote(sys.executable)
    programs = f'typed-memory() {{ {python} -m app.cli "$@"; }}\npython() {{ {python} "$@"; }}\n'
    script = programs + f"\necho; echo '{end}'\n".join(one.commands for one in examples())
    done = subprocess.run(  # noqa: S603 - the README's commands are the point
        ["bash", "-eu", "-c", script],  # noqa: S607
        cwd=tmp_path,
        env=environment(TM_URL=service.url, TM_API_KEY=service.key, PYTHONPATH=f"{ROOT}:{ROOT / 'clients' / 'python'}"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert {example.page for example in examples()} == set(PAGES)
    outputs = zip(examples(), done.stdout.split(end), strict=True)
    wrong = [(one.page, line, printed) for one, printed in outputs if (line := missing(one.shown, printed)) is not None]
    assert not wrong, "\n\n".join(f"{page} shows: {line}\nprinted: {printed}" for page, line, printed in wrong)


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{one.name}" for one in (ROOT / "docs").glob("*.md"))])
def test_commands_that_are_only_shown_are_well_formed(page: str) -> None:
    for kind, content in blocks(page):
        if kind == "sh":
            subprocess.run(["bash", "-n", "-c", content], check=True)  # noqa: S603, S607 - the page's own commands


def test_every_page_with_commands_is_run() -> None:
    pages = {path.relative_to(ROOT).as_posix() for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]}
    assert {page for page in pages if any(kind == "bash" for kind, _ in blocks(page))} == {*PAGES, *FOLLOWED_ELSEWHERE}


def test_every_setting_is_listed_with_its_default() -> None:
    listed = dict(rows("docs/operations.md", r"^\| `TM_(\w+)` \| (.*?) ?\|"))
    assert list(listed) == [name.upper() for name in Settings.model_fields]
    for name, field in Settings.model_fields.items():
        default = field.get_default()
        assert not isinstance(default, SecretStr)
        shown = "" if default is None else f"`{str(default).lower() if isinstance(default, bool) else default}`"
        assert listed[name.upper()] == shown, name


def test_every_route_is_listed() -> None:
    listed = rows("docs/api.md", r"^\| `((?:GET|POST|PATCH|PUT|DELETE) \S+)` \|")
    paths = document()["paths"]
    routes = [f"{method.upper()} {path}" for path, methods in paths.items() for method in methods]
    generic = [re.sub(rf"^POST /memories/typed/(?:{TYPES})$", "POST /memories/typed/{type}", one) for one in routes]
    assert sorted(listed) == sorted(set(generic))


def test_every_type_is_listed_with_its_half_life_and_scope() -> None:
    table = rows("docs/concepts.md", r"^\| `(\w+)` \|.*\| ([\w.]+) \| (\w+) \|$")
    listed = {name: (half_life, scope) for name, half_life, scope in table}
    assert listed == {
        spec.name: (f"{spec.half_life_days:g}" if spec.half_life_days else "never", spec.default_scope)
        for spec in discover()
    }


def test_every_command_is_listed() -> None:
    listed = rows("docs/operations.md", r"^\| `typed-memory ([\w-]+)")
    assert sorted(listed) == sorted(MODULES)


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")], ids=str)
def test_every_make_target_that_is_named_exists(page: Path) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    blocks_of_shell = re.findall(r"^```(?:sh|bash)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    commands = [*re.findall(r"`(make [^`\n]+)`", page.read_text()), *"\n".join(blocks_of_shell).splitlines()]
    named = {found[1] for line in commands if (found := re.match(r"make ([\w-]+)(?=$| +#| +\w+=|  )", line))}
    assert named <= targets


@pytest.mark.parametrize(
    "page",
    [
        one
        for folder in (".", "docs/**", "evals", "clients/**", "examples/**")
        for one in ROOT.glob(f"{folder}/*.md")
        if "node_modules" not in one.parts
    ],
    ids=str,
)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for address in re.findall(r"\]\(<?([^)\s>]+)>?\)", text):
        target, _, part = address.partition("#")
        if re.match(r"\w+:", address):
            continue
        file = page.parent / target if target else page
        assert file.exists(), target
        headings = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE) if part else []
        assert not part or part in [re.sub(r"[^\w -]", "", one).lower().replace(" ", "-") for one in headings], part


def test_every_page_is_linked_from_the_readme() -> None:
    linked = {address.partition("#")[0] for address in re.findall(r"\]\(([^)\s]+)\)", text_of("README.md"))}
    pages = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/*.md")}
    assert pages <= linked
