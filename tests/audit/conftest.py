from __future__ import annotations

import pytest

from app.services.audit import Audit
from tests.audit.books import Book
from tests.support.stores import Store, embedder, make_store, store

__all__ = ["embedder", "make_store", "store"]


@pytest.fixture
async def book(store: Store) -> Book:
    return Book(store, Audit(database=store.database))
