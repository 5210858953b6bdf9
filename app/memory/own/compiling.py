"""From a definition to a memory type, or to everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field, ValidationError, create_model

from app.memory import conflict, normalise, vocabulary
from app.memory.conflict import Claim, Verdict
from app.memory.own import schema, template
from app.memory.own.definition import Definition, ImportanceIn
from app.memory.own.faults import Fault, InvalidDefinition, pointer
from app.memory.own.payload import ATTRIBUTE, Happening, Named, OwnPayload, Plan
from app.memory.own.schema import FieldSpec
from app.memory.own.template import Template
from app.memory.spec import Example, Held, MemoryType, Payload
from app.model import Category

POLICIES: Final[Mapping[str, Callable[[Claim, Claim], Verdict]]] = {
    "accumulate": conflict.accumulate,
    "latest_statement_wins": conflict.latest_statement_wins,
    "only_removed": conflict.only_removed,
    "one_identity": conflict.one_identity,
}

_PERSON: Final = AfterValidator(vocabulary.person)

_MOST_KEPT: Final = 1_024

_KEYS: Final = frozenset({"string", "choice", "integer", "boolean", "date"})
"""Kinds of fields that a slot can be made of."""


@lru_cache(maxsize=_MOST_KEPT)
def stored(text: str, version: int) -> MemoryType:
    """Return the type of a definition that was admitted once, by its JSON."""
    return made(Definition.model_validate_json(text), version)


def made(definition: Definition, version: int = 1) -> MemoryType:
    """Return the type that a definition comes to, or raise InvalidDefinition with every fault."""
    faults: list[Fault] = []
    fields = schema.read(definition.payload, faults, named=_naming(definition))
    readable = None if faults else _template(definition, fields, faults)
    if readable is None or faults:
        raise InvalidDefinition(faults)
    faults += _misfits(definition, fields)
    if faults:
        raise InvalidDefinition(faults)
    kind = _payload(definition, _plan(definition, fields, readable), fields)
    examples = tuple(_examples(definition, kind, faults))
    if faults:
        raise InvalidDefinition(faults)
    return _type(definition, kind, fields, examples, version)


def _naming(definition: Definition) -> frozenset[str]:
    """Return the fields that hold names, or parts of a key."""
    held = () if definition.held is None else (definition.held.under,)
    about = () if definition.subject is None else (definition.subject,)
    return frozenset((*definition.slot, *definition.mentions, *held, *about))


def _template(definition: Definition, fields: Mapping[str, FieldSpec], faults: list[Fault]) -> Template | None:
    try:
        found = template.read(definition.render)
    except template.Malformed as error:
        faults.append(Fault(pointer="/render", message=str(error)))
        return None
    known = ", ".join(fields)
    faults += [
        Fault(pointer="/render", message=f"names {{{name}}}, which is not a field; there are {known}")
        for name in sorted(found.fields - fields.keys())
    ]
    for name in sorted(found.always & fields.keys()):
        if not _sure(fields[name]):
            message = f"{{{name}}} may be missing: put it into an optional part, such as [, {{{name}}}]"
            faults.append(Fault(pointer="/render", message=message))
    if not faults and not found.always:
        message = "must name a required field outside of optional parts: else a memory might say nothing"
        faults.append(Fault(pointer="/render", message=message))
    return found


def _sure(field: FieldSpec) -> bool:
    """Return whether a field always has something to show."""
    return field.required and (not field.many or field.filled)


def _misfits(definition: Definition, fields: Mapping[str, FieldSpec]) -> Iterator[Fault]:
    """Yield what doesn't fit together among the fields and what is said of them."""
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
                yield Fault(pointer=pointer(part, place), message="is named twice")
    yield from _slot_misfits(definition, fields)
    yield from _name_misfits(definition, fields)
    yield from _time_misfits(definition, fields)
    yield from _weight_misfits(definition, fields)
    yield from _ending_misfits(definition, fields)
    if definition.name in definition.aliases or len(set(definition.aliases)) < len(definition.aliases):
        yield Fault(pointer="/aliases", message="must be other names than the type's own, each given once")


