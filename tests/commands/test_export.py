"""`typed-memory export`, ended before the service has answered to the end."""

from __future__ import annotations

import signal
import socket
import stat
from pathlib import Path

from tests.commands.program import running
from tests.support.waiting import PATIENCE, wait_until

HEADER = b'{"record":"header","counts":{"memory":2}}\n'
BEGUN = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
    + f"{len(HEADER):x}\r\n".encode()
    + HEADER
    + b"\r\n"
)


def test_an_export_that_is_terminated_leaves_nothing_behind(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        given = ("export", str(tmp_path / "all.ndjson"))
        with running(*given, TM_URL=url, TM_API_KEY="tm_any_key_0123456789") as (process, output):
            connection, _ = server.accept()
            with connection:
                connection.sendall(BEGUN)
                wait_until(lambda: list(tmp_path.iterdir()) != [])
                [unfinished] = tmp_path.iterdir()
                assert stat.S_IMODE(unfinished.stat().st_mode) == 0o600
                process.send_signal(signal.SIGTERM)
                assert process.wait(PATIENCE) == 128 + signal.SIGTERM
    _, logged = output.so_far()
    assert "Traceback" not in logged
    assert list(tmp_path.iterdir()) == []
