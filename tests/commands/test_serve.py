"""Starting and stopping the service, with real processes, signals and the embedded database."""

from __future__ import annotations

import re
import signal
import socket
import stat
import time
from collections.abc import Iterator
from http.client import HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from app.operations.commands import serve
from app.settings import Settings
from tests.commands.program import Served, run
from tests.db.embedded_service import data_folder, is_running, postmaster_pid, wait_until_gone
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.long


@pytest.fixture
def data_dir() -> Iterator[Path]:
    with data_folder() as path:
        yield path


def test_the_first_start_says_where_it_is_and_shows_the_key_once(data_dir: Path) -> None:
    with Served(TM_DATA_DIR=str(data_dir)) as first:
        assert first.url.startswith("http://127.0.0.1:")
        assert f"{data_dir} (embedded Postgres)" in first.said
        assert first.key.startswith("tm_")
        assert f"export TM_API_KEY={first.key}\n" in first.said
        assert f"export TM_URL={first.url}\n" in first.said
        assert first.key not in first.logged
        kept = data_dir / "api-key"
        assert kept.read_text().strip() == first.key
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert first.stop() == 0
    assert postmaster_pid(data_dir) is None

    with Served(TM_DATA_DIR=str(data_dir)) as second:
        assert "tm_" not in second.said
        assert str(kept) in second.said
        # The client commands find the service's key by themselves.
        answer = run("query", "anything?", TM_URL=second.url, TM_DATA_DIR=str(data_dir))
        assert answer.returncode == 0, answer.stderr
        assert "Nothing is known" in answer.stdout


