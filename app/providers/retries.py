"""Retries of outgoing requests: after random, growing waits, and not before the other side wants them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from tenacity import AsyncRetrying, RetryCallState, stop_after_attempt, stop_any
from tenacity.retry import retry_base
from tenacity.stop import stop_base
from tenacity.wait import wait_base

Sleep = Callable[[float], Awaitable[None]]

_SECONDS: Final = re.compile(r"\d{1,9}(?:\.\d+)?")


class _StopBefore(stop_base):
    """Stop when the wait for the next try would outlast the deadline: better to say now what went wrong."""

    def __init__(self, overdue: float) -> None:
        self._overdue = overdue

    def __call__(self, retry_state: RetryCallState) -> bool:
        return asyncio.get_running_loop().time() + retry_state.upcoming_sleep >= self._overdue


def retrying(
    attempts: int,
    retry: retry_base,
    *,
    backoff: wait_base,
    asked: Callable[[RetryCallState], float | None],
    sleep: Sleep,
    overdue: float | None = None,
) -> AsyncRetrying:
    """Return what calls a function until `retry` is content, up to `attempts` times, and gives its last outcome.

    `asked` returns the seconds that the other side asks to wait; `overdue` is a deadline by the event loop's clock.
    """
    stops = [stop_after_attempt(attempts)] + ([] if overdue is None else [_StopBefore(overdue)])
    return AsyncRetrying(
        stop=stop_any(*stops),
        wait=lambda state: max(backoff(state), asked(state) or 0.0),
        retry=retry,
        sleep=sleep,
        retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
    )


def retry_after_seconds(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the Retry-After header as seconds from now, given as seconds or as a date (RFC 9110, 10.2.3)."""
    value = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(value):
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())
