"""Extractions as they are kept with their turn, so that a model is not asked the same thing twice."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import TypeAdapter

from app.memory.extraction import Extraction, Proposal

_PROPOSALS = TypeAdapter(tuple[Proposal, ...])


def told(extraction: Extraction) -> dict[str, object]:
    """Return what to keep of an extraction, as JSON values; its cost is counted apart."""
    return {"proposals": _PROPOSALS.dump_python(extraction.proposals, mode="json")}


def recalled(kept: Mapping[str, object]) -> Extraction:
    """Return the extraction that was kept, at no cost."""
    return Extraction(proposals=_PROPOSALS.validate_python(kept["proposals"]))
