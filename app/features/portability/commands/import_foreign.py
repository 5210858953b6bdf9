"""Reading of exports of other memory stores as typed writes; what has no place here is named, not dropped silently.

mem0: the answer of `get_all`, or a list of its memories (docs.mem0.ai, "Exporting memories"). Zep: an object with
`edges` and `nodes` of a user's graph (help.getzep.com, "Get edge", "Get node"). LangMem: items of a LangGraph store.
Records: memories in the full form of the specification's schemas, with ids of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from app.features.portability.commands.import_sources import BadMessage, ImportItem, Read, SkippedMessage

__all__ = ["Origin", "items"]

Body = dict[str, object]
Json = Mapping[str, Any]


class Origin(StrEnum):
    """The store that a file comes from."""

    MEM0 = "mem0"
    ZEP = "zep"
    LANGMEM = "langmem"
    CHATGPT = "chatgpt"
    RECORDS = "records"


USER: Final = "user"

_WRAPPERS: Final = ("results", "memories", "items", "records")
"""Members that an answer of a listing may hold its items in."""


def items(document: object, origin: Origin, *, place: str) -> Iterator[Read]:
    """Yield the writes of an export, the oldest first; a BadMessage for what can't be read."""
    try:
        found = list(_READERS[origin](document))
    except UnknownShape as error:
        yield BadMessage(place=place, what=f"not an export of {origin}: {error}")
        return
    # A later statement replaces an earlier one, so they are written as they were said.
    for where, body, lost in sorted(found, key=_time):
        if isinstance(body, str):
            yield SkippedMessage(place=f"{place}, {where}", why=body)
        elif isinstance(body.get("content", ""), str):
            owned = body.get("user_id") or body.get("agent_id")
            yield ImportItem(place=f"{place}, {where}", body=_without_nulls(body), said=not owned, lost=lost)
        else:
            yield BadMessage(place=f"{place}, {where}", what="has no text to remember")


class UnknownShape(Exception):
    """A document has another shape than the exports of its store; the message names the expected one."""


Found = tuple[str, Body | str, frozenset[str]]
"""The place of an item, its write or the reason to skip it, and the fields that are not carried over."""


def _time(found: Found) -> str:
    body = found[1]
    return "" if isinstance(body, str) else str(body.get("occurred_at") or "")


def _mem0(document: object) -> Iterator[Found]:
    for number, one in enumerate(_listed(document), 1):
        rest = dict(one)
        body: Body = {
            "type": "semantic",
            "content": rest.pop("memory", None) or rest.pop("text", None),
            "user_id": rest.pop("user_id", None),
            "agent_id": rest.pop("agent_id", None),
            "session_id": rest.pop("run_id", None),
            "occurred_at": rest.pop("updated_at", None) or rest.get("created_at"),
            "valid_until": rest.pop("expiration_date", None),
            "metadata": _metadata(rest, "categories"),
            "provenance": _origin("mem0", rest.pop("id", None)),
        }
        yield f"memory {number}", body, _lost(rest, {"created_at"})
    relations = document.get("relations") if isinstance(document, dict) else None
    for number, one in enumerate(_objects(relations) if isinstance(relations, list) else [], 1):
        rest = dict(one)
        body = {
            "type": "fact",
            "subject": _name(rest.pop("source", None)),
            "predicate": _predicate(rest.pop("relationship", None)),
            "object": _name(rest.pop("target", None) or rest.pop("destination", None)),
            "stateful": False,
            "provenance": _origin("mem0", None),
        }
        yield f"relation {number}", body, _lost(rest)


