"""Writes of memories over HTTP: a route for each type, and one for batches of any types."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from typing import Annotated, Any, Final, TypeVar

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field
from starlette.responses import Response

from app.api.memories.answers import BatchResultOut, WriteResultOut
from app.api.memories.bodies import (
    LARGEST_BATCH,
    TenantTypeWrite,
    WriteBodies,
    WriteFields,
    candidate_from_body,
    candidates_from_batch,
    refuse_turns,
    refuse_unknown_entities,
    turns_of,
)
from app.errors import InvalidInput, TypedMemoryError, TypesMoved
from app.http.guard import NAMED, WRITE, ActorDep, RuntimeDep
from app.http.idempotency import IDEMPOTENT, ReplayableResponse, run_once
from app.http.models import RequestBody, json_answer
from app.http.problems import (
    FieldError,
    InvalidFields,
    is_final,
    problem_of,
    raise_if_all_failed,
    unknown_type,
)
from app.http.routes import CREATED, OK, Handler, add_route
from app.memory.candidate import WriteOutcome
from app.memory.fields import Name
from app.memory.registry import Registry, unknown
from app.memory.spec import MemoryType
from app.model import Actor
from app.runtime import Runtime

T = TypeVar("T")

ATTEMPTS: Final = 3
"""Attempts at a request whose types change meanwhile."""


async def with_types(
    runtime: Runtime, actor: Actor, names: Collection[str], work: Callable[[Registry], Awaitable[T]]
) -> T:
    """Run the work with the tenant's types, read again if they lack one of the names; repeat it if they have changed.

    A request that outdated types refuse may be right, so it is repeated with the latest types, too.
    """
    for attempt in range(1, ATTEMPTS + 1):
        types = await runtime.type_book.naming(actor.tenant_id, names)
        try:
            return await work(types)
        except TypesMoved:
            if attempt == ATTEMPTS:
                raise
        except InvalidInput:
            own = any(found is not None and found.version for found in map(types.find, names))
            if attempt == ATTEMPTS or not own:
                raise
            if (await runtime.type_book.of(actor.tenant_id)).version == types.version:
                raise
    raise AssertionError("unreachable")


async def tenant_type(
    runtime: RuntimeDep,
    actor: ActorDep,
    type: Annotated[Name, Path(description="A type of your own.", examples=["ticket"])],  # noqa: A002 - the path's word
) -> MemoryType:
    """Return the tenant's type of that name or alias; raise NotFound, with the known names, before the body is read."""
    return tenant_types_in(type, await runtime.type_book.naming(actor.tenant_id, [type]))


def tenant_types_in(name: str, types: Registry) -> MemoryType:
    """Return the type of that name or alias, or raise NotFound with the known names."""
    found = types.find(name)
    if found is None:
        raise unknown(name, types)
    return found


async def known_types(request: Request, runtime: RuntimeDep, actor: ActorDep) -> None:
    """Raise InvalidFields for a batch with unknown types, before its items are validated."""
    body = await request.json()
    items = body.get("memories") if isinstance(body, dict) else None
    if not isinstance(items, list) or len(items) > LARGEST_BATCH:
        return
    given = {place: one.get("type") for place, one in enumerate(items) if isinstance(one, dict)}
    named = {place: name for place, name in given.items() if isinstance(name, str)}
    types = await runtime.type_book.naming(actor.tenant_id, set(named.values()))
    errors = [
        FieldError(field=f"memories.{place}.type", message=unknown_type(name, types.by_name))
        for place, name in named.items()
        if types.find(name) is None
    ]
    if errors:
        raise InvalidFields(errors)


OwnType = Annotated[MemoryType, Depends(tenant_type)]


class WriteQuery(RequestBody):
    """Options of a typed write."""

    dry_run: bool = Field(
        default=False, description="Decide, and store nothing; the id of the answer's memory is of nothing, then."
    )


WriteQueryDep = Annotated[WriteQuery, Query()]

_DRY: Final = {OK: {"model": WriteResultOut, "description": "The decision of a dry run."}}


