"""`typed-memory backup` and `restore`: a whole store as a file, and the same store from it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from app.db import migrate
from app.errors import ConfigurationError
from app.operations.backup import find_programs
from tests.commands.program import Served, run, running
from tests.db.embedded_service import data_folder, is_running, link_binaries
from tests.support import owner
from tests.support.databases import Run
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.long

QUESTIONS = 100
STILL = {"TM_ACCESS_FLUSH_SECONDS": "3600", "TM_HYPE": "false"}
"""What changes ranks as time goes by: recorded uses of memories, and questions that a job adds to their index."""
SUBJECTS = [f"Project {name}" for name in ("Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Ginkgo", "Hazel")]
MATTERS = ("budget", "deadline", "owner", "language", "region", "status", "priority", "reviewer", "colour", "database")


def facts() -> list[dict[str, Any]]:
    return [
        {
            "type": "fact",
            "subject": subject,
            "predicate": matter,
            "object": f"{matter} value {10 * place + number}",
            "user_id": "ana",
        }
        for place, subject in enumerate(SUBJECTS)
        for number, matter in enumerate(MATTERS)
    ]


def questions() -> list[str]:
    asked = [f"What is the {matter} of {subject}?" for subject in SUBJECTS for matter in MATTERS]
    asked += [f"Tell me about {subject}" for subject in SUBJECTS]
    asked += [f"Which projects have a {matter}?" for matter in MATTERS]
    return [*asked, "Where does ana work?", "anything?"][:QUESTIONS]


def fill(service: Served) -> None:
    headers = {"Authorization": f"Bearer {service.key}"}
    stored = httpx.post(f"{service.url}/memories/batch", json={"memories": facts()}, headers=headers, timeout=60)
    assert stored.status_code in {200, 201}, stored.text
    said = [{"role": "user", "content": "I moved to Lisbon in March and work at a bakery now."}]
    turns = {"turns": said, "user_id": "ana"}
    told = httpx.post(f"{service.url}/turns?mode=sync", json=turns, headers=headers, timeout=60)
    assert told.status_code in {200, 201}, told.text


def answers(service: Served, key: str, now: str) -> list[list[str]]:
    with httpx.Client(base_url=service.url, headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
        found = []
        for question in questions():
            answer = client.post("/query", json={"query": question, "user_id": "ana", "now": now})
            assert answer.status_code == 200, answer.text
            found.append([one["memory"]["id"] for one in answer.json()["memories"]])
    return found


@pytest.fixture
def empty_server(run: Run) -> Iterator[Path]:
    """A data folder yet to get its cluster."""
    with data_folder() as path:
        if (run.folder / "data").exists():
            link_binaries(run.folder / "data", path)
        yield path


def test_a_store_restored_into_an_empty_server_answers_a_hundred_questions_the_same(
    fresh_database_url: str, empty_server: Path, tmp_path: Path
) -> None:
    file = tmp_path / "store.dump"
    with Served(TM_DATABASE_URL=fresh_database_url, **STILL) as service:
        fill(service)
        saved = run("backup", str(file), TM_DATABASE_URL=fresh_database_url)
        assert saved.returncode == 0, saved.stderr
        now, key = datetime.now(UTC).isoformat(), service.key
        before = answers(service, key, now)
    assert len(before) == QUESTIONS
    assert sum(bool(one) for one in before) > QUESTIONS / 2

    restored = {"TM_DATA_DIR": str(empty_server)}
    done = run("restore", str(file), **restored)
    assert done.returncode == 0, done.stderr
    verified = run("audit", "verify", **restored)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    with Served(**restored, **STILL) as service:
        assert answers(service, key, now) == before

    again = run("restore", str(file), **restored)
    assert again.returncode == 1
    assert "the database is not empty" in again.stderr


def test_a_login_that_does_not_see_every_row_is_refused_until_it_may(
    empty_database_url: str, lesser_owner_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "store.dump"
    asyncio.run(migrate.bring_up(owner.login(lesser_owner_url)))
    asyncio.run(owner.ask(empty_database_url, "INSERT INTO tenants (id, name) VALUES (gen_random_uuid(), 'acme')"))

    refused = run("backup", str(file), TM_DATABASE_URL=lesser_owner_url)
    assert refused.returncode == 1
    assert "the login does not see every row" in refused.stderr
    assert "CREATE ROLE typed_memory_backup NOLOGIN BYPASSRLS" in refused.stderr
    assert list(tmp_path.iterdir()) == []

    asyncio.run(may_back_up(empty_database_url, lesser_owner_url))
    saved = run("backup", str(file), TM_MIGRATION_DATABASE_URL=lesser_owner_url)
    assert saved.returncode == 0, saved.stderr


async def may_back_up(url: str, login: str) -> None:
    name = urlsplit(login).username
    async with owner.connected(url) as connection:
        if not await connection.fetchval("SELECT count(*) FROM pg_roles WHERE rolname = 'typed_memory_backup'"):
            await connection.execute("CREATE ROLE typed_memory_backup NOLOGIN BYPASSRLS")
        await connection.execute("GRANT pg_read_all_data TO typed_memory_backup")
        await connection.execute(f"GRANT typed_memory_backup TO {name}")


def test_what_is_no_backup_is_not_restored(empty_database_url: str, tmp_path: Path) -> None:
    junk = tmp_path / "junk"
    junk.write_text("not a dump")
    refused = run("restore", str(junk), TM_DATABASE_URL=empty_database_url)
    assert refused.returncode == 1
    assert "is no backup that can be read" in refused.stderr
    missing = run("restore", str(tmp_path / "nowhere"), TM_DATABASE_URL=empty_database_url)
    assert missing.returncode == 1
    assert "there is no file" in missing.stderr


def test_a_backup_that_was_cut_off_is_named_and_leaves_the_database_empty(
    fresh_database_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    whole, cut = tmp_path / "whole.dump", tmp_path / "cut.dump"
    assert run("backup", str(whole), TM_DATABASE_URL=fresh_database_url).returncode == 0
    cut.write_bytes(whole.read_bytes()[:-10])
    refused = run("restore", str(cut), TM_DATABASE_URL=empty_database_url)
    assert refused.returncode == 1
    assert f"{cut} was not restored, and the database is as empty as before: " in refused.stderr
    assert run("restore", str(whole), TM_DATABASE_URL=empty_database_url).returncode == 0


def test_an_older_backup_is_kept_unless_told_otherwise(fresh_database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "store.dump"
    file.write_text("yesterday's")
    refused = run("backup", str(file), TM_DATABASE_URL=fresh_database_url)
    assert refused.returncode == 1
    assert "is there already" in refused.stderr
    assert file.read_text() == "yesterday's"
    assert run("backup", str(file), "--overwrite", TM_DATABASE_URL=fresh_database_url).returncode == 0
    assert file.read_bytes()[:5] == b"PGDMP"


def test_a_backup_of_newer_code_is_refused(fresh_database_url: str, empty_database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "store.dump"
    asyncio.run(owner.ask(fresh_database_url, "UPDATE alembic_version SET version_num = '9999'"))
    assert run("backup", str(file), TM_DATABASE_URL=fresh_database_url).returncode == 0
    refused = run("restore", str(file), TM_DATABASE_URL=empty_database_url)
    assert refused.returncode == 1
    assert "has the schema 9999" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_signal_during_a_backup_ends_its_program_and_leaves_no_file(fresh_database_url: str, tmp_path: Path) -> None:
    [[major]] = asyncio.run(owner.ask(fresh_database_url, "SELECT current_setting('server_version_num')::int / 10000"))
    programs, backups, begun = tmp_path / "programs", tmp_path / "backups", tmp_path / "begun"
    programs.mkdir()
    backups.mkdir()
    for name in ("pg_dump", "pg_restore"):
        program = programs / name
        version = f'if [ "$1" = --version ]; then echo "{name} (PostgreSQL) {major}.0"; exit; fi'
        program.write_text(f"#!/bin/sh\n{version}\necho $$ > {begun}\nexec sleep 3600\n")
        program.chmod(0o755)
    given = ("backup", str(backups / "store.dump"), "--programs", str(programs))
    with running(*given, TM_DATABASE_URL=fresh_database_url) as (process, output):
        wait_until(lambda: begun.exists() and begun.read_text().endswith("\n"))
        assert len(list(backups.iterdir())) == 1
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 128 + signal.SIGTERM
    _, logged = output.so_far()
    assert "Traceback" not in logged
    assert list(backups.iterdir()) == []
    assert not is_running(int(begun.read_text()))


def test_programs_of_another_package_stay_where_a_server_may_run_with_them(tmp_path: Path) -> None:
    older = tmp_path / "server-0.0.1" / "bin" / "postgres"
    older.parent.mkdir(parents=True)
    older.touch()

    async def found() -> None:
        async with find_programs(0, given=None, unpacked=tmp_path):
            pass

    with pytest.raises(ConfigurationError, match="there are no pg_dump and pg_restore of Postgres 0"):
        asyncio.run(found())
    assert [one for one in tmp_path.rglob("*") if one.is_file()] == [older]
