"""What does not fit together in a definition: its fields, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from app.memory.own import template
from app.memory.own.definition import Definition, ImportanceIn
from app.memory.own.faults import Fault, pointer
from app.memory.own.schema import FieldSpec
from app.memory.own.template import Template

_KEYS: Final = frozenset({"string", "choice", "integer", "boolean", "date"})
"""Kinds of fields that a slot can be made of."""


def template_of(definition: Definition, fields: Mapping[str, FieldSpec], faults: list[Fault]) -> Template | None:
    """Return the template, or None where it is none; what does not fit the fields is added to the faults."""
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


def misfits(definition: Definition, fields: Mapping[str, FieldSpec]) -> Iterator[Fault]:
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
    if definition.slot and not definition.value_fields(fields):
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
