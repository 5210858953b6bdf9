"""The program as users run it: `typed-memory` in a process of its own, and a service started with it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Self

from tests.support.forked import ForkedProgram
from tests.support.waiting import PATIENCE

PROGRAM = (sys.executable, "-m", "app.cli")
ROOT = Path(__file__).parents[2]
WAIT_SECONDS = PATIENCE


def environment(**settings: str) -> dict[str, str]:
    """Return this process's environment without its TM_ variables, and with the given ones."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("TM_")}
    return {**own, "COLUMNS": "120", **settings}


def run(*arguments: str, given: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; `given` is its standard input."""
    process = ForkedProgram(arguments, folder=ROOT, env=environment(**settings), given=given)
    output = Output(process.stdout, process.stderr)
    try:
        code = process.wait(WAIT_SECONDS)
    finally:
        process.kill()
    said, logged = output.end()
    return subprocess.CompletedProcess(arguments, code, said, logged)


def run_in(folder: Path, *arguments: str, given: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in a folder, with an interpreter of its own: that may hold other code."""
    return subprocess.run(  # noqa: S603 - our own program
        [*PROGRAM, *arguments],
        cwd=folder,
        env=environment(**settings, PYTHONPATH=str(ROOT)),
        input=given,
        capture_output=True,
        text=True,
        timeout=2 * WAIT_SECONDS,
        check=False,
    )


def start(folder: Path, *arguments: str, **settings: str) -> ForkedProgram | subprocess.Popen[str]:
    """Start the program of the code in a folder; ours is forked, which takes no time, unless it has children itself."""
    env = environment(**settings, PYTHONPATH=str(folder))
    if folder == ROOT and "TM_WEB_WORKERS" not in settings:
        return ForkedProgram(arguments, folder=folder, env=env)
    return subprocess.Popen(  # noqa: S603 - our own program
        [*PROGRAM, *arguments],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


class Output:
    """What a program prints, read while it runs."""

    def __init__(self, *pipes: IO[str]) -> None:
        self._read: list[list[str]] = [[] for _ in pipes]
        self._readers = [
            threading.Thread(target=self._follow, args=(pipe, lines), daemon=True)
            for pipe, lines in zip(pipes, self._read, strict=True)
        ]
        for reader in self._readers:
            reader.start()

    def so_far(self) -> list[str]:
        """Return what each pipe has given."""
        return ["".join(lines) for lines in self._read]

    def end(self) -> list[str]:
        """Wait for the last of it and return all."""
        for reader in self._readers:
            reader.join(WAIT_SECONDS)
        return self.so_far()

    @staticmethod
    def _follow(pipe: IO[str], lines: list[str]) -> None:
        with pipe:
            lines.extend(pipe)


@contextmanager
def running(*arguments: str, **settings: str) -> Iterator[tuple[ForkedProgram | subprocess.Popen[str], Output]]:
    """Start a command, and kill it at the end of the block unless it has ended; its output is whole then."""
    process = start(ROOT, *arguments, **settings)
    assert process.stdout is not None
    assert process.stderr is not None
    output = Output(process.stdout, process.stderr)
    try:
        yield process, output
    finally:
        process.kill()
        output.end()


class Served:
    """`typed-memory serve` of the code in `root`, on a free port or on TM_PORT; ends with the `with` block."""

    def __init__(self, root: Path = ROOT, /, **settings: str) -> None:
        self.settings: Mapping[str, str] = settings
        arguments = ("serve", "--port", settings.get("TM_PORT", "0"))
        self.process = start(root, *arguments, **settings)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._output = Output(self.process.stdout, self.process.stderr)

    def __enter__(self) -> Self:
        interpreters = 1 + int(self.settings.get("TM_WEB_WORKERS", "0"))
        deadline = time.monotonic() + WAIT_SECONDS * interpreters
        while "  key " not in self.said:
            assert self.process.poll() is None, self.logged
            assert time.monotonic() < deadline, self.logged
            time.sleep(0.02)
        time.sleep(0.1)  # the lines after it
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.stop()

    @property
    def said(self) -> str:
        """What it has printed."""
        return self._output.so_far()[0]

    @property
    def logged(self) -> str:
        """What it has logged."""
        return self._output.so_far()[1]

    @property
    def url(self) -> str:
        return self._told("URL")

    @property
    def key(self) -> str:
        return self._told("key")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send the signal and return the exit code."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        """Wait for the end, and for the last of what it says."""
        code = self.process.wait(WAIT_SECONDS)
        self._output.end()
        return code

    def command(self, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        """Run a client command against this service."""
        return run(*arguments, given=given, TM_URL=self.url, TM_API_KEY=self.key)

    def _told(self, name: str) -> str:
        found = re.search(rf"^  {name} +(\S+)", self.said, re.MULTILINE)
        assert found is not None, self.said
        return found[1]
