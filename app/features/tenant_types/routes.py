"""Memory types over HTTP: list all; define, read and remove a tenant's own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.responses import Response

from app.features.tenant_types.service import TenantTypes
from app.http.guard import ADMIN, OPEN, READ, ActorDep, GuardedRoute, Handler, RuntimeDep
from app.http.models import Given, Out, Source, json_answer
from app.http.outcomes import LOCATION
from app.http.problems import FieldError, InvalidFields, field_errors
from app.http.routes import CREATED, NO_CONTENT, OK, add_reads, add_route
from app.memory.fields import Name
from app.memory.tenant_types.definition import Definition, DefinitionError, InvalidDefinition, pointer
from app.model import Category, ScopeKind


@lru_cache(maxsize=256)
def _schema_of(payload: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of a type's fields, which takes milliseconds to make and never changes."""
    return payload.model_json_schema(by_alias=True)


TypeNameIn = Annotated[Name, Path(description="A type's name.", examples=["ticket"])]


class TypeOut(Out):
    """A memory type and its policy."""

    name: str
    version: int = Field(description="Of your own type, from 1; 0: it is built in.")
    aliases: list[str]
    definition: str
    category: Category
    default_scope: ScopeKind
    prior: float
    half_life_days: float | None
    floor: Annotated[float, Source("", lambda spec: spec.decay(None).floor)]
    group: str
    payload_schema: Annotated[dict[str, Any], Source("payload", _schema_of)]


class TypesOut(Out):
    """All memory types, the built-in ones first."""

    types: list[TypeOut]


class LostOut(Out):
    """A change that may make payloads of the version before invalid, or change their slot."""

    pointer: str
    message: str


class DefinedOut(Out):
    """The result of a definition."""

    type: TypeOut
    new: bool = Field(description="False where this is what is there already.")
    incompatible: list[LostOut] = Field(
        description="What the version before took and this one does not. Memories that are there keep their version."
    )


class VersionOut(Out):
    """A version of a definition."""

    version: int
    created_at: datetime
    created_by: str
    definition: dict[str, Any]


class TypeDetailOut(TypeOut):
    """A type with the versions of its definition, oldest first, and its number of memories."""

    versions: Annotated[list[VersionOut], Given()] = Field(description="Empty for a type that is built in.")
    memories: Annotated[int | None, Given()] = Field(
        description="Of every status and version; null for a type that is built in."
    )


class PointedRoute(GuardedRoute):
    """A route that reports faults of its body by JSON pointers."""

    def get_route_handler(self) -> Handler:
        """Return the handler."""
        handle = super().get_route_handler()

        async def pointed(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as error:
                raise InvalidFields([_pointed(one) for one in error.errors()]) from None
            except InvalidDefinition as error:
                raise InvalidFields([_field_error(one) for one in error.faults]) from None

        return pointed


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["admin"], route_class=PointedRoute)
    one = "/admin/types/{type_name}"
    add_reads(
        found,
        READ | OPEN,
        ("/admin/types", list_types, "List memory types", TypesOut),
        (one, get_type, "Get a memory type with its versions", TypeDetailOut),
    )
    define = ("/admin/types", define_type, "Define a memory type, or its next version", DefinedOut)
    checked = {OK: {"model": DefinedOut, "description": "The result of a dry run."}}
    add_route(found, "POST", ADMIN, *define, status_code=CREATED, responses=checked)
    add_route(found, "DELETE", ADMIN, one, remove_type, "Remove a memory type", status_code=NO_CONTENT)
    return found


async def list_types(runtime: RuntimeDep, actor: ActorDep) -> Response:
    """List the memory types with their policies and the schemas of their fields, built-in types first."""
    types = await runtime.type_book.of(actor.tenant_id)
    return json_answer({"types": [TypeOut.answer(one) for one in types]})


async def define_type(
    request: Request,
    runtime: RuntimeDep,
    actor: ActorDep,
    body: Definition,
    *,
    dry_run: Annotated[bool, Query(description="Return the result without storing it.")] = False,
) -> Response:
    """Define a memory type of your own, or the next version of an existing one.

    It is in use at once, on every replica: for typed writes and batches, in extraction, as a filter, and for hints in
    questions. Existing memories keep the version that they were written with; incompatible changes of a new version
    are listed. An unchanged definition changes nothing. All faults of a definition are reported together, by JSON
    pointers into it.
    """
    done = await runtime.service(TenantTypes).define(actor, body, dry_run=dry_run)
    if dry_run:
        return json_answer(DefinedOut.answer(done))
    location = f"{request.scope.get('root_path', '')}/admin/types/{body.name}"
    return json_answer(DefinedOut.answer(done), CREATED, {LOCATION: location})


async def get_type(runtime: RuntimeDep, actor: ActorDep, type_name: TypeNameIn) -> Response:
    """Get a type by its name or an alias, with every version of the definition if it is your own."""
    found = await runtime.service(TenantTypes).get(actor, type_name)
    versions = [VersionOut.answer(one) for one in found.versions]
    return json_answer(TypeDetailOut.answer(found.type, versions=versions, memories=found.memories))


async def remove_type(runtime: RuntimeDep, actor: ActorDep, type_name: TypeNameIn) -> Response:
    """Remove a type of your own, with its versions, if it has no memories of any status.

    A memory without its type could not be read. To stop the extraction of more memories of it, define the type with
    `extracted` false.
    """
    await runtime.service(TenantTypes).remove(actor, type_name)
    return Response(status_code=NO_CONTENT)


def _field_error(fault: DefinitionError) -> FieldError:
    return FieldError(field=fault.pointer, message=fault.message)


def _pointed(error: Mapping[str, Any]) -> FieldError:
    """Return a validation error with a pointer into the body, or with the parameter's name."""
    steps = error["loc"]
    if error["type"] == "recursion_depth_exceeded":
        return FieldError(field=pointer(*steps[1:2]), message="is nested too deeply")
    [found] = field_errors([error], body=Definition)
    return found if steps[:1] != ("body",) else FieldError(field=pointer(*steps[1:]), message=found.message)
