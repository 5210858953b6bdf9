"""What happens when two memories claim the same slot (DESIGN section 4, disagreement 2)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.model import SpeechAct

TOLERANCE = 0.15
"""How much less a newer statement may be trusted and still replace the older one."""

REVIEW_IMPORTANCE = 0.7
"""From this importance on, a contradiction asks for a person."""


class SlotVerdict(StrEnum):
    """What a type does with a new claim on a slot that is taken by another value."""

    SUPERSEDE = "supersede"
    CONTRADICT = "contradict"
    HISTORY = "history"
    MERGE = "merge"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotClaim:
    """One side of a conflict: what is claimed for the slot, when it was stated, how far it is trusted."""

    value: str | None
    stated_at: datetime
    confidence: float
    speech_act: SpeechAct = SpeechAct.ASSERTION


def latest_statement_wins(old: SlotClaim, new: SlotClaim) -> SlotVerdict:
    """Return the verdict of a stateful slot.

    Equal values repeat one another. A different value supersedes when it is an assertion, was not
    stated before the old one, and is trusted at least as much as the old one less the tolerance. An
    earlier statement that arrives late is history. Otherwise both stand, contradicting each other.
    """
    if old.value == new.value:
        return SlotVerdict.MERGE
    if new.speech_act is not SpeechAct.ASSERTION:
        return SlotVerdict.CONTRADICT
    if new.stated_at < old.stated_at:
        return SlotVerdict.HISTORY
    if new.confidence >= old.confidence - TOLERANCE:
        return SlotVerdict.SUPERSEDE
    return SlotVerdict.CONTRADICT


def only_removed(old: SlotClaim, new: SlotClaim) -> SlotVerdict:
    """Return the verdict of a rule: the same one repeats it, another stands against it, and only its end takes it away.

    A claim without a value is that end, under the guards of a stateful slot.
    """
    if old.value == new.value:
        return SlotVerdict.MERGE
    return latest_statement_wins(old, new) if new.value is None else SlotVerdict.CONTRADICT


def one_identity(_old: SlotClaim, _new: SlotClaim) -> SlotVerdict:
    """Return the verdict of an identity: whoever is named again is the same one."""
    return SlotVerdict.MERGE


def accumulate(_old: SlotClaim, _new: SlotClaim) -> SlotVerdict:
    """Return the verdict of a type without slots; asked only if a type wrongly gives one."""
    return SlotVerdict.CONTRADICT
