"""What a definition must satisfy to be taken; one that is stored is read as it was taken, whatever is asked since."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Final

from app.memory.own import compiling
from app.memory.own.definition import LARGEST, Definition
from app.memory.own.faults import Fault, InvalidDefinition, pointer
from app.memory.spec import MemoryType
from app.memory.strings import storable

_BREAKS: Final = frozenset("\t\n\r")
"""Controls that text is written on several lines with."""


def admitted(definition: Definition) -> MemoryType:
    """Return the type that a new definition comes to, or raise InvalidDefinition with every fault."""
    found = readable(definition)
    faults = tuple(_for_ever(definition))
    if faults:
        raise InvalidDefinition(faults)
    return found


def readable(definition: Definition) -> MemoryType:
    """Return the type of a definition that was taken elsewhere; raises InvalidDefinition where it can't be kept."""
    faults = list(_unwritten(definition.model_dump()))
    if faults:
        raise InvalidDefinition(faults)
    size = len(definition.text())
    if size > LARGEST:
        message = f"the definition is {size} characters long: at most {LARGEST} are taken"
        raise InvalidDefinition([Fault(pointer="", message=message)])
    return compiling.made(definition)


def _unwritten(value: object, *at: str | int) -> Iterator[Fault]:
    """Yield every text that can't be stored or shown, the names of members too."""
    match value:
        case str():
            why = _why(value)
            if why is not None:
                yield Fault(pointer=pointer(*at), message=why)
        case dict():
            for name, inner in value.items():
                why = _why(name)
                if why is None:
                    yield from _unwritten(inner, *at, name)
                else:
                    yield Fault(pointer=pointer(*at), message=f"has a member whose name {why}")
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


def _for_ever(definition: Definition) -> Iterator[Fault]:
    if definition.on_conflict == "only_removed" and definition.held is None:
        message = (
            "only_removed needs `held`: without it no ending is understood, and what holds the slot is never removed. "
            "Say what it is held under and as what value, or name another policy"
        )
        yield Fault(pointer="/on_conflict", message=message)
