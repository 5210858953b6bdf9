"""Mem0's calls that read, of memories, owners, profiles, events and projects, and that of a project's instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import Query
from starlette.responses import Response

from app import ids
from app.api.memories.read import MemoryId
from app.api.query import PositionHeader
from app.api.turns import TurnOut
from app.errors import NotFound
from app.features.activity.service import Activity
from app.features.answers.profiles import Profiles
from app.features.mem0 import bodies as mem0
from app.features.mem0.bodies import EntityName, extracted, filters_from_text, require_project
from app.features.mem0.filters import Filter, all_of, equal, read_filter
from app.features.mem0.service import Mem0, Mem0Question, instant, version_entry
from app.http import models
from app.http.guard import (
    ActorDep,
    RuntimeDep,
)
from app.http.models import json_answer
from app.http.problems import FieldError, InvalidFields
from app.model import Actor, JobStatus, MemoryStatus, ReadMode, ScopeKind, Visibility
from app.runtime import Runtime
from app.services.memories import MemoryFilters

PAGE: Final = 100
"""Memories of a page of a listing, by default."""


_STATUSES: Final[Mapping[JobStatus, str]] = {
    JobStatus.QUEUED: "PENDING",
    JobStatus.RUNNING: "RUNNING",
    JobStatus.SUCCEEDED: "SUCCEEDED",
}


async def mem0_get(
    runtime: RuntimeDep, actor: ActorDep, memory_id: MemoryId, query: Annotated[mem0.ProjectFields, Query()]
) -> Response:
    """Read a memory of any status."""
    require_project(actor, query)
    return json_answer(mem0.shown(await runtime.memories.get(actor, ids.parse(ids.MEMORY, memory_id))))


async def mem0_history(
    runtime: RuntimeDep, actor: ActorDep, memory_id: MemoryId, query: Annotated[mem0.ProjectFields, Query()]
) -> Response:
    """List the versions of a belief, the oldest first."""
    require_project(actor, query)
    found = (await runtime.memories.history(actor, ids.parse(ids.MEMORY, memory_id))).versions
    return json_answer([version_entry(one, before) for before, one in zip((None, *found), found, strict=False)])


async def mem0_list(
    runtime: RuntimeDep, actor: ActorDep, body: mem0.ListBody, query: Annotated[mem0.PageNumbers, Query()]
) -> Response:
    """List memories that meet a filter, newest first."""
    page, size = query.page or body.page, query.page_size or body.page_size
    return await _listed(runtime, actor, body, page, size)


async def mem0_list_by_query(
    runtime: RuntimeDep, actor: ActorDep, query: Annotated[mem0.ListQuery, Query()]
) -> Response:
    """List memories as the first version of the interface does."""
    given = query.model_dump(exclude_none=True, exclude={"filters", "limit", "page", "page_size"})
    body = mem0.ListBody.model_validate(given | {"filters": filters_from_text(query.filters)})
    size = query.page_size or query.limit
    return await _listed(runtime, actor, body, query.page, size)


async def _listed(runtime: Runtime, actor: Actor, body: mem0.ListBody, page: int | None, size: int | None) -> Response:
    require_project(actor, body)
    statuses = [MemoryStatus.ACTIVE]
    statuses += [MemoryStatus.EXPIRED] if body.show_expired else []
    statuses += [] if body.latest_only else [MemoryStatus.SUPERSEDED]
    narrowed = MemoryFilters(
        scopes=(),
        statuses=tuple(statuses),
        recorded_since=models.aware(body.start_date, UTC),
        recorded_until=models.aware(body.end_date, UTC),
        valid_at=None if body.show_expired else runtime.clock(),
    )
    found = await Mem0(runtime=runtime, actor=actor).listed(_wanted(body), narrowed)
    wanted_size, number = size or PAGE, page or 1
    start = (number - 1) * wanted_size
    results = [projected(mem0.shown(one), body.fields) for one in found.memories[start : start + wanted_size]]
    if body.output_format == "v1.0":
        return json_answer(results)
    more = start + wanted_size < len(found.memories)
    return json_answer(
        {
            "count": len(found.memories),
            "next": _page_link(number + 1, wanted_size) if more else None,
            "previous": _page_link(number - 1, wanted_size) if number > 1 else None,
            "results": results,
            "capped": found.capped,
        }
    )


def _page_link(number: int, size: int) -> str:
    return f"?page={number}&page_size={size}"


def projected(made: dict[str, Any], names: Sequence[str] | None) -> dict[str, Any]:
    """Return a memory with these fields alone; raise InvalidFields for others than it has."""
    if not names:
        return made
    unknown = [name for name in names if name not in made]
    if unknown:
        raise InvalidFields([FieldError(field="fields", message=f"there is no {unknown[0]!r}: {', '.join(made)}")])
    return {name: made[name] for name in ("id", *names)}


def _wanted(body: mem0.FilterFields) -> Filter:
    """Return the one filter of a body: its filters, and the ids, categories and metadata beside them."""
    parts = [equal(name, value) for name, value in body.given.items()]
    if body.filters:
        parts.append(read_filter(body.filters))
    if body.categories:
        parts.append(read_filter({"categories": {"in": body.categories}}, "categories"))
    if body.metadata:
        parts.append(read_filter({"metadata": body.metadata}, "metadata"))
    return all_of(parts)


async def mem0_search(
    runtime: RuntimeDep, actor: ActorDep, body: mem0.SearchBody, memory_position: PositionHeader = None
) -> Response:
    """Find memories, best first; without `threshold` only what answers, with 0 the nearest whatever they are."""
    require_project(actor, body)
    wanted, most = _wanted(body), body.top_k or 10
    asked = Mem0Question(
        top_k=min(models.MOST_RESULTS, 2 * most + 10) if wanted.plain else models.MOST_RESULTS,
        mode=None if body.latest_only and not body.show_expired else ReadMode.HISTORICAL,
        now=instant(body.reference_date, "reference_date"),
        min_relevance=body.threshold,
        rerank=body.rerank,
    )
    request = asked.build_request(body.query, (), runtime.clock())
    request = replace(request, metadata=dict(wanted.metadata), min_relevance=body.threshold)
    found = await Mem0(runtime=runtime, actor=actor).searched(wanted, request, position=memory_position)
    results = [
        projected({**mem0.shown(memory), "score": round(score, models.DIGITS)}, body.fields)
        for memory, score in found[:most]
    ]
    return json_answer(results if body.output_format == "v1.0" else {"results": results})


async def mem0_entities(
    runtime: RuntimeDep, actor: ActorDep, query: Annotated[mem0.ProjectFields, Query()]
) -> Response:
    """List users, agents and runs, at most 1,000 of each."""
    require_project(actor, query)
    most = 1_000
    results: list[dict[str, Any]] = []
    for kind in (ScopeKind.USER, ScopeKind.AGENT):
        names = await runtime.service(Activity).names(actor, kind, None, text="", after="", limit=most)
        results += [
            _entity(kind, one.name, one.memories, one.last_active_at)
            for one in names.items
            if one.memories or one.turns
        ]
    sessions = await runtime.service(Activity).sessions(actor, scopes=None, after="", limit=most)
    results += [_entity("run", one.session_id, one.memories, one.last_at) for one in sessions.items]
    return json_answer({"count": len(results), "next": None, "previous": None, "results": results})


def _entity(kind: str, name: str, memories: int, at: Any) -> dict[str, Any]:  # noqa: ANN401 - a time or None
    told = None if at is None else at.isoformat()
    return {"id": name, "name": name, "type": str(kind), "total_memories": memories, "updated_at": told}


async def mem0_profile(runtime: RuntimeDep, actor: ActorDep, user_id: EntityName) -> Response:
    """Get the profile of a user as a text with its groups."""
    found = await runtime.service(Profiles).get(actor, Visibility(user_id=user_id))
    groups = {one.name: list(one.lines) for one in found.groups}
    return json_answer(
        {
            "profile": groups,
            "text": found.text,
            "status": "succeeded" if found.text else "insufficient_data",
            "entity_type": "user",
            "entity_id": user_id,
        }
    )


async def mem0_event(runtime: RuntimeDep, actor: ActorDep, job_id: str) -> Response:
    """Get the state of a job that processes messages, with its results."""
    job = await runtime.jobs.get(actor, ids.parse(ids.JOB, job_id))
    stored = await runtime.turns.get_all(actor, [UUID(hex=one) for one in job.payload.get("turns", ())])
    turns = [TurnOut.of_stored(one) for one in stored]
    return json_answer(
        {
            "id": job_id,
            "event_type": "ADD",
            "status": _STATUSES.get(job.status, "FAILED"),
            "results": await extracted(runtime, actor, turns),
            "created_at": job.created_at.isoformat(),
            "started_at": None if job.started_at is None else job.started_at.isoformat(),
            "completed_at": None if job.finished_at is None else job.finished_at.isoformat(),
            "error": job.error,
        }
    )


async def mem0_project(
    runtime: RuntimeDep,
    actor: ActorDep,
    tenant_id: str,
    project_id: str,
    query: Annotated[mem0.ProjectQuery, Query()],
) -> Response:
    """Get the name of the key's tenant and its instructions for extraction."""
    _require_own(actor, query, tenant_id, project_id)
    return json_answer(projected(await _shown(runtime, actor), query.fields))


