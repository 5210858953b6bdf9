"""Postgres servers with Citus on this machine, for a cluster of a coordinator and two nodes.

`TM_TEST_CITUS` is the folder of an unpacked Postgres (bin, lib, share) that Citus and pgvector were installed into.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.db.embedded.folder import Account, server_account
from bench.ports import free_port

OWNER = "postgres"
SETTINGS = {
    "shared_preload_libraries": "citus",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "400",
    "max_prepared_transactions": "400",
    "max_worker_processes": "64",
    "wal_level": "logical",
    # A killed server keeps its data without these, and each database that is dropped waits for them.
    "fsync": "off",
    "full_page_writes": "off",
    # `distribute` sets these for a database; copies of it, which tests use, would be without.
    "citus.propagate_set_commands": "local",
    "citus.enable_unsafe_triggers": "on",
}
START_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One server: its programs, its data and the account that it runs as."""

    programs: Path
    data: Path
    account: Account
    port: int

    @property
    def url(self) -> str:
        return f"postgresql://{OWNER}@127.0.0.1:{self.port}/postgres"

    def create(self) -> None:
        self.data.mkdir(mode=0o700)
        self.account.own(self.data)
        locale = ("--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
        self._run("initdb", f"--username={OWNER}", "--auth=trust", *locale)
        with (self.data / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in {**SETTINGS, "port": str(self.port)}.items())

    def start(self) -> None:
        self._run("pg_ctl", "--wait", "--silent", f"--log={self.data / 'log'}", "start")

    def stop(self) -> None:
        self._run("pg_ctl", "--mode=immediate", "--silent", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        """Run a program; a server outlives it and would hold a pipe of its output open, so there is none."""
        subprocess.run(  # noqa: S603
            [str(self.programs / "bin" / program), f"--pgdata={self.data}", *arguments],
            env={"HOME": str(self.data.parent), "LD_LIBRARY_PATH": str(self.programs / "lib"), "PATH": os.defpath},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            cwd="/",
            user=self.account.uid,
            group=self.account.gid,
            extra_groups=[] if self.account.switch else None,
            timeout=START_SECONDS,
            check=True,
        )


@contextmanager
def started(programs: Path, count: int = 3) -> Iterator[list[Server]]:
    """Start servers, and remove them and their data at the end."""
    folder = Path(tempfile.mkdtemp(prefix="tm-cluster-"))
    folder.chmod(0o755)
    account = server_account(folder / "none")
    servers = [
        Server(programs=programs, data=folder / f"server-{number}", account=account, port=free_port())
        for number in range(count)
    ]
    try:
        for server in servers:
            server.create()
            server.start()
        yield servers
    finally:
        for server in servers:
            if (server.data / "postmaster.pid").exists():
                server.stop()
        shutil.rmtree(folder, ignore_errors=True)
