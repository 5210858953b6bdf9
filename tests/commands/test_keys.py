"""`typed-memory keys`, `migrate` and `openapi`, on databases of their own."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from app.db.migrate import head
from app.operations.commands import openapi
from tests.commands.program import Served, run, run_in
from tests.support.openapi import text
from tests.support.waiting import PATIENCE


def status(service: Served, key: str) -> int:
    return httpx.get(
        f"{service.url}/memories", headers={"Authorization": f"Bearer {key}"}, timeout=PATIENCE
    ).status_code


def test_the_life_of_a_key(service: Served) -> None:
    settings = dict(service.settings)
    made = run("keys", "create", "reports", "--role", "read", "--expires", "90d", **settings)
    assert made.returncode == 0, made.stderr
    assert "in the database of TM_DATABASE_URL" in made.stderr
    secret = made.stdout.strip()
    assert status(service, secret) == 200
    written = httpx.post(
        f"{service.url}/memories/typed/preference",
        json={"preference_key": "a", "preference_value": "b"},
        headers={"Authorization": f"Bearer {secret}"},
        timeout=PATIENCE,
    )
    assert written.status_code == 403

    listed = run("keys", "list", **settings).stdout
    row = next(line for line in listed.splitlines() if " reports " in line)
    assert secret[:10] in row
    assert secret not in listed
    assert " until " in row

    found = re.search(r"key_[0-9a-f]{32}", row)
    assert found is not None
    rotated = run("keys", "rotate", found[0], "--grace", "1h", **settings)
    assert rotated.returncode == 0, rotated.stderr
    successor = rotated.stdout.strip()
    assert successor != secret
    assert status(service, successor) == status(service, secret) == 200

    new = re.search(r"key_[0-9a-f]{32}", rotated.stderr)
    assert new is not None
    assert run("keys", "revoke", new[0], **settings).returncode == 0
    row = next(line for line in run("keys", "list", **settings).stdout.splitlines() if new[0] in line)
    assert " revoked " in row


def test_what_is_wrong_with_a_key_command_is_told(service: Served) -> None:
    settings = dict(service.settings)
    for arguments, told in (
        (("create", "x", "--role", "boss"), "'boss' is no role: use some of read, write, admin"),
        (("create", "x", "--tenant", "nobody"), "no such tenant: 'nobody'"),
        (("create", "x", "--expires", "soon"), "--expires: 'soon' is neither a span"),
        (("create", "x", "--expires", "2020-01-01"), "--expires: '2020-01-01' is past: it must be in the future"),
        (("revoke", "reports"), "`typed-memory keys list` shows the ids"),
        (("revoke", "key_123"), "no such key"),
        (("rotate", "key_" + "0" * 32, "--grace", "never"), "--grace: 'never' is no span"),
    ):
        tried = run("keys", *arguments, **settings)
        assert tried.returncode == 1
        assert told in tried.stderr
        assert "Traceback" not in tried.stderr


def test_keys_and_limits_are_those_of_the_service_that_is_named(service: Served, tmp_path: Path) -> None:
    admin = run("keys", "create", "boss", "--role", "admin", **dict(service.settings)).stdout.strip()
    named = {"TM_URL": service.url, "TM_API_KEY": admin, "HOME": str(tmp_path)}
    made = run("keys", "create", "phone", "--user-id", "eda", "--expires", "2d", **named)
    assert made.returncode == 0, made.stderr
    assert f"in the service at {service.url}" in made.stderr
    assert status(service, made.stdout.strip()) == 200
    row = next(line for line in run("keys", "list", **named).stdout.splitlines() if " phone " in line)
    assert "user eda" in row
    key = row.split()[0]
    shown = run("limits", "set", "--key", key, "--turns-per-day", "7", **named)
    assert shown.returncode == 0, shown.stderr
    assert "turns_per_day" in shown.stdout
    rotated = run("keys", "rotate", key, "--grace", "0s", **named)
    assert status(service, rotated.stdout.strip()) == 200, rotated.stderr
    assert run("keys", "revoke", key, **named).returncode == 0
    for arguments, told in (
        (("keys", "create", "x", "--tenant", "other"), "TM_API_KEY says whose"),
        (("limits", "set", "--turns-per-day", "5"), "the operator sets a tenant's limits"),
        (("audit", "head"), "TM_URL names a service"),
    ):
        refused = run(*arguments, **named)
        assert (refused.returncode, told in refused.stderr) == (1, True), refused.stderr
    assert "does not accept" in run("keys", "list", **{**named, "TM_API_KEY": "tm_wrong"}).stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_migrate_goes_up_and_down(empty_database_url: str) -> None:
    settings = {"TM_DATABASE_URL": empty_database_url}
    unready = run("migrate", "--check", **settings)
    assert unready.returncode == 1
    assert "run `typed-memory migrate`" in unready.stderr

    up = run("migrate", **settings)
    assert up.returncode == 0, up.stderr
    assert f"The schema is at {head()}." in up.stdout
    assert "The embedding model is" in up.stdout
    assert run("migrate", "--check", **settings).returncode == 0

    unsure = run("migrate", "--to", "0002", **settings)
    assert unsure.returncode == 1
    assert "--yes" in unsure.stderr
    down = run("migrate", "--to", "base", "--yes", **settings)
    assert down.returncode == 0, down.stderr
    assert "The schema is at nothing." in down.stdout
    assert "no revision '9999'" in run("migrate", "--to", "9999", **settings).stderr


def test_migrate_prints_its_sql_without_a_database() -> None:
    printed = run("migrate", "--sql")
    assert printed.returncode == 0, printed.stderr
    assert "CREATE TABLE memories" in printed.stdout


@pytest.mark.long
def test_the_openapi_document_is_written_and_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "openapi.json"
    assert run("openapi", "--check", "--output", str(file)).returncode == 1
    assert run("openapi", "--output", str(file)).returncode == 0
    assert file.read_text() == text()
    # To make the document takes seconds.
    monkeypatch.setattr(openapi, "rendered", text)
    openapi.openapi(check=True, output=file)
    assert "is up to date" in capsys.readouterr().out
    openapi.openapi(output=Path("-"))
    assert capsys.readouterr().out == text()


def test_eval_is_handed_on(tmp_path: Path) -> None:
    absent = run_in(tmp_path, "eval", "--set", "x")
    assert absent.returncode == 1
    assert "run this at the top of a checkout" in absent.stderr
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "__init__.py").touch()
    (tmp_path / "evals" / "__main__.py").write_text("import sys; print(sys.argv[1:]); sys.exit(7)")
    handed = run_in(tmp_path, "eval", "--set", "x", "--help")
    assert handed.stdout.strip() == "['--set', 'x', '--help']"
    assert handed.returncode == 7


@pytest.mark.parametrize(
    "command",
    [
        ("keys", "list"),
        ("keys", "create"),
        ("audit", "head"),
        ("worker", "run", "gc"),
        ("worker",),
        ("reembed", "--status"),
        ("distribute", "--dry-run"),
    ],
)
def test_a_forgotten_folder_is_told_and_no_store_is_made_there(command: tuple[str, ...], tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    done = run(*command, TM_DATA_DIR=str(folder))
    assert done.returncode == 1
    told = " ".join(done.stderr.split())
    assert f"there is no store in {folder}" in told
    assert "TM_DATA_DIR" in told
    assert "typed-memory serve" in told
    assert not folder.exists()


def test_a_key_that_is_not_found_leads_to_the_folder(tmp_path: Path) -> None:
    told = run("query", "anything?", TM_DATA_DIR=str(tmp_path))
    assert told.returncode == 1
    assert str(tmp_path / "api-key") in told.stderr
    assert "TM_DATA_DIR" in told.stderr
