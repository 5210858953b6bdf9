"""Stage: find the memory that a candidate repeats, by its words, its meaning, or a judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from app.english.content_words import same_content
from app.english.decisive_words import differ_decisively
from app.memory.candidate import Candidate
from app.memory.lifecycle import is_over
from app.memory.versions import Repetition
from app.model import MemoryStatus
from app.write.values import Existing, Resolved, stored_payload

DUPLICATE = 0.92
"""Cosine above which two memories of one type and subject say the same (seed 001, stage 4), unless words decide."""

DOUBTFUL = 0.85
"""Cosine from which a judge, if there is one, is asked whether two memories say the same."""

MOST_ASKED_LATER = 3
"""Memories like a new one that a job asks about, where the judge didn't answer in time; the nearest."""


def is_compared(candidate: Candidate, slot: str | None, *, judged: bool) -> bool:
    """Return whether likeness decides anything about a candidate, by itself or because a judge is asked."""
    kind = candidate.type
    decisive = kind.dedup_by_meaning and (kind.likeness_merges or judged)
    return decisive and candidate.ending is None and slot is None


def least_likeness(*, judged: bool) -> float:
    """Return the cosine above which two memories may be found to say the same."""
    return DOUBTFUL if judged else DUPLICATE


def repetition(resolved: Resolved, existing: Sequence[Existing], same: Mapping[UUID, bool]) -> Repetition | None:
    """Return what says the same in its words, or nearly, or as a judge holds (`same`).

    What is believed comes before what has expired, so that two of a kind don't come to stand side by side. Of what
    has ended since only that counts which was stated later, and takes no slot. What the extractor says it repeats comes
    first, unless words decide.
    """
    again = _referred(resolved, existing)
    if again is not None:
        return again
    alike = duplicates(resolved, existing)
    for status in (MemoryStatus.ACTIVE, MemoryStatus.EXPIRED):
        there = (one for one in existing if one.relation == "identical" and one.status == status)
        identical = next((one for one in there if is_comparable(resolved, one)), None)
        if identical is not None:
            return Repetition(version=identical, reason="the same statement is already believed")
        near = next((one for one in alike if one.status == status), None)
        if near is not None:
            return Repetition(
                version=near, reason=f"says the same as an existing memory (cosine {near.similarity:.3f})"
            )
    judged = next((one for one in doubtful(resolved, existing) if same.get(one.id)), None)
    if judged is not None:
        return Repetition(version=judged, reason=f"the judge holds it to say the same (cosine {judged.similarity:.3f})")
    over = next((one for one in existing if one.relation == "over"), None)
    if over is None or resolved.slot is not None:
        return None
    return Repetition(version=over, reason="it was stated before it ended, so it stays as it was remembered")


def _referred(resolved: Resolved, existing: Sequence[Existing]) -> Repetition | None:
    """Return what the extractor, which was shown it, holds to say the same."""
    candidate = resolved.prepared.candidate
    one = next((one for one in existing if one.id == candidate.repeats and one.active), None)
    if one is None or candidate.ending is not None or one.type != candidate.type.name:
        return None
    if one.speech_act is not candidate.speech_act or differ_decisively(one.content, resolved.prepared.content):
        return None
    return Repetition(version=one, reason="the language model holds it to say the same as what it was shown")


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
    return (
        resolved.prepared.candidate.type.likeness_merges
        and (one.similarity or 0.0) > DUPLICATE
        and same_content(one.content, resolved.prepared.content)
    )


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
    """Return whether a repetition may go into a memory: not one that had ended or never held, nor one of another slot.

    An expired one that has a slot would take it again, which only what has that slot itself may bring about.
    """
    if one.over_when_stated or is_over(one.valid_until, resolved.prepared.stated_at):
        return False
    return _in_one_place(resolved, one) and (one.status == MemoryStatus.ACTIVE or one.slot in {None, resolved.slot})


def _in_one_place(resolved: Resolved, one: Existing) -> bool:
    """Return whether both claim the same slot, or one of them claims none and that is all that tells them apart."""
    if one.slot is not None and resolved.slot is not None:
        return one.slot == resolved.slot
    return one.slot == resolved.slot or _alike(resolved, one)


def _alike(resolved: Resolved, one: Existing) -> bool:
    return stored_payload(resolved, one).distinct_by() == resolved.prepared.candidate.payload.distinct_by()
