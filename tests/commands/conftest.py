"""A service for the commands to talk to, shared by the tests of one worker; each has users of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.commands.program import Served
from tests.support.databases import Run, drop_database


@pytest.fixture(scope="session")
def service(run: Run, server_url: str, template: str) -> Iterator[Served]:
    url = run.create(server_url, template)
    with Served(TM_DATABASE_URL=url) as served:
        yield served
    drop_database(url)


@pytest.fixture
def user(request: pytest.FixtureRequest) -> str:
    name: str = request.node.name
    return name[:200]
