"""Parts of mem0's calls that several share: projects, filters in query strings, events of extraction."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, Final

from fastapi import Path

from app import ids
from app.errors import NotFound
from app.features.mem0 import bodies as mem0
from app.http.problems import FieldError, InvalidFields
from app.memory.candidate import WriteDecision
from app.model import Actor
from app.runtime import Runtime

EVENTS: Final[Mapping[str, str]] = {
    WriteDecision.ADDED: "ADD",
    WriteDecision.SUPERSEDED: "UPDATE",
    WriteDecision.CONTRADICTED: "ADD",
    WriteDecision.ENDED: "DELETE",
}
"""Mem0's events by the decisions here; others are NONE."""


EntityName = Annotated[str, Path(min_length=1, max_length=1_000)]


def require_project(actor: Actor, given: mem0.ProjectFields) -> str:
    """Return the tenant's public id; raise InvalidFields for another organisation or project."""
    tenant = ids.public(ids.TENANT, actor.tenant_id)
    wrong = [name for name in ("org_id", "project_id") if getattr(given, name) not in (None, tenant)]
    if wrong:
        message = f"is not the key's own: leave it out, or give {tenant}"
        raise InvalidFields([FieldError(field=name, message=message) for name in wrong])
    return tenant


def filters_from_text(text: str | None) -> dict[str, Any] | None:
    """Return filters of a query string: JSON, or a dictionary as Python prints it, which the client sends."""
    if text is None:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        try:
            found = ast.literal_eval(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            found = None
    if not isinstance(found, dict):
        raise InvalidFields([FieldError(field="filters", message="must be a JSON object")])
    return found


async def extracted(runtime: Runtime, actor: Actor, turns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the results of turns as mem0's events, with the decisions and reasons of this service."""
    candidates = [one for turn in turns for one in turn["candidates"]]
    texts: dict[str, str] = {}
    for name in {one["memory_id"] for one in candidates if one["memory_id"]}:
        with suppress(NotFound):  # erased since
            texts[name] = (await runtime.memories.get(actor, ids.parse(ids.MEMORY, name))).content
    return [_event(one, texts) for one in candidates]


def _event(candidate: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    replaced = [one["memory_id"] for one in candidate["affected"] if one["change"] == "superseded"]
    text = texts.get(candidate["memory_id"] or "", candidate["content"])
    return {
        "id": candidate["memory_id"],
        "memory": text,
        "data": {"memory": text},
        "event": EVENTS.get(candidate["decision"], "NONE"),
        "previous_id": replaced[0] if replaced else None,
        **{name: candidate[name] for name in ("type", "decision", "reason", "affected", "confidence", "quote")},
    }
