"""Checks of a definition: consistency of its parts, and compatibility of a version with the one before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from app.memory.tenant_types import payload
from app.memory.tenant_types.definition import Definition, DefinitionError, ImportanceIn, pointer
from app.memory.tenant_types.payload import Template
from app.memory.tenant_types.schema import ROOT, FieldSpec

Node = Mapping[str, Any]

_FLOORS: Final = ("minLength", "minItems", "minimum", "exclusiveMinimum")

_CEILINGS: Final = ("maxLength", "maxItems", "maximum", "exclusiveMaximum")

_FIXED_KEYS: Final = ("slot", "value", "subject", "mentions", "event_time")


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
