"""What several answers about one turn agree on: seed 001's consistency across a temperature sweep."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import uuid5

from app.memory import normalise
from app.memory.extraction import MOST_PROPOSALS, Proposal
from app.memory.spec import MemoryType, Payload
from app.model import NAMESPACE, EntityRef

LEAST_SHARE: Final = 0.5
"""What fewer answers say is dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """A proposal, what it says, and where the turn says it."""

    proposal: Proposal
    says: Hashable
    quotes: Hashable


@dataclass(slots=True, kw_only=True)
class _Group:
    """Equivalent proposals; the first one, of the coolest answer, stands for them."""

    first: _Claim
    answers: set[int] = field(default_factory=set)


def agreed(answers: Sequence[Sequence[Proposal]], types: Mapping[str, MemoryType]) -> tuple[Proposal, ...]:
    """Return what at least half of the answers propose, with its share of them as consistency.

    Two proposals are equivalent when their types and slots with their values are, or, without a slot, their
    sentences; what is left over is matched by type and quote, since the same words tell the same event in other
    words. `types` are by name. The widest agreement comes first, and no more than `MOST_PROPOSALS` are kept.
    """
    groups: list[_Group] = []
    for number, proposals in enumerate(answers):
        rest = _join(groups, number, [_claim(one, types) for one in proposals], _same_claim)
        rest = _join(groups, number, rest, _same_quote)
        groups += [_Group(first=claim, answers={number}) for claim in rest]
    shares = [(len(group.answers) / len(answers), group.first.proposal) for group in groups]
    kept = sorted((one for one in shares if one[0] >= LEAST_SHARE), key=lambda one: -one[0])
    return tuple(replace(proposal, consistency=share) for share, proposal in kept[:MOST_PROPOSALS])


def _same_claim(one: _Claim, other: _Claim) -> bool:
    return one.says == other.says


def _same_quote(one: _Claim, other: _Claim) -> bool:
    return one.quotes == other.quotes


def _join(
    groups: Sequence[_Group], number: int, claims: Sequence[_Claim], same: Callable[[_Claim, _Claim], bool]
) -> list[_Claim]:
    """Put the claims of one answer into groups it has no other claim in; return those that fit none."""
    left = []
    for claim in claims:
        group = next((one for one in groups if number not in one.answers and same(one.first, claim)), None)
        if group is None:
            left.append(claim)
        else:
            group.answers.add(number)
    return left


def _claim(proposal: Proposal, types: Mapping[str, MemoryType]) -> _Claim:
    spec = types[proposal.type]
    payload = spec.ended(proposal.payload)[0] if proposal.ends else spec.payload.model_validate(dict(proposal.payload))
    says, slotted = _said(payload)
    # Two values for one slot are two claims, though one sentence may hold both.
    quotes = None if slotted else normalise.name(proposal.quote)
    return _Claim(
        proposal=proposal,
        says=(proposal.type, proposal.ends, proposal.speech_act, says),
        quotes=(proposal.type, proposal.ends, proposal.speech_act, quotes if quotes is not None else says),
    )


def _said(payload: Payload) -> tuple[Hashable, bool]:
    """Return what a payload claims, for comparison, and whether it claims a slot."""
    refs = {
        one.role: EntityRef(
            id=uuid5(NAMESPACE, normalise.name(one.name)), name=one.name, entity_type=one.entity_type or "unknown"
        )
        for one in payload.mentions()
    }
    slot = payload.slot(refs)
    if slot is None:
        return (normalise.name(payload.render()), payload.distinct_by()), False
    return (slot, payload.value(refs)), True
