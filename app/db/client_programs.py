"""Find and run Postgres' client programs: those of the system, or those that the embedded server brings along."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from app.db.embedded.folder import DataFolder
from app.db.embedded.process import unpack
from app.errors import ConfigurationError

_UNPACK_SECONDS = 60.0

_COMPLAINTS = 5
"""Lines of a program's complaint that are passed on."""

_PARAMETERS = frozenset(
    {"sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl", "target_session_attrs", "host", "port", "connect_timeout"}
)
"""Parameters of a URL that libpq knows, too; others are for the service's own driver."""

_RENAMED = {"ssl": "sslmode"}


@dataclass(frozen=True, slots=True)
class ClientPrograms:
    """A folder with programs of one version, and the environment that they run in."""

    folder: Path
    environment: Mapping[str, str]

    def run(self, name: str, *arguments: str, login: str | None = None) -> str:
        """Run a program, with a login against its database, and return what it prints; blocking.

        Raises ConfigurationError with what it complains of.
        """
        command = [str(self.folder / name), *arguments]
        environment = dict(self.environment)
        if login is not None:
            url, password = for_libpq(login)
            command += ["--no-password", f"--dbname={url}"]
            environment["PGPASSWORD"] = password
        done = subprocess.run(  # noqa: S603 - Postgres' own programs, no shell
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode != 0:
            raise ConfigurationError(f"{name} failed: " + "\n".join(done.stderr.strip().splitlines()[:_COMPLAINTS]))
        return done.stdout

    def major(self) -> int | None:
        """Return the major version of the programs, None where they are missing or do not run."""
        try:
            versions = {self.run(name, "--version") for name in ("pg_dump", "pg_restore")}
        except (OSError, ConfigurationError):
            return None
        found = {match[1] for version in versions if (match := re.search(r"\) (\d+)", version))}
        return int(found.pop()) if len(found) == 1 else None


@contextmanager
def find_programs(major: int, *, given: Path | None, unpacked: Path | None) -> Iterator[ClientPrograms]:
    """Yield `pg_dump` and `pg_restore` of a server's major version.

    `given` is the one folder to look in; without it they are looked for in PATH, in the usual places and in the
    embedded server's package, whose programs are in the data folder `unpacked` or are unpacked for as long. Raises
    ConfigurationError when there are none.
    """
    for folder in _folders(major) if given is None else [given]:
        programs = ClientPrograms(folder, os.environ)
        if programs.major() == major:
            yield programs
            return
    with tempfile.TemporaryDirectory(prefix="typed-memory-") as scratch:
        if given is None:
            package = DataFolder(unpacked or Path(scratch))
            unpack(package, time.monotonic() + _UNPACK_SECONDS)
            programs = ClientPrograms(package.program("pg_dump").parent, package.environment())
            if programs.major() == major:
                yield programs
                return
    raise ConfigurationError(
        f"there are no pg_dump and pg_restore of Postgres {major} in {given or 'PATH'}: install the client programs of "
        "that version, or name their folder with --programs"
    )


def for_libpq(login: str) -> tuple[str, str]:
    """Return a login as libpq reads it, without its password, and the password."""
    parts = urlsplit(login)
    named = {_RENAMED.get(name, name): value for name, value in parse_qsl(parts.query)}
    query = urlencode({name: value for name, value in named.items() if name in _PARAMETERS})
    at = f"{quote(unquote(parts.username), safe='')}@" if parts.username else ""
    place = parts.netloc.rpartition("@")[2]
    url = f"postgresql://{at}{place}{parts.path}" + (f"?{query}" if query else "")
    return url, unquote(parts.password or "")


def _folders(major: int) -> Iterator[Path]:
    for pattern in (
        f"/usr/lib/postgresql/{major}/bin",
        f"/usr/pgsql-{major}/bin",
        f"/opt/homebrew/opt/postgresql@{major}/bin",
    ):
        yield Path(pattern)
    if (found := shutil.which("pg_dump")) is not None:
        yield Path(found).parent
