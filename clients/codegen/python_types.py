"""Write Python: type expressions of schemas, classes of objects."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from codegen.contract import PREFIX, Schema

SCALARS: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def python_name(schema_name: str) -> str:
    """Return the class name of a schema: `JobOut` is `Job`."""
    return schema_name.removesuffix("Out")


def camel(words: str) -> str:
    """Return `list_memories` as `ListMemories`."""
    return "".join(word.capitalize() for word in re.split(r"[_-]", words))


def attribute(field: str) -> str:
    """Return the name of a field in Python: reserved words get an underscore."""
    return f"{field}_" if keyword.iskeyword(field) else field


class Types:
    """Type expressions, of answers (which clients read) or of bodies (which callers write)."""

    def __init__(self, *, answers: bool) -> None:
        self.answers = answers

    def of(self, schema: Schema) -> str:
        """Return the type expression of a schema."""
        if "$ref" in schema:
            return python_name(schema["$ref"].removeprefix(PREFIX))
        if "const" in schema or "enum" in schema:
            return self.literal(schema.get("enum", [schema.get("const")]))
        if alternatives := schema.get("anyOf") or schema.get("oneOf"):
            return " | ".join(dict.fromkeys(self.of(one) for one in alternatives))
        return self._plain(schema)

    def literal(self, values: Iterable[object]) -> str:
        """Return a Literal; in answers one that lets values pass which a newer service may add."""
        values = list(values)
        written = f"Literal[{', '.join(_quoted(one) for one in values)}]"
        return f"Annotated[{written}, ACCEPT_UNKNOWN]" if self.answers and len(values) > 1 else written

    def _plain(self, schema: Schema) -> str:
        kind = schema.get("type")
        if kind == "array":
            return f"{'list' if self.answers else 'Sequence'}[{self.of(schema.get('items', {}))}]"
        if kind == "object":
            values = schema.get("additionalProperties")
            inner = self.of(values) if isinstance(values, Mapping) else "Any"
            return f"{'dict' if self.answers else 'Mapping'}[str, {inner}]"
        if schema.get("format") == "date-time":
            return "datetime" if self.answers else "datetime | str"
        return SCALARS.get(str(kind), "Any")


def docstring(text: str, indent: str = "    ") -> str:
    """Return a description as a docstring line; backslashes and quotes at the end stay literal."""
    escaped = text.replace("\\", "\\\\").replace('"""', "'''").strip()
    spaced = f"{escaped} " if escaped.endswith('"') else escaped
    return f'{indent}"""{spaced}"""\n'


def class_of(
    name: str, base: str, schema: Schema, fields: Mapping[str, Schema], line: Callable[[str, Schema, bool], str]
) -> str:
    """Return a class; `line(name, schema, required)` writes a field, and its description follows."""
    required = schema.get("required", [])
    body = docstring(schema.get("description", f"{name}."))
    for field, one in fields.items():
        body += "\n" + line(field, one, field in required)
        if description := one.get("description"):
            body += docstring(description)
    return f"class {name}({base}):\n{body}\n\n"


def common_fields(members: Iterable[Schema]) -> dict[str, Any]:
    """Return the fields that all members declare alike."""
    members = list(members)
    first, *others = members
    return {
        field: schema
        for field, schema in first["properties"].items()
        if all(
            one["properties"].get(field) == schema
            and (field in one.get("required", [])) == (field in first.get("required", []))
            for one in others
        )
    }


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
