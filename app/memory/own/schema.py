"""The JSON Schema of a payload, of which a part is understood, and the fields it comes to.

Regular expressions are left out, so that no pattern can take for ever; so is everything by which a schema could
refer to, or hold, another one.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any, Final

from app.memory.own import keywords, values
from app.memory.own.faults import Fault, pointer

MOST_FIELDS: Final = 32

ROOT: Final = "payload"

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSpec:
    """A field of a payload.

    `kind` is the type it has in the schema, or `choice`, `date` or `instant` for a string with an `enum` or a format;
    of an array, that of its items. `annotation` is what pydantic takes it for; `filled`: it is never an empty list.
    """

    name: str
    kind: str
    many: bool
    required: bool
    description: str
    annotation: Any
    choices: tuple[str, ...] = ()
    filled: bool = True


def read(schema: Mapping[str, Any], faults: list[Fault], *, named: Container[str] = ()) -> dict[str, FieldSpec]:
    """Return the fields by name, as far as they can be; what is wrong is added to the faults.

    Those that are `named` hold names: of 200 characters at most, without control characters.
    """
    faults += keywords.unsupported(schema, "object", (ROOT,))
    if schema.get("type") != "object":
        faults.append(Fault(pointer=pointer(ROOT, "type"), message='must be "object"'))
    if schema.get("additionalProperties", False) is not False:
        message = "must be false, or left out: a payload has the fields of its schema and no others"
        faults.append(Fault(pointer=pointer(ROOT, "additionalProperties"), message=message))
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        faults.append(Fault(pointer=pointer(ROOT, "properties"), message="must name at least one field"))
        return {}
    if len(properties) > MOST_FIELDS:
        message = f"names {len(properties)} fields: at most {MOST_FIELDS} are taken"
        faults.append(Fault(pointer=pointer(ROOT, "properties"), message=message))
        return {}
    required = _required(schema, properties, faults)
    found = (
        _field(name, node, faults, required=name in required, named=name in named) for name, node in properties.items()
    )
    return {one.name: one for one in found if one is not None}


def _required(schema: Mapping[str, Any], properties: Mapping[str, Any], faults: list[Fault]) -> frozenset[str]:
    given = schema.get("required", [])
    if not isinstance(given, list):
        faults.append(Fault(pointer=pointer(ROOT, "required"), message="must be a list of fields"))
        return frozenset()
    for place, name in enumerate(given):
        if not isinstance(name, str) or name not in properties:
            message = f"names {str(name)[:80]!r}, which is not among the properties"
            faults.append(Fault(pointer=pointer(ROOT, "required", place), message=message))
    return frozenset(name for name in given if isinstance(name, str))


def _field(name: str, node: object, faults: list[Fault], *, required: bool, named: bool) -> FieldSpec | None:
    at = (ROOT, "properties", name)
    if _NAME.fullmatch(name) is None:
        message = "a field's name is made of lower-case letters, digits and underscores, 63 at most, a letter first"
        faults.append(Fault(pointer=pointer(*at), message=message))
        return None
    found = values.value(node, at, faults, named=named)
    if found is None or not isinstance(node, Mapping):
        return None
    return FieldSpec(
        name=name,
        kind=found.kind,
        many=found.many,
        required=required,
        description=keywords.description(node, at, faults),
        annotation=found.annotation,
        choices=found.choices,
        filled=found.filled,
    )
