"""The bodies of writes and their conversion to candidates.

Bodies are generated from the registry, so that a new memory type has one as soon as its file exists. The conversion
makes scope, times and payload of a validated body, with its last checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from typing import Any, ClassVar
from uuid import UUID

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, create_model, model_validator
from pydantic.fields import FieldInfo

from app import ids
from app.http import models
from app.http.models import (
    Fraction,
    Instant,
    Lifetime,
    Metadata,
    RequestBody,
    TimeZone,
    builtin_or_tenant,
    literal,
    many,
    maybe,
    one_of,
    with_example,
)
from app.http.problems import BUILT_IN, OWN, FieldError, InvalidFields, field_errors, unknown_type
from app.memory.calendar import LATEST_YEAR
from app.memory.candidate import DIRECT_EXTRACTION, DIRECT_SOURCE, Candidate, Ending
from app.memory.chat_messages import with_our_time
from app.memory.fields import MAX_TEXT, Flag, Name, Place, Sentence, Topic, UserId
from app.memory.registry import Registry, discover
from app.memory.spec import MemoryType, Payload, class_name
from app.model import Category, Evidence, Scope, ScopeKind, SpeechAct, scope_of_write
from app.services.memories import UNKNOWN_ID

LARGEST_BATCH = 1000
TURN_ID = r"^turn_[0-9a-f]{32}$"


class EvidenceIn(BaseModel):
    """The source of the memory."""

    model_config = ConfigDict(extra="forbid")

    quote: Sentence | None = Field(default=None, description="The words, as they were said.")
    role: Name | None = Field(default=None, description="Who said them.", examples=["user"])
    turn_id: str | None = Field(default=None, pattern=TURN_ID, description="The turn they are from.")


class WriteFields(RequestBody):
    """The fields of all types' bodies, besides a type's own fields."""

    scope: ScopeKind | None = Field(
        default=None,
        description="Who sees it: everyone of the tenant, one user, or one agent. By default, with `user_id` that "
        "user's, whichever agent it was, unless the type's own scope is the agent; with `agent_id` alone that "
        "agent's, unless the type's own scope is global; with neither, global.",
    )
    user_id: UserId | None = None
    agent_id: Name | None = None
    session_id: Name | None = None
    sequence_number: Place | None = None
    content: Sentence | None = Field(
        default=None, description="The sentence to remember, instead of one made from the fields."
    )
    context: Sentence | None = Field(default=None, description="The text just before it: searched, never shown.")
    occurred_at: Instant | None = Field(
        default=None, description="When it was stated; now by default. A later statement replaces an earlier."
    )
    timezone: TimeZone | None = Field(default=None, description="Where times without an offset are read.")
    source_confidence: Fraction | None = Field(
        default=None,
        description="The source strength.",
        validation_alias=AliasChoices("source_confidence", "source_strength"),
    )
    extractor_confidence: Fraction | None = Field(default=None, description="Confidence of the extraction.")
    importance: Fraction | None = None
    topic: Topic | None = None
    category: Category | None = Field(default=None, description="The category; by default the type's.")
    speech_act: SpeechAct = SpeechAct.ASSERTION
    valid_from: Instant | None = Field(default=None, description="Since when it is true.")
    valid_until: Instant | None = Field(
        default=None,
        description="Until when it is true. What repeats a memory, and was not stated before it, moves its end; "
        "without one it leaves it as it is.",
    )
    ttl_seconds: Lifetime | None = Field(
        default=None,
        description="Instead of valid_until: how long it is true, in seconds from valid_from, or else from when it was "
        "stated.",
    )
    ends: Flag = Field(
        default=False,
        description="This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when (by "
        "default, when it is stated; what ends later holds until then). Answered with `ended`, or why nothing ended. "
        "For types that hold values.",
    )
    evidence: list[EvidenceIn] = Field(default_factory=list, max_length=50)
    evidence_turn_id: str | None = Field(
        default=None, pattern=TURN_ID, description="Short for evidence with just a turn_id."
    )
    provenance: Metadata = Field(default_factory=dict, description="Your own record of the memory's origin.")
    metadata: Metadata = Field(default_factory=dict, description="Anything else; questions and lists can filter by it.")

    WITHIN: ClassVar[tuple[str, ...]] = ()
    """The path of the type's own fields in the body; empty for the top level."""

    @model_validator(mode="before")
    @classmethod
    def _with_our_time(cls, given: object) -> object:
        return with_our_time(given, cls.model_fields) if isinstance(given, dict) else given

    def type_fields(self, names: AbstractSet[str]) -> dict[str, Any]:
        """Return the given fields of the type, whose names are `names`."""
        return self.model_dump(include=set(names), exclude_unset=True)


