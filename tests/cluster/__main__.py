"""Run tests on a Citus cluster: `python -m tests.cluster [options and paths of pytest]`, or `make cluster`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.cluster.servers import started

_FOLDERS = (
    "api",
    "audit",
    "backfill",
    "cluster",
    "db",
    "erasure",
    "jobs",
    "lifecycle",
    "portability",
    "read",
    "reembed",
    "services",
    "time_travel",
    "write",
)
MARKS = "not browser and not image"
PATHS = tuple(f"tests/{folder}" for folder in _FOLDERS)


def main(arguments: list[str]) -> int:
    if (given := os.environ.get("TM_TEST_CITUS")) is None:
        sys.stdout.write("Skipped: TM_TEST_CITUS names no folder of a Postgres with Citus (bin, lib, share).\n")
        return 0
    with started(Path(given)) as (coordinator, *nodes):
        environment = {
            **os.environ,
            "TM_TEST_DATABASE_URL": coordinator.url,
            "TM_TEST_DATABASE_NODES": " ".join(node.url for node in nodes),
        }
        paths = [] if any(Path(one.partition("::")[0]).exists() for one in arguments) else PATHS
        command = [sys.executable, "-m", "pytest", "-n", "auto", "--maxprocesses", "4", "-m", MARKS, *arguments, *paths]
        return subprocess.run(command, env=environment, check=False).returncode  # noqa: S603


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
