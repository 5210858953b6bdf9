"""What a new version of a definition takes from the one before: what was valid and no longer is, what moves a slot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from app.memory.own.definition import Definition
from app.memory.own.faults import Fault, pointer
from app.memory.own.schema import ROOT

Node = Mapping[str, Any]

_FLOORS: Final = ("minLength", "minItems", "minimum", "exclusiveMinimum")
_CEILINGS: Final = ("maxLength", "maxItems", "maximum", "exclusiveMaximum")
_KEYS: Final = ("slot", "value", "subject", "mentions", "event_time")


def incompatible(old: Definition, new: Definition) -> tuple[Fault, ...]:
    """Return every change by which a payload that was valid may not be, or another slot is claimed for it.

    Memories that are there keep the version that they were written with.
    """
    return (*_of_payloads(old, new), *_of_keys(old, new))


def _of_payloads(old: Definition, new: Definition) -> Iterator[Fault]:
    before, after = _properties(old), _properties(new)
    needed = _required(new) - _required(old)
    for name, node in before.items():
        at = (ROOT, "properties", name)
        if name not in after:
            yield Fault(pointer=pointer(*at), message=f"{name} is gone")
            continue
        if name in needed:
            yield Fault(pointer=pointer(ROOT, "required"), message=f"{name} has become required")
        yield from _narrowed(node, after[name], at)
    for name in after:
        if name not in before and name in needed:
            yield Fault(pointer=pointer(ROOT, "required"), message=f"{name} is new, and required")


def _narrowed(old: Node, new: Node, at: tuple[str, ...]) -> Iterator[Fault]:
    if old.get("type") != new.get("type") or old.get("format") != new.get("format"):
        yield Fault(pointer=pointer(*at), message=f"was {_kind(old)} and is {_kind(new)}")
        return
    gone = [one for one in old.get("enum", ()) if one not in new.get("enum", ())] if "enum" in new else []
    if gone:
        yield Fault(pointer=pointer(*at, "enum"), message=f"no longer takes {', '.join(map(str, gone))}")
    elif "enum" in new and "enum" not in old:
        yield Fault(pointer=pointer(*at, "enum"), message="takes only these values now")
    for name in (*_FLOORS, *_CEILINGS):
        if name in new and (name not in old or _tighter(name, old[name], new[name])):
            yield Fault(pointer=pointer(*at, name), message=f"was {old.get(name, 'not limited')} and is {new[name]}")
    if isinstance(old.get("items"), Mapping) and isinstance(new.get("items"), Mapping):
        yield from _narrowed(old["items"], new["items"], (*at, "items"))


def _tighter(name: str, old: float, new: float) -> bool:
    return new > old if name in _FLOORS else new < old


def _of_keys(old: Definition, new: Definition) -> Iterator[Fault]:
    for name in _KEYS:
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            message = "has changed: what is written from now on has another slot, value or subject than what is there"
            yield Fault(pointer=pointer(name), message=message)


def _kind(node: Node) -> str:
    return " ".join(str(node[name]) for name in ("type", "format") if name in node)


def _properties(definition: Definition) -> dict[str, Node]:
    found = definition.payload.get("properties")
    return {name: node for name, node in found.items() if isinstance(node, dict)} if isinstance(found, dict) else {}


def _required(definition: Definition) -> set[str]:
    found = definition.payload.get("required", [])
    return {one for one in found if isinstance(one, str)} if isinstance(found, list) else set()
