"""The legal changes of a status (seed 001, "The lifecycle in detail"), which tests hold the database to."""

from __future__ import annotations

from typing import Final

from app.model import MemoryStatus

_AFTER: Final = {
    MemoryStatus.PENDING: {
        MemoryStatus.ACTIVE,  # a person accepts it
        MemoryStatus.FORGOTTEN,  # a person rejects it
        MemoryStatus.SUPERSEDED,  # a person accepts what was stated before what is believed now
    },
    MemoryStatus.ACTIVE: {
        MemoryStatus.SUPERSEDED,  # a newer statement takes its slot
        MemoryStatus.EXPIRED,  # its freshness falls under 0.1, or its validity ends
        MemoryStatus.PENDING,  # a person is to look at it first
        MemoryStatus.FORGOTTEN,  # a person says that it was wrong
    },
    MemoryStatus.EXPIRED: {
        MemoryStatus.ACTIVE,  # it is accessed, found useful or stated again
        MemoryStatus.FORGOTTEN,  # it is expired for 90 days at a confidence of at most 0.30
        MemoryStatus.SUPERSEDED,  # a newer statement takes its place in a chain
    },
    MemoryStatus.SUPERSEDED: {
        MemoryStatus.ACTIVE,  # a supersession is taken back
        MemoryStatus.EXPIRED,  # the summary that it was folded into is gone
        MemoryStatus.FORGOTTEN,  # a person says that it was wrong
        MemoryStatus.PENDING,  # a reviewer's decision is undone
    },
    # Only when a reviewer's decision is undone: it is again what it was before.
    MemoryStatus.FORGOTTEN: {
        MemoryStatus.PENDING,
        MemoryStatus.ACTIVE,
        MemoryStatus.EXPIRED,
        MemoryStatus.SUPERSEDED,
    },
}

LEGAL: Final = frozenset((before, after) for before, every in _AFTER.items() for after in every)
"""All legal changes of status; the database refuses all others."""
