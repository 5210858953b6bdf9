"""What a statement that something is no longer so comes to (docs/decisions/0021-endings.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.memory import normalise
from app.memory.conflict import REVIEW_IMPORTANCE, Claim, Verdict
from app.memory.spec import Payload
from app.model import ReviewReason, SpeechAct
from app.write.values import Doubt, End, Existing, Pend, Reject, Resolved


def end(resolved: Resolved, existing: Sequence[Existing], *, doubted: Pend | None) -> End | Doubt | Reject:
    """Return what becomes of the beliefs that an ending is about.

    They end if a new value stated so would supersede them, by the rule of their type. `doubted`: a person should
    look at the ending first; then they stand, and wait for that person.
    """
    prepared = resolved.prepared
    if prepared.candidate.speech_act is not SpeechAct.ASSERTION:
        return Reject(reason="only what is asserted ends a belief")
    meant = [one for one in existing if one.relation == "ended" and _is_meant(resolved, one)]
    verdicts = [(one, _verdict(resolved, one)) for one in sorted(meant, key=lambda one: (one.contested, one.id))]
    standing = tuple(one for one, verdict in verdicts if verdict is not Verdict.HISTORY)
    if not standing:
        stated_since = "it was stated again since" if meant else "nothing that is believed ends with it"
        return Reject(reason=stated_since)
    if doubted is not None:
        return Doubt(others=standing, review=ReviewReason.DOUBTFUL, reason=f"said to have ended; {doubted.reason}")
    giving_way = tuple(one for one, verdict in verdicts if verdict is Verdict.SUPERSEDE)
    if giving_way:
        ending = prepared.candidate.ending
        at = prepared.stated_at if ending is None or ending.at is None else ending.at
        return End(old=giving_way, at=min(at, prepared.stated_at), reason="it is stated to be no longer so")
    matters = prepared.candidate.type.importance(prepared.candidate.payload) >= REVIEW_IMPORTANCE
    return Doubt(
        others=standing,
        review=ReviewReason.CONTRADICTION if matters else None,
        reason="a statement that is trusted less says that it is no longer so",
    )


def _is_meant(resolved: Resolved, one: Existing) -> bool:
    """Tell whether the ending names this belief: its value, or the only one that can be held there."""
    candidate = resolved.prepared.candidate
    if candidate.ending is None or candidate.type.held is None:
        return False
    if not _held_alike(candidate.payload, candidate.type.held.under, one):
        return False
    if not candidate.ending.named:
        return one.slot is not None
    if one.value is not None and one.value == resolved.value:
        return True
    field = candidate.type.held.value
    value = candidate.payload.model_dump(mode="json", by_alias=True)[field]
    told, held = normalise.name(str(value)), normalise.name(str(one.payload.get(field, "")))
    names_one = any(mention.creates and mention.name == value for mention in candidate.payload.mentions())
    return told == held or (not names_one and set(told.split()) <= set(held.split()))


def _held_alike(payload: Payload, under: str, one: Existing) -> bool:
    """Tell whether a belief is held under what the ending names, where more than that had to be looked at."""
    if not payload.also_held_under():
        return True
    stored = type(payload).model_validate(one.payload)
    return str(stored.model_dump(by_alias=True)[under]) == str(payload.model_dump(by_alias=True)[under])


def _verdict(resolved: Resolved, one: Existing) -> Verdict:
    """Return what the type's rule makes of a new value for it, stated as the ending is."""
    old = Claim(value=one.value or "", stated_at=one.stated_at, confidence=one.confidence, speech_act=one.speech_act)
    new = replace(old, value=None, stated_at=resolved.prepared.stated_at, confidence=resolved.prepared.confidence)
    return resolved.prepared.candidate.type.on_conflict(old, replace(new, speech_act=SpeechAct.ASSERTION))
