"""The image, built and run: without rights, on a read-only file system, and killed in the middle of things.

`make image` runs these tests. They need Podman, root and the base image. TM_TEST_PODMAN are further options of
Podman itself (`--runtime runc`), TM_TEST_IMAGE an image that is already built. The build sees the certificates and
the configuration of this machine's pip, so that it works behind a proxy of one's own, too.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

pytestmark = pytest.mark.image

ROOT = Path(__file__).parents[2]
BASE = "docker.io/library/python:3.12-slim-bookworm"
KEY = "tm_key_of_the_image_0123456789abcdefghijkl"
READY_SECONDS = 60.0
KILLS = 3
LIMITS = ("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096")
"""Podman's own defaults are more than some machines allow."""


def podman(*arguments: str, seconds: float = 120) -> subprocess.CompletedProcess[str]:
    options = os.environ.get("TM_TEST_PODMAN", "").split()
    return subprocess.run(  # noqa: S603
        ["podman", *options, *arguments],  # noqa: S607
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def of_pip() -> list[Path]:
    """The paths that pip is configured with on this machine: its files, the certificates, and local indexes."""
    pip = [sys.executable, "-m", "pip", "config"]
    told = "".join(subprocess.check_output([*pip, asked], text=True) for asked in ("debug", "list"))  # noqa: S603
    named = {Path(path) for path in re.findall(r"/[\w./-]+", told.replace("file://", "").replace("/simple", ""))}
    return sorted(path for path in named | {Path("/etc/ssl/certs")} if path.exists())


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    """The image of this checkout."""
    assert shutil.which("podman"), "these tests need Podman, and it was not found"
    assert os.geteuid() == 0, "these tests need root, as Podman's volumes do here"
    if given := os.environ.get("TM_TEST_IMAGE"):
        yield given
        return
    assert podman("image", "exists", BASE).returncode == 0, f"the base image is not here: podman pull {BASE}"
    name = f"typed-memory-test:{uuid4().hex[:8]}"
    shared = [f"--volume={path}:{path}:ro" for path in of_pip()]
    built = podman("build", "--pull=never", "--format", "docker", *shared, "--tag", name, str(ROOT), seconds=900)
    assert built.returncode == 0, built.stderr[-4000:]
    yield name
    podman("rmi", "--force", name)


@dataclass(frozen=True, slots=True)
class Container:
    """One container of the image, whose data outlives it in a volume."""

    image: str
    name: str
    port: int

    def start(self) -> None:
        """Start it as `docker-compose.yml` does: read-only and without capabilities."""
        started = podman(
            "run", "--detach", "--rm", "--name", self.name, "--network", "host",
            "--read-only", "--tmpfs", "/tmp",  # noqa: S108 - the container's
            "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
            *LIMITS,
            "--volume", f"{self.name}:/var/lib/typed-memory",
            "--env", f"TM_PORT={self.port}", "--env", f"TM_BOOTSTRAP_KEY={KEY}",
            self.image,
        )  # fmt: skip
        assert started.returncode == 0, started.stderr
        self.wait()

    def wait(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while True:
            with suppress(httpx.HTTPError):
                if httpx.get(f"{self.url}/readyz").status_code == httpx.codes.OK:
                    return
            assert time.monotonic() < deadline, podman("logs", self.name).stderr[-4000:]
            time.sleep(0.2)

    def kill(self) -> None:
        assert podman("kill", "--signal", "KILL", self.name).returncode == 0
        podman("wait", self.name)
        podman("rm", "--force", self.name)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@pytest.fixture
def container(image: str) -> Iterator[Container]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = Container(image, f"tm-test-{uuid4().hex[:8]}", port)
    try:
        yield found
    finally:
        podman("rm", "--force", found.name)
        podman("volume", "rm", "--force", found.name)


@pytest.mark.timeout(1200)
def test_what_a_killed_container_acknowledged_is_there_when_it_starts_again(container: Container) -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    written = set()
    for number in range(KILLS):
        container.start()
        body = {"subject": f"Person {number}", "predicate": "lives-in", "object": "Oslo", "user_id": "ana"}
        answer = httpx.post(f"{container.url}/memories/typed/fact", json=body, headers=headers)
        assert answer.status_code == httpx.codes.CREATED, answer.text
        written.add(answer.json()["memory"]["id"])
        container.kill()
    container.start()
    listed = httpx.get(f"{container.url}/memories", params={"user_id": "ana"}, headers=headers).json()["memories"]
    assert {one["id"] for one in listed} == written
    assert podman("stop", "--time", "20", container.name).returncode == 0


def test_the_image_runs_as_nobody_in_particular_and_without_installers(image: str) -> None:
    asked = "id -u; test -e /opt/venv/bin/pip && echo pip || echo none"
    found = podman("run", "--rm", "--network", "host", *LIMITS, "--entrypoint", "sh", image, "-c", asked)
    assert found.returncode == 0, found.stderr
    assert found.stdout.split() == ["10001", "none"]
