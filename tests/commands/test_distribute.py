"""`typed-memory distribute` on a database that is no cluster's; a cluster's are in `tests/cluster`."""

from __future__ import annotations

from tests.commands.program import run


def test_a_database_without_citus_is_refused_with_what_to_install(fresh_database_url: str) -> None:
    done = run("distribute", TM_DATABASE_URL=fresh_database_url)
    assert done.returncode == 1
    assert "has no Citus: install Citus on every node" in done.stderr


def test_a_database_that_is_not_migrated_is_refused(empty_database_url: str) -> None:
    done = run("distribute", "--dry-run", TM_DATABASE_URL=empty_database_url)
    assert done.returncode == 1
    assert "run `typed-memory migrate` first" in done.stderr
