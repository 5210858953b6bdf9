"""Results as a table on the screen, as JSON, and as Markdown."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table as RichTable

from bench.figures import Book, Check

LATEST = "latest.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """When and on what a run was made."""

    date: str
    commit: str
    machine: str
    postgres: str
    quick: bool
    minutes: float


def describe(*, postgres: str, quick: bool, seconds: float) -> Run:
    """Return what is said of this run."""
    cores = os.cpu_count() or 1
    return Run(
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        commit=_commit(),
        machine=f"{platform.system()} {platform.machine()}, {cores} cores, Python {platform.python_version()}",
        postgres=postgres,
        quick=quick,
        minutes=round(seconds / 60, 1),
    )


def show(console: Console, book: Book) -> None:
    """Print every table, then the checks."""
    for table in book.tables:
        shown = RichTable(title=table.title, caption=table.note or None, title_justify="left")
        for place, column in enumerate(table.columns):
            shown.add_column(column, justify="right" if place else "left", no_wrap=place > 0)
        for row in table.rows:
            shown.add_row(*row)
        console.print(shown, "")
    checks = RichTable("target", "measured", "wanted", "", title="Targets", title_justify="left")
    for one in book.checks:
        mark = "[green]pass[/green]" if one.passed else "[red]miss[/red]"
        checks.add_row(one.name, _number(one.value), _wanted(one), mark)
    console.print(checks)


def save(folder: Path, book: Book, run: Run, only: Sequence[str]) -> list[Path]:
    """Write the figures as `<date>-<commit>.json`, and a run of all parts as `latest.md`; return what was written.

    A run of some parts has their names in its file's name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    checks = [{**asdict(one), "passed": one.passed} for one in book.checks]
    content = {"run": asdict(run), "checks": checks, "tables": [asdict(one) for one in book.tables]}
    figures, latest = folder / f"{'-'.join((run.date, run.commit, *only))}.json", folder / LATEST
    figures.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    if only:
        return [figures]
    latest.write_text(_markdown(book, run), encoding="utf-8")
    return [figures, latest]


def _markdown(book: Book, run: Run) -> str:
    kind = "a quick run" if run.quick else "a full run"
    said = f"{run.date}, commit {run.commit}, {run.machine}, {run.postgres}; {kind} of {run.minutes} minutes."
    lines = [
        "# Speed, as last measured",
        "",
        said,
        "",
        "Times are this machine's; what counts are the ratios, taken in one run. What the service turns away because",
        "too many requests wait is sent again after 50 ms; its time counts from the first attempt.",
        "",
        *_rows(
            ("target", "measured", "wanted", ""),
            [(one.name, _number(one.value), _wanted(one), "pass" if one.passed else "miss") for one in book.checks],
        ),
    ]
    for table in book.tables:
        lines += ["", f"## {table.title}", "", *_rows(table.columns, table.rows)]
        lines += ["", table.note] if table.note else []
    return "\n".join(lines) + "\n"


def _rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (columns, ["---"] * len(columns), *rows)]


def _wanted(check: Check) -> str:
    return f"{check.relation} {_number(check.target)}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.3g}"


def _commit() -> str:
    try:
        found = subprocess.run(
            ("git", "rev-parse", "--short=10", "HEAD"),  # noqa: S607 - whichever git there is
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parent,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()