def _zep(document: object) -> Iterator[Found]:
    if not isinstance(document, dict) or not isinstance(document.get("edges"), list):
        raise UnknownShape("give an object with `edges`, and `nodes` for their names")
    nodes = {str(one.get("uuid")): one for one in _objects(document.get("nodes") or [])}
    user = document.get("user_id")
    for number, node in enumerate(nodes.values(), 1):
        rest = dict(node)
        name, labels = _node_name(rest), [one for one in rest.pop("labels", None) or [] if one != "Entity"]
        summary = rest.pop("summary", None)
        rest.pop("name", None)
        if name != USER and labels:
            attributes = {str(key): str(value) for key, value in (rest.pop("attributes", None) or {}).items() if value}
            entity: Body = {"canonical_name": name, "entity_type": labels[0], "attributes": attributes}
            yield f"node {number}", {"type": "entity", "user_id": user, **_zep_times(rest), **entity}, _lost(rest)
        elif name != USER:
            yield f"node {number}", "node without a label", frozenset()
        if summary:
            said: Body = {"type": "semantic", "content": summary, "entity_id": name, "user_id": user}
            yield f"summary of node {number}", said | _zep_times(dict(node)), frozenset()
    for number, edge in enumerate(_objects(document["edges"]), 1):
        rest = dict(edge)
        fact = rest.pop("fact", None)
        ends = [nodes.get(str(rest.pop(f"{end}_node_uuid", None))) for end in ("source", "target")]
        validity: Body = {
            "valid_from": rest.pop("valid_at", None),
            "valid_until": rest.pop("invalid_at", None) or rest.get("expired_at"),
        }
        relation = rest.pop("name", None)
        body: Body = {"user_id": user, "content": fact, **validity, **_zep_times(rest)}
        source, target = ends
        if source is not None and target is not None and relation:
            ends_named = {"subject": _node_name(source), "object": _node_name(target)}
            body |= {"type": "fact", "predicate": _predicate(relation), "stateful": False, **ends_named}
            body["content"] = fact or f"{ends_named['subject']} {_words(relation).lower()} {ends_named['object']}"
        else:
            body |= {"type": "semantic"}
        yield f"edge {number}", body, _lost(rest, {"expired_at"})


def _zep_times(rest: dict[str, Any]) -> Body:
    return {"occurred_at": rest.pop("created_at", None), "provenance": _origin("zep", rest.pop("uuid", None))}


def _node_name(node: Json) -> str:
    """Return a node's name; the node of the user whose graph it is has the label `User`."""
    return USER if "User" in (node.get("labels") or []) else str(node.get("name") or "")


def _langmem(document: object) -> Iterator[Found]:
    for number, one in enumerate(_listed(document), 1):
        rest = dict(one)
        value = rest.pop("value", None)
        namespace = _namespace(rest.pop("namespace", None))
        user = namespace[1] if len(namespace) == _NAMED and namespace[0] == "memories" else None
        body: Body = {
            "type": "semantic",
            "content": _langmem_text(value),
            "user_id": user,
            "occurred_at": rest.pop("updated_at", None) or rest.get("created_at"),
            "metadata": {"namespace": namespace} if namespace and user is None else {},
            "provenance": _origin("langmem", rest.pop("key", None)),
        }
        yield f"item {number}", body, _lost(rest, {"created_at"})


_NAMED: Final = 2
"""Parts of LangMem's usual namespace, `("memories", user)`."""


def _namespace(given: object) -> list[str]:
    if isinstance(given, str):
        return given.split(".")
    return [str(part) for part in given] if isinstance(given, list | tuple) else []


def _langmem_text(value: object) -> str | None:
    """Return the text of an item: its `content`, or the fields of its schema as `name: value`."""
    inner = value.get("content", value) if isinstance(value, dict) else value
    if isinstance(inner, dict) and isinstance(inner.get("content"), str):
        inner = inner["content"]
    if not isinstance(inner, dict):
        return inner if isinstance(inner, str) and inner.strip() else None
    kind = value.get("kind") if isinstance(value, dict) else None
    told = "; ".join(f"{_words(name)}: {_plain(one)}" for name, one in inner.items() if one not in (None, "", [], {}))
    return f"{_words(kind)}: {told}" if kind and told else told or None


