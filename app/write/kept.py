"""Extractions as they are kept with their turn, so that a model is not asked the same thing twice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from app.memory.extraction import Extraction, Proposal

_Item = TypeVar("_Item")

_PROPOSALS = TypeAdapter(tuple[Proposal, ...])


@dataclass(frozen=True, slots=True, kw_only=True)
class Together(Generic[_Item]):
    """Keeps things as they come; what comes while others are being kept goes together afterwards.

    Transactions of their own would wait for one another anyway: they count towards the same day's cost.
    """

    keep: Callable[[Sequence[_Item]], Awaitable[None]]
    _waiting: list[_Item] = field(default_factory=list)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def __call__(self, item: _Item) -> None:
        """Return once the item was given to `keep`, which has returned."""
        self._waiting.append(item)
        async with self._lock:
            items = self._waiting.copy()
            self._waiting.clear()
            if items:
                await self.keep(items)


def told(extraction: Extraction) -> dict[str, object]:
    """Return what to keep of an extraction, as JSON values; its cost is counted apart."""
    return {"proposals": _PROPOSALS.dump_python(extraction.proposals, mode="json")}


def recalled(kept: Mapping[str, object]) -> Extraction:
    """Return the extraction that was kept, at no cost."""
    return Extraction(proposals=_PROPOSALS.validate_python(kept["proposals"]))