def _no_field(fields: Iterable[str], *at: str | int) -> Fault:
    return Fault(pointer=pointer(*at), message=f"is not a field; there are {', '.join(fields)}")


def _slot_misfits(definition: Definition, fields: Mapping[str, FieldSpec]) -> Iterator[Fault]:
    for place, name in enumerate(definition.slot):
        field = fields.get(name)
        if field is None:
            continue
        if not field.required and name != definition.subject:
            message = f"{name} may be missing, and then there is no slot: name it in payload.required, or leave it out"
            yield Fault(pointer=pointer("slot", place), message=message)
        if field.many or field.kind not in _KEYS:
            message = f"a slot is made of text, whole numbers, booleans and dates; {name} is {_told(field)}"
            yield Fault(pointer=pointer("slot", place), message=message)
    yield from _value_misfits(definition, fields)


def _value_misfits(definition: Definition, fields: Mapping[str, FieldSpec]) -> Iterator[Fault]:
    if definition.slot and not _value(definition, fields):
        yield Fault(pointer="/slot", message="takes up every field: leave out the one whose value may change")
    for place, name in enumerate(definition.value or ()):
        if name in definition.slot:
            yield Fault(pointer=pointer("value", place), message="is part of the slot: it can't be its value too")
    if definition.value is not None and not definition.slot:
        yield Fault(pointer="/value", message="has no meaning without a slot")
    if definition.slot and definition.on_conflict == "accumulate":
        yield Fault(pointer="/on_conflict", message="accumulate is for types without a slot: name another policy")
    if not definition.slot and definition.on_conflict not in {None, "accumulate"}:
        yield Fault(pointer="/on_conflict", message=f"{definition.on_conflict} needs a slot: say which fields make it")


def _name_misfits(definition: Definition, fields: Mapping[str, FieldSpec]) -> Iterator[Fault]:
    for name in definition.mentions:
        if name not in fields:
            yield _no_field(fields, "mentions", name)
        elif fields[name].kind != "string":
            message = f"only text can name somebody or something; {name} is {_told(fields[name])}"
            yield Fault(pointer=pointer("mentions", name), message=message)
    if definition.subject is None:
        return
    field = fields.get(definition.subject)
    if field is None:
        yield _no_field(fields, "subject")
    elif field.kind != "string" or field.many:
        message = f"a subject is text; {definition.subject} is {_told(field)}"
        yield Fault(pointer="/subject", message=message)


def _time_misfits(definition: Definition, fields: Mapping[str, FieldSpec]) -> Iterator[Fault]:
    if definition.event_time is None:
        return
    field = fields.get(definition.event_time)
    if field is None:
        yield _no_field(fields, "event_time")
    elif field.kind not in {"date", "instant"} or field.many:
        message = f"needs a field of format date or date-time; {definition.event_time} is {_told(field)}"
        yield Fault(pointer="/event_time", message=message)


def _weight_misfits(definition: Definition, fields: Mapping[str, FieldSpec]) -> Iterator[Fault]:
    given = definition.importance
    if not isinstance(given, ImportanceIn):
        return
    field = fields.get(given.field)
    if field is None:
        yield _no_field(fields, "importance", "field")
    elif field.kind != "choice" or field.many:
        message = f"needs a field with an enum; {given.field} is {_told(field)}"
        yield Fault(pointer="/importance/field", message=message)
    else:
        for value in given.values:
            if value not in field.choices:
                message = f"is not a value of {given.field}; it has {', '.join(field.choices)}"
                yield Fault(pointer=pointer("importance", "values", value), message=message)


