"""How long a write spends in each stage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class Times(defaultdict[str, float]):
    """Seconds spent in each stage, by its name; a write adds to it."""

    def __init__(self) -> None:
        super().__init__(float)


@contextmanager
def timed(times: Times, stage: str) -> Iterator[None]:
    """Add the time of the block to a stage."""
    started = perf_counter()
    try:
        yield
    finally:
        times[stage] += perf_counter() - started
