"""Writing memories: by the type, which gives a route of its own, or many of any types."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from app.api import views
from app.api.bodies import OwnWrite, WriteBodies, WriteFields
from app.api.candidates import (
    from_batch,
    from_body,
    refuse_unknown_entities,
    refuse_unknown_turns,
    turns_of,
)
from app.api.deps import ActorDep, RuntimeDep
from app.api.guard import WRITE
from app.api.idempotent import IDEMPOTENT, once
from app.api.models import Answers
from app.api.own_writes import OwnType, known_types, named, with_types
from app.api.problems import FieldError, InvalidFields, of_error
from app.api.routes import Handler
from app.errors import TypedMemoryError
from app.memory.candidate import Outcome
from app.memory.registry import Registry
from app.memory.spec import MemoryType
from app.model import Actor
from app.runtime import Runtime

CREATED = 201


def add(found: APIRouter, registry: Registry, bodies: WriteBodies, answers: Answers) -> None:
    """Add the routes; each type has one of its own, so that OpenAPI shows its body."""
    for spec in registry:
        for name in (spec.name, *spec.aliases):
            found.add_api_route(
                f"/memories/typed/{name}",
                _typed_write(spec, bodies.single[spec.name]),
                methods=["POST"],
                status_code=CREATED,
                operation_id=f"write_{spec.name}",
                summary=f"Write a memory of type {spec.name}",
                description=spec.definition,
                response_model=answers.write,
                dependencies=IDEMPOTENT,
                openapi_extra=WRITE,
                include_in_schema=name == spec.name,
            )
    found.add_api_route(
        "/memories/typed/{type}",
        write_own_type,
        methods=["POST"],
        status_code=CREATED,
        operation_id="write_own_type",
        summary="Write a memory of a type of your own",
        response_model=answers.write,
        dependencies=IDEMPOTENT,
        openapi_extra=WRITE,
    )
    found.add_api_route(
        "/memories/batch",
        _batch_write(bodies.batch),
        methods=["POST"],
        status_code=CREATED,
        operation_id="write_batch",
        summary="Write up to a thousand memories",
        response_model=answers.batch,
        dependencies=[*IDEMPOTENT, Depends(known_types)],
        openapi_extra=WRITE,
    )


def _typed_write(spec: MemoryType, body_type: type[WriteFields]) -> Handler:
    async def write(request: Request, runtime: RuntimeDep, actor: ActorDep, body: WriteFields) -> Response:
        async def work() -> object:
            return await _written(runtime, actor, spec, body)

        return await once(request, runtime, actor, CREATED, work)

    write.__annotations__["body"] = body_type
    return write


async def write_own_type(
    request: Request, runtime: RuntimeDep, actor: ActorDep, spec: OwnType, body: OwnWrite
) -> Response:
    """Write a memory of a type of your own, by the latest version of its definition.

    Its fields are in `payload`. What a type that is built in takes beside its fields, this takes too.
    """
    if body.type is not None and body.type not in (spec.name, *spec.aliases):
        raise InvalidFields([FieldError(field="type", message=f"is not {spec.name}, which the route says")])

    async def work() -> object:
        return await with_types(
            runtime, actor, [spec.name], lambda types: _written(runtime, actor, named(spec.name, types), body)
        )

    return await once(request, runtime, actor, CREATED, work)


async def _written(runtime: Runtime, actor: Actor, spec: MemoryType, body: WriteFields) -> dict[str, object]:
    candidate = from_body(spec, body, runtime.clock())
    unknown = await runtime.turns.unknown(actor, turns_of([candidate]))
    refuse_unknown_turns([body], unknown)
    refuse_unknown_entities(await runtime.memories.unknown_entities(actor, [candidate]))
    outcome = await runtime.memories.write(actor, candidate)
    return views.outcome(outcome, runtime.clock())


def _batch_write(body_type: type[Any]) -> Handler:
    async def write_batch(request: Request, runtime: RuntimeDep, actor: ActorDep, body: Any) -> Response:  # noqa: ANN401
        """Write memories of any types, each on its own, and answer in their order.

        Each result has a `status`, and with it what was decided, or the problem. A batch with a wrong field is
        refused whole, and one of which nothing could be stored is answered with the first problem.
        """

        async def written(types: Registry) -> object:
            candidates = from_batch(body.memories, types, runtime.clock())
            unknown = await runtime.turns.unknown(actor, turns_of(candidates))
            refuse_unknown_turns(body.memories, unknown, batch=True)
            refuse_unknown_entities(await runtime.memories.unknown_entities(actor, candidates), batch=True)
            results = await runtime.memories.write_all(actor, candidates)
            failures = [one for one in results if isinstance(one, TypedMemoryError)]
            if len(failures) == len(results):
                raise failures[0]
            now = runtime.clock()
            return {"results": [_batch_item(request, place, one, now) for place, one in enumerate(results)]}

        async def work() -> object:
            return await with_types(runtime, actor, {one.type for one in body.memories}, written)

        return await once(request, runtime, actor, CREATED, work)

    write_batch.__annotations__["body"] = body_type
    return write_batch


def _batch_item(request: Request, place: int, result: Outcome | TypedMemoryError, now: datetime) -> dict[str, object]:
    if isinstance(result, TypedMemoryError):
        return {"index": place, "status": result.status, "problem": of_error(result, request.scope)}
    return {"index": place, "status": CREATED, **views.outcome(result, now)}
