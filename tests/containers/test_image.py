"""The image, built and run: without rights, on a read-only file system, and killed in the middle of things.

`make image` runs these tests. They need Podman, root and the base image.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from uuid import uuid4

import httpx
import pytest

from bench.ports import free_port
from tests.containers.podman import LIMITS, podman

pytestmark = pytest.mark.image

KEY = "tm_key_of_the_image_0123456789abcdefghijkl"
READY_SECONDS = 60.0
KILLS = 3


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
    found = Container(image, f"tm-test-{uuid4().hex[:8]}", free_port())
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
