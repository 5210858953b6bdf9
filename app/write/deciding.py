"""Reading and deciding: what becomes of candidates, worked out on what one scope holds at one version."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from app.db.known_names import ScopeState
from app.db.session import Database
from app.errors import ProviderError, TypesMoved
from app.memory.candidate import Candidate
from app.memory.registry import Registry, Types
from app.memory.spec import Payload, Reclassified
from app.model import Actor, Scope
from app.providers.embeddings import Embedder
from app.providers.extraction import Judge
from app.write import look
from app.write.decide import decide
from app.write.fallback import Question, answered, ask, open_questions
from app.write.prepare import prepare
from app.write.resolve import KnownName, resolve
from app.write.sameness import DOUBTFUL, DUPLICATE, doubtful
from app.write.timing import Times, timed
from app.write.values import Decision, Existing, Merge, Prepared, Resolved
from app.write.waves import clashes


class Clash(Exception):
    """Candidates of a wave turned out to claim one slot: write it in pieces, cut at these places."""

    def __init__(self, cuts: Sequence[int]) -> None:
        super().__init__(cuts)
        self.cuts = cuts


class _Collapsed(Exception):
    """Some candidates of a wave are of another type, now that their names are known."""

    def __init__(self, changed: Mapping[int, Reclassified]) -> None:
        super().__init__(changed)
        self.changed = changed


class _Older(Exception):
    """The tenant's own types have changed since they were read: this is their version now."""

    def __init__(self, version: int) -> None:
        super().__init__(version)
        self.version = version


