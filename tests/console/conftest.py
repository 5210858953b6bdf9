"""A service with the sample in it, and a window of Chromium at its console."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.api.conftest import anonymous, app, database_url, owner_connection
from tests.commands.program import Served
from tests.console.sample_store import fill

__all__ = ["anonymous", "app", "database_url", "owner_connection"]

SETTINGS = {"TM_OAUTH": "true", "TM_QUERY_LOG_CONTENT": "true", "TM_QUERY_LOG_SAMPLE": "1"}

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def service(module_database_url: str) -> Iterator[Served]:
    with Served(TM_DATABASE_URL=module_database_url, TM_WEBHOOK_PRIVATE_ADDRESSES="true", **SETTINGS) as served:
        with httpx.Client(base_url=served.url, headers={"Authorization": f"Bearer {served.key}"}, timeout=60) as client:
            fill(client)
        yield served


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core."""
    return (ROOT / os.environ["TM_TEST_AXE"]).read_text(encoding="utf-8")
