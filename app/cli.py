"""The command line: `typed-memory`, or `python -m app.cli`. Each command is a module of `app.commands`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from app.commands.terminal import CommandFailed, complain
from app.errors import TypedMemoryError

FAILURE = 1

MODULES: Mapping[str, str] = {
    "serve": "serve",
    "worker": "worker",
    "migrate": "migrate",
    "distribute": "distribute",
    **dict.fromkeys(("backup", "restore"), "backup"),
    "reembed": "reembed",
    "calibrate": "calibrate",
    "keys": "keys",
    "limits": "limits",
    "export": "export",
    "audit": "audit",
    "import": "import_files",
    **dict.fromkeys(("remember", "recall", "forget", "history", "why", "profile", "users"), "memories"),
    "query": "query",
    "mcp": "mcp",
    "review": "review",
    "backfill": "backfill",
    "eval": "evaluate",
    "openapi": "openapi",
    "new-type": "new_type",
}
"""The modules of commands."""


def build(arguments: Sequence[str]) -> typer.Typer:
    """Return the program with the requested command, or with all of them.

    Other commands are not imported, so that a client command does not wait for the import of the server.
    """
    cli = typer.Typer(
        name="typed-memory",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        help="A memory service for agents: start it, fill it, ask it.",
    )
    cli.callback()(common)
    wanted = MODULES.keys() & set(arguments[:1]) or MODULES
    for module in dict.fromkeys(module for name, module in MODULES.items() if name in wanted):
        import_module(f"app.commands.{module}").register(cli)
    return cli


def program(arguments: Sequence[str]) -> typer.Typer:
    """Return the result of `build`, in two thirds of the time, without garbage collection during imports."""
    gc.disable()
    cli = build(arguments)
    gc.freeze()
    gc.enable()
    return cli


def print_version(wanted: bool) -> None:  # noqa: FBT001 - typer's signature
    """Print the version and exit, if `wanted`."""
    if not wanted:
        return
    try:
        typer.echo(version("typed-memory"))
    except PackageNotFoundError:
        typer.echo("not installed: run from a checkout")
    raise typer.Exit


def common(
    *,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """A memory service for agents: run it, write to it, query it."""  # noqa: D401 - it is shown to the user


def main() -> None:
    """Run the requested command; errors print one line and exit with 1 (2 for wrong usage)."""
    try:
        program(sys.argv[1:])(prog_name="typed-memory")
    except (CommandFailed, TypedMemoryError) as error:
        complain(str(error))
        sys.exit(FAILURE)


if __name__ == "__main__":
    main()
