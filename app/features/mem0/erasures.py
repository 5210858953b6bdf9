"""Mem0's calls that erase all memories of somebody, or those that a filter chooses."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from starlette.responses import Response

from app import ids
from app.features.erasure.service import Erasures
from app.features.mem0 import bodies as mem0
from app.features.mem0.filters import Filter, Owner, all_of, equal, read_filter
from app.features.mem0.service import Mem0
from app.features.mem0.shared import EntityName, filters_from_text, require_project
from app.http.guard import (
    ActorDep,
    RuntimeDep,
)
from app.http.models import json_answer
from app.http.problems import FieldError, InvalidFields
from app.model import Actor, MemoryStatus
from app.runtime import Runtime
from app.services.memories import MemoryFilters


async def mem0_delete_all(
    runtime: RuntimeDep, actor: ActorDep, query: Annotated[mem0.DeleteAllQuery, Query()]
) -> Response:
    """Erase a user with all turns, or the memories that several ids or filters choose."""
    require_project(actor, query)
    filters = filters_from_text(query.filters)
    parts = [equal(name, value) for name, value in query.given.items()]
    parts += [read_filter(filters)] if filters else []
    if not parts:
        message = "name whose memories to erase: user_id, agent_id, run_id or app_id"
        raise InvalidFields([FieldError(field="user_id", message=message)])
    wanted = all_of(parts)
    match wanted.owners:
        case (Owner(user_id=str() as user, agent_id=None, anyone=False),) if wanted.plain:
            return await _erased_user(runtime, actor, user)
    count = await _erased(runtime, actor, wanted)
    return json_answer({"message": "Memories deleted successfully!", "deleted": count})


async def _erased(runtime: Runtime, actor: Actor, wanted: Filter) -> int:
    """Erase the memories of any status that a filter chooses, and return how many."""
    service, count = Mem0(runtime=runtime, actor=actor), 0
    while True:
        found = await service.listed(wanted, MemoryFilters(scopes=(), statuses=tuple(MemoryStatus)))
        count += await service.erased(found.memories)
        if not found.capped or not found.memories:
            return count


async def _erased_user(runtime: Runtime, actor: Actor, user: str) -> Response:
    started = await runtime.service(Erasures).user(actor, user, wait=None)
    return json_answer(
        {
            "message": "Memories deleted successfully!",
            "deleted": started.erasure.counts.get("memories", 0),
            "receipt": ids.public(ids.ERASURE, started.erasure.id),
            "event_id": None if started.job is None else ids.public(ids.JOB, started.job),
        }
    )


EntityType = Annotated[str, Path(pattern="^(user|agent|app|run)$", description="The kind of the owner.")]


async def mem0_delete_entity(
    runtime: RuntimeDep,
    actor: ActorDep,
    entity_type: EntityType,
    user_id: EntityName,
    query: Annotated[mem0.ProjectFields, Query()],
) -> Response:
    """Erase a user, or all memories of an agent, an app or a run."""
    require_project(actor, query)
    if entity_type == "user":
        return await _erased_user(runtime, actor, user_id)
    count = await _erased(runtime, actor, equal(f"{entity_type}_id", user_id))
    return json_answer({"message": "Entity deleted successfully!", "deleted": count})
