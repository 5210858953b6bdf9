"""Which of the memories that share a statement's words or meaning say the same as it does."""

from __future__ import annotations

from collections.abc import Sequence

from app.english.decisive_words import differ_decisively
from app.memory.lifecycle import is_over
from app.memory.spec import Payload
from app.model import MemoryStatus
from app.write.values import Existing, Resolved

DUPLICATE = 0.92
"""Cosine above which two memories of one type and subject say the same (seed 001, stage 4), unless words decide."""

DOUBTFUL = 0.85
"""Cosine from which a judge, if there is one, is asked whether two memories say the same."""


def duplicates(resolved: Resolved, existing: Sequence[Existing]) -> list[Existing]:
    """Return those that say the same by their likeness alone, nearest first; none of a type that forbids it."""
    return [one for one in _comparable(resolved, existing) if _sure(resolved, one)]


def doubtful(resolved: Resolved, existing: Sequence[Existing]) -> list[Existing]:
    """Return those that may or may not say the same, nearest first: what a judge is for."""
    return [
        one
        for one in _comparable(resolved, existing)
        if (one.similarity or 0.0) >= DOUBTFUL and not _sure(resolved, one)
    ]


def _sure(resolved: Resolved, one: Existing) -> bool:
    return resolved.prepared.candidate.type.likeness_merges and (one.similarity or 0.0) > DUPLICATE


def _comparable(resolved: Resolved, existing: Sequence[Existing]) -> list[Existing]:
    """Return those found by meaning that slots, decisive words or values don't tell apart.

    Nearest first, but what has expired behind what is believed.
    """
    content = resolved.prepared.content
    found = [
        one
        for one in existing
        if one.relation == "near"
        and one.slot == resolved.slot
        and is_comparable(resolved, one)
        and _alike(resolved, one)
        and not differ_decisively(one.content, content)
    ]
    return sorted(found, key=lambda one: one.status != MemoryStatus.ACTIVE)


def is_comparable(resolved: Resolved, one: Existing) -> bool:
    """Return whether a repetition may go into a memory: not one that had ended, nor one of another slot.

    An expired one that has a slot would take it again, which only what has that slot itself may bring about.
    """
    if is_over(one.valid_until, resolved.prepared.stated_at):
        return False
    return _in_one_place(resolved, one) and (one.status == MemoryStatus.ACTIVE or one.slot in {None, resolved.slot})


def _in_one_place(resolved: Resolved, one: Existing) -> bool:
    """Return whether both claim the same slot, or one of them claims none and that is all that tells them apart."""
    if one.slot is not None and resolved.slot is not None:
        return one.slot == resolved.slot
    return one.slot == resolved.slot or _alike(resolved, one)


def _alike(resolved: Resolved, one: Existing) -> bool:
    return stored_duplicate(resolved, one).distinct_by() == resolved.prepared.candidate.payload.distinct_by()


def stored_duplicate(resolved: Resolved, existing: Existing) -> Payload:
    """Return the payload of a memory of the candidate's type, read as the version that it was written with."""
    return resolved.prepared.candidate.type.read(existing.payload, existing.type_version)