class TenantTypeWrite(WriteFields, **with_example({"user_id": "ana", "payload": {"customer": "Acme", "number": 4711}})):
    """A memory of a type of your own."""

    type: Name | None = Field(default=None, description="May be left out: the route says it.")
    payload: dict[str, Any] = Field(description="The type's fields, by its schema (`GET /admin/types/{type_name}`).")

    WITHIN: ClassVar[tuple[str, ...]] = ("payload",)

    def type_fields(self, names: AbstractSet[str]) -> dict[str, Any]:  # noqa: ARG002 - the type itself says what is not its
        """Return the payload."""
        return self.payload


class TenantTypeItem(
    TenantTypeWrite,
    **with_example({"type": "ticket", "user_id": "ana", "payload": {"customer": "Acme", "number": 4711}}),
):
    """A memory of a type of your own."""

    type: Name = Field(examples=["ticket"])


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteBodies:
    """The body of each type's route, and of the batch: a union discriminated by `type`."""

    single: Mapping[str, type[WriteFields]]
    batch: type[BaseModel]


@cache
def built_in() -> tuple[Registry, WriteBodies]:
    """Return the built-in types and their bodies, which are made once for all applications."""
    registry = discover()
    return registry, build(registry)


def build(registry: Registry) -> WriteBodies:
    """Return the bodies for the types of the registry."""
    single = {spec.name: _single(spec) for spec in registry}
    items = tuple(_item(spec, single[spec.name]) for spec in registry)
    examples = [{"type": spec.name, **_example(spec)} for spec in registry][:2]
    built_in = frozenset(name for spec in registry for name in (spec.name, *spec.aliases))
    batch = create_model(
        "BatchWrite",
        __base__=RequestBody,
        __doc__="Up to a thousand typed writes.",
        __cls_kwargs__=dict(with_example({"memories": examples})),
        memories=(
            many(builtin_or_tenant(one_of(items), TenantTypeItem, _told_by(built_in))),
            Field(min_length=1, max_length=LARGEST_BATCH),
        ),
    )
    return WriteBodies(single=single, batch=batch)


def _told_by(built_in: AbstractSet[str]) -> Callable[[object], str | None]:
    def which(item: object) -> str | None:
        """Return the tag of a batch item's type in the union, None for an item without `type`."""
        kind = item.get("type") if isinstance(item, Mapping) else getattr(item, "type", None)
        if not isinstance(kind, str):
            return None
        return BUILT_IN if kind in built_in else OWN

    return which


def payload_fields(spec: MemoryType) -> dict[str, tuple[Any, FieldInfo]]:
    """Return a type's own fields by their names in JSON, as arguments of `create_model`."""
    fields = {}
    for name, info in spec.payload.model_fields.items():
        wire = copy(info)
        if not isinstance(info.validation_alias, AliasChoices):
            wire.validation_alias = None
            wire.alias_priority = None
        wire.alias = None
        wire.serialization_alias = None
        fields[info.alias or name] = (info.annotation, wire)
    return fields


def wire_names(spec: MemoryType) -> set[str]:
    """Return the names of a type's own fields in JSON."""
    return {info.alias or name for name, info in spec.payload.model_fields.items()}


def _single(spec: MemoryType) -> type[WriteFields]:
    kind = literal(spec.name, *spec.aliases)
    fields: dict[str, Any] = {
        "type": (maybe(kind), Field(default=None, description="May be left out: the route says it.")),
        **payload_fields(spec),
    }
    return create_model(
        f"{class_name(spec.name)}Write",
        __base__=WriteFields,
        __doc__=spec.definition,
        __cls_kwargs__=dict(with_example(_example(spec))),
        **fields,
    )


def _item(spec: MemoryType, single: type[WriteFields]) -> type[WriteFields]:
    kind = literal(spec.name, *spec.aliases)
    fields: dict[str, Any] = {"type": (kind, Field())}
    return create_model(
        f"{class_name(spec.name)}Item",
        __base__=single,
        __doc__=spec.definition,
        __cls_kwargs__=dict(with_example({"type": spec.name, **_example(spec)})),
        **fields,
    )


def _example(spec: MemoryType) -> dict[str, Any]:
    """Return an example body with the essential fields; one with all fields would contradict itself."""
    payloads = (payload for example in spec.examples for payload in example.payloads)
    return {"user_id": "ana", **next(payloads, {})}


def candidates_from_batch(items: Iterable[WriteFields], registry: Registry, now: datetime) -> list[Candidate]:
    """Return the candidates of a batch, or raise InvalidFields with the faults of all items."""
    return candidates_from([(registry.get(str(getattr(body, "type", ""))), body) for body in items], now, "memories")


def candidates_from(items: Iterable[tuple[MemoryType, WriteFields]], now: datetime, field: str) -> list[Candidate]:
    """Return the candidates of the items of a body's field, or raise InvalidFields with the faults of all."""
    candidates: list[Candidate] = []
    errors: list[FieldError] = []
    for place, (spec, body) in enumerate(items):
        try:
            candidates.append(candidate_from_body(spec, body, now))
        except InvalidFields as error:
            errors += [FieldError(field=f"{field}.{place}.{one.field}", message=one.message) for one in error.errors]
    if errors:
        raise InvalidFields(errors)
    return candidates


