"""The program in processes of its own that are forked from one which has everything imported.

They start in a tenth of the time that a new interpreter takes. Each has its own arguments, environment, folder and
standard streams, and is killed like any other.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final, TextIO
from unittest.mock import patch

from app import cli

COLUMNS: Final = "120"
"""Width of what the program prints: its consoles read it when they are imported."""

CONTEXT: Final = multiprocessing.get_context("forkserver")
_COMMANDS: Final = [f"app.{one}" for one in dict.fromkeys(cli.MODULES.values())]
CONTEXT.set_forkserver_preload(["tests.support.warm", *_COMMANDS, "tests.jobs.process", __name__])


class ForkedProgram:
    """`typed-memory ARGUMENTS` under way, with the part of `subprocess.Popen` that tests use."""

    def __init__(self, arguments: Sequence[str], *, folder: Path, env: Mapping[str, str], given: str = "") -> None:
        """Start it; `given` is its standard input."""
        stdin = _file(given)
        said, stdout = CONTEXT.Pipe(duplex=False)
        logged, stderr = CONTEXT.Pipe(duplex=False)
        self._process = CONTEXT.Process(
            target=_main, args=(tuple(arguments), str(folder), dict(env), stdin, stdout, stderr), daemon=True
        )
        with patch.dict(os.environ, COLUMNS=COLUMNS):
            self._process.start()
        for end in (stdin, stdout, stderr):
            end.close()
        self.stdout, self.stderr = _text(said), _text(logged)

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""
        return self._process.exitcode

    def wait(self, seconds: float | None = None) -> int:
        """Return the exit code when it has ended; raise TimeoutExpired."""
        self._process.join(seconds)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("typed-memory", seconds or 0.0)
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send a signal; one that has ended gets none, even while its exit code is still on its way here."""
        if self._process.exitcode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()


def _file(content: str) -> Connection:
    """Return a file to read from, in the wrapping that multiprocessing hands on."""
    with TemporaryFile() as file:
        file.write(content.encode())
        file.seek(0)
        return Connection(os.dup(file.fileno()), writable=False)


def _text(end: Connection) -> TextIO:
    with end:
        return os.fdopen(os.dup(end.fileno()), encoding="utf-8", errors="replace")


def _main(arguments: tuple[str, ...], folder: str, env: dict[str, str], *streams: Connection) -> None:
    """Be the program: what `python -m app.cli` does after its imports."""
    for number, end in enumerate(streams):
        os.dup2(end.fileno(), number)
        end.close()
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - multiprocessing closed it
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    sys.argv = ["typed-memory", *arguments]
    cli.main()