def test_a_key_is_said_to_be_kept_only_where_its_file_is(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    told = serve._key(settings, None)
    assert str(tmp_path) not in told
    assert "`typed-memory keys create` makes another" in told
    (tmp_path / "api-key").write_text("tm_1\n")
    assert serve._key(settings, None).endswith(f"kept in {tmp_path / 'api-key'}")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_and_releases_the_embedded_server(data_dir: Path, number: int) -> None:
    with Served(TM_DATA_DIR=str(data_dir)) as service:
        pid = postmaster_pid(data_dir)
        assert pid is not None
        assert service.stop(number) == 0
        assert "Traceback" not in service.logged
    assert not is_running(pid)
    assert postmaster_pid(data_dir) is None


def test_a_signal_while_it_starts_ends_it_too(data_dir: Path) -> None:
    service = Served(TM_DATA_DIR=str(data_dir))
    while not (data_dir / "cluster" / "postmaster.pid").exists():
        assert service.process.poll() is None
    assert service.stop() == 0
    assert "ready" not in service.said
    assert "Traceback" not in service.logged
    assert postmaster_pid(data_dir) is None


def test_after_a_kill_the_next_start_finds_the_same_data(data_dir: Path) -> None:
    with Served(TM_DATA_DIR=str(data_dir)) as first:
        key = first.key
        written = httpx.post(
            f"{first.url}/memories/typed/preference",
            json={"preference_key": "editor.theme", "preference_value": "dark", "user_id": "ana"},
            headers={"Authorization": f"Bearer {key}"},
            timeout=PATIENCE,
        )
        assert written.status_code == 201
        assert first.stop(signal.SIGKILL) == -signal.SIGKILL
    orphan = postmaster_pid(data_dir)
    assert orphan is not None
    assert is_running(orphan)

    with Served(TM_DATA_DIR=str(data_dir)) as second:
        assert postmaster_pid(data_dir) == orphan
        memory = written.json()["memory"]["id"]
        found = httpx.get(
            f"{second.url}/memories/{memory}", headers={"Authorization": f"Bearer {key}"}, timeout=PATIENCE
        )
        assert found.json()["preference_value"] == "dark"
        assert second.stop() == 0
    wait_until_gone(orphan)


def test_a_taken_port_is_told_before_anything_starts(data_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        tried = run("serve", "--port", str(port), TM_DATA_DIR=str(data_dir))
    assert tried.returncode == 1
    assert f"port {port} of 127.0.0.1 is taken" in tried.stderr
    assert "--port or TM_PORT" in tried.stderr
    assert not data_dir.exists()


def test_an_address_of_another_machine_is_told(data_dir: Path) -> None:
    tried = run("serve", "--host", "192.0.2.1", TM_DATA_DIR=str(data_dir))
    assert tried.returncode == 1
    assert "'192.0.2.1' is no address of this machine" in tried.stderr


def test_wrong_settings_are_all_told_by_name() -> None:
    tried = run(
        "serve",
        TM_PORT="abc",
        TM_LOG_LEVEL="loud",
        TM_PROT="1",
        TM_OPERATOR_KEY="short",
        TM_DATABASE_URL="mysql://me:hush@db/memory",
        TM_REPLICA_DATABASE_URL="hush",
        TM_OTLP_ENDPOINT="collector:4318",
    )
    assert tried.returncode == 1
    assert "TM_DATABASE_URL: must begin with postgresql://" in tried.stderr
    assert "TM_REPLICA_DATABASE_URL: must begin with postgresql://" in tried.stderr
    assert "hush" not in tried.stderr
    assert "TM_OTLP_ENDPOINT: must begin with http:// or https://" in tried.stderr
    assert "TM_PORT: it should be a valid integer, not 'abc'" in tried.stderr
    assert "TM_OPERATOR_KEY: must be 8 to 512 printable ASCII characters" in tried.stderr
    assert "not 'abc'" in tried.stderr
    assert "TM_LOG_LEVEL: it should be 'DEBUG', 'INFO', 'WARNING' or 'ERROR', not 'loud'" in tried.stderr
    assert "TM_PROT is no setting; did you mean TM_PORT?" in tried.stderr
    assert "Traceback" not in tried.stderr


def test_wrong_settings_in_json_are_told_by_name_and_member() -> None:
    tried = run(
        "serve",
        TM_CORS_ORIGINS="https://console.example",
        TM_TENANT_LIMITS='{"turns_per_hour": 5}',
        TM_KEY_LIMITS="600",
        TM_WORKER_SCHEDULES='{"gc": 3}',
    )
    assert tried.returncode == 1
    assert "TM_CORS_ORIGINS: it should be JSON, not 'https://console.example'" in tried.stderr
    assert "TM_TENANT_LIMITS.turns_per_hour: there is no such member" in tried.stderr
    assert "TM_KEY_LIMITS: it should be a JSON object, not '600'" in tried.stderr
    assert "TM_WORKER_SCHEDULES.gc: it should be a valid string, not '3'" in tried.stderr
    assert "Traceback" not in tried.stderr


@pytest.mark.parametrize("name", ["database_url", "port", "key_limits", "cors_origins"])
def test_an_empty_setting_is_unset(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"TM_{name.upper()}", "")
    assert getattr(Settings(), name) == Settings.model_fields[name].default


def test_a_log_level_may_be_written_in_small_letters() -> None:
    assert Settings(log_level="warning").log_level == "WARNING"


def test_an_unreachable_database_is_told_without_its_password() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        tried = run(
            "serve",
            *("--port", "0"),
            TM_DATABASE_URL=f"postgresql://me:hush@127.0.0.1:{port}/none",
            TM_DATABASE_START_TIMEOUT="0.1",
        )
    assert tried.returncode == 1
    assert f"the database at 127.0.0.1:{port}/none can't be reached" in tried.stderr
    assert "TM_DATABASE_URL" in tried.stderr
    assert "hush" not in tried.stderr
    assert "Traceback" not in tried.stderr


def test_a_wrong_option_is_a_usage_error() -> None:
    assert run("serve", "--port", "99999").returncode == 2
    assert run("serve", "--frob").returncode == 2
    assert run("frob").returncode == 2


def test_requests_are_logged_once_and_as_json(service: Served) -> None:
    before = service.logged.count("/healthz")
    assert httpx.get(f"{service.url}/healthz", timeout=PATIENCE).status_code == 200
    wait_until(lambda: service.logged.count("/healthz") > before)
    lines = [line for line in service.logged.splitlines() if "/healthz" in line]
    assert len(lines) == before + 1
    assert lines[-1].startswith("{")


def test_rotating_the_kept_key_keeps_the_client_commands_going(data_dir: Path) -> None:
    settings = {"TM_DATA_DIR": str(data_dir)}
    assert run("migrate", **settings).returncode == 0
    listed = run("keys", "list", **settings)
    assert "A new store" in listed.stderr
    assert str(data_dir) in listed.stderr
    found = re.search(r"key_[0-9a-f]{32}", listed.stdout)
    assert found is not None
    rotated = run("keys", "rotate", found[0], "--grace", "0s", **settings)
    assert rotated.returncode == 0, rotated.stderr
    assert (data_dir / "api-key").read_text() == rotated.stdout
    assert stat.S_IMODE((data_dir / "api-key").stat().st_mode) == 0o600
    with Served(**settings) as service:
        assert run("query", "anything?", TM_URL=service.url, **settings).returncode == 0


@pytest.mark.parametrize("processes", ["1", "2"])
def test_operations_are_served_on_a_port_of_their_own(fresh_database_url: str, processes: str) -> None:
    settings = {"TM_OPERATIONS_PORT": "0", "TM_WEB_WORKERS": processes}
    with Served(TM_DATABASE_URL=fresh_database_url, **settings) as service:
        told = re.search(r"^  docs +(http://127.0.0.1:\d+)/docs$", service.said, re.MULTILINE)
        assert told is not None
        assert told[1] != service.url
        assert httpx.get(f"{told[1]}/metrics", timeout=PATIENCE).status_code == 200
        assert httpx.get(f"{told[1]}/docs", timeout=PATIENCE).status_code == 200
        assert httpx.get(f"{service.url}/metrics", timeout=PATIENCE).status_code == 404
        assert (
            httpx.get(
                f"{told[1]}/whoami", headers={"Authorization": f"Bearer {service.key}"}, timeout=PATIENCE
            ).status_code
            == 404
        )


def test_two_listeners_on_one_port_are_told_by_the_settings_name() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        tried = run("serve", "--port", "0", TM_OPERATIONS_PORT=str(taken.getsockname()[1]))
    assert tried.returncode == 1
    assert "choose another port with TM_OPERATIONS_PORT" in tried.stderr


OFFERS = {
    "h2c": "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABk\r\n",
    "websocket": (
        "Connection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    ),
}


@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
def test_an_offered_upgrade_is_ignored_and_the_request_answered(fresh_database_url: str, offer: str) -> None:
    body = b'{"user_id": "ana", "predicate": "works-at", "object": "the opera"}'
    with Served(TM_DATABASE_URL=fresh_database_url) as service:
        head = (
            f"POST /memories/typed/fact HTTP/1.1\r\nHost: 127.0.0.1\r\n{offer}Authorization: Bearer {service.key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode()
        address = ("127.0.0.1", urlsplit(service.url).port)
        with socket.create_connection(address, timeout=30) as whole, socket.create_connection(address, 30) as split:
            whole.sendall(head + body)
            assert _status(whole) == 201
            whole.sendall(head + body)  # the connection goes on as HTTP/1.1
            assert _status(whole) == 201
            split.sendall(head)
            time.sleep(0.2)
            split.sendall(body)
            assert _status(split) == 201
            assert service.stop() == 0
    assert "Traceback" not in service.logged
    assert "pgrade" not in service.logged


def _status(connection: socket.socket) -> int:
    """Read one answer from a connection and return its status."""
    answer = HTTPResponse(connection)
    answer.begin()
    answer.read()
    return answer.status
