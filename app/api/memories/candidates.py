"""The conversion of validated bodies to candidates: scope, times, payload, and the last checks of a body."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from app import ids
from app.api.memories.bodies import WriteFields, wire_names
from app.api.plumbing import fields
from app.api.plumbing.problems import FieldError, InvalidFields, field_errors
from app.memory.calendar import LATEST_YEAR
from app.memory.candidate import DIRECT_EXTRACTION, DIRECT_SOURCE, Candidate, Ending
from app.memory.registry import Registry
from app.memory.spec import MemoryType, Payload
from app.model import Evidence, Scope, ScopeKind, scope_of_write
from app.services.memories import UNKNOWN_ID

FUTURE = timedelta(days=1)
"""The furthest that `occurred_at` may be in the future, because clocks differ and time zones are mistaken."""


def candidates_from_batch(items: Iterable[WriteFields], registry: Registry, now: datetime) -> list[Candidate]:
    """Return the candidates of a batch, or raise InvalidFields with the faults of all items."""
    candidates: list[Candidate] = []
    errors: list[FieldError] = []
    for place, body in enumerate(items):
        spec = registry.get(str(getattr(body, "type", "")))
        try:
            candidates.append(candidate_from_body(spec, body, now))
        except InvalidFields as error:
            errors += [FieldError(field=f"memories.{place}.{one.field}", message=one.message) for one in error.errors]
    if errors:
        raise InvalidFields(errors)
    return candidates


def turns_of(candidates: Iterable[Candidate]) -> set[UUID]:
    """Return the turns that the candidates' evidence points to."""
    return {one.turn_id for candidate in candidates for one in candidate.evidence if one.turn_id is not None}


def refuse_unknown_turns(bodies: Sequence[WriteFields], unknown: set[UUID], *, batch: bool = False) -> None:
    """Raise InvalidFields with every place where a body refers to one of these turns."""
    missing = {ids.public(ids.TURN, one) for one in unknown}
    places = [
        (f"memories.{place}." if batch else "") + field
        for place, body in enumerate(bodies)
        for field, turn in [
            *((f"evidence.{number}.turn_id", one.turn_id) for number, one in enumerate(body.evidence)),
            ("evidence_turn_id", body.evidence_turn_id),
        ]
        if turn in missing
    ]
    if places:
        raise InvalidFields([FieldError(field=field, message="there is no such turn") for field in places])


def refuse_unknown_entities(places: Sequence[int], *, batch: bool = False) -> None:
    """Raise InvalidFields for bodies, given by position, that name an unknown entity by id."""
    fields_at = [f"memories.{place}.entity_id" if batch else "entity_id" for place in places]
    if fields_at:
        raise InvalidFields([FieldError(field=field, message=UNKNOWN_ID) for field in fields_at])


def candidate_from_body(spec: MemoryType, body: WriteFields, now: datetime) -> Candidate:
    """Return the candidate of a body, or raise InvalidFields."""
    zone = fields.zone(body.timezone)
    own = wire_names(spec)
    try:
        payload = spec.payload.model_validate(body.type_fields(own))
    except ValidationError as error:
        raise InvalidFields(field_errors(error.errors(include_url=False), *body.WITHIN)) from None
    ending = _ending(spec, payload, body, now) if body.ends else None
    times = _Times(stated_at=_stated_at(body, zone, now)) if ending else _times(body, zone, now)
    scope = chosen_scope(spec.default_scope, body.scope, body.user_id, body.agent_id)
    return Candidate(
        type=spec,
        payload=payload,
        scope=scope,
        content=None if "content" in own and not body.WITHIN else body.content,
        context=body.context,
        stated_at=times.stated_at,
        zone=zone,
        source_strength=_or(body.source_confidence, DIRECT_SOURCE),
        extractor_confidence=_or(body.extractor_confidence, DIRECT_EXTRACTION),
        speech_act=body.speech_act,
        importance=body.importance,
        topic=body.topic,
        category=body.category,
        session_id=body.session_id,
        sequence_number=body.sequence_number,
        valid_from=times.valid_from,
        valid_until=times.valid_until,
        evidence=_evidence(body, times.stated_at or now),
        metadata=body.metadata,
        provenance=body.provenance | _authors(body, scope),
        ending=ending,
    )


