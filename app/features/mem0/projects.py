"""Mem0's calls about a project, which is the key's tenant, and about the making of profiles."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from app import ids
from app.errors import NotFound
from app.features.mem0 import bodies as mem0
from app.features.mem0.reads import projected
from app.features.mem0.shared import require_project
from app.http.guard import ActorDep, RuntimeDep
from app.http.models import json_answer
from app.model import Actor
from app.runtime import Runtime


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
