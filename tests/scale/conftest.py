from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.scale.stores import Store, opened


@pytest.fixture
async def big(fresh_database_url: str) -> AsyncIterator[Store]:
    async with opened(fresh_database_url) as store:
        yield store
