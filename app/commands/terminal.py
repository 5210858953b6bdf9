"""Where commands print, and how they fail."""

from __future__ import annotations

from rich.console import Console

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
