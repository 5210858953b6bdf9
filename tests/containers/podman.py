"""Podman, as the tests of images call it, and builds that work behind a proxy of one's own.

TM_TEST_PODMAN are further options of Podman itself (`--runtime runc`). A build sees the certificates and the
configuration of this machine's pip.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

OPTIONS = os.environ.get("TM_TEST_PODMAN", "").split()

LIMITS = ("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096")
"""Podman's own defaults are more than some machines allow."""


def podman(*arguments: str, seconds: float = 120) -> subprocess.CompletedProcess[str]:
    """Run Podman to its end."""
    return subprocess.run(  # noqa: S603
        ["podman", *OPTIONS, *arguments],  # noqa: S607
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def exists(image: str) -> bool:
    """Return whether an image is on this machine."""
    return podman("image", "exists", image).returncode == 0


def build(folder: Path, name: str, arguments: Mapping[str, str] | None = None, options: Sequence[str] = ()) -> None:
    """Build the image of a folder, from base images that are on this machine."""
    shared = [f"--volume={path}:{path}:ro" for path in _of_pip()]
    given = [f"--build-arg={key}={value}" for key, value in (arguments or {}).items()]
    built = podman(
        *("build", "--pull=never", "--format", "docker", *shared, *given, *options, "--tag", name, str(folder)),
        seconds=900,
    )
    assert built.returncode == 0, built.stderr[-4000:]


def _of_pip() -> list[Path]:
    """Return the paths that pip is configured with on this machine: its files, certificates, and local indexes."""
    pip = [sys.executable, "-m", "pip", "config"]
    told = "".join(subprocess.check_output([*pip, asked], text=True) for asked in ("debug", "list"))  # noqa: S603
    named = {Path(path) for path in re.findall(r"/[\w./-]+", told.replace("file://", "").replace("/simple", ""))}
    return sorted(path for path in named | {Path("/etc/ssl/certs")} if path.exists())
