"""What the embedded Postgres says when it cannot run: the thing, and the mend."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from app.db.embedded.folder import FileLock
from app.db.embedded.server import start_embedded
from app.errors import ConfigurationError
from tests.db.embedded_service import copy_stopped, data_folder, hung_server, kill_server, value
from tests.support.folders import open_folder

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def stopped() -> Iterator[Path]:
    with data_folder() as path:
        start_embedded(path).release()
        yield path


@pytest.fixture
def data_dir() -> Iterator[Path]:
    with data_folder() as path:
        yield path


@pytest.fixture
def made(stopped: Path, data_dir: Path) -> Path:
    """A data directory that ran before, to break."""
    copy_stopped(stopped, data_dir)
    return data_dir


async def test_a_taken_port_is_avoided(made: Path) -> None:
    port = int((made / "port").read_text())
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", port))
        other.listen()
        server = start_embedded(made)
        assert f":{port}/" not in server.url
        assert await value(server.url, "SELECT 1") == 1
        server.release()


def test_another_major_version_is_refused(made: Path) -> None:
    (made / "cluster" / "PG_VERSION").write_text("17\n")
    with pytest.raises(ConfigurationError, match=r"belongs to Postgres 17.*carries Postgres 18"):
        start_embedded(made)


def test_a_start_that_waits_for_another_process_says_so(made: Path, caplog: pytest.LogCaptureFixture) -> None:
    with closing(FileLock(made / "start.lock")) as other:
        assert other.try_lock(exclusive=True)
        with pytest.raises(ConfigurationError, match=r"Another process kept .*start\.lock locked"):
            start_embedded(made, timeout=3)
    assert [one.getMessage().endswith(f"holds {made / 'start.lock'}") for one in caplog.records] == [True]


def test_a_folder_that_is_no_cluster_is_refused(made: Path) -> None:
    (made / "cluster" / "PG_VERSION").unlink()
    with pytest.raises(ConfigurationError, match="is not a Postgres data directory"):
        start_embedded(made)


def test_a_lost_password_file_is_named(made: Path) -> None:
    (made / "password").unlink()
    with pytest.raises(ConfigurationError, match="password is missing"):
        start_embedded(made)


def test_a_bad_setting_is_shown_as_the_log_says_it(made: Path) -> None:
    with (made / "cluster" / "postgresql.conf").open("a") as file:
        file.write("shared_buffers = 'a lot'\n")
    with pytest.raises(ConfigurationError, match=r"(?s)did not start.*invalid value for parameter"):
        start_embedded(made)


def test_a_hung_server_is_named_with_the_end_of_its_log(made: Path) -> None:
    server = start_embedded(made)
    with (
        hung_server(made) as pid,
        pytest.raises(ConfigurationError, match=rf"(?s)process {pid} .*ready to accept connections"),
    ):
        start_embedded(made, timeout=1)
    server.release()


def test_a_lock_that_is_never_given_up_is_named(made: Path) -> None:
    server = start_embedded(made)
    release = Thread(target=server.release)
    with hung_server(made):
        release.start()  # holds the lock until the server is gone, which it will not be
        time.sleep(0.2)
        with pytest.raises(ConfigurationError, match=r"kept .*start.lock locked"):
            start_embedded(made, timeout=0.2)
    release.join()


def test_a_folder_in_use_from_another_container_is_refused(made: Path) -> None:
    server = start_embedded(made)
    kill_server(made)
    (made / "namespace").write_text("pid:[of another container]")
    with pytest.raises(ConfigurationError, match="in use by a service in another container"):
        start_embedded(made)
    server.release()


def test_a_timeout_in_the_creation_names_the_step(data_dir: Path) -> None:
    with pytest.raises(ConfigurationError, match="did not end in time"):
        start_embedded(data_dir, timeout=0.05)


def test_a_file_in_the_way_is_named(data_dir: Path) -> None:
    data_dir.write_text("not a folder")
    with pytest.raises(ConfigurationError, match="Set TM_DATA_DIR to another folder"):
        start_embedded(data_dir)


def test_a_path_that_a_shell_would_expand_is_refused(data_dir: Path) -> None:
    with pytest.raises(ConfigurationError, match="has the character '\\$'"):
        start_embedded(data_dir / "$(boom)")


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone needs another user's entry")
def test_root_is_told_of_a_folder_that_the_server_user_may_not_enter() -> None:
    with open_folder() as folder:
        closed = folder / "closed"
        closed.mkdir(mode=0o700)
        with pytest.raises(ConfigurationError, match=r"may not enter .*closed"):
            start_embedded(closed / "data")
        assert not list(closed.iterdir())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_write_permission_is_named(data_dir: Path) -> None:
    data_dir.mkdir(mode=0o500)
    with pytest.raises(ConfigurationError, match="is not writable by user id"):
        start_embedded(data_dir)
