from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.lifecycle.aging import Aging, aging
from tests.support import stores

embedder, make_store, store = stores.embedder, stores.make_store, stores.store


@pytest.fixture
async def old(make_store: Callable[[], Any]) -> Aging:
    return aging(await make_store())
