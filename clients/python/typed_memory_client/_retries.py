"""When a request is sent again, and after how long."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping
from typing import Final

_FIRST_WAIT: Final = 0.25
_LONGEST_WAIT: Final = 15.0
_LIMITED: Final = 429
_LONGEST_LIMIT: Final = 60.0
_TRANSIENT: Final = frozenset({429, 502, 503, 504})
_CONFLICT: Final = 409


def wait_before_retry(attempt: int, status: int | None, headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait after attempt 1, 2, ...; None if the answer is final.

    A status of None stands for a connection that failed. Every request may be sent again: reads change nothing,
    and writes carry an idempotency key. A 409 is sent again only if the service says when. A limit that lasts longer
    than the minute's, as the day's does, is final.
    """
    asked = _seconds(headers.get("retry-after"))
    if status == _LIMITED and asked is not None and asked > _LONGEST_LIMIT:
        return None
    if status is not None and status not in _TRANSIENT and (status != _CONFLICT or asked is None):
        return None
    backoff: float = _FIRST_WAIT * 2 ** (attempt - 1) * random.uniform(0.5, 1.0)  # noqa: S311 - spreads clients, no secret
    return min(_LONGEST_WAIT, max(backoff, asked or 0.0))


async def sleep_async(seconds: float) -> None:
    """Wait in a task."""
    await asyncio.sleep(seconds)


def sleep_blocking(seconds: float) -> None:
    """Wait in a thread."""
    time.sleep(seconds)


def _seconds(value: str | None) -> float | None:
    try:
        return max(0.0, float(value)) if value is not None else None
    except ValueError:
        return None
