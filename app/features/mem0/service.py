"""Use cases behind mem0's calls: filtered listings, questions to several owners, replaced texts, erasures by filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from uuid import UUID

from pydantic import Field

from app import ids
from app.api.memories.bodies import WriteFields, candidate_from_body
from app.api.query import QueryFields
from app.errors import NotFound, TypedMemoryError
from app.features.erasure.service import Erasures
from app.features.mem0.bodies import shown
from app.features.mem0.filters import KEPT, Filter, Owner
from app.http.guard import pinned
from app.http.models import Fraction
from app.http.problems import FieldError, InvalidFields
from app.memory.calendar import plausible
from app.memory.candidate import WriteOutcome
from app.memory.registry import Registry
from app.model import Actor, Memory, MemoryStatus, ScopeKind, Visibility
from app.runtime import Runtime
from app.services.memories import MemoryFilters
from app.services.query import QueryRequest

MOST_LOOKED_AT: Final = 10_000
"""Memories that a listing with filters looks through."""

AT_ONCE: Final = 200

MOST_ASKED: Final = 10
"""Users and agents that one search asks for."""


class Mem0Question(QueryFields):
    """The fields of a question that mem0's search has."""

    min_relevance: Fraction | None = None
    rerank: bool = False
    top_k: int = Field(default=10, ge=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """Memories that meet a filter, newest first; `capped` where there were too many to look at."""

    memories: Sequence[Memory] = field(default_factory=list)
    capped: bool = False


def owners_of(wanted: Filter, actor: Actor) -> tuple[Owner, ...]:
    """Return the owners that a filter asks for, with a bound key's own ids; raise Forbidden or InvalidFields."""
    found = []
    for one in wanted.owners:
        ids_of = {"user_id": one.user_id, "agent_id": one.agent_id}
        found.append(replace(one, **{**ids_of, **pinned(ids_of, actor)}))
    if any(not one.named and not one.anyone for one in found):
        message = 'name whose: `user_id` or `agent_id` in every branch of OR, such as {"user_id": "ana"}'
        raise InvalidFields([FieldError(field="filters", message=message)])
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mem0:
    """The use cases, over those of this service; every method sees only the actor's tenant."""

    runtime: Runtime
    actor: Actor

    async def listed(self, wanted: Filter, narrowed: MemoryFilters) -> Listed:
        """Return the memories that meet a filter, from the scopes of its owners."""
        owners = owners_of(wanted, self.actor)
        if not owners:
            return Listed()
        anyone = any(not one.named for one in owners)
        scopes = None if anyone else tuple({scope for one in owners for scope in await self._scopes(one)})
        found: list[Memory] = []
        after, looked = None, 0
        while looked < MOST_LOOKED_AT:
            page = await self.runtime.memories.list(
                self.actor, replace(narrowed, scopes=scopes), limit=AT_ONCE, after=after
            )
            looked += len(page.items)
            found += [one for one in page.items if wanted.test(shown(one))]
            after = page.next
            if after is None:
                return Listed(memories=found)
        return Listed(memories=found, capped=True)

    async def _scopes(self, owner: Owner) -> Sequence[UUID]:
        if owner.user_id is not None and owner.agent_id is None:
            return await self.runtime.tenants.scopes_of_user(self.actor, owner.user_id)
        scopes = Visibility(user_id=owner.user_id, agent_id=owner.agent_id).scopes()
        return [one.id(self.actor.tenant_id) for one in scopes if one.kind is not ScopeKind.GLOBAL]

    async def searched(
        self, wanted: Filter, request: QueryRequest, *, position: str | None
    ) -> list[tuple[Memory, float]]:
        """Return the memories that answer a question and meet a filter, with their relevance, best first."""
        owners = owners_of(wanted, self.actor)
        if any(not one.named for one in owners) or len(owners) > MOST_ASKED:
            message = f"a search names 1 to {MOST_ASKED} users and agents; listings take the wildcard"
            raise InvalidFields([FieldError(field="filters", message=message)])
        best: dict[UUID, tuple[Memory, float]] = {}
        for one in owners:
            visible = Visibility(user_id=one.user_id, agent_id=one.agent_id)
            found = await self.runtime.queries.query(
                self.actor, replace(request, visibility=visible), position=position
            )
            for hit in found.hits:
                if wanted.test(shown(hit.memory)):
                    best.setdefault(hit.memory.id, (hit.memory, hit.relevance))
        return sorted(best.values(), key=lambda pair: -pair[1]) if len(owners) > 1 else list(best.values())

    async def replaced(self, memory: Memory, written: WriteFields, registry: Registry) -> WriteOutcome:
        """End a memory and write what takes its place; the first is as it was where the second is refused."""
        now, until = self.runtime.clock(), memory.valid_until
        candidate = candidate_from_body(registry.get("standard"), written, now)
        holds = memory.status is MemoryStatus.ACTIVE
        if holds:
            end = max(now, memory.valid_from + timedelta(microseconds=1))
            await self.runtime.memories.patch(self.actor, memory.id, {"valid_until": end})
        try:
            outcome = await self.runtime.memories.write(self.actor, candidate)
            if outcome.memory is None:
                raise InvalidFields([FieldError(field="text", message=f"is not stored: {outcome.reason}")])
        except TypedMemoryError:
            if holds:
                await self.runtime.memories.patch(self.actor, memory.id, {"valid_until": until})
            raise
        return outcome

    async def erased(self, memories: Sequence[Memory]) -> int:
        """Erase memories; those that went with another are no error. Returns how many there were."""
        for one in memories:
            try:
                await self.runtime.service(Erasures).memory(self.actor, one.id)
            except NotFound:
                continue
        return len(memories)

    async def older(self, memory: UUID) -> list[Memory]:
        """Return the memories that this one superseded, and those that they did."""
        versions = (await self.runtime.memories.history(self.actor, memory)).versions
        by_id = {one.id: one for one in versions}
        found: list[Memory] = []
        one = by_id.get(memory)
        while one is not None and one.supersedes is not None and len(found) < len(versions):
            one = by_id.get(one.supersedes)
            if one is not None:
                found.append(one)
        return found


def until(day: str | None, name: str = "expiration_date") -> datetime | None:
    """Return the end of the day that mem0 calls the date of expiration; raise InvalidFields."""
    if day is None:
        return None
    try:
        found = datetime.combine(date.fromisoformat(day[:10]), time(), UTC) + timedelta(days=1)
        plausible(found)
    except (ValueError, OverflowError):
        raise InvalidFields([FieldError(field=name, message="must be a date, such as 2027-05-09")]) from None
    return found


def instant(value: str | float | None, name: str) -> datetime | None:
    """Return a time that is given in seconds since 1970 or as a date; raise InvalidFields."""
    if value is None:
        return None
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else datetime.fromtimestamp(value, UTC)
        plausible(found)
    except (ValueError, OverflowError, OSError):
        message = "must be seconds since 1970 or a date, such as 2026-05-09"
        raise InvalidFields([FieldError(field=name, message=message)]) from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def kept(metadata: dict[str, Any], given: dict[str, str]) -> dict[str, Any]:
    """Return metadata with those of mem0's ids that have no place of their own here."""
    aside = {name: given[name] for name in ("agent_id", "app_id") if name in given}
    if KEPT in metadata:
        raise InvalidFields([FieldError(field=f"metadata.{KEPT}", message="has a meaning here: name it otherwise")])
    return {**metadata, KEPT: aside} if aside else metadata


def version_entry(memory: Memory, before: Memory | None) -> dict[str, Any]:
    """Return one version of a belief as an entry of mem0's history."""
    made = shown(memory)
    return {
        "id": made["id"],
        "memory_id": made["id"],
        "input": [{"role": one.role or "user", "content": one.quote} for one in memory.evidence if one.quote],
        "old_memory": None if before is None else before.content,
        "new_memory": memory.content,
        "event": "ADD" if before is None else "UPDATE",
        **{name: made[name] for name in ("user_id", "agent_id", "run_id", "metadata", "created_at", "updated_at")},
        **{name: made[name] for name in ("type", "status", "valid_from", "valid_until", "superseded_by")},
        "previous_id": None if before is None else ids.public(ids.MEMORY, before.id),
    }
