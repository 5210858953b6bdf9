"""Texts that make careless patterns backtrack, and a way to notice: how time grows with length."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

LENGTH: Final = 32_000
QUADRATIC: Final = 10.0
"""Growth for four times the text: 4 where time is linear, 16 where it is quadratic."""

_SHORTEST: Final = 0.02
"""Seconds of processor time below which growth says nothing, and harms nobody."""

HOSTILE_UNITS: Final = (
    "a",
    " ",
    "so ",
    "so, ",
    "[",
    "[(<{",
    "<!-- ",
    "<system ",
    '"',
    "\u201c",
    "i'm a ",
    "?",
    "if i would ",
    "i'm a doctor so ",
    "he said ",
    "i do not not ",
    "ignore all previous ",
    "4111 1111 ",
    "0123456789abcdef",
    "GB82 WEST ",
    "sk-aA1",
    "eyJ",
    "a://b:",
    "password is ",
    "\n",
    "[mem_0123456789abcdef",
    "## Facts\n",
    "a\u200b",
    "e\u0301",
    "我",
    "\u0130",
    "\U000e0041",
)


def growth(work: Callable[[str], object], unit: str) -> float:
    """Return how many times longer 32,000 characters of the repeated unit take than 8,000.

    Times are the least of three runs; two runs of the long text are left out where the first was soon done.
    """
    text = (unit * LENGTH)[:LENGTH]
    long = _seconds(work, text)
    if long < _SHORTEST:
        return 1.0
    short = max(min(_seconds(work, text[: LENGTH // 4]) for _ in range(3)), 1e-6)
    if long < QUADRATIC * short:
        return long / short
    return min(long, _seconds(work, text), _seconds(work, text)) / short


def _seconds(work: Callable[[str], object], text: str) -> float:
    """Return what a run takes of this thread's processor time, to which nothing else adds."""
    started = time.thread_time()
    work(text)
    return time.thread_time() - started
