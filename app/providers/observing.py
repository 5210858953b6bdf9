"""How a call to a provider ended and how long it took, for whoever counts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

from app.errors import ProviderError


@contextmanager
def timed(tell: Callable[[str, float], None]) -> Iterator[None]:
    """Tell how the block ended (`ok`, a ProviderError's code, `cancelled`, `error`) and in how many seconds."""
    started, outcome = perf_counter(), "error"
    try:
        yield
        outcome = "ok"
    except ProviderError as error:
        outcome = error.code
        raise
    except asyncio.CancelledError:
        outcome = "cancelled"
        raise
    finally:
        tell(outcome, perf_counter() - started)
