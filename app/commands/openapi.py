"""`typed-memory openapi`: the API's description, for client generators."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app import openapi_file
from app.commands.terminal import CommandFailed, say


def openapi(
    *,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if the file is stale.")] = False,
    output: Annotated[Path, typer.Option(help="The file; `-` prints instead.")] = openapi_file.PATH,
) -> None:
    """Write the OpenAPI document. It needs no database.

    For example:

      typed-memory openapi

      typed-memory openapi --output - > openapi.json
    """
    if check:
        if not openapi_file.check_openapi(output):
            raise CommandFailed(f"{output} is not what the code says: run `make openapi` and commit it")
        say(f"{output} is up to date.")
    elif str(output) == "-":
        say(openapi_file.rendered().rstrip("\n"))
    else:
        openapi_file.write_openapi(output)
        say(f"Wrote {output}.")


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(openapi)