def turns_of(candidates: Iterable[Candidate]) -> set[UUID]:
    """Return the turns that the candidates' evidence points to."""
    return {one.turn_id for candidate in candidates for one in candidate.evidence if one.turn_id is not None}


def refuse_turns(bodies: Sequence[WriteFields], uncitable: set[UUID], *, batch: bool = False) -> None:
    """Raise InvalidFields with every place where a body refers to one of these turns."""
    missing = {ids.public(ids.TURN, one) for one in uncitable}
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
        told = "there is no such turn that this key may cite"
        raise InvalidFields([FieldError(field=field, message=told) for field in places])


def refuse_unknown_entities(places: Sequence[int], *, batch: bool = False) -> None:
    """Raise InvalidFields for bodies, given by position, that name an unknown entity by id."""
    fields_at = [f"memories.{place}.entity_id" if batch else "entity_id" for place in places]
    if fields_at:
        raise InvalidFields([FieldError(field=field, message=UNKNOWN_ID) for field in fields_at])


def candidate_from_body(spec: MemoryType, body: WriteFields, now: datetime) -> Candidate:
    """Return the candidate of a body, or raise InvalidFields."""
    zone = models.zone(body.timezone)
    own = wire_names(spec)
    try:
        payload = spec.payload.model_validate(body.type_fields(own))
    except ValidationError as error:
        raise InvalidFields(field_errors(error.errors(include_url=False), *body.WITHIN)) from None
    ending = _ending(spec, payload, body, now) if body.ends else None
    times = _Times(stated_at=_stated_at(body, zone, now)) if ending else _times(body, zone, now)
    scope = chosen_scope(spec.default_scope, body.scope, body.user_id, body.agent_id)
    found = Candidate(
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
    if len(found.sentence) > MAX_TEXT:
        message = f"with the other fields it would be a sentence of {len(found.sentence)} characters, over {MAX_TEXT}"
        given = payload.model_dump(mode="json", by_alias=True)
        longest = max(given, key=lambda name: len(str(given[name])))
        raise InvalidFields([FieldError(field=".".join((*body.WITHIN, longest)), message=message)])
    return found


def _ending(spec: MemoryType, payload: Payload, body: WriteFields, now: datetime) -> Ending:
    """Return the ending of a body, or raise InvalidFields; an ending without a value ends any present value."""
    zone = models.zone(body.timezone)
    errors = [
        FieldError(field=name, message="says when something began to be so: leave it out when it ends")
        for name in ("valid_from", "ttl_seconds")
        if getattr(body, name) is not None
    ]
    if spec.held is None:
        errors.append(FieldError(field="ends", message=f"a memory of type {spec.name} does not end"))
    at, stated = models.aware(body.valid_until, zone), models.aware(body.occurred_at, zone) or now
    if at is not None and at.year > LATEST_YEAR:
        errors.append(FieldError(field="valid_until", message=f"must lie by the year {LATEST_YEAR}"))
    if errors:
        raise InvalidFields(errors)
    if at is not None and at > stated and (not spec.begins or payload.event_time(zone) is not None):
        at = stated  # what happens at a time, or is intended, is called off by who says so, not by that time
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
    valid_from = models.aware(body.valid_from, zone)
    valid_until = models.aware(body.valid_until, zone)
    begins = valid_from or stated_at or now
    if body.ttl_seconds is not None:
        if valid_until is not None:
            raise InvalidFields(models.both_ends())
        valid_until = begins + timedelta(seconds=body.ttl_seconds)
        if valid_until.year > LATEST_YEAR:
            message = f"must end by the year {LATEST_YEAR}, and ends in {valid_until.year}"
            raise InvalidFields([FieldError(field="ttl_seconds", message=message)])
    if valid_until is not None and valid_until <= begins:
        start = "valid_from" if valid_from else "the time it was stated"
        raise InvalidFields([FieldError(field="valid_until", message=f"must come after {start}")])
    return _Times(stated_at=stated_at, valid_from=_utc(valid_from), valid_until=_utc(valid_until))


def _stated_at(body: WriteFields, zone: tzinfo, now: datetime) -> datetime | None:
    stated_at = models.aware(body.occurred_at, zone)
    if fault := models.future_fault(stated_at, now):
        raise InvalidFields([FieldError(field="occurred_at", message=fault)])
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
        FieldError(field=f"{field}.{place}", message=unknown_type(name, registry.by_name))
        for place, name in enumerate(names)
        if known[name] is None
    ]
    if errors:
        raise InvalidFields(errors)
    return tuple(dict.fromkeys(known[name].name for name in names))
