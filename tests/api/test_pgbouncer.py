"""The service behind PgBouncer, where that is installed."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import pytest
from pydantic import SecretStr

from app.errors import ConfigurationError
from bench.ports import free_port
from tests.api.conftest import connected, fact, running, settings_for
from tests.support.waiting import ended_job

PROGRAM = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not installed")


def _configured(parts: SplitResult, port: int, mode: str, ignored: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="tm-pgbouncer-"))
    folder.chmod(0o755)
    (folder / "users").write_text(f'"{parts.username}" "{parts.password}"\n')
    (folder / "ini").write_text(
        f"[databases]\n* = host=127.0.0.1 port={parts.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
        f"listen_port = {port}\nunix_socket_dir =\nauth_type = plain\nauth_file = {folder / 'users'}\n"
        f"pool_mode = {mode}\ndefault_pool_size = 2\nignore_startup_parameters = {ignored}\n"
    )
    return folder


@asynccontextmanager
async def pgbouncer(url: str, mode: str, *, ignored: str = "extra_float_digits") -> AsyncIterator[str]:
    """Run PgBouncer with two server connections before the database; yield the login through it."""
    parts = urlsplit(url)
    port = free_port()
    folder = _configured(parts, port, mode, ignored)
    as_user = ["-u", "nobody"] if os.geteuid() == 0 else []
    assert PROGRAM is not None
    process = await asyncio.create_subprocess_exec(
        PROGRAM, "-q", *as_user, str(folder / "ini"), stderr=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(20):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    await asyncio.sleep(0.05)
                    continue
                writer.close()
                break
        yield parts._replace(netloc=f"{parts.username}:{parts.password}@127.0.0.1:{port}").geturl()
    finally:
        process.kill()
        await process.wait()
        shutil.rmtree(folder, ignore_errors=True)


async def test_in_transaction_mode_everything_is_served(fresh_database_url: str) -> None:
    async with pgbouncer(fresh_database_url, "transaction") as through:
        direct = SecretStr(fresh_database_url)
        settings = settings_for(through, database_pooler="transaction", direct_database_url=direct)
        async with running(settings) as app, connected(app) as client:
            answers: Counter[int] = Counter()

            async def work(user: int) -> None:
                for number in range(15):
                    body = fact(user_id=f"u{user}", object=f"employer {user} {number}")
                    written = await client.post("/memories/typed/fact", json=body)
                    asked = await client.post("/query", json={"query": "which employer?", "user_id": f"u{user}"})
                    listed = await client.get(f"/memories?user_id=u{user}")
                    answers.update((written.status_code, asked.status_code, listed.status_code))
                    found = {one["user_id"] for one in listed.json()["memories"]}
                    assert found == {f"u{user}"}

            await asyncio.gather(*(work(user) for user in range(6)))
            assert set(answers) == {200, 201}, answers
            turns = await client.post("/turns", json={"user_id": "u1", "content": "I live in Lisbon."})
            assert turns.status_code == 202
            await ended_job(client, turns.json()["job_id"])
            assert (await client.get("/readyz")).status_code == 200


async def test_a_pooler_that_was_not_announced_is_told_of(fresh_database_url: str) -> None:
    async with pgbouncer(fresh_database_url, "transaction") as through:
        with pytest.raises(ConfigurationError, match="TM_DATABASE_POOLER=transaction"):
            async with running(settings_for(through, auto_migrate=False)):
                pass


async def test_a_pooler_that_drops_the_role_is_refused(fresh_database_url: str) -> None:
    dropped = "extra_float_digits,role,jit,plan_cache_mode,statement_timeout,idle_in_transaction_session_timeout"
    dropped += ",hnsw.iterative_scan,hnsw.ef_search"
    async with pgbouncer(fresh_database_url, "session", ignored=dropped) as through:
        settings = settings_for(through, auto_migrate=False, database_pooler="session")
        with pytest.raises(ConfigurationError, match="row-level security would not keep tenants apart"):
            async with running(settings):
                pass
