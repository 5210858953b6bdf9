"""The command line: `typed-memory`, or `python -m app.cli`.

MODULES names the module of each command. It has a group of commands as `app`, or a function named like the command or
like the module, with the settings of its context as CONTEXT.
"""

from __future__ import annotations

import ast
import gc
import os
import re
import sys
from collections.abc import Container, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from app.command_line.terminal import CommandFailed, complain
from app.errors import TypedMemoryError

FAILURE = 1

_CORE = "operations.commands"

MODULES: Mapping[str, str] = {
    "serve": f"{_CORE}.serve",
    "worker": f"{_CORE}.worker",
    "migrate": f"{_CORE}.migrate",
    "distribute": f"{_CORE}.migrate",
    **dict.fromkeys(("backup", "restore"), f"{_CORE}.backup"),
    "reembed": "features.reembedding.command",
    "calibrate": f"{_CORE}.calibrate",
    "keys": f"{_CORE}.keys",
    "limits": f"{_CORE}.limits",
    "export": "features.portability.commands.export",
    "audit": f"{_CORE}.audit",
    "import": "features.portability.commands.import_files",
    **dict.fromkeys(
        ("remember", "recall", "forget", "history", "why", "profile", "users", "query"), f"{_CORE}.memories"
    ),
    "documents": "features.documents.command",
    "mcp": "features.mcp.command",
    "hook": "features.agent_hooks.command",
    "review": "features.review.command",
    "backfill": "features.backfill.command",
    "eval": f"{_CORE}.evaluate",
    "openapi": f"{_CORE}.openapi",
    "new-type": f"{_CORE}.new_type",
}
"""The modules of commands below `app`; the command of a feature that is not there is not offered."""


class Commands(TyperGroup):
    """The commands, each imported when it is run, or when its own options are completed.

    So neither a client command, nor the list of commands, waits for the import of the server.
    """

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - passed on
        super().__init__(**given)
        self.commands: Any = dict.fromkeys(name for name, module in MODULES.items() if _source(module).exists())

    def get_command(self, ctx: object, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - typer's signature
        """Return the name and the help of a command for a list, None where there is none of this name."""
        if cmd_name not in self.commands:
            return None
        told = read_help(cmd_name)
        # Given as such, because a short help that is cut out of the help ends in an ellipsis.
        return TyperCommand(cmd_name, help=told, short_help=told.partition("\n\n")[0])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - typer's signature
        """Return the name of the command to run, the command, and its arguments."""
        if args[0] in self.commands:
            if args[0] == "serve" and "--help" not in args and not os.environ.get("TM_DATABASE_URL"):
                check_data_folder()
            return args[0], load(args[0]), args[1:]
        return super().resolve_command(ctx, args)


def load(name: str) -> Any:  # noqa: ANN401 - typer's commands have no common type
    """Import a command.

    Its module is imported without garbage collection, which takes two thirds of the time.
    """
    cli = typer.Typer(rich_markup_mode=None)
    gc.disable()
    module = import_module(f"app.{MODULES[name]}")
    if isinstance(group := getattr(module, "app", None), typer.Typer):
        cli.add_typer(group, name=name)
    else:
        function = getattr(module, _function_name(name, vars(module)))
        cli.command(name, context_settings=getattr(module, "CONTEXT", None))(function)
    gc.freeze()
    gc.enable()
    command = get_group(cli).commands[name]
    for one in (command, *getattr(command, "commands", {}).values()):
        one.help = keep_lines(one.help or "")
    return command


def check_data_folder() -> None:
    """Raise ConfigurationError where the service could not write: at once, not after all that serves is loaded.

    What is made to find out is removed: the start may end for another reason.
    """
    server = import_module("app.db.embedded.server")
    named = os.environ.get("TM_DATA_DIR")
    folder = Path(named) if named else server.default_data_dir()
    whole = folder.expanduser().absolute()
    missing = [one for one in (whole, *whole.parents) if not one.exists()]
    server.prepared(folder)
    with suppress(OSError):  # another start may have filled it meanwhile
        for one in missing:
            one.rmdir()


def read_help(name: str) -> str:
    """Return a command's help from its source."""
    functions = _functions(MODULES[name])
    return keep_lines(ast.get_docstring(functions[_function_name(name, functions)]) or "")


def _function_name(name: str, known: Container[str]) -> str:
    """Return the name of a command's function: the command's own, else its module's."""
    return name if name in known else MODULES[name].rpartition(".")[2]


def keep_lines(text: str) -> str:
    """Return a help in which indented lines, which are examples, are marked so that they are not wrapped."""
    return re.sub(r"\n\n(?= )", "\n\n\b\n", text)


def _source(module: str) -> Path:
    return Path(__file__).parent.joinpath(*module.split(".")).with_suffix(".py")


@cache
def _functions(module: str) -> Mapping[str, ast.FunctionDef]:
    parsed = ast.parse(_source(module).read_text(encoding="utf-8"))
    return {one.name: one for one in parsed.body if isinstance(one, ast.FunctionDef)}


def program() -> typer.Typer:
    """Return the program without its commands."""
    cli = typer.Typer(
        cls=Commands,
        name="typed-memory",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
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
    """Run a memory service for agents, write to it, query it."""


def main() -> None:
    """Run the requested command; errors print one line and exit with 1 (2 for wrong usage)."""
    try:
        program()(prog_name="typed-memory")
    except (CommandFailed, TypedMemoryError) as error:
        complain(str(error))
        sys.exit(FAILURE)


if __name__ == "__main__":
    main()
