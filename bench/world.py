"""What is measured: a Postgres of its own in a temporary folder, and the service as a process of its own."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid5

import asyncpg

from app.db import embedding_models, migrate
from app.db.embedded.server import start_embedded
from app.db.session import KEPT_STATEMENTS, RUNTIME_ROLE, SESSION_SETTINGS, send_vectors_in_binary
from app.model import NAMESPACE
from app.providers.wordllama import WordllamaEmbedder
from app.services.keys import ROLES, hash_secret
from bench.copying import copy_rows
from bench.ports import free_port

MAIN_KEY = "tm_bench_" + "0" * 32
_START_SECONDS = 60.0
_STOP_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """An empty, migrated store. `owner` is a superuser's connection to it; `folder` goes when the world ends."""

    url: str
    owner: asyncpg.Connection
    embedder: WordllamaEmbedder
    folder: Path

    async def bare(self) -> asyncpg.Connection:
        """Open a connection as the service would."""
        connection = await asyncpg.connect(
            self.url, server_settings={"role": RUNTIME_ROLE, **SESSION_SETTINGS}, **KEPT_STATEMENTS
        )
        await send_vectors_in_binary(connection)
        return connection

    async def asking(self, tenant: UUID, *, plans: str = "force_generic_plan") -> asyncpg.Connection:
        """Open one for a tenant's questions, which plans as the service does: once for all but large scopes."""
        connection = await self.bare()
        await connection.execute(f"SET app.tenant_id = '{tenant}'; SET plan_cache_mode = {plans}")
        return connection

    async def add_tenants(self, numbers: Sequence[int]) -> None:
        """Make tenants, each with a key of every role."""
        now = datetime.now(UTC)
        tenants = [{"id": tenant_id(n), "name": f"bench {n}"} for n in numbers]
        keys = [
            {
                "tenant_id": tenant_id(n),
                "id": uuid5(tenant_id(n), "key"),
                "name": "bench",
                "prefix": "tm_bench",
                "secret_hash": hash_secret(key_of(n)),
                "roles": f"{{{','.join(ROLES)}}}",
                "created_at": now,
            }
            for n in numbers
        ]
        await copy_rows(self.owner, {"tenants": tenants, "api_keys": keys})


def tenant_id(number: int) -> UUID:
    """Return the id of the tenant of that number; the main one is 0."""
    return uuid5(NAMESPACE, f"bench {number}")


def key_of(number: int) -> str:
    """Return the tenant's API key."""
    return f"tm_bench_key_of_tenant_{number:08d}"


@asynccontextmanager
async def new_world() -> AsyncIterator[World]:
    """Start a database server, migrate, and yield; everything is gone afterwards."""
    folder = _new_folder()
    embedder = WordllamaEmbedder()
    try:
        server = await asyncio.to_thread(start_embedded, folder / "data")
        try:
            await asyncio.to_thread(migrate.upgrade, server.url)
            await embedding_models.register(server.url, name=embedder.name, dimensions=embedder.dimensions)
            owner = await asyncpg.connect(server.url)
            try:
                yield World(url=server.url, owner=owner, embedder=embedder, folder=folder)
            finally:
                await owner.close()
        finally:
            await asyncio.to_thread(server.release)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _new_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="tm-bench-"))
    # As root the server runs as another user, who must be able to enter.
    folder.chmod(0o755)
    return folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The running service: where it listens on this machine, and its process."""

    port: int
    pid: int


@asynccontextmanager
async def serving(world: World, **settings: str) -> AsyncIterator[Service]:
    """Run `typed-memory serve` on the world's database, in processes of its own; `settings` aren't the default."""
    port = free_port()
    given = {"TM_BOOTSTRAP_KEY": MAIN_KEY, "TM_LOG_FORMAT": "json", **settings}
    async with _running(world, ("app.cli", "serve", "--port", str(port)), port, given) as service:
        yield service


@asynccontextmanager
async def serving_bare_routes(world: World) -> AsyncIterator[Service]:
    """Run bare routes for typed writes and turns of the main tenant on the world's database, without a worker."""
    port = free_port()
    async with _running(world, ("bench.bare_routes", str(port)), port, {}) as service:
        yield service


@asynccontextmanager
async def _running(
    world: World, program: Sequence[str], port: int, settings: Mapping[str, str]
) -> AsyncIterator[Service]:
    """Run a module that serves the world's database on a port, and stop it at the end."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TM_")}
    environment |= {"TM_DATABASE_URL": world.url, **settings}
    log = world.folder / "service.log"
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", *program), env=environment, stdout=output, stderr=output
        )
    try:
        await _ready(port, process, log)
        yield Service(port=port, pid=process.pid)
    finally:
        await _stopped(process)


async def _ready(port: int, process: asyncio.subprocess.Process, log: Path) -> None:
    async with asyncio.timeout(_START_SECONDS):
        while True:
            if process.returncode is not None:
                raise RuntimeError(f"the service did not start: {_end_of(log)}")
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                # Of several processes none may serve yet, though their parent listens.
                writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                answer = await reader.read()
                writer.close()
            except OSError:
                answer = b""
            if answer:
                return
            await asyncio.sleep(0.1)


def _end_of(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-2000:]


async def _stopped(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        async with asyncio.timeout(_STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
