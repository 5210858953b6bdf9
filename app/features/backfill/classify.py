"""Classification of stored beliefs that a type adopts: pure functions over rows of `memories`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any

from app.db.memories.read import parts_of
from app.features.backfill.sql import BackfillScanRow
from app.memory import confidence, normalise
from app.memory.extraction import ASSISTANT, Proposal
from app.memory.freshness import Decay
from app.memory.registry import Registry
from app.memory.spec import AdoptedPayload, MemoryType, Payload, Refs, StoredBelief
from app.memory.vocabulary import FIRST_PERSON, USER
from app.model import EntityRef, ReviewReason, SpeechAct
from app.providers.model_tasks import ModelClassification
from app.write.ground import Grounding, stands
from app.write.values import kept_refs

_IN_REVIEW = frozenset({ReviewReason.CONTRADICTION, ReviewReason.ENTITY_MERGE, ReviewReason.CONSTRAINT})
"""Reasons for which a person decides between a memory and others, as what it is now."""

_NEED_NO_SAYING = frozenset(normalise.normalise_name(one) for one in (*FIRST_PERSON, USER, ASSISTANT))
"""Names that a model may give where a belief has none."""

_SAME = 1e-9


class NotAdopted(Exception):
    """A belief that would be adopted stays what it is; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptedMemory:
    """A belief that is adopted: its row, what it says as the new type, under which slot, about whom."""

    row: BackfillScanRow
    target: MemoryType
    payload: Payload
    refs: Refs
    slot: str | None
    reason: str

    @property
    def unit(self) -> str:
        """Return what it is decided with: all of its slot."""
        return self.slot or str(self.row["id"])


def stored(row: BackfillScanRow) -> StoredBelief:
    """Return a row as a classifier sees it."""
    return StoredBelief(type=row["type"], payload=row["payload"], content=row["content"])


def confidence_of(
    claim: ModelClassification, belief: StoredBelief, target: MemoryType, types: Registry, *, language: str = "english"
) -> AdoptedPayload | None:
    """Return what a model claims of a belief, if the belief says so: by the gate that what it extracts has to pass."""
    proposal = Proposal(type=target.name, payload=claim.given, quote=claim.quote)
    found = stands(proposal, belief.content, types, exempt=_NEED_NO_SAYING, language=language)
    return claim.adopted if isinstance(found, Grounding) else None


def flagged(row: BackfillScanRow, adopted: AdoptedPayload, target: MemoryType, types: Registry) -> AdoptedMemory:
    """Return a belief as the type that adopts it, or raise Stays."""
    payload = _own(row, types)
    if adopted.payload.event_time(UTC) is not None:
        raise NotAdopted("it would be found by when it happened, which it does not know")
    if row["speech_act"] != SpeechAct.ASSERTION:
        raise NotAdopted(f"it was said as {row['speech_act']}, not asserted")
    if row["contested"] or row["in_contest"] or row["review_reason"] in _IN_REVIEW:
        raise NotAdopted("it competes with others, and a person is to decide")
    refs = kept_refs(row, payload, adopted.payload)
    try:
        certain = _Certain(refs, adopted.payload)
        slot = adopted.payload.slot(certain)
        adopted.payload.value(certain)
    except KeyError:
        raise NotAdopted("it would be about somebody that it does not name now") from None
    return AdoptedMemory(row=row, target=target, payload=adopted.payload, refs=refs, slot=slot, reason=adopted.reason)


class _Certain(dict[str, EntityRef]):
    """References by role, for a key: to ask for an entity that a statement would name, and this does not, is an error.

    A statement's key would hold that entity, so one with its name instead would be another key for the same.
    """

    def __init__(self, refs: Refs, payload: Payload) -> None:
        """Take the references there are, and the payload that says which there must be."""
        super().__init__(refs)
        self._missing = {one.role for one in payload.mentions() if one.creates} - refs.keys()

    def __contains__(self, role: object) -> bool:
        """Return whether there is an entity; raises KeyError where there should be one."""
        if role in self._missing:
            raise KeyError(role)
        return super().__contains__(role)


def _own(row: BackfillScanRow, types: Registry) -> Payload:
    """Return the payload of a row, if nothing but the memory holds what it says."""
    payload = types.read(row["type"], row["payload"], row["type_version"])
    if payload is None:
        raise NotAdopted("it was stored when its type had other fields")
    if payload.edge() is not None or any(one.declares for one in payload.mentions()):
        raise NotAdopted("an entity or a relation was made of it")
    if "event_at_precision" in row["payload"]:
        raise NotAdopted("it is found by when it happened")
    return payload


def reclassified_row(one: AdoptedMemory, types: Registry) -> dict[str, Any]:
    """Return the columns that make a row one of the type that adopts it, before others in its slot are looked at.

    What it says, and what it is found by, stays as it was said: its content, words and vectors. What its type gave it
    follows the new type; what a caller chose, a category or an importance, stays.
    """
    row, target, payload = one.row, one.target, one.payload
    wire = payload.stored(None)
    old = types.get(row["type"]).at(row["type_version"])
    parts = parts_of(row)
    values: dict[str, Any] = {
        "type": target.name,
        "type_tenant": target.owner(row["tenant_id"]),
        "type_version": target.version,
        "payload": wire,
        "filter_key": target.filter_key(wire),
        "subject": payload.subject(),
        "slot": one.slot,
        "slot_value": payload.value(one.refs),
        "prior": target.prior,
        "identity": normalise.digest(
            target.name, row["speech_act"], normalise.value(row["content"]), *payload.distinct_by()
        ),
    }
    decay = Decay(half_life_days=row["half_life_days"], floor=row["floor"])
    if old.decay(None) == decay and row["category"] == old.category:
        own = target.decay(None)
        values |= {"category": target.category, "half_life_days": own.half_life_days, "floor": own.floor}
    act = SpeechAct(row["speech_act"])
    if abs(confidence.capped_score(parts, act) - row["confidence"]) < _SAME:
        values["confidence"] = confidence.capped_score(replace(parts, prior=target.prior), act)
    before = old.read(row["payload"], old.version)
    if abs(old.importance(before) - row["importance"]) < _SAME:
        values["importance"] = target.importance(payload)
    return values
