"""Mem0's calls that change: additions, updates, erasures, feedback."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

from fastapi import Path, Query, Request
from pydantic import ValidationError
from starlette.responses import Response

from app import ids
from app.api.memories.bodies import WriteBodies, WriteFields, candidates_from
from app.api.memories.read import MemoryId
from app.api.turn_bodies import TurnsBody, turns_given
from app.api.turns import MOST_AT_ONCE, IngestQuery, ProcessingMode, post_turns
from app.errors import TypedMemoryError
from app.features.erasure.service import Erasures
from app.features.feedback.service import FeedbackService, MemoryFeedback
from app.features.mem0 import bodies as mem0
from app.features.mem0.bodies import EVENTS, EntityName, extracted, filters_from_text, require_project
from app.features.mem0.filters import Filter, Owner, all_of, equal, read_filter
from app.features.mem0.service import Mem0, instant, kept, until
from app.http.guard import (
    ActorDep,
    RuntimeDep,
)
from app.http.idempotency import run_once
from app.http.models import json_answer
from app.http.problems import FieldError, InvalidFields, field_errors
from app.http.routes import OK
from app.memory.candidate import WriteDecision, WriteOutcome
from app.memory.registry import Registry
from app.model import Actor, Feedback, MemoryStatus, ScopeKind
from app.runtime import Runtime
from app.services.memories import MemoryFilters

_OPINIONS: Final[Mapping[str, Feedback]] = {
    "POSITIVE": Feedback.USEFUL,
    "NEGATIVE": Feedback.NOT_USEFUL,
    "VERY_NEGATIVE": Feedback.WRONG,
}


def adding(registry: Registry, bodies: WriteBodies) -> Callable[..., Any]:
    """Return the handler that remembers messages."""

    async def mem0_add(request: Request, runtime: RuntimeDep, actor: ActorDep, body: mem0.AddBody) -> Response:
        """Remember messages: what they say (`infer`), or each as it stands."""
        require_project(actor, body)
        given = _owner_of_write(body, actor)
        turns = _turns_body(body, given)
        if body.infer and body.expiration_date is not None:
            message = "takes infer=false: what is extracted ends by what it says. Set it by update() afterwards"
            raise InvalidFields([FieldError(field="expiration_date", message=message)])
        if body.infer:
            return await _inferred(request, runtime, actor, body, turns)

        async def work() -> object:
            spec, written = registry.get("standard"), bodies.single["standard"]
            items = [(spec, one) for one in _verbatim(turns, body, written)]
            outcomes = await runtime.memories.write_all(actor, candidates_from(items, runtime.clock(), "messages"))
            return {"results": [_written(one) for one in outcomes]}

        return await run_once(request, runtime, actor, OK, work)

    return mem0_add


def _owner_of_write(body: mem0.AddBody, actor: Actor) -> dict[str, str]:
    """Return the ids of a write, which stand in the body or, as the client's options have them, in `filters`."""
    given = body.given
    for name, value in (body.filters or {}).items():
        known = name in {"user_id", "agent_id", "run_id", "app_id"} and isinstance(value, str)
        if not known or given.get(name, value) != value:
            message = "of a write may name a user, an agent, a run and an app, each once and as text"
            raise InvalidFields([FieldError(field=f"filters.{name}", message=message)])
        if actor.bound and name in {"user_id", "agent_id"} and given.get(name) != value:
            raise InvalidFields([FieldError(field=f"filters.{name}", message="is not the key's own")])
        given[name] = value
    if not {"user_id", "agent_id"} & set(given) and body.scope is not ScopeKind.GLOBAL:
        message = "name a user_id or an agent_id: what names neither would be everyone's; scope=global says so"
        raise InvalidFields([FieldError(field="user_id", message=message)])
    return given


def _turns_body(body: mem0.AddBody, given: dict[str, str]) -> TurnsBody:
    """Return the messages as turns; raise InvalidFields by the names of this door."""
    messages = [{"role": "user", "content": body.messages}] if isinstance(body.messages, str) else body.messages
    wanted = {
        "instructions": body.custom_instructions,
        "include": [body.includes] if body.includes else [],
        "exclude": [body.excludes] if body.excludes else [],
    }
    metadata = kept(body.metadata, given if {"user_id", "agent_id"} <= set(given) else _without(given, "agent_id"))
    fields = {
        "messages": messages,
        "user_id": given.get("user_id"),
        "agent_id": given.get("agent_id"),
        "session_id": given.get("run_id"),
        "metadata": metadata or None,
        "occurred_at": instant(body.timestamp, "timestamp"),
        "timezone": body.timezone,
        "scope": body.scope,
        "extraction": wanted if any(wanted.values()) else None,
    }
    try:
        return TurnsBody.model_validate({name: value for name, value in fields.items() if value is not None})
    except ValidationError as error:
        raise InvalidFields(field_errors(error.errors(include_url=False))) from None