async def mem0_update_project(
    runtime: RuntimeDep, actor: ActorDep, tenant_id: str, project_id: str, body: mem0.ProjectBody
) -> Response:
    """Replace the tenant's instructions for extraction, in the policy that has its other settings, too."""
    _require_own(actor, body, tenant_id, project_id)
    policy = await runtime.policies.get(actor.tenant_id)
    extraction = policy.extraction.model_copy(update={"instructions": body.custom_instructions or None})
    changed = policy.model_copy(update={"extraction": extraction})
    await runtime.policies.put(actor.tenant_id, type(policy).model_validate(changed.model_dump()), by=actor.name)
    return json_answer({"message": "Updated the project", **await _shown(runtime, actor)})


def _require_own(actor: Actor, fields: mem0.ProjectFields, *given: str) -> None:
    if set(given) != {require_project(actor, fields)}:
        raise NotFound("the key has no such project")


async def _shown(runtime: Runtime, actor: Actor) -> dict[str, Any]:
    told = ids.public(ids.TENANT, actor.tenant_id)
    named = (await runtime.tenants.get(actor.tenant_id)).name
    policy = await runtime.policies.get(actor.tenant_id)
    return {
        "id": told,
        "project_id": told,
        "org_id": told,
        "name": named,
        "custom_instructions": policy.extraction.instructions,
    }


async def mem0_generate_profile(body: mem0.ProfileJobBody) -> Response:
    """Say that a profile is ready to be read: it is made whenever it is asked for."""
    return json_answer(
        {
            "job_id": body.entity_id,
            "status": "succeeded",
            "status_url": None,
            "operation": body.operation,
            "entity_type": body.entity_type,
            "entity_count_reserved": 0,
            "event_id": None,
            "replayed": False,
        }
    )
