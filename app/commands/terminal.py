"""Where commands print, and how they fail."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn

out = Console(highlight=False)
"""What was asked for: standard output."""

err = Console(stderr=True, highlight=False)
"""Everything else."""


class CommandFailed(Exception):
    """A command that can't do what it was asked; the message names the thing and the mend."""


def say(text: str = "") -> None:
    """Print a line as it is: no markup, and no line breaks that would break what is copied."""
    out.print(text, markup=False, soft_wrap=True)


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
