"""Starting and stopping: the embedded server, migrations, the first key."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from pydantic import SecretStr

from app.assembly import build_runtime
from app.db import change_notes
from app.db.embedded.server import KEY_FILE
from app.db.login import Login
from app.db.migrate import head
from app.errors import ConfigurationError
from app.memory.candidate import Candidate
from app.memory.registry import discover
from app.model import Actor, Scope, ScopeKind
from app.runtime import Runtime
from app.settings import Settings
from tests.support import owner
from tests.support.folders import open_folder

ROLES = frozenset({"read", "write", "admin"})


def candidate() -> Candidate:
    spec = discover().get("fact")
    payload = spec.payload.model_validate({"predicate": "works-at", "object": "Volkswagen"})
    return Candidate(type=spec, payload=payload, scope=Scope(kind=ScopeKind.GLOBAL))


async def actor_of(runtime: Runtime, secret: str) -> Actor:
    actor = await runtime.keys.authenticate(secret)
    assert actor.roles == ROLES
    return actor


def settings_in(folder: Path) -> Settings:
    return Settings(database_url=None, bootstrap_key=None, data_dir=folder)


@pytest.mark.long
async def test_the_embedded_service_starts_keeps_its_key_and_survives_its_servers_death() -> None:
    with open_folder() as folder:
        settings = settings_in(folder / "with a space")
        async with build_runtime(settings) as runtime:
            assert runtime.first_key is not None
            actor = await actor_of(runtime, runtime.first_key)
            outcome = await runtime.memories.write(actor, candidate())
            assert outcome.memory is not None
            file = folder / "with a space" / KEY_FILE
            assert file.read_text().strip() == runtime.first_key
            assert stat.S_IMODE(file.stat().st_mode) == 0o600

            pid = int((folder / "with a space" / "cluster" / "postmaster.pid").read_text().splitlines()[0])
            os.kill(pid, signal.SIGKILL)
            async with asyncio.timeout(60):
                while await runtime.readiness.missing() or _pid(folder / "with a space") == pid:  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
            assert (await runtime.memories.get(actor, outcome.memory.id)).id == outcome.memory.id
            assert b"tm_embedded_database_restarts_total 1.0" in runtime.metrics.exposition()

        async with build_runtime(settings) as runtime:
            assert runtime.first_key is None
            await actor_of(runtime, file.read_text().strip())
        assert not (folder / "with a space" / "cluster" / "postmaster.pid").exists()


def _pid(folder: Path) -> int:
    try:
        return int((folder / "cluster" / "postmaster.pid").read_text().splitlines()[0])
    except (FileNotFoundError, ValueError, IndexError):
        return 0


def settings_for(url: str, **more: object) -> Settings:
    return Settings(database_url=SecretStr(url), bootstrap_key=None, **more)  # type: ignore[arg-type]


@pytest.mark.long
async def test_an_empty_database_is_migrated_at_start(empty_database_url: str) -> None:
    with pytest.raises(ConfigurationError, match="typed-memory migrate"):
        async with build_runtime(settings_for(empty_database_url, auto_migrate=False)):
            pass
    async with build_runtime(settings_for(empty_database_url)) as runtime:
        assert await runtime.readiness.missing() == {}
        assert runtime.first_key is not None
    async with build_runtime(settings_for(empty_database_url, auto_migrate=False)) as runtime:
        assert runtime.first_key is None


async def test_a_service_whose_changes_cannot_be_noted_starts(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(_owner: Login) -> None:
        raise ConfigurationError("the owner may not make triggers")

    monkeypatch.setattr(change_notes, "keep", refused)
    async with build_runtime(settings_for(database_url)) as runtime:
        assert await runtime.readiness.missing() == {}


@pytest.mark.long
async def test_replicas_starting_at_once_make_one_first_key(empty_database_url: str) -> None:
    start = "import asyncio, app.assembly as r, app.settings as s\n" + dedent(
        """
        async def main():
            async with r.build_runtime(s.Settings()) as runtime:
                print(runtime.first_key)

        asyncio.run(main())
        """
    )
    environment = {**os.environ, "TM_DATABASE_URL": empty_database_url}
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", start, env=environment, stdout=asyncio.subprocess.PIPE
        )
        for _ in range(3)
    ]
    # The last line: what is logged goes to the standard output where nobody sets up logging.
    said = [(await process.communicate())[0].decode().splitlines()[-1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert sorted(one.startswith("tm_") for one in said) == [False, False, True]


async def test_a_schema_of_newer_code_is_left_alone(fresh_database_url: str) -> None:
    await _stamp(fresh_database_url, "9999")
    async with build_runtime(settings_for(fresh_database_url)) as runtime:
        assert await runtime.readiness.missing() == {}
    await _stamp(fresh_database_url, head())


async def test_another_embedding_model_is_refused_with_the_mend(fresh_database_url: str) -> None:
    async with build_runtime(settings_for(fresh_database_url)):
        pass
    other = settings_for(
        fresh_database_url,
        embedding_provider="openai",
        embedding_base_url="http://127.0.0.1:9/v1",
        embedding_model="other",
        embedding_dimensions=64,
    )
    with pytest.raises(ConfigurationError, match="TM_EMBEDDING_"):
        async with build_runtime(other):
            pass


async def test_a_database_that_is_not_there_is_said_without_its_password() -> None:
    url = "postgresql://someone:hunter2hunter2@127.0.0.1:9/nothing"
    with pytest.raises(ConfigurationError) as raised:
        async with build_runtime(settings_for(url, database_start_timeout=0.2)):
            pass
    assert "TM_DATABASE_URL" in raised.value.message
    assert "hunter2" not in raised.value.message


async def test_a_wrong_login_is_a_configuration_error(database_url: str) -> None:
    wrong = database_url.rsplit("/", 1)[0] + "/there_is_no_such_database"
    with pytest.raises(ConfigurationError, match="TM_DATABASE_URL"):
        async with build_runtime(settings_for(wrong)):
            pass


async def test_without_migrations_an_absent_database_is_waited_for_and_told_as_well() -> None:
    settings = settings_for("postgresql://nobody@127.0.0.1:9/nothing", auto_migrate=False, database_start_timeout=0.2)
    with pytest.raises(ConfigurationError, match="can't be reached"):
        async with build_runtime(settings):
            pass


@pytest.mark.parametrize("key", ["short", "with space inside", "ünïcödé-key-ünïcödé", "x" * 600])
async def test_a_bootstrap_key_must_fit_into_a_header(database_url: str, key: str) -> None:
    settings = Settings(database_url=SecretStr(database_url), bootstrap_key=SecretStr(key))
    with pytest.raises(ConfigurationError, match="TM_BOOTSTRAP_KEY"):
        async with build_runtime(settings):
            pass


async def _stamp(url: str, revision: str) -> None:
    await owner.ask(url, "UPDATE alembic_version SET version_num = $1", revision)
