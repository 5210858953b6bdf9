"""Start the service of this checkout for tests: with its embedded Postgres, an empty store, on a free port."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, cast

ROOT: Final = Path(__file__).resolve().parents[1]
START_SECONDS: Final = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Where the service listens, and a key with every role."""

    url: str
    key: str

    @property
    def environment(self) -> dict[str, str]:
        """The variables that clients and their tests read."""
        return {"TM_URL": self.url, "TM_API_KEY": self.key, "TM_TEST_URL": self.url, "TM_TEST_API_KEY": self.key}


@contextmanager
def running_service() -> Iterator[Service]:
    """Return the service that TM_TEST_URL and TM_TEST_API_KEY name, or start one and stop it in the end."""
    # Not TM_URL: a developer's shell names the service with their own memories by it.
    if "TM_TEST_URL" in os.environ and "TM_TEST_API_KEY" in os.environ:
        yield Service(url=os.environ["TM_TEST_URL"], key=os.environ["TM_TEST_API_KEY"])
        return
    with tempfile.TemporaryDirectory(prefix="typed-memory-clients-") as folder:
        # The database server may run as another user, who must be able to enter.
        Path(folder).chmod(0o755)
        yield from _started(Path(folder) / "data")


def _started(data: Path) -> Iterator[Service]:
    others = {name: value for name, value in os.environ.items() if not name.startswith("TM_")}
    process = subprocess.Popen(  # noqa: S603 - our own program
        [str(ROOT / ".venv" / "bin" / "python"), "-m", "app.cli", "serve", "--port", "0"],
        cwd=ROOT,
        env={**others, "TM_DATA_DIR": str(data), "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    timer = threading.Timer(START_SECONDS, process.kill)
    timer.start()
    reader: threading.Thread | None = None
    output = cast("IO[str]", process.stdout)
    try:
        service = _read_banner(output)
        timer.cancel()
        # The service must never wait for somebody to read what it prints.
        reader = threading.Thread(target=output.read)
        reader.start()
        yield service
    finally:
        timer.cancel()
        process.terminate()
        process.wait(START_SECONDS)
        if reader is not None:
            reader.join()
        output.close()


def _read_banner(lines: IO[str]) -> Service:
    printed = ""
    for line in lines:
        printed += line
        url, key = (re.search(rf"^  {name} +(\S+)", printed, re.MULTILINE) for name in ("URL", "key"))
        if url and key:
            return Service(url=url[1], key=key[1])
    raise RuntimeError(f"the service did not start:\n{printed}")
