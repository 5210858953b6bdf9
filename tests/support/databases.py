"""Real databases for tests: one server a run, one migrated template in it, clones of that for tests.

The server is the one that TM_TEST_DATABASE_URL names (an owner login that may create databases), else an
embedded one, which all pytest-xdist workers share: the last to release it stops it. Where TM_TEST_DATABASE_NODES are
logins of further servers, separated by spaces, that one is the coordinator of a Citus cluster: databases are made on
all of them, and the template is distributed.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch
from urllib.parse import urlsplit

import asyncpg
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from app.db.distribution import distribute
from app.db.embedded import process
from app.db.embedded.folder import DataFolder, FileLock, acquire
from app.db.embedded.server import start_embedded
from app.db.migrate import upgrade
from tests.support import owner

_PREFIX = "tm-run-"
_WAIT_SECONDS = 120.0
_UNSAFE_IF_POWER_FAILS = {"fsync": "off", "full_page_writes": "off"}
"""What a killed server does not need to keep its data, and what each database that is dropped waits for."""
_CONNECTIONS = {"max_connections": "250"}
"""Enough for the pools of every worker, beside those of the services that its tests start."""

_SHARDS = 4
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Run:
    """One run of pytest: the folder that its processes share, whose random name names its databases too."""

    folder: Path

    @classmethod
    def begin(cls) -> tuple[Run, FileLock]:
        """Make the folder, and a lock whose holder says that the run lives; sweep up after killed runs."""
        _sweep()
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        # As root the embedded server runs as another user, who must be able to enter.
        folder.chmod(0o755)
        lock = FileLock(folder / "run.lock")
        lock.try_lock(exclusive=True)
        return cls(folder), lock

    def end(self) -> None:
        """Remove what the run made, in a server that is not ours too."""
        if url := _external_url():
            for name in _query(url, "SELECT datname FROM pg_database WHERE starts_with(datname, $1)", self._prefix):
                drop_database(_in_database(url, name))
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextmanager
    def server(self) -> Iterator[str]:
        """Yield an owner login of the run's server, which is up for as long."""
        if url := _external_url():
            yield url
            return
        with (
            patch.dict(process._INVARIANT, _UNSAFE_IF_POWER_FAILS),
            patch.dict(process._TUNABLE, _CONNECTIONS),
        ):
            embedded = start_embedded(self.folder / "data", timeout=_WAIT_SECONDS)
        try:
            yield embedded.url
        finally:
            embedded.release()

    def template(self, server_url: str) -> str:
        """Return the name of the migrated template; the first caller of the run's processes makes it."""
        name = f"{self._prefix}template"
        with acquire(self.folder / "template.lock", time.monotonic() + _WAIT_SECONDS):
            if not _query(server_url, "SELECT datname FROM pg_database WHERE datname = $1", name):
                unfinished = self.create(server_url)
                if nodes():
                    form_cluster(unfinished)
                _in_thread(lambda: upgrade(unfinished))
                if nodes():
                    _in_thread(lambda: asyncio.run(distribute(owner.login(unfinished), shards=_SHARDS)))
                for server in (*nodes(), server_url):
                    leave(server, _name(unfinished))
                    _execute(server, f'ALTER DATABASE "{_name(unfinished)}" RENAME TO "{name}"')
        return name

    def create(self, server_url: str, template: str = "template1") -> str:
        """Make a database that is a copy of `template`; return the owner's login to it."""
        name = f"{self._prefix}{uuid.uuid4().hex[:12]}"
        for server in (*nodes(), server_url):
            leave(server, template)
            _execute(server, f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return _in_database(server_url, name)

    @contextmanager
    def database(self, server_url: str, template: str = "template1") -> Iterator[str]:
        """Make a database that is a copy of `template`, and drop it at the end; yield the owner's login to it."""
        url = self.create(server_url, template)
        yield url
        drop_database(url)

    @property
    def _prefix(self) -> str:
        return f"tm_test_{self.folder.name.removeprefix(_PREFIX).lower()}_"


def drop_database(url: str) -> None:
    """Drop the database that the login leads to, whoever is connected; a cluster connects by itself now and then."""
    busy = retry_if_exception_type(asyncpg.ObjectInUseError)
    for server in (url, *nodes()):
        for attempt in Retrying(retry=busy, stop=stop_after_delay(_WAIT_SECONDS), wait=wait_fixed(0.2), reraise=True):
            with attempt:
                _execute(_in_database(server, "postgres"), f'DROP DATABASE IF EXISTS "{_name(url)}" WITH (FORCE)')


@contextmanager
def lesser_owner(url: str) -> Iterator[str]:
    """Hand an empty database to an owner who is no superuser, as `PREPARE` advises; yield that login."""
    name, parts = f"tm_owner_{uuid.uuid4().hex[:12]}", urlsplit(url)
    _execute(
        url,
        f"""
        CREATE EXTENSION vector; CREATE EXTENSION pg_trgm; CREATE EXTENSION btree_gin; CREATE EXTENSION btree_gist;
        CREATE ROLE {name} LOGIN PASSWORD 'guarded';
        ALTER DATABASE "{_name(url)}" OWNER TO {name};
        GRANT typed_memory_runtime TO {name}
        """,
    )
    yield parts._replace(netloc=f"{name}:guarded@{parts.netloc.rpartition('@')[2]}").geturl()
    _execute(url, f"REASSIGN OWNED BY {name} TO CURRENT_USER; DROP OWNED BY {name}; DROP ROLE {name}")


def nodes() -> list[str]:
    """Logins of the servers of a cluster besides the coordinator."""
    return os.environ.get("TM_TEST_DATABASE_NODES", "").split()


def on_nodes(url: str) -> list[str]:
    """Logins to the databases on the nodes of a cluster that belong to this one."""
    return [_in_database(server, _name(url)) for server in nodes()]


def form_cluster(url: str) -> None:
    """Make a cluster of the databases that the login and the nodes lead to."""
    name = _name(url)
    for server in (url, *nodes()):
        _execute(_in_database(server, name), "CREATE EXTENSION citus")
    where = [urlsplit(server) for server in (url, *nodes())]
    _execute(url, f"SELECT citus_set_coordinator_host('{where[0].hostname}', {where[0].port})")
    for node in where[1:]:
        _execute(url, f"SELECT citus_add_node('{node.hostname}', {node.port})")


def leave(server: str, name: str) -> None:
    """End what runs in a database by itself, Citus's maintenance, so that it can be renamed and copied."""
    if nodes():
        _execute(server, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")  # noqa: S608


def _sweep() -> None:
    """End the servers of runs that were killed, and remove their folders."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if not (folder / "run.lock").exists() or not os.access(folder / "run.lock", os.W_OK):
            continue
        lock = FileLock(folder / "run.lock")
        if lock.try_lock(exclusive=True):
            process.stop(DataFolder(folder / "data").cluster, time.monotonic() + _WAIT_SECONDS)
            shutil.rmtree(folder, ignore_errors=True)
        lock.close()


def _external_url() -> str | None:
    url = os.environ.get("TM_TEST_DATABASE_URL")
    return url.replace("postgresql+asyncpg://", "postgresql://", 1) if url else None


def _name(url: str) -> str:
    return urlsplit(url).path.removeprefix("/")


def _in_database(url: str, name: str) -> str:
    return urlsplit(url)._replace(path=f"/{name}").geturl()


def _execute(url: str, statement: str) -> None:
    async def execute() -> None:
        connection = await asyncpg.connect(url)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    _in_thread(lambda: asyncio.run(execute()))


def _query(url: str, query: str, argument: str) -> list[str]:
    async def fetch() -> list[str]:
        connection = await asyncpg.connect(url)
        try:
            return [row[0] for row in await connection.fetch(query, argument)]
        finally:
            await connection.close()

    return _in_thread(lambda: asyncio.run(fetch()))


def _in_thread(call: Callable[[], _T]) -> _T:
    """Call in a thread of its own, where no event loop of pytest's runs."""
    with ThreadPoolExecutor(max_workers=1) as executor:
        return executor.submit(call).result()
