from tests.backfills.clinic import clinic
from tests.stores import embedder, make_store, store

__all__ = ["clinic", "embedder", "make_store", "store"]
