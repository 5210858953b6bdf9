from __future__ import annotations

import pytest

from tests.backfill.clinic import clinic
from tests.support.stores import embedder, make_store, store

__all__ = ["clinic", "embedder", "make_store", "store"]


@pytest.fixture(scope="module")
def database_url(module_database_url: str) -> str:
    """A database in which no service of other tests takes the jobs."""
    return module_database_url
