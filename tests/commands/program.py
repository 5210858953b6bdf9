"""The program as users run it: `typed-memory` in a process of its own, and a service started with it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

PROGRAM = (sys.executable, "-m", "app.cli")
ROOT = Path(__file__).parents[2]
WAIT_SECONDS = 60.0


def environment(**settings: str) -> dict[str, str]:
    """Return this process's environment without its TM_ variables, and with the given ones."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("TM_")}
    return {**own, "COLUMNS": "120", **settings}


def run(*arguments: str, given: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; `given` is its standard input."""
    return run_in(ROOT, *arguments, given=given, **settings)


def run_in(folder: Path, *arguments: str, given: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in a folder."""
    return subprocess.run(  # noqa: S603 - our own program
        [*PROGRAM, *arguments],
        cwd=folder,
        env=environment(**settings, PYTHONPATH=str(ROOT)),
        input=given,
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
    )


class Served:
    """`typed-memory serve` of the code in `root`, on a free port or on TM_PORT; ends with the `with` block."""

    def __init__(self, root: Path = ROOT, /, **settings: str) -> None:
        self.settings: Mapping[str, str] = settings
        self.said = ""
        self.logged = ""
        self.process = subprocess.Popen(  # noqa: S603 - our own program
            [*PROGRAM, "serve", "--port", settings.get("TM_PORT", "0")],
            cwd=root,
            env=environment(**settings, PYTHONPATH=str(root)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._readers = [
            threading.Thread(target=self._read, args=(name,), daemon=True) for name in ("stdout", "stderr")
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Self:
        deadline = time.monotonic() + WAIT_SECONDS
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
        for reader in self._readers:
            reader.join(WAIT_SECONDS)
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()
        return code

    def command(self, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        """Run a client command against this service."""
        return run(*arguments, given=given, TM_URL=self.url, TM_API_KEY=self.key)

    def _told(self, name: str) -> str:
        found = re.search(rf"^  {name} +(\S+)", self.said, re.MULTILINE)
        assert found is not None, self.said
        return found[1]

    def _read(self, name: str) -> None:
        pipe = self.process.stdout if name == "stdout" else self.process.stderr
        assert pipe is not None
        for line in pipe:
            if name == "stdout":
                self.said += line
            else:
                self.logged += line
