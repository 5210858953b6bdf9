"""Backups of a database into a file, and their restoring, with `pg_dump` and `pg_restore`.

The programs are those of the system, or those that the embedded server brings along. Row-level security is forced on
the owner, too: Postgres refuses a dump by the owner, and one that is told to go on holds no rows. Only a login that
bypasses it makes a complete one: a superuser's, or a member's of `BACKUP_ROLE`.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import asyncpg

from app.db import migrate
from app.db.distribution import is_store_distributed
from app.db.embedded.folder import DataFolder
from app.db.embedded.process import unpack
from app.db.login import Login, connected
from app.errors import ConfigurationError

BACKUP_ROLE = "typed_memory_backup"
"""A role that reads everything and bypasses row-level security, for backups by a login that is no superuser."""

MAKE_BACKUP_ROLE = (
    f"CREATE ROLE {BACKUP_ROLE} NOLOGIN BYPASSRLS; GRANT pg_read_all_data TO {BACKUP_ROLE}; "
    f"GRANT {BACKUP_ROLE} TO the login that backs up"
)

_RIGHTS = """
SELECT (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user) AS bypasses,
    EXISTS (SELECT FROM pg_roles WHERE rolname = $1 AND rolbypassrls AND pg_has_role(current_user, oid, 'MEMBER'))
        AS member
"""

_TABLES = """
SELECT count(*) FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
"""

_REVISION = re.compile(r"^COPY \S*alembic_version \(version_num\) FROM stdin;\n(\S+)$", re.MULTILINE)

_UNPACK_SECONDS = 60.0

_COMPLAINTS = 5
"""Lines of a program's complaint that are passed on."""

_PARAMETERS = frozenset(
    {"sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl", "target_session_attrs", "host", "port", "connect_timeout"}
)
"""Parameters of a URL that libpq knows, too; others are for the service's own driver."""

_RENAMED = {"ssl": "sslmode"}


@dataclass(frozen=True, slots=True)
class Dumped:
    """A finished backup: the schema's revision in it, how many tables it holds, and its size in bytes."""

    revision: str
    tables: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Backups:
    """Backups of the database that the owner's login leads to, or into it.

    `programs` is the folder of `pg_dump` where it must not be looked for, `unpacked` the embedded server's data folder.
    Both methods raise ConfigurationError for a server that cannot be reached, and when there are no programs of its
    version. Cancelled, they end the program that runs, and leave neither half a file nor half a database.
    """

    owner: Login
    programs: Path | None = None
    unpacked: Path | None = None

    async def save(self, file: Path) -> Dumped:
        """Write everything in the database into a file: one consistent state, while the service runs.

        The file appears when it is complete. Raises ConfigurationError when the database has no schema of ours, the
        login does not see every row, or the rows are on the nodes of a cluster.
        """
        revision = await migrate.owner_revision(self.owner)
        if revision is None:
            raise ConfigurationError("there is nothing to back up: the database has no schema of Typed Memory")
        async with connected(self.owner) as connection:
            if await is_store_distributed(connection):
                raise ConfigurationError(
                    "the rows are on the nodes of a cluster, of which a dump of the coordinator has none: make a base "
                    "backup of each node, with its log"
                )
            role = await _reader(connection)
            major = connection.get_server_version().major
        return await self._dump(file, role, major, revision)

    async def restore(self, file: Path) -> str:
        """Fill an empty database from a file, all or nothing; return the revision of its schema.

        Privileges are not restored: `migrate.bring_up` grants them. Raises ConfigurationError when the database is not
        empty, or the file is no backup, or one of newer code.
        """
        async with connected(self.owner) as connection:
            if await connection.fetchval(_TABLES):
                raise ConfigurationError(
                    "the database is not empty, and a backup is not mixed with what is there: name an empty one in "
                    f"{self.owner.setting}"
                )
            major = connection.get_server_version().major
            revision = await self._load(file, major)
            await connection.execute("ANALYZE")
        return revision

    async def _dump(self, file: Path, role: str | None, major: int, revision: str) -> Dumped:
        """Write the dump beside the file, then move it there."""
        read_as = [] if role is None else [f"--role={role}"]
        with _replacing(file) as unfinished:
            async with find_programs(major, given=self.programs, unpacked=self.unpacked) as programs:
                await programs.run("pg_dump", "--format=custom", f"--file={unfinished}", *read_as, login=self.owner.url)
                contents = await programs.run("pg_restore", "--list", str(unfinished))
        return _dumped(file, revision, contents)

    async def _load(self, file: Path, major: int) -> str:
        """Restore the file, and return the revision in it."""
        async with find_programs(major, given=self.programs, unpacked=self.unpacked) as programs:
            revision = await _revision_in(programs, file)
            how = ("--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", "--no-comments")
            try:
                await programs.run("pg_restore", *how, str(file), login=self.owner.url)
            except ConfigurationError as error:
                raise ConfigurationError(
                    f"{file} was not restored, and the database is as empty as before: {error.message}"
                ) from error
        return revision