def _without(given: Mapping[str, str], name: str) -> dict[str, str]:
    return {one: value for one, value in given.items() if one != name}


async def _inferred(request: Request, runtime: Runtime, actor: Actor, body: mem0.AddBody, turns: TurnsBody) -> Response:
    """Send messages through the write pipeline, and answer with the results, or the job that processes them."""
    many = len(turns.messages or ()) > MOST_AT_ONCE
    mode = ProcessingMode.ASYNC if body.async_mode or many else ProcessingMode.SYNC
    response = await post_turns(request, runtime, actor, turns, IngestQuery(mode=mode))
    told = json.loads(bytes(response.body))
    results = await extracted(runtime, actor, told["turns"])
    answer: dict[str, Any] = {
        "results": results,
        "status": "SUCCEEDED" if told["job_id"] is None else "PENDING",
        "event_id": told["job_id"],
        "message": "Processed." if told["job_id"] is None else "Stored: a job processes it.",
        "ignored": told["ignored"],
        "degraded": told["degraded"],
    }
    headers = {name: value for name, value in response.headers.items() if name.startswith("idempotency-")}
    return json_answer(results if body.output_format == "v1.0" else answer, headers=headers)


def _verbatim(turns: TurnsBody, body: mem0.AddBody, written: type[WriteFields]) -> list[WriteFields]:
    """Return the messages as writes of type `standard`."""
    about = {
        "user_id": turns.user_id,
        "agent_id": turns.agent_id,
        "session_id": turns.session_id,
        "scope": turns.scope or (None if turns.user_id or turns.agent_id is None else ScopeKind.AGENT),
        "metadata": turns.metadata or {},
        "valid_until": until(body.expiration_date),
    }
    found = []
    for placed in turns_given(turns).placed:
        said = {"content": placed.turn.content, "occurred_at": placed.turn.occurred_at, **about}
        evidence = [{"quote": placed.turn.content, "role": placed.turn.role}]
        fields = {name: value for name, value in said.items() if value is not None}
        found.append(written.model_validate({**fields, "evidence": evidence}))
    return found


def _written(outcome: WriteOutcome | TypedMemoryError) -> dict[str, Any]:
    if isinstance(outcome, TypedMemoryError) or outcome.memory is None:
        why = str(outcome) if isinstance(outcome, TypedMemoryError) else outcome.reason
        return {"id": None, "memory": None, "event": "NONE", "decision": WriteDecision.REJECTED, "reason": why}
    event = EVENTS.get(outcome.decision, "NONE")
    made = mem0.shown(outcome.memory)
    return {**made, "event": event, "decision": outcome.decision, "reason": outcome.reason}


def updating(registry: Registry, bodies: WriteBodies) -> Callable[..., Any]:
    """Return the handler that changes a memory."""

    async def mem0_update(
        request: Request,
        runtime: RuntimeDep,
        actor: ActorDep,
        memory_id: MemoryId,
        body: mem0.UpdateBody,
        query: Annotated[mem0.ProjectFields, Query()],
    ) -> Response:
        """Change a memory; a new text ends it and is stored as another, whose id the answer has."""
        require_project(actor, query)

        async def work() -> object:
            return await _updated(runtime, actor, memory_id, body, registry, bodies)

        return await run_once(request, runtime, actor, OK, work)

    return mem0_update