def add(found: APIRouter, registry: Registry, bodies: WriteBodies) -> None:
    """Add the routes, one for each type, so that OpenAPI shows its body."""
    for spec in registry:
        for name in (spec.name, *spec.aliases):
            add_route(
                found,
                "POST",
                WRITE | NAMED,
                f"/memories/typed/{name}",
                _typed_write(spec, bodies.single[spec.name]),
                f"Write a memory of type {spec.name}",
                WriteResultOut,
                operation_id=f"write_{spec.name}",
                status_code=CREATED,
                responses=_DRY,
                description=spec.definition,
                dependencies=IDEMPOTENT,
                include_in_schema=name == spec.name,
            )
    add_route(
        found,
        "POST",
        WRITE | NAMED,
        "/memories/typed/{type}",
        write_tenant_type,
        "Write a memory of a type of your own",
        WriteResultOut,
        operation_id="write_own_type",
        status_code=CREATED,
        responses=_DRY,
        dependencies=IDEMPOTENT,
    )
    add_route(
        found,
        "POST",
        WRITE | NAMED,
        "/memories/batch",
        _batch_write(bodies.batch),
        "Write up to a thousand memories",
        BatchResultOut,
        status_code=CREATED,
        dependencies=[*IDEMPOTENT, Depends(known_types)],
    )


def _typed_write(spec: MemoryType, body_type: type[WriteFields]) -> Handler:
    async def write(
        request: Request, runtime: RuntimeDep, actor: ActorDep, body: WriteFields, how: WriteQueryDep
    ) -> Response:
        async def work() -> object:
            return await _write_one(runtime, actor, spec, body, dry_run=how.dry_run)

        if how.dry_run:
            return json_answer(await work())
        return await run_once(request, runtime, actor, CREATED, work)

    write.__annotations__["body"] = body_type
    return write


async def write_tenant_type(
    request: Request, runtime: RuntimeDep, actor: ActorDep, spec: OwnType, body: TenantTypeWrite, how: WriteQueryDep
) -> Response:
    """Write a memory of a type of your own, by the latest version of its definition.

    Its fields are in `payload`. The other fields are those of built-in types.
    """
    if body.type is not None and body.type not in (spec.name, *spec.aliases):
        raise InvalidFields([FieldError(field="type", message=f"is not {spec.name}, which the route says")])

    async def work() -> object:
        return await with_types(
            runtime,
            actor,
            [spec.name],
            lambda types: _write_one(runtime, actor, tenant_types_in(spec.name, types), body, dry_run=how.dry_run),
        )

    if how.dry_run:
        return json_answer(await work())
    return await run_once(request, runtime, actor, CREATED, work)


async def _write_one(
    runtime: Runtime, actor: Actor, spec: MemoryType, body: WriteFields, *, dry_run: bool
) -> dict[str, object]:
    candidate = candidate_from_body(spec, body, runtime.clock())
    refuse_turns([body], await runtime.turns.uncitable(actor, turns_of([candidate])))
    refuse_unknown_entities(await runtime.memories.unknown_entities(actor, [candidate]))
    memories = runtime.memories
    outcome = await (memories.preview(actor, candidate) if dry_run else memories.write(actor, candidate))
    return WriteResultOut.answer(outcome, runtime.clock())


def _batch_write(body_type: type[Any]) -> Handler:
    async def write_batch(request: Request, runtime: RuntimeDep, actor: ActorDep, body: Any) -> Response:  # noqa: ANN401
        """Write memories of any types, each by itself, and answer in their order.

        Each result has a `status`, and the decision or the problem. A batch with a wrong field is refused as a whole,
        and one of which nothing could be stored answers with the first problem.
        """

        async def written(types: Registry) -> object:
            candidates = candidates_from_batch(body.memories, types, runtime.clock())
            uncitable = await runtime.turns.uncitable(actor, turns_of(candidates))
            refuse_turns(body.memories, uncitable, batch=True)
            refuse_unknown_entities(await runtime.memories.unknown_entities(actor, candidates), batch=True)
            results = await runtime.memories.write_all(actor, candidates)
            raise_if_all_failed(results)
            now = runtime.clock()
            items = [_batch_item(request, place, one, now) for place, one in enumerate(results)]
            return ReplayableResponse(CREATED, {"results": items}, final=is_final(results))

        async def work() -> object:
            return await with_types(runtime, actor, {one.type for one in body.memories}, written)

        return await run_once(request, runtime, actor, CREATED, work)

    write_batch.__annotations__["body"] = body_type
    return write_batch


def _batch_item(
    request: Request, place: int, result: WriteOutcome | TypedMemoryError, now: datetime
) -> dict[str, object]:
    if isinstance(result, TypedMemoryError):
        return {"index": place, "status": result.status, "problem": problem_of(result, request.scope)}
    return {"index": place, "status": CREATED, **WriteResultOut.answer(result, now)}
