from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from app.model import Actor
from tests.jobs.handlers import TABLE
from tests.jobs.yard import Yard, light_runtime
from tests.support import owner


@pytest.fixture
async def yard(fresh_database_url: str) -> AsyncIterator[Yard]:
    found = Yard(fresh_database_url, light_runtime(fresh_database_url))
    async with owner.kept_open(fresh_database_url):
        for statement in TABLE.split(";"):
            await found.sql(statement)
        yield found
    await found.close()


@pytest.fixture
async def actor(yard: Yard) -> Actor:
    return await yard.tenant()