def _ending_misfits(definition: Definition, fields: Mapping[str, FieldSpec]) -> Iterator[Fault]:
    held = definition.held
    if held is None:
        return
    for part, name in (("under", held.under), ("value", held.value)):
        field = fields.get(name)
        if field is None:
            yield _no_field(fields, "held", part)
        elif field.kind != "string" or field.many or not field.required:
            message = f"must be a required field of text; {name} is {_told(field)}"
            yield Fault(pointer=pointer("held", part), message=message)
        elif (name in definition.slot) != (part == "under"):
            should = "must be part of the slot" if part == "under" else "must not be part of the slot"
            yield Fault(pointer=pointer("held", part), message=should)


def _told(field: FieldSpec) -> str:
    kinds = {"choice": "text with an enum", "instant": "a date and time", "string": "text"}
    one = kinds.get(field.kind, f"of type {field.kind}")
    optional = "" if field.required else ", and optional"
    return f"a list{optional}" if field.many else f"{one}{optional}"


def _value(definition: Definition, fields: Mapping[str, FieldSpec]) -> tuple[str, ...]:
    if definition.value is not None:
        return tuple(definition.value)
    return tuple(sorted(name for name in fields if name not in definition.slot))


def _plan(definition: Definition, fields: Mapping[str, FieldSpec], readable: Template) -> Plan:
    importance = definition.importance
    plain = tuple(sorted(name for name, one in fields.items() if one.kind != "string" or name in definition.slot))
    return Plan(
        template=readable,
        fields=tuple(fields),
        subject=definition.subject,
        mentions=tuple(
            Named(
                field=name,
                entity_type=None if one.entity_type is None else normalise.key(one.entity_type),
                creates=one.creates,
            )
            for name, one in definition.mentions.items()
        ),
        slot=tuple(definition.slot),
        value=_value(definition, fields),
        distinct_by=plain if definition.distinct_by is None else tuple(definition.distinct_by),
        event_time=definition.event_time,
        importance=importance if isinstance(importance, float) else importance.otherwise,
        weighed_by=None if isinstance(importance, float) else importance.field,
        weights={} if isinstance(importance, float) else importance.values,
    )


def _payload(definition: Definition, plan: Plan, fields: Mapping[str, FieldSpec]) -> type[OwnPayload]:
    """Return the class of the type's payloads."""
    base: type[OwnPayload] = OwnPayload if plan.event_time is None else Happening
    shape: dict[str, Any] = {}
    for name, field in fields.items():
        given = Annotated[field.annotation, _PERSON] if name == plan.subject else field.annotation
        shape[ATTRIBUTE.format(name)] = (
            given if field.required else given | None,
            Field(... if field.required else None, alias=name, description=field.description or None),
        )
    kind = create_model(_class_name(definition.name), __base__=base, __doc__=definition.definition, **shape)
    kind.plan = plan
    return kind


def _class_name(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _examples(definition: Definition, kind: type[OwnPayload], faults: list[Fault]) -> Iterator[Example]:
    """Yield the examples; one that is no payload of the type is a fault."""
    for place, example in enumerate(definition.examples):
        for number, given in enumerate(example.payloads):
            at = ("examples", place, "payloads", number)
            try:
                payload = kind.model_validate(given)
            except ValidationError as error:
                faults += [
                    Fault(pointer=pointer(*at, *one["loc"]), message=str(one["msg"])[:300])
                    for one in error.errors(include_url=False, include_input=False)
                ]
                continue
            if not payload.render():
                faults.append(Fault(pointer=pointer(*at), message="reads as nothing: its template shows none of it"))
        yield Example(utterance=example.utterance, payloads=tuple(example.payloads))


def _type(
    definition: Definition,
    kind: type[OwnPayload],
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
        held=None if held is None else Held(under=held.under, value=held.value),
        chosen=frozenset(name for name, field in fields.items() if field.kind in {"choice", "date", "instant"}),
        importance=_weight,
        version=version,
    )


def _weight(payload: Payload) -> float:
    return payload.weight() if isinstance(payload, OwnPayload) else 0.5
