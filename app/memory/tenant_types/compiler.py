"""The compiler from a definition to a memory type, with all faults of a definition that is none.

New definitions must satisfy all checks; a stored definition is compiled without checks that were added since.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field, ValidationError, create_model

from app.memory import normalise, slots, vocabulary
from app.memory.fields import storable
from app.memory.spec import EndingKey, Example, MemoryType, Payload, class_name
from app.memory.tenant_types import schema
from app.memory.tenant_types.definition import LARGEST, Definition, DefinitionError, InvalidDefinition, pointer
from app.memory.tenant_types.payload import ATTRIBUTE, EventField, FieldRoles, NameField, Template, TenantPayload
from app.memory.tenant_types.schema import FieldSpec
from app.memory.tenant_types.validate import consistency_errors, template_of
from app.memory.versions import SlotClaim, SlotVerdict
from app.model import Category

POLICIES: Final[Mapping[str, Callable[[SlotClaim, SlotClaim], SlotVerdict]]] = {
    "accumulate": slots.accumulate,
    "latest_statement_wins": slots.latest_statement_wins,
    "only_removed": slots.only_removed,
    "one_identity": slots.one_identity,
}

_PERSON: Final = AfterValidator(vocabulary.person)

_MOST_KEPT: Final = 1_024


@lru_cache(maxsize=_MOST_KEPT)
def compile_stored(text: str, version: int) -> MemoryType:
    """Return the type of a stored definition, given as JSON."""
    return compile_definition(Definition.model_validate_json(text), version)


def compile_definition(definition: Definition, version: int = 1) -> MemoryType:
    """Return the type of a definition, or raise InvalidDefinition with every fault."""
    faults: list[DefinitionError] = []
    fields = schema.read_schema(definition.payload, faults, named=_naming(definition))
    readable = None if faults else template_of(definition, fields, faults)
    if readable is None or faults:
        raise InvalidDefinition(faults)
    faults += consistency_errors(definition, fields)
    if faults:
        raise InvalidDefinition(faults)
    kind = _payload(definition, _plan(definition, fields, readable), fields)
    examples = tuple(_examples(definition, kind, faults))
    if faults:
        raise InvalidDefinition(faults)
    return _type(definition, kind, fields, examples, version)


def _naming(definition: Definition) -> frozenset[str]:
    """Return the fields that hold names or parts of a key."""
    held = () if definition.held is None else (definition.held.under,)
    about = () if definition.subject is None else (definition.subject,)
    return frozenset((*definition.slot, *definition.mentions, *held, *about))


def _plan(definition: Definition, fields: Mapping[str, FieldSpec], readable: Template) -> FieldRoles:
    importance = definition.importance
    plain = tuple(sorted(name for name, one in fields.items() if one.kind != "string" or name in definition.slot))
    return FieldRoles(
        template=readable,
        fields=tuple(fields),
        subject=definition.subject,
        mentions=tuple(
            NameField(
                field=name,
                entity_type=None if one.entity_type is None else normalise.normalise_key(one.entity_type),
                creates=one.creates,
            )
            for name, one in definition.mentions.items()
        ),
        slot=tuple(definition.slot),
        value=definition.value_fields(fields),
        distinct_by=plain if definition.distinct_by is None else tuple(definition.distinct_by),
        event_time=definition.event_time,
        importance=importance if isinstance(importance, float) else importance.otherwise,
        weighed_by=None if isinstance(importance, float) else importance.field,
        weights={} if isinstance(importance, float) else importance.values,
    )


def _payload(definition: Definition, plan: FieldRoles, fields: Mapping[str, FieldSpec]) -> type[TenantPayload]:
    """Return the class of the type's payloads."""
    base: type[TenantPayload] = TenantPayload if plan.event_time is None else EventField
    shape: dict[str, Any] = {}
    for name, field in fields.items():
        given = Annotated[field.annotation, _PERSON] if name == plan.subject else field.annotation
        shape[ATTRIBUTE.format(name)] = (
            given if field.required else given | None,
            Field(... if field.required else None, alias=name, description=field.description or None),
        )
    kind = create_model(class_name(definition.name), __base__=base, __doc__=definition.definition, **shape)
    kind.plan = plan
    return kind


