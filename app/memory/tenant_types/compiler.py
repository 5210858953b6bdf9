"""The compiler from a definition to a memory type, with its checks and all faults of a definition that is none.

New definitions must satisfy all checks, and a version must be compatible with the one before; a stored definition is
compiled without checks that were added since.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field, ValidationError, create_model

from app.memory import normalise, slots, vocabulary
from app.memory.fields import storable
from app.memory.spec import EndingKey, Example, MemoryType, Payload, class_name
from app.memory.tenant_types import payload, schema
from app.memory.tenant_types.definition import (
    LARGEST,
    Definition,
    DefinitionError,
    ImportanceIn,
    InvalidDefinition,
    pointer,
)
from app.memory.tenant_types.payload import ATTRIBUTE, EventField, FieldRoles, NameField, Template, TenantPayload
from app.memory.tenant_types.schema import ROOT, FieldSpec
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

Node = Mapping[str, Any]

_FLOORS: Final = ("minLength", "minItems", "minimum", "exclusiveMinimum")

_CEILINGS: Final = ("maxLength", "maxItems", "maximum", "exclusiveMaximum")

_FIXED_KEYS: Final = ("slot", "value", "subject", "mentions", "event_time")


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


def incompatibilities(old: Definition, new: Definition) -> tuple[DefinitionError, ...]:
    """Return every change that may make a valid payload invalid, or change its slot.

    Existing memories keep the version that they were written with.
    """
    return (*_of_payloads(old, new), *_of_keys(old, new))


def _of_payloads(old: Definition, new: Definition) -> Iterator[DefinitionError]:
    before, after = _properties(old), _properties(new)
    needed = _required(new) - _required(old)
    for name, node in before.items():
        at = (ROOT, "properties", name)
        if name not in after:
            yield DefinitionError(pointer=pointer(*at), message=f"{name} is gone")
            continue
        if name in needed:
            yield DefinitionError(pointer=pointer(ROOT, "required"), message=f"{name} has become required")
        yield from _narrowed(node, after[name], at)
    for name in after:
        if name not in before and name in needed:
            yield DefinitionError(pointer=pointer(ROOT, "required"), message=f"{name} is new, and required")


def _narrowed(old: Node, new: Node, at: tuple[str, ...]) -> Iterator[DefinitionError]:
    if old.get("type") != new.get("type") or old.get("format") != new.get("format"):
        yield DefinitionError(pointer=pointer(*at), message=f"was {_kind(old)} and is {_kind(new)}")
        return
    gone = [one for one in old.get("enum", ()) if one not in new.get("enum", ())] if "enum" in new else []
    if gone:
        yield DefinitionError(pointer=pointer(*at, "enum"), message=f"no longer takes {', '.join(map(str, gone))}")
    elif "enum" in new and "enum" not in old:
        yield DefinitionError(pointer=pointer(*at, "enum"), message="takes only these values now")
    for name in (*_FLOORS, *_CEILINGS):
        if name in new and (name not in old or _tighter(name, old[name], new[name])):
            yield DefinitionError(
                pointer=pointer(*at, name), message=f"was {old.get(name, 'not limited')} and is {new[name]}"
            )
    if isinstance(old.get("items"), Mapping) and isinstance(new.get("items"), Mapping):
        yield from _narrowed(old["items"], new["items"], (*at, "items"))


def _tighter(name: str, old: float, new: float) -> bool:
    return new > old if name in _FLOORS else new < old


def _of_keys(old: Definition, new: Definition) -> Iterator[DefinitionError]:
    for name in _FIXED_KEYS:
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            message = "has changed: what is written from now on has another slot, value or subject than what is there"
            yield DefinitionError(pointer=pointer(name), message=message)


def _kind(node: Node) -> str:
    return " ".join(str(node[name]) for name in ("type", "format") if name in node)


def _properties(definition: Definition) -> dict[str, Node]:
    found = definition.payload.get("properties")
    return {name: node for name, node in found.items() if isinstance(node, dict)} if isinstance(found, dict) else {}


def _required(definition: Definition) -> set[str]:
    found = definition.payload.get("required", [])
    return {one for one in found if isinstance(one, str)} if isinstance(found, list) else set()


_SLOT_KINDS: Final = frozenset({"string", "choice", "integer", "boolean", "date"})
"""Kinds of fields that a slot can consist of."""


def template_of(
    definition: Definition, fields: Mapping[str, FieldSpec], faults: list[DefinitionError]
) -> Template | None:
    """Return the template, None if it is none; add a fault for each part that does not fit the fields."""
    try:
        found = payload.read(definition.render)
    except payload.TemplateError as error:
        faults.append(DefinitionError(pointer="/render", message=str(error)))
        return None
    known = ", ".join(fields)
    faults += [
        DefinitionError(pointer="/render", message=f"names {{{name}}}, which is not a field; there are {known}")
        for name in sorted(found.fields - fields.keys())
    ]
    for name in sorted(found.always & fields.keys()):
        if not _sure(fields[name]):
            message = f"{{{name}}} may be missing: put it into an optional part, such as [, {{{name}}}]"
            faults.append(DefinitionError(pointer="/render", message=message))
    if not faults and not found.always:
        message = "must name a required field outside of optional parts: else a memory might say nothing"
        faults.append(DefinitionError(pointer="/render", message=message))
    return found


def _sure(field: FieldSpec) -> bool:
    """Return whether a field always has a value to show."""
    return field.required and (not field.many or field.filled)


def consistency_errors(definition: Definition, fields: Mapping[str, FieldSpec]) -> Iterator[DefinitionError]:
    """Yield the faults between the fields and the parts of the definition that refer to them."""
    named = [
        ("slot", definition.slot),
        ("value", definition.value or []),
        ("distinct_by", definition.distinct_by or []),
    ]
    for part, names in named:
        for place, name in enumerate(names):
            if name not in fields:
                yield _no_field(fields, part, place)
            elif name in names[:place]:
                yield DefinitionError(pointer=pointer(part, place), message="is named twice")
    yield from _slot_misfits(definition, fields)
    yield from _name_misfits(definition, fields)
    yield from _time_misfits(definition, fields)
    yield from _weight_misfits(definition, fields)
    yield from _ending_misfits(definition, fields)
    if definition.name in definition.aliases or len(set(definition.aliases)) < len(definition.aliases):
        yield DefinitionError(pointer="/aliases", message="must be other names than the type's own, each given once")


def _no_field(fields: Iterable[str], *at: str | int) -> DefinitionError:
    return DefinitionError(pointer=pointer(*at), message=f"is not a field; there are {', '.join(fields)}")


def _slot_misfits(definition: Definition, fields: Mapping[str, FieldSpec]) -> Iterator[DefinitionError]:
    for place, name in enumerate(definition.slot):
        field = fields.get(name)
        if field is None:
            continue
        if not field.required and name != definition.subject:
            message = f"{name} may be missing, and then there is no slot: name it in payload.required, or leave it out"
            yield DefinitionError(pointer=pointer("slot", place), message=message)
        if field.many or field.kind not in _SLOT_KINDS:
            message = f"a slot is made of text, whole numbers, booleans and dates; {name} is {_describe_kind(field)}"
            yield DefinitionError(pointer=pointer("slot", place), message=message)
    yield from _value_misfits(definition, fields)


def _value_misfits(definition: Definition, fields: Mapping[str, FieldSpec]) -> Iterator[DefinitionError]:
    if definition.slot and not definition.value_fields(fields):
        yield DefinitionError(pointer="/slot", message="takes up every field: leave out the one whose value may change")
    for place, name in enumerate(definition.value or ()):
        if name in definition.slot:
            yield DefinitionError(
                pointer=pointer("value", place), message="is part of the slot: it can't be its value too"
            )
    if definition.value is not None and not definition.slot:
        yield DefinitionError(pointer="/value", message="has no meaning without a slot")
    if definition.slot and definition.on_conflict == "accumulate":
        yield DefinitionError(
            pointer="/on_conflict", message="accumulate is for types without a slot: name another policy"
        )
    if not definition.slot and definition.on_conflict not in {None, "accumulate"}:
        yield DefinitionError(
            pointer="/on_conflict", message=f"{definition.on_conflict} needs a slot: say which fields make it"
        )


def _name_misfits(definition: Definition, fields: Mapping[str, FieldSpec]) -> Iterator[DefinitionError]:
    for name in definition.mentions:
        if name not in fields:
            yield _no_field(fields, "mentions", name)
        elif fields[name].kind != "string":
            message = f"only text can name somebody or something; {name} is {_describe_kind(fields[name])}"
            yield DefinitionError(pointer=pointer("mentions", name), message=message)
    if definition.subject is None:
        return
    field = fields.get(definition.subject)
    if field is None:
        yield _no_field(fields, "subject")
    elif field.kind != "string" or field.many:
        message = f"a subject is text; {definition.subject} is {_describe_kind(field)}"
        yield DefinitionError(pointer="/subject", message=message)


def _time_misfits(definition: Definition, fields: Mapping[str, FieldSpec]) -> Iterator[DefinitionError]:
    if definition.event_time is None:
        return
    field = fields.get(definition.event_time)
    if field is None:
        yield _no_field(fields, "event_time")
    elif field.kind not in {"date", "instant"} or field.many:
        message = f"needs a field of format date or date-time; {definition.event_time} is {_describe_kind(field)}"
        yield DefinitionError(pointer="/event_time", message=message)


def _weight_misfits(definition: Definition, fields: Mapping[str, FieldSpec]) -> Iterator[DefinitionError]:
    given = definition.importance
    if not isinstance(given, ImportanceIn):
        return
    field = fields.get(given.field)
    if field is None:
        yield _no_field(fields, "importance", "field")
    elif field.kind != "choice" or field.many:
        message = f"needs a field with an enum; {given.field} is {_describe_kind(field)}"
        yield DefinitionError(pointer="/importance/field", message=message)
    else:
        for value in given.values:
            if value not in field.choices:
                message = f"is not a value of {given.field}; it has {', '.join(field.choices)}"
                yield DefinitionError(pointer=pointer("importance", "values", value), message=message)


def _ending_misfits(definition: Definition, fields: Mapping[str, FieldSpec]) -> Iterator[DefinitionError]:
    held = definition.held
    if held is None:
        return
    for part, name in (("under", held.under), ("value", held.value)):
        field = fields.get(name)
        if field is None:
            yield _no_field(fields, "held", part)
        elif field.kind != "string" or field.many or not field.required:
            message = f"must be a required field of text; {name} is {_describe_kind(field)}"
            yield DefinitionError(pointer=pointer("held", part), message=message)
        elif (name in definition.slot) != (part == "under"):
            should = "must be part of the slot" if part == "under" else "must not be part of the slot"
            yield DefinitionError(pointer=pointer("held", part), message=should)


def _describe_kind(field: FieldSpec) -> str:
    kinds = {"choice": "text with an enum", "instant": "a date and time", "string": "text"}
    one = kinds.get(field.kind, f"of type {field.kind}")
    optional = "" if field.required else ", and optional"
    return f"a list{optional}" if field.many else f"{one}{optional}"
