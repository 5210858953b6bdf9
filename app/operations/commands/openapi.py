"""`typed-memory openapi`: write the OpenAPI document for client generators, or check that the file is current."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from app.command_line.terminal import CommandFailed, say
from app.main import create_app
from app.settings import Settings

PATH = Path("openapi/openapi.json")


def rendered() -> str:
    """Return the document as JSON with sorted keys, so that the order of routes makes no difference."""
    document = create_app(Settings.model_construct()).openapi()
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def write_openapi(path: Path = PATH) -> None:
    """Write the document."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(rendered(), encoding="utf-8")


def check_openapi(path: Path = PATH) -> bool:
    """Return whether the file equals the document of the code."""
    return path.is_file() and path.read_text(encoding="utf-8") == rendered()


def openapi(
    *,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if the file is stale.")] = False,
    output: Annotated[Path, typer.Option(help="The file; `-` prints instead.")] = PATH,
) -> None:
    """Write the OpenAPI document. It needs no database.

    For example:

      typed-memory openapi
      typed-memory openapi --output - > openapi.json
    """
    if check:
        if not check_openapi(output):
            raise CommandFailed(f"{output} is stale: run `make openapi` and commit it")
        say(f"{output} is up to date.")
    elif str(output) == "-":
        say(rendered().rstrip("\n"))
    else:
        try:
            write_openapi(output)
        except OSError as error:
            raise CommandFailed(f"{output} can't be written: {error.strerror}") from None
        say(f"Wrote {output}.")