def _examples(definition: Definition, kind: type[TenantPayload], faults: list[DefinitionError]) -> Iterator[Example]:
    """Yield the examples; add a fault for each that is no payload of the type."""
    for place, example in enumerate(definition.examples):
        for number, given in enumerate(example.payloads):
            at = ("examples", place, "payloads", number)
            try:
                payload = kind.model_validate(given)
            except ValidationError as error:
                faults += [
                    DefinitionError(pointer=pointer(*at, *one["loc"]), message=str(one["msg"])[:300])
                    for one in error.errors(include_url=False, include_input=False)
                ]
                continue
            if not payload.render():
                faults.append(
                    DefinitionError(pointer=pointer(*at), message="reads as nothing: its template shows none of it")
                )
        yield Example(utterance=example.utterance, payloads=tuple(example.payloads))


def _type(
    definition: Definition,
    kind: type[TenantPayload],
    fields: Mapping[str, FieldSpec],
    examples: tuple[Example, ...],
    version: int,
) -> MemoryType:
    policy = definition.on_conflict or ("latest_statement_wins" if definition.slot else "accumulate")
    held = definition.held
    return MemoryType(
        name=definition.name,
        definition=f"{definition.definition.rstrip('.')}.",
        payload=kind,
        prior=definition.prior,
        half_life_days=definition.half_life_days,
        category=Category(definition.category),
        on_conflict=POLICIES[policy],
        examples=examples,
        group=definition.group,
        hints=tuple(dict.fromkeys(definition.hints)),
        default_scope=definition.default_scope,
        aliases=tuple(definition.aliases),
        dedup_by_meaning=definition.dedup_by_meaning,
        floor=definition.floor,
        asked_by_questions=definition.asked_by_questions,
        extracted=definition.extracted,
        held=None if held is None else EndingKey(under=held.under, value=held.value),
        chosen=frozenset(name for name, field in fields.items() if field.kind in {"choice", "date", "instant"}),
        importance=_weight,
        version=version,
    )


def _weight(payload: Payload) -> float:
    return payload.weight() if isinstance(payload, TenantPayload) else 0.5


_BREAKS: Final = frozenset("\t\n\r")
"""Control characters that multi-line text may contain."""


def compile_new(definition: Definition) -> MemoryType:
    """Return the type of a new definition, or raise InvalidDefinition with every fault."""
    found = compile_stored_text(definition)
    faults = tuple(_for_ever(definition))
    if faults:
        raise InvalidDefinition(faults)
    return found


def compile_stored_text(definition: Definition) -> MemoryType:
    """Return the type of a definition from an export, or raise InvalidDefinition where it can't be stored."""
    faults = list(_unwritten(definition.model_dump()))
    if faults:
        raise InvalidDefinition(faults)
    size = len(definition.text())
    if size > LARGEST:
        message = f"the definition is {size} characters long: at most {LARGEST} are taken"
        raise InvalidDefinition([DefinitionError(pointer="", message=message)])
    return compile_definition(definition)


def _unwritten(value: object, *at: str | int) -> Iterator[DefinitionError]:
    """Yield a fault for every text, names of members included, that can't be stored or shown."""
    match value:
        case str():
            why = _why(value)
            if why is not None:
                yield DefinitionError(pointer=pointer(*at), message=why)
        case dict():
            for name, inner in value.items():
                why = _why(name)
                if why is None:
                    yield from _unwritten(inner, *at, name)
                else:
                    yield DefinitionError(pointer=pointer(*at), message=f"has a member whose name {why}")
        case list() | tuple():
            for place, inner in enumerate(value):
                yield from _unwritten(inner, *at, place)


def _why(text: str) -> str | None:
    try:
        storable(text)
    except ValueError as error:
        return str(error)
    controls = {one for one in text if unicodedata.category(one) == "Cc"} - _BREAKS
    told = ", ".join(f"U+{ord(one):04X}" for one in sorted(controls))
    return f"must not contain control characters: it holds {told}" if controls else None


def _for_ever(definition: Definition) -> Iterator[DefinitionError]:
    if definition.on_conflict == "only_removed" and definition.held is None:
        message = (
            "only_removed needs `held`: without it no ending is understood, and what holds the slot is never removed. "
            "Say what it is held under and as what value, or name another policy"
        )
        yield DefinitionError(pointer="/on_conflict", message=message)
