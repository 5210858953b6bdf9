"""Generate the Python client's models of answers: one pydantic class for each schema that an answer has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from codegen.contract import PREFIX, PROBLEMS, Schema, answers, closure, operations, references
from codegen.python_types import Types, attribute, class_of, common_fields, docstring, python_name

HEAD: Final = '''"""What the service answers with. Generated from the contract by `python -m codegen`: do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Union

from pydantic import Discriminator, Field, Tag

from typed_memory_client._base import ACCEPT_UNKNOWN, Model, tag_by

'''

_types: Final = Types(answers=True)


def generate(contract: Schema) -> str:
    """Return the module `models.py`."""
    schemas: Mapping[str, Schema] = contract["components"]["schemas"]
    roots = [name for one in operations(contract).values() for name in references(list(answers(one)))]
    names = closure(schemas, [*roots, *PROBLEMS])
    shared = {member: name for name in names for member in _members(schemas[name])}
    text = HEAD
    written: set[str] = set()
    for name in names:
        schema = schemas[name]
        if name in shared and shared[name] not in written:
            written.add(shared[name])
            text += _shared_class(shared[name], [schemas[one] for one in _members(schemas[shared[name]])])
        text += _definition(name, schema, schemas, shared.get(name))
    return text.rstrip() + "\n"


def _definition(name: str, schema: Schema, schemas: Mapping[str, Schema], union: str | None) -> str:
    class_name = python_name(name)
    if members := _members(schema):
        return _union(class_name, schema, members)
    if "properties" not in schema:
        return f"{class_name} = {_types.of(schema)}\n{_description(schema)}\n"
    fields = schema["properties"]
    base = "Model"
    if union is not None:
        common = common_fields(schemas[one] for one in _members(schemas[union]))
        fields = {field: one for field, one in fields.items() if field not in common}
        base = _shared_name(union)
    return class_of(class_name, base, schema, fields, _line)


def _line(field: str, schema: Schema, required: bool) -> str:  # noqa: FBT001 - called by class_of
    kind, name = _types.of(schema), attribute(field)
    if not required and "None" not in kind.split(" | "):
        kind += " | None"
    if name == field:
        return f"    {name}: {kind}{'' if required else ' = None'}\n"
    default = "..." if required else "default=None"
    return f'    {name}: {kind} = Field({default}, alias="{field}")\n'


def _members(schema: Schema) -> list[str]:
    """Return the members of a union whose members a field tells apart."""
    if any("discriminator" in one for one in (schema, *schema.get("oneOf", []))):
        return list(dict.fromkeys(references(schema.get("oneOf", []))))
    return []


def _union(name: str, schema: Schema, members: list[str]) -> str:
    inner = next(one for one in (schema, *schema["oneOf"]) if "discriminator" in one)
    mapping = inner["discriminator"]["mapping"]
    tags = {target.removeprefix(PREFIX): tag for tag, target in mapping.items()}
    lines = [f'        Annotated[{python_name(one)}, Tag("{tags.get(one, "")}")],' for one in members]
    known = ", ".join(f'"{tag}"' for tag in tags.values())
    tag = f'Discriminator(tag_by("{inner["discriminator"]["propertyName"]}", {known}))'
    union = "\n".join(["    Union[", *lines, "    ],"])
    return f"{name} = Annotated[\n{union}\n    {tag},\n]\n{_description(schema)}\n"


def _shared_name(union: str) -> str:
    return f"{python_name(union)}Fields"


def _shared_class(union: str, members: list[Schema]) -> str:
    described = {**members[0], "description": f"The fields of every {python_name(union)}, whatever its type."}
    return class_of(_shared_name(union), "Model", described, common_fields(members), _line)


def _description(schema: Schema) -> str:
    return docstring(schema["description"], "") if "description" in schema else ""
