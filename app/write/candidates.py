"""From a grounded proposal to a candidate: payload, adjustments by rules, category, trust, screening.

Trust is the `s` of the confidence formula (docs/decisions/guards.md): highest for users who speak of
themselves in the first person, lower for what others say, lowest for text whose author is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from types import MappingProxyType
from typing import Final

from pydantic import TypeAdapter, ValidationError

from app import ids
from app.memory.calendar import StatedTime, day_start
from app.memory.candidate import Candidate, Ending
from app.memory.extraction import Proposal, Role, Turn
from app.memory.registry import Registry
from app.memory.spec import MemoryType, Payload
from app.memory.vocabulary import USER
from app.model import Category, Evidence, SpeechAct

_LASTING = frozenset({Category.CORE, Category.PROCEDURAL})
"""Those that keep a memory for good, or nearly: they are given to few."""


def category_of(
    proposed: Category | None, payload: Payload, spec: MemoryType, turn: Turn, act: SpeechAct
) -> Category | None:
    """Return how it fades by what it says, or None: as its type does (seed 002's heuristics at extraction).

    Only what is asserted about the user whose scope it is can be core or procedural, and only in a type that
    says such things. What the type reads from the payload counts first; `proposed`, the extractor's own word,
    counts where the type reads nothing. Any other category leaves it to the type's own half-life.
    """
    if spec.nature is None or act is not SpeechAct.ASSERTION or not _of_user(payload, turn):
        return None
    found = spec.nature(payload) or proposed
    return found if found in _LASTING else None


def _of_user(payload: Payload, turn: Turn) -> bool:
    """Return whether it is about the one user whose scope the turn is in, by the name that the turn has for them."""
    if turn.scope.user_id is None:
        return False
    subject = payload.subject()
    return subject == USER or (turn.role is Role.USER and subject == turn.first_person)


_WHEN: Final[TypeAdapter[date | datetime]] = TypeAdapter(StatedTime)


class UnfitProposal(Exception):
    """A proposal that no type can hold; the message says why, without its content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalTrust:
    """The trust in a proposal: source strength and grounding in 0..1, speech act, what is to be reviewed.

    `doubt` is where its wording disagrees with the extractor, which may be asked again; `told_by_user`: a user said so.
    """

    source: float
    grounding: float
    speech_act: SpeechAct
    review: str | None = None
    doubt: str | None = None
    told_by_user: bool = True


def candidate(proposal: Proposal, turn: Turn, trust: ProposalTrust, types: Registry, extractor: str) -> Candidate:
    """Return the candidate a proposal makes, in the type that the rules give it.

    Its extractor confidence is confidence x grounding x consistency. Raises UnfitProposal.
    """
    if proposal.ends:
        return _ended(proposal, turn, trust, types, extractor)
    spec, payload = _typed(proposal, types)
    return adjusted(_standing(proposal, turn, trust, spec, payload, extractor), types)


def needs_adjusting(candidate: Candidate) -> bool:
    """Return whether a candidate's own words show another type than it was given."""
    return candidate.ending is None and candidate.payload.reclassified() is not None


def adjusted(candidate: Candidate, types: Registry) -> Candidate:
    """Return a candidate as the type that its words show: a predicate of the past makes an event (seed 000)."""
    changed = None if candidate.ending is not None else candidate.payload.reclassified()
    if changed is None:
        return candidate
    spec = types.get(changed.type)
    payload = spec.payload.model_validate(changed.payload)
    because = {"from": candidate.type.name, "because": changed.reason}
    return replace(candidate, type=spec, payload=payload, provenance={**candidate.provenance, "reclassified": because})


def _ended(proposal: Proposal, turn: Turn, trust: ProposalTrust, types: Registry, extractor: str) -> Candidate:
    """Return the candidate of a proposal that something is no longer so."""
    spec = _known(proposal, types)
    try:
        if proposal.retires:
            payload, named = spec.payload.model_validate(dict(proposal.payload)), True
        else:
            payload, named = spec.ended(proposal.payload)
    except ValidationError as error:
        raise UnfitProposal(_faults(spec, error)) from None
    except ValueError as error:
        raise UnfitProposal(str(error)) from None
    found = _standing(proposal, turn, trust, spec, payload, extractor)
    ending = Ending(at=_end(proposal.ended_at, turn, spec, payload), named=named, of=proposal.retires)
    return replace(found, ending=ending)


def _end(written: str | None, turn: Turn, spec: MemoryType, payload: Payload) -> datetime | None:
    """Return the end that was proposed; None for what is no time.

    A day ahead is the last one. What happens at a time, or is intended, is called off by the turn, not by that time.
    """
    read = _read(written)
    if read is None:
        return None
    at = day_start(read, turn.zone)
    if at <= turn.occurred_at:
        return at
    if not spec.begins or payload.event_time(turn.zone) is not None:
        return turn.occurred_at
    return at if isinstance(read, datetime) else at + timedelta(days=1)


def _read(written: str | None) -> date | datetime | None:
    try:
        return None if written is None else _WHEN.validate_python(written)
    except ValidationError:
        return None


def _bounds(
    proposal: Proposal, turn: Turn, spec: MemoryType, payload: Payload
) -> tuple[datetime | None, datetime | None]:
    """Return from when and until when a proposal holds, as far as it says; what happens at a time has no bounds.

    An end that lies before the turn, or before the beginning, bounds nothing.
    """
    if proposal.ends or payload.event_time(turn.zone) is not None:
        return None, None
    begins = _read(proposal.valid_from) if spec.begins else None
    start = None if begins is None else day_start(begins, turn.zone)
    since = max(start or turn.occurred_at, turn.occurred_at)
    ends = _read(proposal.valid_until)
    until = None if ends is None else day_start(ends, turn.zone)
    if until is not None and not isinstance(ends, datetime):
        until += timedelta(days=1)
    if until is None and proposal.ttl_days is not None:
        until = since + timedelta(days=proposal.ttl_days)
    return start, until if until is not None and until > since else None


def _standing(
    proposal: Proposal,
    turn: Turn,
    trust: ProposalTrust,
    spec: MemoryType,
    payload: Payload,
    extractor: str,
) -> Candidate:
    valid_from, valid_until = _bounds(proposal, turn, spec, payload)
    review = trust.review or (None if trust.told_by_user else _unvouched(turn, spec, payload))
    return Candidate(
        type=spec,
        payload=payload,
        wording=proposal.sentence,
        scope=turn.scope,
        stated_at=turn.occurred_at,
        zone=turn.zone,
        valid_from=valid_from,
        valid_until=valid_until,
        source_strength=trust.source,
        extractor_confidence=proposal.confidence * trust.grounding * proposal.consistency,
        speech_act=trust.speech_act,
        importance=proposal.importance if turn.importance is None else turn.importance,
        metadata=turn.metadata,
        category=turn.category,
        nature=category_of(proposal.category, payload, spec, turn, trust.speech_act),
        topic=proposal.topic,
        session_id=turn.session_id,
        sequence_number=turn.sequence_number,
        evidence=(evidence(turn, proposal.quote),),
        provenance=_provenance(turn, extractor),
        review=review or trust.doubt,
        doubt=None if review else trust.doubt,
        repeats=proposal.repeats,
    )


def _unvouched(turn: Turn, spec: MemoryType, payload: Payload) -> str | None:
    """Return why a person is asked about what a tool or an assistant says of its user.

    What happens, as a booking, it may report.
    """
    states = payload.subject() == USER and spec.held is not None and payload.event_time(turn.zone) is None
    article = "an" if turn.role is Role.ASSISTANT else "a"
    return f"{article} {turn.role} says it of the user, who did not" if states else None


def episode(turn: Turn, before: Turn | None, spec: MemoryType, trust: ProposalTrust) -> Candidate:
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
        context=None if before is None else as_context(before),
        stated_at=turn.occurred_at,
        zone=turn.zone,
        source_strength=trust.source,
        speech_act=trust.speech_act,
        importance=turn.importance,
        metadata=turn.metadata,
        category=turn.category,
        session_id=session,
        sequence_number=turn.sequence_number,
        evidence=(evidence(turn, None),),
        provenance=_provenance(turn, "verbatim"),
        review=trust.review,
    )


