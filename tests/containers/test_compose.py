"""docker-compose.yml brought up by podman-compose: a memory is written, each container is killed, nothing is lost.

Where the database's image is not on this machine, a stand-in is made of the embedded server's files.
"""

from __future__ import annotations

import os
import shlex
import signal
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
import yaml  # type: ignore[import-untyped]

from bench.ports import free_port
from tests.containers.conftest import ROOT
from tests.containers.podman import OPTIONS, build, exists, podman

pytestmark = pytest.mark.image

KEY = "tm_key_of_the_compose_file_0123456789abcdef"
HEADERS = {"Authorization": f"Bearer {KEY}"}
FILE = ROOT / "docker-compose.yml"
START_SECONDS = 180.0
PODMAN = f"""#!/bin/sh
# Podman 4 starts what a container requires again, also a migration that is done: podman-compose keeps the order itself.
for one do
    shift
    case $one in --requires=*) ;; *) set -- "$@" "$one" ;; esac
done
exec {shlex.join(["podman", *OPTIONS])} "$@"
"""
SERVED = ("db", "api", "worker")


@dataclass(frozen=True, slots=True)
class Composition:
    """The containers of the compose file, under a project name of their own."""

    project: str
    folder: Path
    port: int

    def compose(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run podman-compose on the file, with the images of this test."""
        files = ("--file", str(FILE), "--file", str(self.folder / "override.yml"))
        program = (sys.executable, "-m", "podman_compose", "--podman-path", str(self.folder / "podman"))
        return subprocess.run(  # noqa: S603
            [*program, "--project-name", self.project, "--env-file", str(self.folder / "env"), *files, *arguments],
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
            check=False,
        )

    def container(self, service: str) -> str:
        return f"{self.project}_{service}_1"

    def kill(self, service: str) -> None:
        """Kill a container's process from outside, as the kernel does when memory runs out, until it runs again."""
        killed = self.process(service)
        os.kill(killed, signal.SIGKILL)
        deadline = time.monotonic() + START_SECONDS
        while self.process(service) in {0, killed}:
            assert time.monotonic() < deadline, self.told()
            time.sleep(0.1)

    def process(self, service: str) -> int:
        """Return the id of a container's process, 0 when it does not run."""
        told = podman("inspect", "--format", "{{.State.Pid}}", self.container(service))
        return int(told.stdout or 0)

    def ready(self) -> bool:
        with suppress(httpx.HTTPError):
            return httpx.get(f"{self.url}/readyz").status_code == httpx.codes.OK
        return False

    def wait(self) -> None:
        """Wait until everything runs and the service is ready."""
        deadline = time.monotonic() + START_SECONDS
        while not self.ready() or not all(self.process(one) for one in SERVED):
            assert time.monotonic() < deadline, self.told()
            time.sleep(0.5)

    def told(self) -> str:
        """Return the ends of all logs."""
        names = [self.container(one) for one in (*SERVED, "migrate")]
        return "\n".join(f"{name}: {told.stdout}{told.stderr}" for name in names for told in [_log(name)])

    def remember(self, number: int) -> str:
        body = {"subject": f"Person {number}", "predicate": "lives-in", "object": "Oslo", "user_id": "ana"}
        answer = httpx.post(f"{self.url}/memories/typed/fact", json=body, headers=HEADERS, timeout=30)
        assert answer.status_code == httpx.codes.CREATED, answer.text
        identity: str = answer.json()["memory"]["id"]
        return identity

    def known(self) -> set[str]:
        asked = {"user_id": "ana", "type": "fact"}
        return {one["id"] for one in self.get("/memories", **asked)["memories"]}

    def get(self, path: str, **asked: str) -> dict[str, list[dict[str, str]]]:
        answer = httpx.get(f"{self.url}{path}", params=asked, headers=HEADERS, timeout=30)
        assert answer.status_code == httpx.codes.OK, answer.text
        found: dict[str, list[dict[str, str]]] = answer.json()
        return found

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def _log(name: str) -> subprocess.CompletedProcess[str]:
    return podman("logs", "--tail", "15", name)


@pytest.fixture
def database_image(image: str) -> Iterator[str]:
    named: str = yaml.safe_load(FILE.read_text())["services"]["db"]["image"]
    if exists(named):
        yield named
        return
    if given := os.environ.get("TM_TEST_POSTGRES_IMAGE"):
        yield given
        return
    name = f"typed-memory-test-postgres:{uuid4().hex[:8]}"
    build(ROOT / "tests" / "containers" / "postgres", name, {"IMAGE": image})
    yield name
    podman("rmi", "--force", name)


@pytest.fixture
def composition(image: str, database_image: str, tmp_path: Path) -> Iterator[Composition]:
    port = free_port()
    found = Composition(f"tm-test-{uuid4().hex[:8]}", tmp_path, port)
    images = {"db": database_image, "migrate": image, "api": image, "worker": image}
    limits = {"nofile": 1024, "nproc": 4096}
    override = {"services": {name: {"image": one, "ulimits": limits} for name, one in images.items()}}
    (tmp_path / "override.yml").write_text(yaml.safe_dump(override))
    secrets = {"POSTGRES_PASSWORD": uuid4().hex, "SERVICE_PASSWORD": uuid4().hex, "TM_BOOTSTRAP_KEY": KEY}
    lines = (f"{name}={value}\n" for name, value in {**secrets, "TM_PORT": str(port)}.items())
    (tmp_path / "env").write_text("".join(lines))
    program = tmp_path / "podman"
    program.write_text(PODMAN)
    program.chmod(0o755)
    try:
        started = found.compose("up", "--detach", "--no-build")
        assert started.returncode == 0, started.stderr[-4000:]
        yield found
    finally:
        found.compose("down", "--volumes", "--timeout", "10")


@pytest.mark.timeout(1200)
def test_nothing_is_lost_when_each_container_of_the_compose_file_is_killed(composition: Composition) -> None:
    composition.wait()
    written = {composition.remember(0)}
    for number, service in enumerate(SERVED, 1):
        composition.kill(service)
        composition.wait()
        written.add(composition.remember(number))
    assert composition.known() == written
    told = httpx.post(
        f"{composition.url}/turns", json={"content": "I live in Ljubljana.", "user_id": "ana"}, headers=HEADERS
    )
    assert told.status_code == httpx.codes.ACCEPTED
    deadline = time.monotonic() + START_SECONDS
    while composition.get("/turns", user_id="ana")["turns"][0]["status"] != "processed":
        assert time.monotonic() < deadline, composition.told()
        time.sleep(0.5)
