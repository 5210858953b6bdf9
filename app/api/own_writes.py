"""Writes of memories of a tenant's own types: their fields are in `payload`, as the tenant's definition has them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Annotated, Final, TypeVar

from fastapi import Depends, Path, Request

from app.api.bodies import LARGEST_BATCH
from app.api.deps import ActorDep, RuntimeDep
from app.api.problems import FieldError, InvalidFields
from app.errors import InvalidInput, TypesMoved
from app.memory.registry import Registry
from app.memory.spec import MemoryType
from app.memory.strings import Name
from app.model import Actor
from app.runtime import Runtime
from app.services.own_types import unknown

T = TypeVar("T")

ATTEMPTS: Final = 3
"""Times that a request is read again because the types it goes by have changed."""


async def with_types(
    runtime: Runtime, actor: Actor, names: Collection[str], work: Callable[[Registry], Awaitable[T]]
) -> T:
    """Do the work with the tenant's types, which have these names if any have; again if they turn out to have moved.

    What is refused by types that are no longer the latest may not be wrong, so it is read again, too.
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


async def own_type(
    runtime: RuntimeDep,
    actor: ActorDep,
    type: Annotated[Name, Path(description="A type of your own.", examples=["ticket"])],  # noqa: A002 - the path's word
) -> MemoryType:
    """Return the tenant's type of that name or alias; NotFound, with those there are, before the body is looked at."""
    return named(type, await runtime.type_book.naming(actor.tenant_id, [type]))


def named(name: str, types: Registry) -> MemoryType:
    """Return the type of that name or alias, or raise NotFound with those there are."""
    found = types.find(name)
    if found is None:
        raise unknown(name, types)
    return found


async def known_types(request: Request, runtime: RuntimeDep, actor: ActorDep) -> None:
    """Refuse a batch with types that the tenant does not have, before its items are looked at."""
    body = await request.json()
    items = body.get("memories") if isinstance(body, dict) else None
    if not isinstance(items, list) or len(items) > LARGEST_BATCH:
        return
    given = {place: one.get("type") for place, one in enumerate(items) if isinstance(one, dict)}
    named = {place: name for place, name in given.items() if isinstance(name, str)}
    types = await runtime.type_book.naming(actor.tenant_id, set(named.values()))
    message = f"unknown memory type; use one of {', '.join(types.by_name)}"
    errors = [
        FieldError(field=f"memories.{place}.type", message=message)
        for place, name in named.items()
        if types.find(name) is None
    ]
    if errors:
        raise InvalidFields(errors)


OwnType = Annotated[MemoryType, Depends(own_type)]
