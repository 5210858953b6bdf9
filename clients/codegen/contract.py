"""Select the part of the contract that the clients use: their operations, and the schemas these need."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

Schema = Mapping[str, Any]
"""A JSON Schema object of the contract."""

PREFIX: Final = "#/components/schemas/"

OPERATIONS: Final = frozenset(
    {
        "answer",
        "decide_review",
        "delete_memory",
        "delete_user",
        "get_entity",
        "get_entity_graph",
        "get_job",
        "get_memory",
        "get_memory_history",
        "get_profile",
        "get_review",
        "get_review_summary",
        "get_turn",
        "give_feedback",
        "ingest_turns",
        "list_agents",
        "list_entities",
        "list_jobs",
        "list_memories",
        "list_reviews",
        "list_session",
        "list_sessions",
        "list_turns",
        "list_users",
        "patch_memory",
        "query",
        "readyz",
        "undo_review",
        "who_am_i",
        "write_batch",
    }
)
"""The operations with a method in the clients, besides one `write_<type>` for each memory type."""

PROBLEMS: Final = ("Problem", "ReviewMoved")
"""Schemas of errors, which no successful answer leads to."""


def load(path: Path) -> dict[str, Any]:
    """Return the contract with only the operations of the clients and the schemas that these refer to."""
    whole = json.loads(path.read_text())
    paths = {path: chosen for path, methods in whole["paths"].items() if (chosen := _choose(methods))}
    schemas = whole["components"]["schemas"]
    needed = closure(schemas, [*references(paths), *PROBLEMS])
    return {
        "openapi": whole["openapi"],
        "info": whole["info"],
        "paths": paths,
        "components": {"schemas": {name: schema for name, schema in schemas.items() if name in needed}},
    }


def operations(contract: Schema) -> dict[str, Schema]:
    """Return the operations by their ids."""
    found = (one for methods in contract["paths"].values() for one in methods.values())
    return {one["operationId"]: one for one in found}


def answers(operation: Schema) -> Iterator[Schema]:
    """Yield the schemas of the operation's successful answers."""
    for status, response in operation["responses"].items():
        if status.startswith("2") and "application/json" in response.get("content", {}):
            yield response["content"]["application/json"]["schema"]


def references(value: object) -> Iterator[str]:
    """Yield the names of the schemas that a part of the contract refers to, with repetitions."""
    if isinstance(value, Mapping):
        if isinstance(target := value.get("$ref"), str):
            yield target.removeprefix(PREFIX)
        for part in value.values():
            yield from references(part)
    elif isinstance(value, list):
        for part in value:
            yield from references(part)


def closure(schemas: Mapping[str, Schema], roots: Iterable[str]) -> list[str]:
    """Return the roots and all that they refer to; each schema comes after those that it refers to."""
    ordered: dict[str, None] = {}
    entered: set[str] = set()

    def visit(name: str) -> None:
        if name in entered:
            return
        entered.add(name)
        for target in references(schemas[name]):
            visit(target)
        ordered[name] = None

    for root in roots:
        visit(root)
    return list(ordered)


def _choose(methods: Schema) -> dict[str, Any]:
    return {
        method: {**one, "responses": _successes(one)}
        for method, one in methods.items()
        if isinstance(one, Mapping) and _is_used(one.get("operationId", ""))
    }


def _is_used(operation_id: str) -> bool:
    return operation_id in OPERATIONS or operation_id.startswith("write_")


def _successes(operation: Schema) -> dict[str, Any]:
    return {
        status: {name: part for name, part in one.items() if name != "headers"}
        for status, one in operation["responses"].items()
        if status.startswith("2")
    }
