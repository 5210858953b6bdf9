from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.containers.podman import build, exists, podman

ROOT = Path(__file__).parents[2]
BASE = "docker.io/library/python:3.12-slim-bookworm"


@pytest.fixture(scope="session")
def image() -> Iterator[str]:
    """The image of this checkout, or TM_TEST_IMAGE; TM_TEST_NO_CACHE builds all its layers anew."""
    assert shutil.which("podman"), "these tests need Podman, and it was not found"
    assert os.geteuid() == 0, "these tests need root, as Podman's volumes do here"
    if given := os.environ.get("TM_TEST_IMAGE"):
        yield given
        return
    assert exists(BASE), f"the base image is not here: podman pull {BASE}"
    name = f"typed-memory-test:{uuid4().hex[:8]}"
    build(ROOT, name, options=["--no-cache"] if os.environ.get("TM_TEST_NO_CACHE") else [])
    yield name
    podman("rmi", "--force", name)