def _records(document: object) -> Iterator[Found]:
    found = _listed(document)
    if not any(one.get("type") for one in found):
        raise UnknownShape("no record has a `type`")
    names = {str(one.get("id")): _name(one.get("canonical_name")) for one in found if one.get("canonical_name")}
    names = {"e_user": USER, **names}
    for number, one in enumerate(found, 1):
        rest = dict(one)
        kind = str(rest.pop("type", "")).lower()
        changed = rest.pop("updated_at", None)
        if "predicate" not in rest:
            rest.pop("predicate_is_stateful", None)  # a type without a predicate says it by itself
        body: Body = {
            "type": kind,
            "occurred_at": changed or rest.pop("created_at", None),
            "provenance": _origin("records", rest.pop("id", None)) | _kept(rest, "evidence_turn_id", "supersedes"),
            **{field: rest.pop(field) for field in _CARRIED if field in rest},
        }
        body |= {name: _resolved(value, names) for name, value in rest.items() if name not in _COMPUTED}
        yield f"record {number}", body, _lost({name: rest[name] for name in rest if name in _COMPUTED}, _SILENT)


_CARRIED: Final = ("source_confidence", "extractor_confidence")

_COMPUTED: Final = frozenset(
    {"confidence", "repetition_count", "type_prior", "last_accessed_at", "access_count", "mention_count"}
    | {"status", "superseded_by", "created_at"}
)
"""Fields of the schemas that this service computes itself."""

_SILENT: Final = frozenset({"type_prior", "superseded_by", "created_at"})
"""Those that come out the same, or that the order of the writes brings back."""


def _resolved(value: object, names: Mapping[str, str | None]) -> object:
    """Return a value with ids of entity records as those entities' names."""
    if isinstance(value, list):
        return [_resolved(one, names) for one in value]
    return names.get(value, value) if isinstance(value, str) else value


def _kept(rest: dict[str, Any], *fields: str) -> Body:
    return {field: rest.pop(field) for field in fields if rest.get(field) is not None}


def _listed(document: object) -> list[Json]:
    """Return the items of a listing, as `_objects` does, or raise UnknownShape."""
    if isinstance(document, dict):
        inner = next((document[name] for name in _WRAPPERS if isinstance(document.get(name), list)), None)
        document = [document] if inner is None else inner
    if not isinstance(document, list):
        raise UnknownShape(f"give a list, or an object with one of {', '.join(_WRAPPERS)}")
    return _objects(document)


def _objects(values: Sequence[object]) -> list[Json]:
    """Return items in their places; what is no object becomes an empty one, which has no text."""
    return [one if isinstance(one, dict) else {} for one in values]


def _metadata(rest: dict[str, Any], *fields: str) -> Body:
    given = rest.pop("metadata", None)
    return {**(given if isinstance(given, dict) else {}), **_kept(rest, *fields)}


def _origin(store: str, name: object) -> Body:
    return {"imported_from": store, **({} if name is None else {"external_id": str(name)})}


def _name(value: object) -> str | None:
    """Return a name as people write it; graph stores write `new_york`."""
    text = str(value).replace("_", " ").strip() if value is not None else ""
    return text or None


def _predicate(value: object) -> str:
    """Return a relation's name as a predicate: `WORKS_AT` is `works-at`."""
    return re.sub(r"[\W_]+", "-", str(value or "related-to").strip()).strip("-").lower()


def _words(name: object) -> str:
    return str(name).replace("_", " ")


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_plain(one) for one in value)
    if isinstance(value, dict):
        return ", ".join(f"{_words(name)} {_plain(one)}" for name, one in value.items())
    return str(value)


def _lost(rest: Json, silent: Iterable[str] = ()) -> frozenset[str]:
    """Return the names of fields that are not carried over and said something."""
    return frozenset(name for name, value in rest.items() if value not in (None, "", [], {}) and name not in silent)


def _without_nulls(body: Body) -> Body:
    return {name: value for name, value in body.items() if value is not None and value != {}}


_READERS: Final[Mapping[Origin, Callable[[object], Iterable[Found]]]] = {
    Origin.MEM0: _mem0,
    Origin.ZEP: _zep,
    Origin.LANGMEM: _langmem,
    Origin.RECORDS: _records,
}
