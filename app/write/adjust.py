"""From a grounded proposal to a candidate: its type's payload, the rule adjustments, its standing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final

from pydantic import TypeAdapter, ValidationError

from app import ids
from app.memory.calendar import When, day_start
from app.memory.candidate import Candidate, Ending
from app.memory.extraction import Proposal, Turn
from app.memory.registry import Registry
from app.memory.spec import MemoryType, Payload
from app.model import Evidence, SpeechAct
from app.write.nature import nature

_WHEN: Final[TypeAdapter[date | datetime]] = TypeAdapter(When)


class Unfit(Exception):
    """A proposal that no type can hold; the message says why, without its content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far a proposal can be trusted: source strength and grounding in 0..1, speech act, doubts for review."""

    source: float
    grounding: float
    speech_act: SpeechAct
    review: str | None = None


def candidate(proposal: Proposal, turn: Turn, standing: Standing, types: Registry, extractor: str) -> Candidate:
    """Return the candidate a proposal makes, in the type that the rules of DESIGN section 3 give it.

    Its extractor confidence is confidence x grounding x consistency (section 4). Raises Unfit.
    """
    if proposal.ends:
        return _ended(proposal, turn, standing, types, extractor)
    spec, payload = _typed(proposal, types)
    changed = payload.reclassified()
    provenance: dict[str, object] = {"extractor": extractor}
    if changed is not None:
        provenance["reclassified"] = {"from": spec.name, "because": changed.reason}
        spec = types.get(changed.type)
        payload = spec.payload.model_validate(changed.payload)
    return _standing(proposal, turn, standing, spec, payload, provenance)


def _ended(proposal: Proposal, turn: Turn, standing: Standing, types: Registry, extractor: str) -> Candidate:
    """Return the candidate of a proposal that something is no longer so."""
    spec = _known(proposal, types)
    try:
        payload, named = spec.ended(proposal.payload)
    except ValidationError as error:
        raise Unfit(_faults(spec, error)) from None
    except ValueError as error:
        raise Unfit(str(error)) from None
    found = _standing(proposal, turn, standing, spec, payload, {"extractor": extractor})
    return replace(found, ending=Ending(at=_instant(proposal.ended_at, turn), named=named))


def _instant(written: str | None, turn: Turn) -> datetime | None:
    """Return a time as it was proposed, no later than the turn; None for what is no time."""
    try:
        read = None if written is None else _WHEN.validate_python(written)
    except ValidationError:
        return None
    return None if read is None else min(day_start(read, turn.zone), turn.occurred_at)


def _standing(
    proposal: Proposal,
    turn: Turn,
    standing: Standing,
    spec: MemoryType,
    payload: Payload,
    provenance: Mapping[str, object],
) -> Candidate:
    return Candidate(
        type=spec,
        payload=payload,
        scope=turn.scope,
        stated_at=turn.occurred_at,
        zone=turn.zone,
        source_strength=standing.source,
        extractor_confidence=proposal.confidence * standing.grounding * proposal.consistency,
        speech_act=standing.speech_act,
        importance=proposal.importance if turn.importance is None else turn.importance,
        category=turn.category,
        nature=nature(proposal.category, payload, spec, turn, standing.speech_act),
        topic=proposal.topic,
        session_id=turn.session_id,
        sequence_number=turn.sequence_number,
        evidence=(evidence(turn, proposal.quote),),
        provenance=provenance,
        review=standing.review,
    )


def episode(turn: Turn, before: Turn | None, spec: MemoryType, standing: Standing) -> Candidate:
    """Return the turn itself as a candidate, word for word, with the turn before it as context.

    A turn outside any session is a session of its own.
    """
    session = turn.session_id or ids.public(ids.TURN, turn.id)
    fields = {
        "content": turn.content,
        "session_id": session,
        "sequence_number": turn.sequence_number,
        "speaker": speaker(turn),
    }
    return Candidate(
        type=spec,
        payload=spec.payload.model_validate(fields),
        scope=turn.scope,
        context=None if before is None else said(before),
        stated_at=turn.occurred_at,
        zone=turn.zone,
        importance=turn.importance,
        category=turn.category,
        session_id=session,
        sequence_number=turn.sequence_number,
        evidence=(evidence(turn, None),),
        provenance={"extractor": "verbatim"},
        review=standing.review,
    )


def speaker(turn: Turn) -> str | None:
    """Return under which name a turn is kept: its speaker's, or the role's unless it is the user's."""
    return turn.speaker or (None if turn.role == "user" else turn.role)


def said(turn: Turn) -> str:
    """Return a turn as context of the next: led by who said it."""
    name = speaker(turn)
    return f"{name}: {turn.content}" if name else turn.content


def evidence(turn: Turn, quote: str | None) -> Evidence:
    """Return where the turn said it."""
    return Evidence(
        stated_at=turn.occurred_at, turn_id=turn.id, quote=quote, role=turn.role, session_id=turn.session_id
    )


def _typed(proposal: Proposal, types: Registry) -> tuple[MemoryType, Payload]:
    spec = _known(proposal, types)
    try:
        return spec, spec.payload.model_validate(dict(proposal.payload))
    except ValidationError as error:
        raise Unfit(_faults(spec, error)) from None


def _known(proposal: Proposal, types: Registry) -> MemoryType:
    spec = types.find(proposal.type)
    if spec is None:
        raise Unfit(f"there is no memory type {proposal.type[:80]!r}")
    return spec


def _faults(spec: MemoryType, error: ValidationError) -> str:
    faults = "; ".join(
        f"{'.'.join(map(str, one['loc'])) or 'payload'}: {one['msg']}"
        for one in error.errors(include_url=False, include_input=False)
    )
    return f"not a {spec.name}: {faults}"
