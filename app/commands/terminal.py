"""Terminal output of commands, how they fail, and the options that several of them share."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn

from app.model import ScopeKind

Url = Annotated[
    str | None,
    typer.Option(envvar="TM_URL", show_envvar=True, help="The service; by default the one on this machine."),
]

ApiKey = Annotated[
    str | None,
    typer.Option(
        envvar="TM_API_KEY",
        show_envvar=True,
        help="An API key; by default the one that the first `serve` left in the data folder.",
    ),
]

UserId = Annotated[str | None, typer.Option(help="The user it is about.")]

AgentId = Annotated[str | None, typer.Option(help="The agent it belongs to.")]

Whose = Annotated[
    ScopeKind | None,
    typer.Option("--scope", help="Who sees it: that user, that agent, or, if global, everybody in the tenant."),
]

TimeZone = Annotated[
    str | None, typer.Option(help="Where times without an offset are read, such as Europe/Berlin; else UTC.")
]

AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as the service gave it.")]

out = Console(highlight=False)
"""What was asked for: standard output."""

err = Console(stderr=True, highlight=False)
"""Everything else."""


class CommandFailed(Exception):
    """A command that can't do what it was asked; the message names the thing and the mend."""


def say(text: str = "") -> None:
    """Print a line as it is: no markup, and no line breaks that would break what is copied."""
    out.print(text, markup=False, soft_wrap=True)


def say_json(answer: object) -> None:
    """Print an answer of the service as indented JSON."""
    say(json.dumps(answer, indent=2, ensure_ascii=False))


def complain(message: str) -> None:
    """Print an error."""
    err.print("[bold red]error:[/]", end=" ")
    err.print(message, markup=False, soft_wrap=True)


def warn(message: str) -> None:
    """Print a warning."""
    err.print("[bold yellow]warning:[/]", end=" ")
    err.print(message, markup=False, soft_wrap=True)


def progress(time: ProgressColumn, count: ProgressColumn | None = None) -> Progress:
    """Return a progress bar of tasks, gone when they end and silent where nobody watches.

    `time` says what has passed or is left, `count` how far it is: how many of how many where it isn't given.
    """
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        count or MofNCompleteColumn(),
        time,
        console=err,
        transient=True,
        disable=not err.is_terminal,
    )
