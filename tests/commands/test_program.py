"""`typed-memory` before any of its commands: what it imports, and what it says about names."""

from __future__ import annotations

import os
import subprocess

from tests.commands.program import PROGRAM

SERVER = "sqlalchemy"


def run(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1", **env}
    command = (*PROGRAM, *arguments)
    return subprocess.run(command, capture_output=True, text=True, env=settings, timeout=60, check=False)  # noqa: S603


def test_the_shell_completes_a_client_command_without_the_import_of_the_server() -> None:
    words = {"COMP_WORDS": "typed-memory reca", "COMP_CWORD": "1", "_TYPED_MEMORY_COMPLETE": "complete_bash"}
    done = run(**words)
    assert done.stdout.split() == ["recall"]
    assert SERVER not in done.stderr


def test_the_version_is_printed_without_the_import_of_the_server() -> None:
    done = run("--version")
    assert done.returncode == 0
    assert SERVER not in done.stderr


def test_a_misspelled_command_is_answered_with_those_like_it() -> None:
    done = run("remeber", "I ski.")
    assert done.returncode == 2
    assert "Did you mean 'remember'" in done.stderr
