from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from app.db.session import Database
from tests.backfill.clinic import clinic
from tests.support.pools import pooled
from tests.support.stores import embedder, make_store, store

__all__ = ["clinic", "embedder", "make_store", "store"]


@pytest.fixture(scope="module")
def database_url(module_database_url: str) -> str:
    """A database in which no service of other tests takes the jobs."""
    return module_database_url


@pytest.fixture(scope="module")
async def shared_database(database_url: str) -> AsyncIterator[Database]:
    async with pooled(database_url) as database:
        yield database
