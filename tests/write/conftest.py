from __future__ import annotations

from tests.support.stores import embedder, make_store, store

__all__ = ["embedder", "make_store", "store"]
