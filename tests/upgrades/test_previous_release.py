"""A release serves while a later one migrates its database, beside the later one, and in its place again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import httpx
import pytest

from app.db.migrate import MIGRATIONS, head
from tests.commands.program import ROOT, Served, run_in
from tests.upgrades.releases import LIST, Release, check_out, releases
from tests.upgrades.scratch import next_release
from tests.upgrades.traffic import WAIT_SECONDS, Book, Caller, flowing

pytestmark = pytest.mark.long

KEY = "tm_key_of_the_live_migration_tests_0123456789abcd"
ROUNDS = 4


def revision(url: str) -> str:
    """The schema that the database has."""

    async def asked() -> str:
        connection = await asyncpg.connect(url)
        try:
            return str(await connection.fetchval("SELECT version_num FROM alembic_version"))
        finally:
            await connection.close()

    return asyncio.run(asked())


@contextmanager
def calling(served: Served, book: Book, name: str) -> Iterator[Caller]:
    headers = {"Authorization": f"Bearer {KEY}"}
    with httpx.Client(base_url=served.url, headers=headers, timeout=60) as client:
        yield Caller(client=client, book=book, name=name)


def check_nothing_lost(reader: Caller) -> None:
    """Read every acknowledged memory, and see every job done."""
    deadline = time.monotonic() + WAIT_SECONDS
    for job in reader.book.jobs:
        while reader.ask(200, "GET", f"/jobs/{job}").get("status") != "succeeded":
            assert time.monotonic() < deadline, reader.ask(200, "GET", f"/jobs/{job}")
            time.sleep(0.1)
    for memory, content in reader.book.memories.items():
        found = reader.ask(200, "GET", f"/memories/{memory}")
        assert not content or found["content"] == content
    assert reader.book.failures == []


def prefers(one: Caller, editor: str) -> dict[str, Any]:
    return one.write("preference", preference_key="editor.name", preference_value=editor, user_id="both")


def held(one: Caller) -> list[str]:
    """The editor that the user is known to prefer."""
    question = {"query": "Which editor does the user prefer?", "user_id": "both", "types": ["preference"]}
    found = one.ask(200, "POST", "/query", json=question)
    return [hit["memory"]["preference_value"] for hit in found["memories"]]


def check_both_serve(old: Caller, new: Caller) -> None:
    """One replaces what the other wrote, and both answer with the newest."""
    first = prefers(old, "Vim")
    assert held(new) == ["Vim"]
    second = prefers(new, "Emacs")
    assert second["supersedes"] == first["id"]
    assert (held(old), held(new)) == (["Emacs"], ["Emacs"])
    third = prefers(old, "Helix")
    assert third["supersedes"] == second["id"]
    assert (held(old), held(new)) == (["Helix"], ["Helix"])


def check_a_new_type_is_shown(old: Caller, url: str) -> None:
    """Have a memory be of a type that the previous release has never heard of, and read it there."""
    memory = old.write("preference", preference_key="tea.kind", preference_value="oolong", user_id="new-type")
    identity = UUID(hex=memory["id"].removeprefix("mem_"))

    async def changed() -> None:
        connection = await asyncpg.connect(url)
        try:
            await connection.execute("INSERT INTO memory_types (name, description) VALUES ('novelty', 'New.')")
            for table, key in (("memories", "id"), ("memory_index", "memory_id")):
                await connection.execute(f"UPDATE {table} SET type = 'novelty' WHERE {key} = $1", identity)  # noqa: S608
        finally:
            await connection.close()

    asyncio.run(changed())
    assert old.ask(200, "GET", f"/memories/{memory['id']}")["type"] == "novelty"
    assert old.ask(200, "GET", f"/memories/{memory['id']}/history")["versions"]
    [listed] = old.ask(200, "GET", "/memories", params={"user_id": "new-type"})["memories"]
    [found] = old.ask(200, "POST", "/query", json={"query": "oolong tea", "user_id": "new-type"})["memories"]
    assert listed["id"] == found["memory"]["id"] == memory["id"]


@contextmanager
def told_of(served: Served) -> Iterator[None]:
    """Add what the service logged as errors to a failure of the block."""
    try:
        yield
    except AssertionError as error:
        error.add_note("\n".join(line for line in served.logged.splitlines() if '"level": "error"' in line))
        raise


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Two releases, the later of which brings the schema to its own: where their code is, and their schemas."""

    before: Path
    before_schema: str
    after: Path
    after_schema: str


def from_the_previous(folder: Path) -> Step:
    """The step from the previous release to this code."""
    if not releases():
        pytest.skip(f"nothing was released yet: {LIST} is empty")
    release = releases()[-1]
    check_out(release, folder)
    return Step(before=folder, before_schema=release.schema, after=ROOT, after_schema=head())


def to_the_next(folder: Path) -> Step:
    """The step from this code to a release with one more migration."""
    return Step(before=ROOT, before_schema=head(), after=folder, after_schema=next_release(folder))


@pytest.mark.timeout(400)
@pytest.mark.parametrize("between", [from_the_previous, to_the_next])
def test_a_release_runs_on_the_schema_of_the_one_after(
    between: Callable[[Path], Step], empty_database_url: str, tmp_path: Path
) -> None:
    step = between(tmp_path)
    book = Book()
    settings = {"TM_DATABASE_URL": empty_database_url, "TM_BOOTSTRAP_KEY": KEY}
    with Served(step.before, **settings) as old, told_of(old):
        assert revision(empty_database_url) == step.before_schema
        with flowing(old.url, KEY, book, "old") as traffic:
            traffic.go_on(ROUNDS)
            migrated = run_in(step.after, "migrate", TM_DATABASE_URL=empty_database_url)
            assert migrated.returncode == 0, migrated.stderr
            assert revision(empty_database_url) == step.after_schema
            traffic.go_on(ROUNDS)
            with Served(step.after, **settings) as new:
                with flowing(new.url, KEY, book, "new") as other:
                    other.go_on(ROUNDS)
                    traffic.go_on(ROUNDS)
                with calling(old, book, "old") as by_old, calling(new, book, "new") as by_new:
                    check_both_serve(by_old, by_new)
                    check_a_new_type_is_shown(by_old, empty_database_url)
        assert old.stop() == 0, old.logged
    with Served(step.before, **settings) as again, calling(again, book, "again") as by_old:
        check_nothing_lost(by_old)
        assert revision(empty_database_url) == step.after_schema, "a release leaves a newer schema alone"
    assert len(book.memories) > 6 * ROUNDS


@pytest.mark.parametrize("release", releases(), ids=lambda release: release.version)
def test_a_release_is_listed_with_the_schema_it_had(release: Release, tmp_path: Path) -> None:
    numbers = sorted(path.name[:4] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))
    assert release.schema in numbers
    check_out(release, tmp_path)
    released = sorted((tmp_path / "migrations" / "versions").glob("[0-9]*.py"))
    assert released[-1].name[:4] == release.schema
    for path in (*released, *(tmp_path / "migrations" / "base").iterdir()):
        now = MIGRATIONS / path.relative_to(tmp_path / "migrations")
        assert now.read_text() == path.read_text(), f"{path.name} was released in {release.version}: add another"
