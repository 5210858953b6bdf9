"""The extraction of a single turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.memory.extraction import Extraction, Turn
from app.providers.protocols import Extractor


async def extract(extractor: Extractor, turn: Turn, context: Sequence[Turn] = (), **options: Any) -> Extraction:
    [extraction] = await extractor.extract([turn], context, **options)
    return extraction
