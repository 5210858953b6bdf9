"""The bodies of writes, generated from the registry, so that a new memory type has one as soon as its file exists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo

from app.api.plumbing.fields import Fraction, Instant, Lifetime, Metadata, RequestBody, TimeZone
from app.api.plumbing.unions import BUILT_IN, OWN, builtin_or_tenant, literal, many, maybe, one_of, with_example
from app.memory.fields import Flag, Name, Place, Sentence, Topic, UserId
from app.memory.registry import Registry
from app.memory.spec import MemoryType, class_name
from app.model import Category, ScopeKind, SpeechAct

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
        "user's, with `agent_id` too that agent's with that user; with `agent_id` alone that agent's, unless the "
        "type's own scope is global; with neither, global.",
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
        description="This is no longer so: nothing is stored, and what is held so ends, `valid_until` saying when it "
        "did (by default, when it is stated). Answered with `ended`, or why nothing ended. For types that hold values.",
    )
    evidence: list[EvidenceIn] = Field(default_factory=list, max_length=50)
    evidence_turn_id: str | None = Field(
        default=None, pattern=TURN_ID, description="Short for evidence with just a turn_id."
    )
    provenance: Metadata = Field(default_factory=dict, description="Your own record of the memory's origin.")
    metadata: Metadata = Field(default_factory=dict, description="Anything else; questions and lists can filter by it.")

    WITHIN: ClassVar[tuple[str, ...]] = ()
    """The path of the type's own fields in the body; empty for the top level."""

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
