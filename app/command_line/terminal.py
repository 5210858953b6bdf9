"""Terminal output, errors and shared options of commands."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Coroutine
from typing import Annotated, Any, TypeVar, cast

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn

from app.model import ScopeKind

Result = TypeVar("Result")

Url = Annotated[
    str | None,
    typer.Option(envvar="TM_URL", show_envvar=True, help="The service's URL; by default this machine's."),
]

ApiKey = Annotated[
    str | None,
    typer.Option(
        envvar="TM_API_KEY",
        show_envvar=True,
        help="An API key; by default the one that the first `serve` wrote to the data directory.",
    ),
]

USER = ("--user-id", "--user")
AGENT = ("--agent-id", "--agent")
SESSION = ("--session-id", "--session")
"""The names of these options: the API's, and what people type."""

UserId = Annotated[str | None, typer.Option(*USER, help="The user's id.")]

AgentId = Annotated[str | None, typer.Option(*AGENT, help="The agent's id.")]

Whose = Annotated[
    ScopeKind | None,
    typer.Option("--scope", help="The scope: that user, that agent, or global, which everyone in the tenant sees."),
]

TimeZone = Annotated[
    str | None, typer.Option(help="The time zone of times without an offset, such as Europe/Berlin; by default UTC.")
]

AsJson = Annotated[bool, typer.Option("--json", help="Print the service's answer as JSON.")]

out = Console(highlight=False)
"""Standard output, for results."""

err = Console(stderr=True, highlight=False)
"""Standard error, for everything else."""


class CommandFailed(Exception):
    """A command failed; the message names the cause and a remedy."""


def run_to_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Run work and return its result; SIGTERM cancels it as Ctrl-C does, so that nothing unfinished is left behind."""

    async def stoppable() -> Result:
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await work

    try:
        return asyncio.run(stoppable())
    except asyncio.CancelledError:
        raise SystemExit(128 + signal.SIGTERM) from None


def say(text: str = "") -> None:
    """Print a line without markup and without wrapping, so that it can be copied."""
    out.print(text, markup=False, soft_wrap=True)


def be_sure(warning: str, *, sure: bool) -> None:
    """Ask in a terminal whether to go on after this warning, unless `sure`; elsewhere raise CommandFailed."""
    if sure:
        return
    if not sys.stdin.isatty():
        raise CommandFailed(f"{warning} Add --yes to confirm.")
    say(warning)
    typer.confirm("Go on?", abort=True)


def say_json(answer: object) -> None:
    """Print an answer of the service as indented JSON."""
    say(json.dumps(answer, indent=2, ensure_ascii=False))


def one_line(text: str, most: int) -> str:
    """Return a text on one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


def complain(message: str) -> None:
    """Print an error."""
    err.print("[bold red]error:[/]", end=" ")
    err.print(message, markup=False, soft_wrap=True)


def warn(message: str) -> None:
    """Print a warning."""
    err.print("[bold yellow]warning:[/]", end=" ")
    err.print(message, markup=False, soft_wrap=True)


def progress(time: ProgressColumn, count: ProgressColumn | None = None) -> Progress:
    """Return a progress bar that vanishes at the end and is silent without a terminal.

    `time` is the column of elapsed or remaining time, `count` that of progress, by default "done/total".
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
