"""Deduplication and conflict: what to do with a candidate, given what is already believed."""

from __future__ import annotations

from collections.abc import Sequence

from app.memory import confidence, normalise
from app.memory.conflict import REVIEW_IMPORTANCE, Claim, Verdict
from app.write.values import (
    Add,
    Contradict,
    Decision,
    Existing,
    History,
    Merge,
    Reject,
    Resolved,
    Supersede,
)

DUPLICATE = 0.92
"""Cosine above which two memories of one type and subject say the same (seed 001, stage 4)."""


def decide(resolved: Resolved, existing: Sequence[Existing]) -> Decision:
    """Return what to do with the candidate; `existing` holds those that share slot, words or meaning."""
    prepared = resolved.prepared
    if prepared.confidence < confidence.WRITE_FLOOR:
        return Reject(
            reason=f"confidence {prepared.confidence:.2f} is under the write floor {confidence.WRITE_FLOOR:.2f}"
        )
    identical = next((one for one in existing if one.relation == "identical"), None)
    holders = [one for one in existing if one.relation == "holder"]
    if resolved.slot is not None and holders:
        return _compete(resolved, holders, existing)
    if identical is not None:
        return _merge(resolved, identical, "the same statement is already believed")
    near = _near_duplicate(resolved, existing)
    if near is not None:
        return _merge(resolved, near, f"says the same as an existing memory (cosine {near.similarity:.3f})")
    return Add(reason="nothing like it was known")


def _compete(resolved: Resolved, holders: Sequence[Existing], existing: Sequence[Existing]) -> Decision:
    """Settle a taken slot. Holders that the type's rule gives way become history together."""
    rule = resolved.prepared.candidate.type.on_conflict
    new = Claim(
        value=resolved.value,
        stated_at=resolved.prepared.stated_at,
        confidence=resolved.prepared.confidence,
        speech_act=resolved.prepared.candidate.speech_act,
    )
    by_standing = sorted(holders, key=lambda one: (one.contested, one.stated_at, one.id))
    verdicts = [(one, rule(_claim(one), new)) for one in by_standing]
    same = next((one for one, verdict in verdicts if verdict is Verdict.MERGE), None)
    if same is not None:
        return _merge(resolved, same, "the slot already holds this value")
    later = [one for one, verdict in verdicts if verdict is Verdict.HISTORY]
    if later:
        successor = next((one for one in existing if one.relation == "next"), later[0])
        predecessor = next((one for one in existing if one.relation == "previous"), None)
        return History(
            successor=successor,
            predecessor=predecessor,
            reason="it was stated before what is believed now, so it is kept as history",
        )
    giving_way = tuple(one for one, verdict in verdicts if verdict is Verdict.SUPERSEDE)
    if len(giving_way) == len(holders):
        return Supersede(old=giving_way, reason="a newer statement about the same thing replaces the older one")
    return _contradict(resolved, tuple(one for one, verdict in verdicts if verdict is Verdict.CONTRADICT))


def _contradict(resolved: Resolved, others: tuple[Existing, ...]) -> Contradict:
    candidate = resolved.prepared.candidate
    importance = candidate.type.importance(candidate.payload)
    return Contradict(
        others=others,
        needs_review=importance >= REVIEW_IMPORTANCE,
        reason="it contradicts a belief that is trusted more, so both stand and the weaker is demoted",
    )


def _claim(existing: Existing) -> Claim:
    return Claim(
        value=existing.value,
        stated_at=existing.stated_at,
        confidence=existing.confidence,
        speech_act=existing.speech_act,
    )


def _merge(resolved: Resolved, into: Existing, reason: str) -> Merge:
    payload = resolved.prepared.candidate.payload
    stored = type(payload).model_validate(into.payload)
    merged = stored.merged_with(payload)
    return Merge(into=into, payload=None if merged == stored else merged, reason=reason)


def _near_duplicate(resolved: Resolved, existing: Sequence[Existing]) -> Existing | None:
    """Return the nearest memory over the threshold, unless numbers, negation or values tell them apart."""
    content = resolved.prepared.content
    payload = resolved.prepared.candidate.payload
    return next(
        (
            one
            for one in existing
            if one.relation == "near"
            and (one.similarity or 0.0) > DUPLICATE
            and normalise.numbers(one.content) == normalise.numbers(content)
            and normalise.negated(one.content) == normalise.negated(content)
            and type(payload).model_validate(one.payload).distinct_by() == payload.distinct_by()
        ),
        None,
    )