@contextmanager
def _replacing(file: Path) -> Iterator[Path]:
    """Yield a temporary file beside a file, which replaces it at the end of the block; after an error it is removed."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be written: {error.strerror}") from error
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def _dumped(file: Path, revision: str, contents: str) -> Dumped:
    return Dumped(revision=revision, tables=contents.count(" TABLE DATA "), size=file.stat().st_size)


async def _reader(connection: asyncpg.Connection) -> str | None:
    """Return the role that sees every row, None if that is the login itself."""
    rights = await connection.fetchrow(_RIGHTS, BACKUP_ROLE)
    if rights["bypasses"]:
        return None
    if rights["member"]:
        return BACKUP_ROLE
    raise ConfigurationError(
        "the login does not see every row (row-level security is forced), so the backup would not be complete: back up "
        f"with a superuser's login in TM_MIGRATION_DATABASE_URL, or have a superuser run once: {MAKE_BACKUP_ROLE}"
    )


async def _revision_in(programs: ClientPrograms, file: Path) -> str:
    """Return the revision of the schema in a backup; ConfigurationError for what this code cannot restore."""
    try:
        rows = await programs.run("pg_restore", "--data-only", "--table=alembic_version", "--file=-", str(file))
    except ConfigurationError as error:
        raise ConfigurationError(f"{file} is no backup that can be read: {error.message}") from error
    found = _REVISION.search(rows)
    if found is None:
        raise ConfigurationError(f"{file} is a dump, but not of a database of Typed Memory")
    if found[1] not in migrate.known_revisions():
        raise ConfigurationError(
            f"{file} has the schema {found[1]}, and this code knows none newer than {migrate.head()}: restore it with "
            "the release that made it, or a newer one"
        )
    return found[1]


@dataclass(frozen=True, slots=True)
class ClientPrograms:
    """A folder with programs of one version, and the environment that they run in."""

    folder: Path
    environment: Mapping[str, str]

    async def run(self, name: str, *arguments: str, login: str | None = None) -> str:
        """Run a program, with a login against its database, and return what it prints; cancelled, end it.

        Raises ConfigurationError with what it complains of.
        """
        command = [str(self.folder / name), *arguments]
        environment = dict(self.environment)
        if login is not None:
            url, password = for_libpq(login)
            command += ["--no-password", f"--dbname={url}"]
            environment["PGPASSWORD"] = password
        process = await asyncio.create_subprocess_exec(
            *command, env=environment, stdin=DEVNULL, stdout=PIPE, stderr=PIPE
        )
        try:
            printed, complained = (said.decode(errors="replace") for said in await process.communicate())
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.terminate()
                await process.wait()
        if process.returncode != 0:
            raise ConfigurationError(f"{name} failed: " + "\n".join(complained.strip().splitlines()[:_COMPLAINTS]))
        return printed

    async def major(self) -> int | None:
        """Return the major version of the programs, None where they are missing or do not run."""
        try:
            versions = {await self.run(name, "--version") for name in ("pg_dump", "pg_restore")}
        except (OSError, ConfigurationError):
            return None
        found = {match[1] for version in versions if (match := re.search(r"\) (\d+)", version))}
        return int(found.pop()) if len(found) == 1 else None


@asynccontextmanager
async def find_programs(major: int, *, given: Path | None, unpacked: Path | None) -> AsyncIterator[ClientPrograms]:
    """Yield `pg_dump` and `pg_restore` of a server's major version.

    `given` is the one folder to look in; without it they are looked for in PATH, in the usual places and in the
    embedded server's package, whose programs are in the data folder `unpacked` or are unpacked for as long. Raises
    ConfigurationError when there are none.
    """
    for folder in _folders(major) if given is None else [given]:
        programs = ClientPrograms(folder, os.environ)
        if await programs.major() == major:
            yield programs
            return
    with tempfile.TemporaryDirectory(prefix="typed-memory-") as scratch:
        if given is None:
            package = _package(unpacked, Path(scratch))
            programs = ClientPrograms(package.program("pg_dump").parent, package.environment())
            if await programs.major() == major:
                yield programs
                return
    raise ConfigurationError(
        f"there are no pg_dump and pg_restore of Postgres {major} in {given or 'PATH'}: install the client programs of "
        "that version, or name their folder with --programs"
    )


def _package(unpacked: Path | None, scratch: Path) -> DataFolder:
    """Return the folder that has the package's programs: the data folder, or `scratch`, into which they are unpacked.

    The data folder is only read: a server may run there with the programs of another version. It blocks, because in a
    thread it would go on unpacking after a cancellation.
    """
    if unpacked is not None and DataFolder(unpacked).binaries.exists():
        return DataFolder(unpacked)
    package = DataFolder(scratch)
    unpack(package, time.monotonic() + _UNPACK_SECONDS)
    return package


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
