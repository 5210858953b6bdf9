"""What the tests of the embedded Postgres share: service processes to kill, folders that clean up."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

import asyncpg

from tests.support.folders import open_folder
from tests.support.waiting import wait_until

# Takes its share, says so on one line, and lives until its input closes. The second argument is a user id to
# become, once everything is imported: that user may not be allowed to read the Python that root runs.
_SERVICE = """
import email.parser, os, sys
from pathlib import Path
from app.db.embedded.server import start_embedded
"".encode("idna")
if sys.argv[2]:
    os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
server = start_embedded(Path(sys.argv[1]))
print(server.started, server.url, flush=True)
sys.stdin.read()
server.release()
"""


class Service:
    """A process of its own that uses the embedded server of `data_dir`, and ends with the `with` block."""

    def __init__(self, data_dir: Path, user: str = "") -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-c", _SERVICE, str(data_dir), user],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.started = False
        self.url = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def wait_until_up(self) -> Self:
        """Wait until it has its share; say in `started` and `url` what it got."""
        assert self._process.stdout is not None
        started, self.url = self._process.stdout.readline().split()
        self.started = started == "True"
        return self

    def kill(self) -> None:
        """Kill it without a word; its server, if any, stays."""
        self._process.kill()
        self.end()

    def end(self) -> None:
        """Let it release its share and end."""
        if self._process.returncode is None:
            self._process.communicate(timeout=60)


@contextmanager
def data_folder() -> Iterator[Path]:
    """Yield the path of a data directory yet to be made, whose server ends with the block."""
    with open_folder() as folder:
        path = folder / "data"
        try:
            yield path
        finally:
            pid = postmaster_pid(path)
            if pid is not None and is_running(pid):
                os.kill(pid, signal.SIGQUIT)
                wait_until_gone(pid)


def copy_stopped(source: Path, target: Path) -> None:
    """Copy a data directory whose server is stopped, owners and modes with it; the binaries are linked."""
    target.mkdir(mode=0o711)
    for item in source.iterdir():
        if item.name.startswith("server-"):
            (target / item.name).symlink_to(item)
        else:
            _copy_owned(item, target / item.name)


def link_binaries(source: Path, target: Path) -> None:
    """Make a new data directory that takes its unpacked binaries from another: saves most of a first start."""
    target.mkdir(mode=0o711)
    for item in source.glob("server-*"):
        (target / item.name).symlink_to(item)


def _copy_owned(source: Path, target: Path) -> None:
    shutil.copytree(source, target) if source.is_dir() else shutil.copy2(source, target)
    for old in [source, *source.rglob("*")]:
        os.chown(target / old.relative_to(source), old.stat().st_uid, old.stat().st_gid)


def postmaster_pid(data_dir: Path) -> int | None:
    """Return the process id that the server's pid file names, if it is there."""
    try:
        return int((data_dir / "cluster" / "postmaster.pid").read_text().split("\n")[0])
    except (FileNotFoundError, NotADirectoryError):
        return None


def is_running(pid: int) -> bool:
    """Say whether the process lives; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except OSError:
        return False


def kill_server(data_dir: Path) -> int:
    """Kill the server without a word, leaving its pid file behind; return its process id."""
    pid = postmaster_pid(data_dir)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_until_gone(pid)
    assert postmaster_pid(data_dir) == pid
    return pid


@contextmanager
def hung_server(data_dir: Path) -> Iterator[int]:
    """Stop the server in its tracks during the block; yield its process id."""
    pid = postmaster_pid(data_dir)
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        yield pid
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def wait_until_gone(pid: int) -> None:
    """Wait for the process to end."""
    wait_until(lambda: not is_running(pid))


async def execute(url: str, *statements: str) -> None:
    """Run the statements in a connection of their own."""
    connection = await asyncpg.connect(url)
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


async def value(url: str, query: str) -> object:
    """Return the one value that the query yields, in a connection of its own."""
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()
