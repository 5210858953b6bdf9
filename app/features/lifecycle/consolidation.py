"""Weekly worker that consolidates groups of similar faded episodes into one semantic memory each."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from app.db.apply.scope import Claimed, ScopeKeptMoving, ScopeMoved, apply, retried
from app.db.memories import listing, rivals
from app.db.session import Database, stamped
from app.errors import ProviderProtocolError
from app.features.lifecycle.grouping import (
    FADED,
    FEWEST,
    Group,
    Written,
    candidate,
    consolidation_rows,
    counted,
    group_faded,
    ungrounded_terms,
)
from app.features.lifecycle.runner import Counts, RunProgress, WorkerContext
from app.features.lifecycle.sql import consolidation
from app.features.lifecycle.sql.consolidation import FadedFilter, Member
from app.memory.versions import Version
from app.model import Actor, MemoryStatus, Scope
from app.providers.model_tasks import Summariser
from app.write.persist import persist
from app.write.pipeline import WritePipeline
from app.write.values import Prepared
from app.write.wave import DecidedWave

BLOCK = 1_000
"""Memories that are compared with one another at once: a million cosines take a tenth of a second in a thread."""

WORDS = 40
"""Words that one vector covers; it represents only the beginning of a longer memory."""

SHOWN = 40
"""Most members of a group in the model's prompt, those nearest to the medoid first."""

ACTOR = "worker:consolidation"

BEST = "its best-supported member"

_START = (datetime.min.replace(tzinfo=UTC), UUID(int=0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """Consolidates a tenant's faded episodes, a group a transaction; `summariser`, if any, writes the sentences."""

    database: Database
    writing: WritePipeline
    summariser: Summariser | None = None

    async def run(self, tenant: UUID, *, dry_run: bool, progress: RunProgress) -> Counts:
        """Consolidate all groups and return the counts.

        Consolidated memories are not selected again, so an interrupted run continues where it was. If the model can't
        be reached, the run ends with its ProviderError and is retried; an unusable answer does not end it.
        """
        writing, counts = self.writing, Counter[str](groups=0, folded=0)
        faded = FadedFilter(
            types=[one.name for one in await writing.types.of(tenant) if one.folds],
            faded=FADED,
            now=writing.clock(),
            words=WORDS,
            model=writing.model_id,
        )
        sizes = Counter[UUID]()
        async for page in listing.pages(self.database, tenant):
            async with self.database.read(tenant) as session:
                sizes.update(await consolidation.scopes(session, tenant, faded, page=page))
            await progress(0)
        done, total = 0, sizes.total()
        for scope, size in sorted(sizes.items()):
            if size >= FEWEST:
                await self._scope(tenant, scope, faded, counts, dry_run=dry_run)
            done += size
            await progress(done, total)
        return counts

    async def _scope(
        self, tenant: UUID, scope: UUID, faded: FadedFilter, counts: Counter[str], *, dry_run: bool
    ) -> None:
        async with self.database.read(tenant) as session:
            named = await consolidation.scope(session, tenant, scope)
            subjects = await consolidation.subjects(session, tenant, scope, faded, fewest=FEWEST)
        for about, _ in subjects:
            after: tuple[datetime, UUID] | None = _START
            while after is not None:
                after = await self._block(tenant, named, faded, about, after, counts, dry_run=dry_run)

    async def _block(
        self,
        tenant: UUID,
        scope: Scope,
        faded: FadedFilter,
        about: str,
        after: tuple[datetime, UUID],
        counts: Counter[str],
        *,
        dry_run: bool,
    ) -> tuple[datetime, UUID] | None:
        """Consolidate the next block of a subject's memories; return the position to continue after, None at the end.

        A scope that others write to is read again; after some attempts, its groups wait for the next run.
        """
        members: list[Member] = []

        async def attempt(_: int) -> None:
            members[:] = await self._read_members(tenant, scope, faded, about, after)
            types = await self.writing.types.of(tenant)
            for group in await asyncio.to_thread(group_faded, members, types):
                if not dry_run:
                    counts[await self._fold(tenant, scope, group)] += 1
                counts.update(groups=1, folded=len(group.members))

        try:
            await retried(attempt, self.writing.conflict)
        except ScopeKeptMoving:
            counts["contended"] += 1
        return (members[-1].stated_at, members[-1].id) if len(members) == BLOCK else None

    async def _read_members(
        self, tenant: UUID, scope: Scope, faded: FadedFilter, about: str, after: tuple[datetime, UUID]
    ) -> list[Member]:
        async with self.database.read(tenant) as session:
            return await consolidation.block(
                session, tenant, scope.id(tenant), faded, about=about, after=after, limit=BLOCK
            )

    async def _fold(self, tenant: UUID, scope: Scope, group: Group) -> str:
        """Store the summary of a group and end its members, in one transaction; return the name to count it under.

        If the summary repeats an existing memory, the members merge into that one.
        """
        written = await self._write_summary(group)
        writing = self.writing
        proposed = candidate(group, written, scope, writing.types.known(tenant))
        prepared = await writing.prepared([proposed])
        async with self.writing.turnstile.enter(scope.id(tenant)):
            claimed = await self._write(tenant, scope, group, written, prepared)
        if claimed is None:
            return "refused"
        self.writing.keep_up(tenant, scope, claimed)
        return "by_member" if written.by == BEST else "by_model"

    async def _write(
        self, tenant: UUID, scope: Scope, group: Group, written: Written, prepared: Sequence[Prepared]
    ) -> Claimed | None:
        """Store the summary and end its members; None when it is not worth storing. Raises ScopeMoved."""
        actor = Actor(tenant_id=tenant, key_id=None, name=ACTOR)
        decided = await self.writing.decide(actor, scope, prepared)
        assert isinstance(decided, DecidedWave)  # noqa: S101 - nothing is to be split
        members = frozenset(one.id for one in group.members)
        async with self.database.read(tenant) as session:
            versions = await rivals.read_versions(session, tenant, members)
        if not all(one in versions and _may_fold(versions[one]) for one in members):
            raise ScopeMoved
        plan = self.writing.plan(actor, scope, decided)
        result = persist(plan, decided.resolved[0], decided.decisions[0])
        if result.memory is None:
            return None
        consolidation_rows(plan, result.memory, group, written, versions)
        async with self.database.write(tenant, **stamped(decided.now)) as session:
            return await apply(
                session, tenant=tenant, scope=scope, version=decided.state.version, changes=plan.changes()
            )

    async def _write_summary(self, group: Group) -> Written:
        """Return the model's sentence if the members support all of it, else the best member's."""
        if self.summariser is not None:
            notes = [one.content for one in group.nearest_first[:SHOWN]]
            try:
                summary = " ".join((await self.summariser.summarise(notes)).split())
            except ProviderProtocolError:
                summary = ""
            if ungrounded_terms(summary, notes, language=self.writing.language) is None:
                return Written(sentence=summary, by=self.summariser.name)
        return Written(sentence=counted(group), by=BEST)


def _may_fold(one: Version) -> bool:
    """Return whether a memory may still be consolidated: neither history, nor contested, nor under review."""
    return one.status in {MemoryStatus.ACTIVE, MemoryStatus.EXPIRED} and not one.contested and one.review is None


async def run(context: WorkerContext, tenant: UUID, *, dry_run: bool, progress: RunProgress) -> Counts:
    """Run the consolidation and return the numbers of groups, of their memories, and of sentences by a model."""
    service = Consolidation(database=context.database, writing=context.writing, summariser=context.summariser)
    return await service.run(tenant, dry_run=dry_run, progress=progress)
