"""Proposals that a type adopts from the one that they were made as (docs/decisions/rule-extraction.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pydantic import ValidationError

from app.memory.extraction import Proposal
from app.memory.registry import Registry
from app.memory.spec import Adoption, MemoryType, Payload, StoredBelief


@dataclass(frozen=True, slots=True, kw_only=True)
class Reclassification:
    """A proposal as it goes on; `was`: as it was proposed, where a type adopted it, and `because` of what."""

    proposal: Proposal
    was: Proposal | None = None
    because: str = ""

    @property
    def told(self) -> str:
        """Return what was adopted and why, in words without its content."""
        return "" if self.was is None else f"{self.proposal.type}: adopted from {self.was.type}, {self.because}"


def reclassifications(proposal: Proposal, types: Registry) -> tuple[Reclassification, ...]:
    """Return a proposal as what it goes on as: itself, or one of the first type, as they are listed, that adopts it.

    What would be of another type anyway is not offered, and what was adopted is not offered again. An ending stays
    what it is, and goes on as an ending of every adopting type beside it: the belief may be stored as either.
    """
    spec = types.find(proposal.type)
    if spec is None:
        return (Reclassification(proposal=proposal),)
    if proposal.ends:
        return (Reclassification(proposal=proposal), *_ended(proposal, spec, types))
    try:
        payload = spec.payload.model_validate(dict(proposal.payload))
    except ValidationError:
        return (Reclassification(proposal=proposal),)
    stated = None if payload.reclassified() is not None else next(_adopted(proposal, payload, spec, types), None)
    return (stated or Reclassification(proposal=proposal),)


def _adopted(proposal: Proposal, payload: Payload, spec: MemoryType, types: Registry) -> Iterator[Reclassification]:
    for one, adoption in _adopting(spec, types):
        found = adoption.rule(_stored(payload, spec))
        if found is not None:
            fields = found.payload.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)
            weight = one.importance(found.payload)
            importance = weight if proposal.importance is None else max(weight, proposal.importance)
            adopted = replace(proposal, type=one.name, payload=fields, importance=importance)
            yield Reclassification(proposal=adopted, was=proposal, because=found.reason)


def _ended(proposal: Proposal, spec: MemoryType, types: Registry) -> Iterator[Reclassification]:
    try:
        payload, named = spec.ended(proposal.payload)
    except ValueError:
        return
    for one, adoption in _adopting(spec, types):
        fields: Mapping[str, object] | None = None
        if named and adoption.ended is not None and one.held is not None:
            fields = adoption.ended(_stored(payload, spec))
        if fields is not None:
            because = "it may be held as one"
            yield Reclassification(
                proposal=replace(proposal, type=one.name, payload=fields), was=proposal, because=because
            )


def _adopting(spec: MemoryType, types: Registry) -> Iterator[tuple[MemoryType, Adoption]]:
    """Yield the types that adopt from a type and may be proposed from turns, in the registry's order."""
    for one in types:
        if one.adopts is not None and one.extracted and spec.name in one.adopts.sources:
            yield one, one.adopts


def _stored(payload: Payload, spec: MemoryType) -> StoredBelief:
    fields = payload.model_dump(mode="json", by_alias=True)
    return StoredBelief(type=spec.name, payload=fields, content=payload.render())
