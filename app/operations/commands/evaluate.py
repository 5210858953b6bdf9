"""`typed-memory eval`: measure the quality of recall."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import typer

from app.command_line.terminal import CommandFailed

CONTEXT: Final = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
"""Its options are those of the module that it runs."""


def evaluate(context: typer.Context) -> None:
    """Measure the quality of recall on conversations with known answers.

    The arguments are passed to `python -m evals`; `typed-memory eval --help` lists them. It needs a checkout of the
    project, because the installed package does not contain it.
    """
    if not Path("evals", "__main__.py").is_file():
        raise CommandFailed("there is no evals/__main__.py here: run this at the top of a checkout of the project")
    finished = subprocess.run([sys.executable, "-m", "evals", *context.args], check=False)  # noqa: S603 - our own
    raise typer.Exit(finished.returncode)