async def _updated(
    runtime: Runtime, actor: Actor, memory_id: str, body: mem0.UpdateBody, registry: Registry, bodies: WriteBodies
) -> dict[str, Any]:
    given = body.model_fields_set - {"memory_id"}
    if not given:
        raise InvalidFields([FieldError(field="text", message="give text, metadata or expiration_date")])
    if body.text is None and body.timestamp is not None:
        message = "goes with text: the time at which something was said does not change by itself"
        raise InvalidFields([FieldError(field="timestamp", message=message)])
    memory = await runtime.memories.get(actor, ids.parse(ids.MEMORY, memory_id))
    metadata = dict(memory.metadata) if body.metadata is None else _with_kept(body.metadata, memory.metadata)
    end = until(body.expiration_date) if "expiration_date" in given else memory.valid_until
    if body.text is None or body.text == memory.content:
        changes: dict[str, object] = {"metadata": metadata} if body.metadata is not None else {}
        changes |= {"valid_until": end} if "expiration_date" in given else {}
        found = await runtime.memories.patch(actor, memory.id, changes) if changes else memory
        return {**mem0.shown(found), "event": "UPDATE"}
    fields = {
        "content": body.text,
        "scope": memory.scope.kind,
        "user_id": memory.scope.user_id,
        "agent_id": memory.scope.agent_id,
        "session_id": memory.session_id,
        "metadata": metadata,
        "occurred_at": instant(body.timestamp, "timestamp"),
        "valid_until": end,
        "provenance": {"replaces": memory_id},
    }
    written = bodies.single["standard"].model_validate({k: v for k, v in fields.items() if v is not None})
    outcome = await Mem0(runtime=runtime, actor=actor).replaced(memory, written, registry)
    return {**_written(outcome), "event": "UPDATE", "previous_id": memory_id, "previous_memory": memory.content}


def _with_kept(metadata: dict[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    aside = before.get("mem0")
    return kept(metadata, dict(aside) if isinstance(aside, dict) else {})


def updating_many(registry: Registry, bodies: WriteBodies) -> Callable[..., Any]:
    """Return the handler that changes several memories."""

    async def mem0_update_many(
        request: Request, runtime: RuntimeDep, actor: ActorDep, body: mem0.BatchUpdateBody
    ) -> Response:
        """Change memories one after the other; each result has its outcome."""

        async def work() -> object:
            results = []
            for one in body.memories:
                try:
                    results.append(await _updated(runtime, actor, one.memory_id, one, registry, bodies))
                except TypedMemoryError as error:
                    results.append({"id": one.memory_id, "error": error.message})
            done = sum("error" not in one for one in results)
            return {"message": f"Successfully updated {done} memories", "results": results}

        return await run_once(request, runtime, actor, OK, work)

    return mem0_update_many


async def mem0_delete(
    runtime: RuntimeDep, actor: ActorDep, memory_id: MemoryId, query: Annotated[mem0.DeleteQuery, Query()]
) -> Response:
    """Erase a memory, and with `delete_linked` those that it superseded."""
    require_project(actor, query)
    memory = ids.parse(ids.MEMORY, memory_id)
    service = Mem0(runtime=runtime, actor=actor)
    older = await service.older(memory) if query.delete_linked else []
    await runtime.service(Erasures).memory(actor, memory)
    count = 1 + await service.erased(older)
    return json_answer({"message": "Memory deleted successfully!", "deleted": count})


async def mem0_delete_many(runtime: RuntimeDep, actor: ActorDep, body: mem0.BatchDeleteBody) -> Response:
    """Erase memories; each result says whether it was there."""
    results: list[dict[str, Any]] = []
    for one in body.memories:
        try:
            await runtime.service(Erasures).memory(actor, ids.parse(ids.MEMORY, one.memory_id))
            results.append({"id": one.memory_id, "event": "DELETE"})
        except TypedMemoryError as error:
            results.append({"id": one.memory_id, "error": error.message})
    done = sum("error" not in one for one in results)
    return json_answer({"message": f"Successfully deleted {done} memories", "results": results})


async def mem0_feedback(runtime: RuntimeDep, actor: ActorDep, body: mem0.OpinionBody) -> Response:
    """Say that a memory was useful, not useful or wrong; a wrong one waits for a person before it is recalled again."""
    word = MemoryFeedback(
        feedback=_OPINIONS[body.feedback], at=runtime.clock(), session=None, note=body.feedback_reason or None
    )
    judged = await runtime.service(FeedbackService).judge(actor, ids.parse(ids.MEMORY, body.memory_id), word)
    return json_answer(
        {
            "id": body.memory_id,
            "feedback": body.feedback,
            "feedback_reason": body.feedback_reason,
            "effect": judged.effect,
            "reason": judged.reason,
        }
    )


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