def _ending(spec: MemoryType, payload: Payload, body: WriteFields, now: datetime) -> Ending:
    """Return the ending of a body, or raise InvalidFields; an ending without a value ends any present value."""
    zone = fields.zone(body.timezone)
    errors = [
        FieldError(field=name, message="says when something began to be so: leave it out when it ends")
        for name in ("valid_from", "ttl_seconds")
        if getattr(body, name) is not None
    ]
    if spec.held is None:
        errors.append(FieldError(field="ends", message=f"a memory of type {spec.name} does not end"))
    at = fields.aware(body.valid_until, zone)
    if at is not None and at > (fields.aware(body.occurred_at, zone) or now):
        errors.append(FieldError(field="valid_until", message="must not come after the time it was stated"))
    if errors:
        raise InvalidFields(errors)
    named = spec.held is None or payload.model_dump(by_alias=True)[spec.held.value] is not None
    return Ending(at=_utc(at), named=named)


def chosen_scope(default: ScopeKind, asked: ScopeKind | None, user_id: str | None, agent_id: str | None) -> Scope:
    """Return the scope of a write, or raise InvalidFields for a scope without the id that it needs."""
    needs = {ScopeKind.USER: ("user_id", user_id), ScopeKind.AGENT: ("agent_id", agent_id)}
    if asked in needs and needs[asked][1] is None:
        raise InvalidFields([FieldError(field=needs[asked][0], message=f"is required for scope {asked}")])
    return scope_of_write(asked, default=default, user_id=user_id, agent_id=agent_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Times:
    stated_at: datetime | None
    valid_from: datetime | None = None
    valid_until: datetime | None = None


def _times(body: WriteFields, zone: tzinfo, now: datetime) -> _Times:
    stated_at = _stated_at(body, zone, now)
    valid_from = fields.aware(body.valid_from, zone)
    valid_until = fields.aware(body.valid_until, zone)
    begins = valid_from or stated_at or now
    if body.ttl_seconds is not None:
        if valid_until is not None:
            raise InvalidFields(fields.both_ends())
        valid_until = begins + timedelta(seconds=body.ttl_seconds)
        if valid_until.year > LATEST_YEAR:
            message = f"must end by the year {LATEST_YEAR}, and ends in {valid_until.year}"
            raise InvalidFields([FieldError(field="ttl_seconds", message=message)])
    if valid_until is not None and valid_until <= begins:
        start = "valid_from" if valid_from else "the time it was stated"
        raise InvalidFields([FieldError(field="valid_until", message=f"must come after {start}")])
    return _Times(stated_at=stated_at, valid_from=_utc(valid_from), valid_until=_utc(valid_until))


def _stated_at(body: WriteFields, zone: tzinfo, now: datetime) -> datetime | None:
    stated_at = fields.aware(body.occurred_at, zone)
    if stated_at is not None and stated_at > now + FUTURE:
        raise InvalidFields([FieldError(field="occurred_at", message="must not lie in the future")])
    return _utc(stated_at)


def _utc(value: datetime | None) -> datetime | None:
    return None if value is None else value.astimezone(UTC)


def _evidence(body: WriteFields, stated_at: datetime) -> tuple[Evidence, ...]:
    found = [
        Evidence(
            stated_at=stated_at,
            turn_id=_turn(one.turn_id),
            quote=one.quote,
            role=one.role,
            session_id=body.session_id,
        )
        for one in body.evidence
    ]
    if body.evidence_turn_id is not None:
        turn = _turn(body.evidence_turn_id)
        found.append(Evidence(stated_at=stated_at, turn_id=turn, session_id=body.session_id))
    return tuple(found)


def _turn(public: str | None) -> UUID | None:
    return None if public is None else ids.parse(ids.TURN, public)


def _authors(body: WriteFields, scope: Scope) -> dict[str, object]:
    """Return the given ids that don't name the scope, for the memory's provenance."""
    given = {"user_id": (body.user_id, scope.user_id), "agent_id": (body.agent_id, scope.agent_id)}
    return {name: told for name, (told, used) in given.items() if told is not None and used is None}


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def canonical_types(names: Sequence[str], registry: Registry, field: str) -> tuple[str, ...]:
    """Return type names without aliases; raise InvalidFields naming each that is unknown."""
    known: dict[str, Any] = {name: registry.find(name) for name in names}
    errors = [
        FieldError(
            field=f"{field}.{place}",
            message=f"unknown memory type; use one of {', '.join(registry.by_name)}",
        )
        for place, name in enumerate(names)
        if known[name] is None
    ]
    if errors:
        raise InvalidFields(errors)
    return tuple(dict.fromkeys(known[name].name for name in names))