class _Unsure(Exception):
    """Some names may be those of known entities: the judge is to say, before anything is decided."""

    def __init__(self, judge: Judge, questions: Sequence[Question]) -> None:
        super().__init__(questions)
        self.judge = judge
        self.questions = questions


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What was read of a scope at a version, and decided on it."""

    state: ScopeState
    resolved: tuple[Resolved, ...]
    decisions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """What decisions are made with. Nothing is asked of the embedder or the judge inside a transaction."""

    database: Database
    embedder: Embedder
    model_id: int
    language: str
    clock: Callable[[], datetime]
    types: Types
    judge: Judge | None = None

    async def looked(
        self, actor: Actor, scope: Scope, wave: Sequence[Prepared], times: Times, *, pieces: bool
    ) -> Looked:
        """Read what the candidates may touch, and decide; `pieces`: those that claim one slot must be cut apart.

        Raises TypesMoved when the type of a candidate is no longer what it was made with.
        """
        meant: dict[str, list[KnownName]] | None = None if self.judge is not None else {}
        types = self.types.known(actor.tenant_id)
        while True:
            try:
                return await self._read(actor, scope, wave, times, meant, types, pieces=pieces)
            except _Older as older:
                types = await self.types.at(actor.tenant_id, older.version)
            except _Collapsed as collapsed:
                wave = await self._retyped(wave, collapsed.changed, types)
            except _Unsure as unsure:
                with timed(times, "resolve"):
                    meant = answered({}, unsure.questions, await ask(unsure.judge, unsure.questions))

    async def _retyped(
        self, wave: Sequence[Prepared], changed: Mapping[int, Reclassified], types: Registry
    ) -> list[Prepared]:
        """Return the wave with some of its candidates as the type that they turned out to be."""
        other = {
            place: replace(
                wave[place].candidate,
                type=types.get(one.type),
                payload=types.get(one.type).payload.model_validate(one.payload),
            )
            for place, one in changed.items()
        }
        by_place = dict(zip(other, await self.prepared(list(other.values())), strict=True))
        return [by_place.get(place, one) for place, one in enumerate(wave)]

    async def _read(
        self,
        actor: Actor,
        scope: Scope,
        wave: Sequence[Prepared],
        times: Times,
        meant: Mapping[str, Sequence[KnownName]] | None,
        types: Registry,
        *,
        pieces: bool,
    ) -> Looked:
        """Read and decide; `meant` is what the judge says of doubtful names, None when it was not asked yet."""
        tenant, scope_id = actor.tenant_id, scope.id(actor.tenant_id)
        async with self.database.read(tenant) as session:
            with timed(times, "resolve"):
                unasked = self.judge if meant is None else None
                state, known = await look.names(session, tenant, scope_id, wave, shared=unasked is not None)
                _check(wave, types, state.types)
                for name, rows in (meant or {}).items():
                    known[name] = [*known.get(name, ()), *rows]
                resolved = [resolve(one, look.about(one, known), scope_id) for one in wave]
                questions = open_questions(resolved, known) if unasked is not None else ()
                if unasked is not None and questions:
                    raise _Unsure(unasked, questions)
                _collapse(resolved)
                cuts = clashes(resolved)
                if cuts and pieces:
                    raise Clash(cuts)
            with timed(times, "dedup"):
                likeness = DUPLICATE if self.judge is None else DOUBTFUL
                rivals = await look.rivals(
                    session, tenant, scope_id, resolved, types=types, model=self.model_id, likeness=likeness
                )
                resolved = look.held_back(resolved, rivals)
                said = await look.said(session, tenant, wave)
                echoed = await look.echoed(session, tenant, wave, rivals)
        with timed(times, "dedup"):
            same = await self._judged(resolved, rivals)
        with timed(times, "conflict"):
            decisions = [
                decide(one, existing, said=said, same=alike, echoed=heard)
                for one, existing, alike, heard in zip(resolved, rivals, same, echoed, strict=True)
            ]
            decisions = await self.rewritten(resolved, decisions)
        return Looked(state=state, resolved=tuple(resolved), decisions=tuple(decisions))

    async def _judged(
        self, resolved: Sequence[Resolved], rivals: Sequence[Sequence[Existing]]
    ) -> list[dict[UUID, bool]]:
        """Ask the judge about those that may say the same; without an answer they don't."""
        if self.judge is None:
            return [{} for _ in resolved]
        asked = [
            (place, other.id, (one.prepared.content, other.content))
            for place, (one, existing) in enumerate(zip(resolved, rivals, strict=True))
            for other in doubtful(one, existing)
        ]
        found: list[dict[UUID, bool]] = [{} for _ in resolved]
        if asked:
            with suppress(ProviderError):
                answers = await self.judge.same([pair for _, _, pair in asked])
                for (place, other, _), same in zip(asked, answers, strict=True):
                    found[place][other] = same
        return found

    async def prepared(self, candidates: Sequence[Candidate]) -> list[Prepared]:
        """Return the candidates with all that needs no look at the store; raises ProviderError."""
        return await prepare(candidates, embedder=self.embedder, now=self.clock(), language=self.language)

    async def rewritten(self, resolved: Sequence[Resolved], decisions: Sequence[Decision]) -> list[Decision]:
        """Return the decisions with every merged payload prepared anew, so that it is found by its new words."""
        grown = [
            (place, _grown(resolved[place], decision, decision.payload))
            for place, decision in enumerate(decisions)
            if isinstance(decision, Merge) and decision.payload is not None
        ]
        if not grown:
            return list(decisions)
        prepared = await self.prepared([candidate for _, candidate in grown])
        result = list(decisions)
        for (place, _), one in zip(grown, prepared, strict=True):
            merge = result[place]
            if isinstance(merge, Merge):
                result[place] = replace(merge, rewritten=one)
        return result


def _check(wave: Sequence[Prepared], types: Registry, version: int) -> None:
    """Raise _Older for types that are not those of the version, TypesMoved for a candidate that goes by other ones."""
    if types.version < version:
        raise _Older(version)
    for one in wave:
        if not types.holds(one.candidate.type):
            raise TypesMoved(
                f"the definition of type {one.candidate.type.name} has changed meanwhile: retry", retry_after=0.1
            )


def _collapse(resolved: Sequence[Resolved]) -> None:
    changed = {
        place: found
        for place, one in enumerate(resolved)
        if (found := one.prepared.candidate.payload.collapsed(one.refs)) is not None
    }
    if changed:
        raise _Collapsed(changed)


def _grown(resolved: Resolved, decision: Merge, payload: Payload) -> Candidate:
    """Return the candidate of a belief that was restated: the new words, in the old one's place."""
    into = decision.into
    return replace(
        resolved.prepared.candidate,
        payload=payload,
        content=None,
        stated_at=max(into.stated_at, resolved.prepared.stated_at),
        topic=into.topic,
        session_id=into.session_id,
        sequence_number=into.sequence_number,
    )
