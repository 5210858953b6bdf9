"""The command line: `typed-memory`, or `python -m app.cli`. Each command is a module of `app.commands`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

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
    **dict.fromkeys(("remember", "recall", "forget", "history", "why", "profile", "users", "query"), "memories"),
    "mcp": "mcp",
    "review": "review",
    "backfill": "backfill",
    "eval": "evaluate",
    "openapi": "openapi",
    "new-type": "new_type",
}
"""The modules of commands."""


class Commands(TyperGroup):
    """The commands, each imported when it is run, completed or listed.

    So neither a client command, nor the shell that completes its name, waits for the import of the server.
    """

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - passed on
        super().__init__(**given)
        self.commands: Any = dict.fromkeys(MODULES)

    def get_command(self, ctx: object, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - typer's signature
        """Return a command, None where there is none of this name.

        Its module is imported without garbage collection, which takes two thirds of the time.
        """
        if cmd_name not in MODULES:
            return None
        cli = typer.Typer(rich_markup_mode=None)
        gc.disable()
        import_module(f"app.commands.{MODULES[cmd_name]}").register(cli)
        gc.freeze()
        gc.enable()
        return get_group(cli).commands[cmd_name]


def program() -> typer.Typer:
    """Return the program without its commands."""
    cli = typer.Typer(
        cls=Commands,
        name="typed-memory",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        help="A memory service for agents: start it, fill it, ask it.",
    )
    cli.callback()(common)
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
        program()(prog_name="typed-memory")
    except (CommandFailed, TypedMemoryError) as error:
        complain(str(error))
        sys.exit(FAILURE)


if __name__ == "__main__":
    main()
