"""What the OpenAPI document calls things, and says of them, for the reader of a generated client."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

NAMES: Mapping[str, str] = {
    "Action": "ReviewAction",
    "Decided": "WriteDecision",
    "Feedback": "FeedbackKind",
    "Precision": "TimePrecision",
    "Sort": "MemorySort",
    "app__api__turns__Mode": "IngestMode",
    "app__memory__backfill__Effect": "BackfillEffect",
    "app__memory__backfill__Status": "BackfillStatus",
    "app__model__Mode": "QueryMode",
    "app__model__Status": "MemoryStatus",
    "app__services__feedback__Effect": "FeedbackEffect",
}
"""Names of schemas that say nothing outside their module, or that two modules have: generators take those for one."""

ASKED: Mapping[str, str] = {
    "agent_id": "Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.",
    "cursor": "`next_cursor` of the page before; the first page without it. Filters and sorting stay the same.",
    "importance": "How much it matters, from 0 to 1, whatever its confidence; by default as its type says.",
    "limit": "How many a page has at most.",
    "metadata": "Anything else; kept, not interpreted.",
    "sequence_number": "Its place in the session.",
    "session_id": "Your id of the conversation.",
    "speech_act": "How it was meant: what is not asserted is never believed.",
    "timezone": "The IANA zone in which times without an offset, and words like `yesterday`, are read; UTC by default.",
    "topic": "What it is filed under.",
    "type": "The memory's type, such as `fact`.",
    "user_id": "Your id of the user: what is stored is that user's, what is asked or listed is what they may see.",
}
"""What the fields are for that many requests have, where they don't say themselves."""


def rename(document: dict[str, Any]) -> None:
    """Give the schemas their names, in place; KeyError for a name of the list that no schema has."""
    schemas: dict[str, Any] = document["components"]["schemas"]
    for old, new in NAMES.items():
        if new in schemas:
            raise KeyError(new)
        schemas[new] = {**schemas.pop(old), "title": new}
    moved = {_reference(old): _reference(new) for old, new in NAMES.items()}
    _redirect(document, moved)
    document["components"]["schemas"] = dict(sorted(schemas.items()))


def explain(document: dict[str, Any]) -> None:
    """Say what the common fields of requests are for, in place."""
    schemas = document["components"]["schemas"]
    for operations in document["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"] in ASKED:
                    parameter.setdefault("description", ASKED[parameter["name"]])
    for name in _reached(document, schemas):
        for field, shown in schemas[name].get("properties", {}).items():
            if field in ASKED and "const" not in shown:
                shown.setdefault("description", ASKED[field])


def _reference(name: str) -> str:
    return f"#/components/schemas/{name}"


def _redirect(part: object, moved: Mapping[str, str]) -> None:
    """Send every reference, those of discriminators too, to the new names."""
    if isinstance(part, dict):
        for key, value in part.items():
            if isinstance(value, str) and value in moved:
                part[key] = moved[value]
            else:
                _redirect(value, moved)
    elif isinstance(part, list):
        for one in part:
            _redirect(one, moved)


def _reached(document: Mapping[str, Any], schemas: Mapping[str, Any]) -> set[str]:
    """Return the names of the schemas that bodies of requests are made of."""
    found: set[str] = set()
    waiting = [
        operation["requestBody"]
        for operations in document["paths"].values()
        for operation in operations.values()
        if "requestBody" in operation
    ]
    while waiting:
        new = set(_referred(waiting.pop())) - found
        found |= new
        waiting += [schemas[name] for name in new]
    return found


def _referred(part: object) -> Iterable[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"].rpartition("/")[2]
        for value in part.values():
            yield from _referred(value)
    elif isinstance(part, list):
        for one in part:
            yield from _referred(one)