def _provenance(turn: Turn, extractor: str) -> Mapping[str, object]:
    return {"extractor": extractor} | ({} if turn.user_id is None else {"user_id": turn.user_id})


def speaker(turn: Turn) -> str | None:
    """Return under which name a turn is kept: its speaker's, or the role's unless it is the user's."""
    return turn.speaker or (None if turn.role == "user" else turn.role)


def as_context(turn: Turn) -> str:
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
        payload = spec.payload.model_validate(dict(proposal.payload))
    except ValidationError as error:
        raise UnfitProposal(_faults(spec, error)) from None
    return spec, payload if proposal.several is None else payload.supposed(several=proposal.several)


def _known(proposal: Proposal, types: Registry) -> MemoryType:
    spec = types.find(proposal.type)
    if spec is None:
        raise UnfitProposal(f"there is no memory type {proposal.type[:80]!r}")
    return spec


def _faults(spec: MemoryType, error: ValidationError) -> str:
    faults = "; ".join(
        f"{'.'.join(map(str, one['loc'])) or 'payload'}: {one['msg']}"
        for one in error.errors(include_url=False, include_input=False)
    )
    return f"not a {spec.name}: {faults}"


UNKNOWN: Final = 0.5
"""Strength of a source that nobody named."""

CAPS: Final[Mapping[Role, float]] = MappingProxyType(
    {Role.USER: 0.9, Role.TOOL: 0.7, Role.ASSISTANT: 0.6, Role.SYSTEM: UNKNOWN}
)
"""Most that a source of each role is believed: user > tool > assistant > unknown."""

HEARSAY: Final = 0.1
"""Subtracted from the trust in a user's statements about others, about whom they may be wrong."""


def source_strength(role: Role | None, *, first_person: bool, claimed: float | None = None) -> float:
    """Return the source strength in 0..1 of what a role says; `first_person`: of itself.

    `claimed` is the strength that a caller states; it never lifts the role above its cap. None is an unknown role.
    """
    cap = UNKNOWN if role is None else CAPS[role]
    if role is Role.USER and not first_person:
        cap -= HEARSAY
    return cap if claimed is None else min(cap, claimed)
