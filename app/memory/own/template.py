"""Templates of sentences: text, `{field}`, and `[parts]` that are left out where a field in them is missing.

Nothing in a template is evaluated: a name in braces stands for that field's value and for nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(r"\{\{|\}\}|\[\[|\]\]|\{([^{}\[\]]*)\}|[{}\[\]]|[^{}\[\]]+")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A run of text, or the name of a field."""

    text: str = ""
    field: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some pieces; `optional` ones are left out where a field in them is missing."""

    pieces: tuple[Piece, ...]
    optional: bool

    @property
    def fields(self) -> tuple[str, ...]:
        """Return the names of the fields in it."""
        return tuple(piece.field for piece in self.pieces if piece.field is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A template that was read."""

    parts: tuple[Part, ...]

    @property
    def always(self) -> frozenset[str]:
        """Return the fields that stand outside of optional parts."""
        return frozenset(field for part in self.parts if not part.optional for field in part.fields)

    @property
    def fields(self) -> frozenset[str]:
        """Return every field it names."""
        return frozenset(field for part in self.parts for field in part.fields)

    def filled(self, values: Mapping[str, str]) -> str:
        """Return the sentence, on one line; `values` are those of the fields that are there."""
        shown = (part for part in self.parts if not part.optional or all(name in values for name in part.fields))
        told = "".join(
            piece.text if piece.field is None else values.get(piece.field, "")
            for part in shown
            for piece in part.pieces
        )
        return " ".join(told.split())


class Malformed(ValueError):
    """Text that is no template; the message says where and why."""


def read(text: str) -> Template:
    """Return the template, or raise Malformed."""
    parts: list[Part] = []
    pieces: list[Piece] = []
    opened: int | None = None
    for token in _TOKEN.finditer(text):
        found, at = token[0], token.start() + 1
        match found:
            case "{{" | "}}" | "[[" | "]]":
                pieces.append(Piece(text=found[0]))
            case "[" if opened is None:
                parts, pieces, opened = [*parts, Part(pieces=tuple(pieces), optional=False)], [], at
            case "]" if opened is not None:
                part = Part(pieces=tuple(pieces), optional=True)
                if not part.fields:
                    raise Malformed(f"the optional part at character {opened} names no field: it would always be shown")
                parts, pieces, opened = [*parts, part], [], None
            case "[":
                raise Malformed(f"the [ at character {at} stands in the part that begins at {opened}: close that first")
            case "{" | "}" | "]":
                raise Malformed(f"the {found} at character {at} has no partner: write {found * 2} for the character")
            case _:
                pieces.append(_piece(token, at))
    if opened is not None:
        raise Malformed(f"the [ at character {opened} is never closed: write [[ for the character itself")
    return Template(parts=(*parts, Part(pieces=tuple(pieces), optional=False)))


def _piece(token: re.Match[str], at: int) -> Piece:
    name = token[1]
    if name is None:
        return Piece(text=token[0])
    if _NAME.fullmatch(name) is None:
        raise Malformed(f"{{{name[:40]}}} at character {at} is no name of a field: nothing else may stand in braces")
    return Piece(field=name)
