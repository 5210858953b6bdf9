"""Use cases of single memories: write, read, list, count, change, history; and Aegis Memory's two listings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from uuid import UUID

from app import ids
from app.db import audit
from app.db.apply.memories import update_fields
from app.db.audit import AuditEntry, AuditWriter, append
from app.db.entities import write_lookup
from app.db.memories import listing, rivals, usage
from app.db.memories import read as memory_reads
from app.db.memories.listing import MemoryCounts, MemoryFilters, PagePosition, Sort
from app.db.scopes import lock_scope_of
from app.db.session import Database, WriteSession
from app.errors import Conflict, InvalidInput, NotFound, TypedMemoryError
from app.memory.audit import AuditAction
from app.memory.candidate import Candidate, WriteOutcome
from app.memory.freshness import CATEGORY_DECAY
from app.memory.lifecycle import is_over
from app.model import Actor, Category, Memory, MemoryStatus, ReviewReason, Scope
from app.services.limits import Quotas
from app.services.pages import Page, cut_page
from app.write.candidates import adjusted, needs_adjusting
from app.write.pipeline import WritePipeline
from app.write.resolve import UNKNOWN_ID
from app.write.screening import refuse_secrets, screen_stated

__all__ = [
    "UNKNOWN_ID",
    "Memories",
    "MemoryCounts",
    "MemoryFilters",
    "MemoryHistory",
    "PagePosition",
    "Sort",
    "Timelines",
    "true_at",
    "visible_memory",
]


MemoryPage = Page[Memory, PagePosition]
"""A page of memories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHistory:
    """Every version of a belief in the order they were stated, and everything that happened to them."""

    versions: tuple[Memory, ...]
    events: tuple[AuditEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Memories:
    """Memories as callers use them; every method sees only the actor's tenant."""

    database: Database
    pipeline: WritePipeline
    quotas: Quotas
    clock: Callable[[], datetime]

    async def write(self, actor: Actor, candidate: Candidate) -> WriteOutcome:
        """Store one candidate, or raise what `WritePipeline.write` would return in its place."""
        [result] = await self.write_all(actor, [candidate])
        if isinstance(result, TypedMemoryError):
            raise result
        return result

    async def write_all(self, actor: Actor, candidates: Sequence[Candidate]) -> list[WriteOutcome | TypedMemoryError]:
        """Screen and store candidates; return an outcome or an error for each, as `WritePipeline.write` does.

        They go through the same adjustments as candidates from turns. Raises QuotaExceeded.
        """
        candidates = await self._adjusted(actor, candidates)
        async with self.quotas.spending(actor, memories=len(candidates)) as spending:
            results = await self.pipeline.write(actor, await screen_stated(candidates))
            spending.unused_memories = sum(isinstance(one, TypedMemoryError) for one in results)
        return results

    async def preview(self, actor: Actor, candidate: Candidate) -> WriteOutcome:
        """Return what `write` would come to; nothing is stored. Raises ProviderError."""
        candidates = await self._adjusted(actor, [candidate])
        [outcome] = await self.pipeline.preview(actor, await screen_stated(candidates))
        return outcome

    async def _adjusted(self, actor: Actor, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Return candidates as the types that their words show."""
        if not any(map(needs_adjusting, candidates)):
            return candidates
        types = await self.pipeline.types.of(actor.tenant_id)
        return [adjusted(one, types) for one in candidates]

    async def unknown_entities(self, actor: Actor, candidates: Sequence[Candidate]) -> list[int]:
        """Return the positions of candidates that name an entity by an id that does not exist in their scope."""
        asked: dict[Scope, dict[int, set[UUID]]] = defaultdict(dict)
        for place, one in enumerate(candidates):
            entities = {mention.entity for mention in one.payload.mentions() if mention.entity is not None}
            if entities:
                asked[one.scope][place] = entities
        unknown: list[int] = []
        if not asked:
            return unknown
        async with self.database.read(actor.tenant_id) as session:
            for scope, places in asked.items():
                here = {"tenant": actor.tenant_id, "scope": scope.id(actor.tenant_id)}
                rows = await write_lookup.entities_by_id(session, **here, entities=set().union(*places.values()))
                known = {row["asked"] for row in rows}
                unknown += [place for place, entities in places.items() if not entities <= known]
        return sorted(unknown)

    async def get(
        self, actor: Actor, memory: UUID, *, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> Memory:
        """Return a memory of any status, at `known_at` as it was known then.

        Raises NotFound, also when the memory was not valid at `as_of`.
        """
        async with self.database.read(actor.tenant_id) as session:
            found = await memory_reads.read_memory(session, actor.tenant_id, memory, known_at=known_at)
        if found is None:
            raise ids.missing(ids.MEMORY, memory, at=known_at)
        if as_of is not None and not true_at(found, as_of):
            raise NotFound(f"{ids.public(ids.MEMORY, memory)} was not valid at {as_of.isoformat()}: see its history")
        return found

    async def list(
        self,
        actor: Actor,
        filters: MemoryFilters,
        *,
        sort: Sort = Sort.NEWEST,
        limit: int = 50,
        after: PagePosition | None = None,
    ) -> MemoryPage:
        """Return one page of memories."""
        async with self.database.read(actor.tenant_id) as session:
            found = await listing.page(session, actor.tenant_id, filters, sort=sort, limit=limit + 1, after=after)
        by = None if sort.column == "id" else attrgetter(sort.column)
        return cut_page(found, limit, lambda one: PagePosition(id=one.id, value=None if by is None else by(one)))

    async def count(self, actor: Actor, filters: MemoryFilters, *, most: int) -> MemoryCounts:
        """Return how many memories match the filters, by type and status; stop counting at `most`."""
        async with self.database.read(actor.tenant_id) as session:
            return await listing.counts(session, actor.tenant_id, filters, most=most)

    async def patch(
        self,
        actor: Actor,
        memory: UUID,
        changes: Mapping[str, object],
        *,
        check: Callable[[Memory], None] | None = None,
    ) -> Memory:
        """Change editable fields of a memory and return it; raises NotFound, InvalidInput or Conflict.

        `check` is called with the memory, locked, before anything.

        A forgotten memory can't be changed, and the end of an ended one can't be moved later. One that only expired at
        its end is active again when that is moved later, unless another has taken its slot. Only a review mark that
        a caller set can be removed. A new category also replaces the half-life and the floor.
        """
        values = dict(changes)
        refuse_secrets(topic=values.get("topic"), metadata=values.get("metadata"))
        if "category" in values:
            decay = CATEGORY_DECAY[Category(str(values["category"]))]
            values |= {"half_life_days": decay.half_life_days, "floor": decay.floor}
        async with self.database.write(actor.tenant_id) as session:
            before = await visible_memory(session, actor, memory)
            if check is not None:
                check(before)
            _check_patch(before, changes)
            if "needs_review" in values:
                values |= self._marked(before, wanted=bool(values.pop("needs_review")))
            until = values.get("valid_until")
            if isinstance(until, datetime) and until <= before.valid_from:
                raise InvalidInput("must come after valid_from", field="valid_until")
            if values:
                scope = before.scope.id(actor.tenant_id)
                await update_fields(session, actor.tenant_id, memory, values, scope=scope, at=self.clock())
            after = ids.require(await memory_reads.read_memory(session, actor.tenant_id, memory), ids.MEMORY, memory)
            if "valid_until" in values and after.valid_until != until:
                ended = f"{after.valid_until:%Y-%m-%d %H:%M:%S%z}"
                raise Conflict(f"it stopped being true at {ended}: its end can't be put off", field="valid_until")
            if "valid_until" in values and await self._returns(session, actor, before, after):
                after = await visible_memory(session, actor, memory)
            if values:
                detail = {"changed": sorted(changes), "values": _audited_values(before, after)}
                event = self._ledger(actor, before).event(AuditAction.MEMORY_CHANGED, detail, memory=memory)
                await append(session, [event])
            return after

    async def _returns(self, session: WriteSession, actor: Actor, before: Memory, after: Memory) -> bool:
        """Make a memory active again that expired at its end, if that was put off; return whether it is.

        Raises Conflict when another memory has taken its slot since.
        """
        tenant, now = actor.tenant_id, self.clock()
        over = before.status is MemoryStatus.EXPIRED and is_over(before.valid_until, now)
        if not over or is_over(after.valid_until, now):
            return False
        if await usage.revive(session, tenant, [after.id], now=now, actor=actor.name, reason="its end was put off"):
            return True
        versions = await rivals.read_versions(session, tenant, [after.id])
        place = (versions[after.id].type, versions[after.id].slot)
        holder = next((one for one in versions.values() if one.active and (one.type, one.slot) == place), None)
        if holder is not None and holder.slot is not None:
            named = ids.public(ids.MEMORY, holder.id)
            raise Conflict(f"{named} has taken its place since: its end can't be put off", field="valid_until")
        return False

    async def history(
        self, actor: Actor, memory: UUID, *, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> MemoryHistory:
        """Return every version of the belief that this memory belongs to, with their audit events.

        With `as_of`, returns only versions that were valid then; with `known_at`, the history as it was known then.
        """
        async with self.database.read(actor.tenant_id) as session:
            versions = await memory_reads.chain(session, actor.tenant_id, memory, known_at=known_at)
            if not versions:
                raise ids.missing(ids.MEMORY, memory, at=known_at)
            if as_of is not None:
                versions = [one for one in versions if true_at(one, as_of)]
            told = [one.id for one in versions]
            events = await audit.of_memories(session, actor.tenant_id, told, until=known_at)
        return MemoryHistory(versions=tuple(versions), events=tuple(events))

    def _marked(self, memory: Memory, *, wanted: bool) -> dict[str, object]:
        """Return the review columns for a mark that a caller sets or removes; an existing mark keeps its reason."""
        if not wanted:
            return {"review_reason": None, "review_note": None, "review_since": None}
        if memory.review is not None:
            return {}
        return {"review_reason": ReviewReason.ASKED, "review_note": None, "review_since": self.clock()}

    def _ledger(self, actor: Actor, memory: Memory) -> AuditWriter:
        scope = memory.scope.id(actor.tenant_id)
        return AuditWriter(tenant=actor.tenant_id, actor=actor.name, at=self.clock(), scope=scope)


_AUDITED_FIELDS = ("importance", "category", "half_life_days", "floor", "valid_until", "review")
"""Fields whose values the audit log may hold: values of the others are content."""


def _audited_values(before: Memory, after: Memory) -> dict[str, object]:
    """Return the values that a patch changed, before and after."""
    pairs = {name: [getattr(before, name), getattr(after, name)] for name in _AUDITED_FIELDS}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _check_patch(memory: Memory, changes: Mapping[str, object]) -> None:
    """Raise Conflict when a memory's state does not allow the changes."""
    if memory.status is MemoryStatus.FORGOTTEN:
        raise Conflict(f"{ids.public(ids.MEMORY, memory.id)} was forgotten: it can't be changed")
    if changes.get("needs_review") is False and memory.review not in {None, ReviewReason.ASKED}:
        named = ids.public(ids.REVIEW, memory.id)
        raise Conflict(
            f"it waits for a reviewer ({memory.review}): decide it by POST /admin/review/{named}", field="needs_review"
        )


def _id(memory: UUID | None) -> str | None:
    return None if memory is None else ids.public(ids.MEMORY, memory)


async def visible_memory(session: WriteSession, actor: Actor, memory: UUID) -> Memory:
    """Lock a memory's scope until the transaction ends and return the memory, or raise NotFound.

    The memory is read after the lock: the transaction that held the scope before may have erased it.
    """
    if await lock_scope_of(session, actor.tenant_id, memory):
        found = await memory_reads.read_memory(session, actor.tenant_id, memory)
        if found is not None:
            return found
    raise ids.missing(ids.MEMORY, memory)


def true_at(memory: Memory, at: datetime) -> bool:
    """Return whether an instant lies in a memory's validity range."""
    return memory.valid_from <= at and (memory.valid_until is None or at < memory.valid_until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timelines:
    """Aegis Memory's listings; every method sees only the actor's tenant."""

    database: Database

    async def session(
        self, actor: Actor, filters: MemoryFilters, *, session_id: str, limit: int, after: PagePosition | None
    ) -> MemoryPage:
        """Return one page of a session's episodes, in sequence."""
        async with self.database.read(actor.tenant_id) as session:
            found = await listing.episodes(
                session, actor.tenant_id, filters, of=session_id, limit=limit + 1, after=after
            )
        return cut_page(found, limit, _place_in_session)

    async def entity(
        self, actor: Actor, filters: MemoryFilters, *, entity_id: str, limit: int, after: PagePosition | None
    ) -> MemoryPage:
        """Return one page of facts about an entity, given by the caller's own id for it or by its `ent_` id."""
        entity = ids.public_id(ids.ENTITY, entity_id) or entity_id
        async with self.database.read(actor.tenant_id) as session:
            found = await listing.entity_facts(
                session, actor.tenant_id, filters, entity=entity, limit=limit + 1, after=after
            )
        return cut_page(found, limit, lambda one: PagePosition(id=one.id))


def _place_in_session(one: Memory) -> PagePosition:
    value = one.stated_at if one.sequence_number is None else float(one.sequence_number)
    return PagePosition(id=one.id, value=value)
