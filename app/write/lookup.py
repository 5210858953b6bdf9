"""Look-up before a decision: what a scope knows of the names, and which of its beliefs candidates may touch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import UUID

from app import ids, threads
from app.db import turns
from app.db.entities import write_lookup
from app.db.entities.write_lookup import ScopeState
from app.db.memories import rivals as memories_rivals
from app.db.memories.read import version_fields
from app.db.memories.rivals import Likeness
from app.db.session import ReadSession
from app.db.sql import Model, as_halfvec
from app.errors import TypesMoved
from app.memory.candidate import Candidate
from app.memory.extraction import Role
from app.memory.lifecycle import is_over
from app.memory.registry import Registry
from app.memory.spec import Reclassified
from app.model import SpeechAct
from app.write.batching import clashes
from app.write.conflict import SLOT, Said
from app.write.dedup import is_compared, least_likeness
from app.write.resolve import (
    KnownName,
    NameQuestion,
    WaveNames,
    names_of,
    nominated,
    open_questions,
)
from app.write.trace import StageTimes, timed
from app.write.values import Existing, Prepared, Resolved


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Candidates of a wave turned out to claim one slot: write it in pieces, cut at these places."""

    cuts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetypeNeeded:
    """Some candidates of a wave are of another type, now that their names are known."""

    changed: Mapping[int, Reclassified]


@dataclass(frozen=True, slots=True, kw_only=True)
class OlderTypes:
    """The tenant's own types have changed since they were read: this is their version now."""

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsJudge:
    """Some names may be those of known entities: the judge is asked before anything is decided."""

    questions: Sequence[NameQuestion]


@dataclass(frozen=True, slots=True, kw_only=True)
class LookUpContext:
    """The inputs of a look-up: the tenant's types, the model of the vectors, and a judge's answers about names.

    `answers` is None as long as no judge was asked; `judged`: one is asked about likeness, too. With `split`,
    candidates that claim one slot are not looked up together.
    """

    types: Registry
    model: Model
    judged: bool
    split: bool
    answers: Mapping[str, Sequence[KnownName]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """The memories of a scope around resolved candidates, at a version, and earlier statements."""

    state: ScopeState
    resolved: list[Resolved]
    rivals: list[list[Existing]]
    said: Said
    echoed: list[frozenset[UUID]]


LookUp = Neighbourhood | Split | RetypeNeeded | OlderTypes | NeedsJudge
"""The result of a look-up: all that a decision needs, or the step that must come before it."""

_INLINE = 20_000
"""Pairs of names that are compared on the event loop, half a millisecond's worth, or seventy where all are near; more
go to a thread."""


MANY = 32
"""Candidates of a wave from which a wrong plan costs more than a new one takes to make."""


def is_planned_for_itself(candidates: int, state: ScopeState) -> bool:
    """Tell whether the look-up of so many candidates needs a plan of its own, not the one that is kept.

    A kept plan may date from when the store was empty and all ways looked alike. In scopes of the vector index it reads
    all of a scope's rows and sorts them by distance, which is right for small ones.
    """
    return state.ann or candidates >= MANY


async def look_up(
    session: ReadSession, tenant: UUID, scope: UUID, wave: Sequence[Prepared], by: LookUpContext, times: StageTimes
) -> LookUp:
    """Read names, then the memories around the candidates; raises TypesMoved for one of an older type."""
    with timed(times, "resolve"):
        unasked = by.judged and by.answers is None
        state, names = await read_names(session, tenant, scope, wave, shared=unasked)
        if by.types.version < state.types:
            return OlderTypes(version=state.types)
        _check_types(wave, by.types)
        for name, rows in (by.answers or {}).items():
            names.known[name] = [*names.known.get(name, ()), *rows]
        resolved = names.resolved(wave, scope)
        obstacle = _obstacle(resolved, names.known, unasked=unasked, split=by.split)
    if obstacle is not None:
        return obstacle
    if is_planned_for_itself(len(wave), state):
        await session.plan_each()
    with timed(times, "dedup"):
        wanted = [_wanted(one, scope, by) for one in resolved]
        rivals = await read_rivals(session, tenant, wanted, by, indexed=state.ann)
        resolved = [as_kept(one, existing) for one, existing in zip(resolved, rivals, strict=True)]
        if by.split and (cuts := clashes(resolved)):
            return Split(cuts=tuple(cuts))
        said = await read_repeats(session, tenant, scope, wave)
        return Neighbourhood(
            state=state,
            resolved=[with_new_evidence(one, said) for one in without_clashes(resolved, rivals)],
            rivals=rivals,
            said=said,
            echoed=await read_echoes(session, tenant, wave, rivals),
        )


async def look_up_jointly(
    session: ReadSession,
    tenant: UUID,
    waves: Mapping[UUID, Sequence[Prepared]],
    by: LookUpContext,
    times: StageTimes,
) -> dict[UUID, Neighbourhood]:
    """Return what `look_up` does for the waves of several scopes, in few statements for all of them.

    Scopes where something stands in the way, or whose candidates need further look-ups, are left out.
    """
    plain = {scope: wave for scope, wave in waves.items() if all(_is_plain(one, by.types) for one in wave)}
    with timed(times, "resolve"):
        asked = {scope: names_of(wave) for scope, wave in plain.items()}
        found: dict[UUID, tuple[ScopeState, list[Resolved]]] = {}
        for scope, (state, rows, others) in (await write_lookup.read_names_of(session, tenant, asked)).items():
            names = None if state.ann or by.types.version < state.types else _own_names(plain[scope], rows, others)
            if names is not None:
                resolved = names.resolved(plain[scope], scope)
                if _obstacle(resolved, names.known, unasked=False, split=True) is None:
                    found[scope] = (state, resolved)
    with timed(times, "dedup"):
        wanted = [_wanted(one, scope, by) for scope, (_, resolved) in found.items() for one in resolved]
        rivals = iter(await read_rivals(session, tenant, wanted, by, indexed=False) if wanted else ())
        known: dict[UUID, Neighbourhood] = {}
        for scope, (state, resolved) in found.items():
            near = [next(rivals) for _ in resolved]
            kept = [as_kept(one, existing) for one, existing in zip(resolved, near, strict=True)]
            if not clashes(kept):
                kept, nothing = without_clashes(kept, near), [frozenset[UUID]() for _ in kept]
                known[scope] = Neighbourhood(state=state, resolved=kept, rivals=near, said={}, echoed=nothing)
    return known


def _is_plain(one: Prepared, types: Registry) -> bool:
    """Tell whether a candidate is looked up by its words alone: it comes from no turn and names no entity by its id."""
    turns = any(told.turn_id is not None for told in one.candidate.evidence)
    ids_named = any(mention.entity is not None for mention in one.mentions)
    return types.holds(one.candidate.type) and not (turns or ids_named or _told_by_assistant(one))


def _own_names(wave: Sequence[Prepared], rows: Sequence[Mapping[str, Any]], others: list[str]) -> WaveNames | None:
    """Return the names of a wave in its scope; None where one is near a known name, or there are many to compare."""
    unknown = names_of(wave) - {row["wanted"] for row in rows}
    others = others + (sorted(unknown) if len(wave) > 1 else [])
    if len(unknown) * len(others) > _INLINE:
        return None
    near = nominated(unknown, others, shared=False) if unknown else {}
    if any(one not in unknown for found in near.values() for one in found):
        return None
    known: dict[str, list[KnownName]] = defaultdict(list)
    for row in rows:
        known[row["wanted"]].append(_known_name(row))
    return WaveNames(known=known, near=near)


def _check_types(wave: Sequence[Prepared], types: Registry) -> None:
    """Raise TypesMoved for a candidate that was made by another definition of its type."""
    for one in wave:
        if not types.holds(one.candidate.type):
            raise TypesMoved(
                f"the definition of type {one.candidate.type.name} has changed meanwhile: retry", retry_after=0.1
            )


def _obstacle(
    resolved: Sequence[Resolved], known: Mapping[str, Sequence[KnownName]], *, unasked: bool, split: bool
) -> NeedsJudge | RetypeNeeded | Split | None:
    """Return what must be done before memories are read, now that names are resolved; None when nothing must."""
    questions = open_questions(resolved, known) if unasked else ()
    if questions:
        return NeedsJudge(questions=questions)
    changed = {
        place: found
        for place, one in enumerate(resolved)
        if (found := one.prepared.candidate.payload.collapsed(one.refs)) is not None
    }
    if changed:
        return RetypeNeeded(changed=changed)
    cuts = clashes(resolved) if split else ()
    return Split(cuts=tuple(cuts)) if cuts else None


async def read_names(
    session: ReadSession, tenant: UUID, scope: UUID, wave: Sequence[Prepared], *, shared: bool = False
) -> tuple[ScopeState, WaveNames]:
    """Return the scope's state and what it knows of each of the wave's names, in this form or one near it.

    `shared`: also names that only share a word with one that is not known. A name that is an entity's id is that
    entity's, whatever else is called so.
    """
    entities = {one.entity for prepared in wave for one in prepared.mentions if one.entity is not None}
    names = names_of(wave) - {ids.public(ids.ENTITY, one) for one in entities}
    state, rows, others = await write_lookup.read_names(session, tenant=tenant, scope=scope, names=names)
    unknown = names - {row["wanted"] for row in rows}
    near: Mapping[str, Sequence[str]] = {}
    if unknown:
        others += sorted(unknown) if len(wave) > 1 else ()
        compare = partial(nominated, unknown, others, shared=shared)
        near = await threads.work(compare, brief=len(unknown) * len(others) <= _INLINE)
        stored = {name: told for name, found in near.items() if (told := [one for one in found if one not in unknown])}
        if stored:
            rows += await write_lookup.read_near(session, tenant=tenant, scope=scope, near=stored)
    known: dict[str, list[KnownName]] = defaultdict(list)
    for row in rows:
        known[row["wanted"]].append(_known_name(row))
    if entities:
        for row in await write_lookup.entities_by_id(session, tenant=tenant, scope=scope, entities=entities):
            name = ids.public(ids.ENTITY, row["asked"])
            known[name].append(_known_name({**row, "wanted": name, "alias": name}))
    return state, WaveNames(known=known, near=near)


async def read_rivals(
    session: ReadSession,
    tenant: UUID,
    wanted: Sequence[memories_rivals.RivalQuery],
    by: LookUpContext,
    *,
    indexed: bool,
) -> list[list[Existing]]:
    """Return for each candidate the beliefs it may touch; `indexed`: their scopes are in the vector index."""
    alike = Likeness(model=by.model, above=least_likeness(judged=by.judged), indexed=indexed)
    rows = await memories_rivals.read_rivals(session, tenant=tenant, wanted=wanted, alike=alike)
    found: list[dict[tuple[str, UUID], Existing]] = [{} for _ in wanted]
    for row in rows:
        found[row["place"]].setdefault((row["relation"], row["id"]), existing_of(row))
    return [list(one.values()) for one in found]


def as_kept(resolved: Resolved, existing: Sequence[Existing]) -> Resolved:
    """Return a candidate that leaves open how many values its slot holds as the slot shows it.

    A slot that is held keeps one value, and values that stand beside one another remain several; where nothing is
    believed yet, or both, it stays as it was supposed.
    """
    prepared = resolved.prepared
    if not prepared.candidate.payload.leaves_open():
        return resolved
    held = any(one.relation == SLOT and one.active for one in existing)
    if held == any(one.relation == "beside" for one in existing):
        return resolved
    payload = prepared.candidate.payload.held_as(one=held)
    prepared = replace(prepared, candidate=replace(prepared.candidate, payload=payload))
    return replace(resolved, prepared=prepared, slot=payload.slot(resolved.refs))


def without_clashes(resolved: Sequence[Resolved], rivals: Sequence[Sequence[Existing]]) -> list[Resolved]:
    """Return the candidates with the guards that stood in their way when they were stated."""
    found = []
    for one, existing in zip(resolved, rivals, strict=True):
        stated_at = one.prepared.stated_at
        guards = [other for other in existing if other.relation == "guard"]
        breaks = tuple(guard for guard in guards if not is_over(guard.valid_until, stated_at))
        found.append(replace(one, breaks=breaks) if breaks else one)
    return found


def with_new_evidence(resolved: Resolved, said: Said) -> Resolved:
    """Return a candidate without the evidence that was given before, unless all of it was."""
    prepared = resolved.prepared
    evidence = prepared.candidate.evidence
    new = tuple(one for one in evidence if one.turn_id is None or (one.turn_id, prepared.statement) not in said)
    if len(new) == len(evidence) or all(one.turn_id is None for one in new):
        return resolved
    return replace(resolved, prepared=replace(prepared, candidate=replace(prepared.candidate, evidence=new)))


async def read_repeats(session: ReadSession, tenant: UUID, scope: UUID, wave: Sequence[Prepared]) -> Said:
    """Return what the candidates' turns have said to the scope already; asks nothing for candidates of no turn.

    Evidence of earlier releases has the identity of what was said in place of the statement.
    """
    spoken = {told.turn_id for one in wave for told in one.candidate.evidence if told.turn_id is not None}
    told = await turns.quotes_of(session, tenant, scope, spoken) if spoken else {}
    return {
        (turn, one.statement): memory
        for one in wave
        for (turn, statement), memory in told.items()
        if statement in {one.statement, one.identity}
    }


async def read_echoes(
    session: ReadSession, tenant: UUID, wave: Sequence[Prepared], rivals: Sequence[Sequence[Existing]]
) -> list[frozenset[UUID]]:
    """Return for each candidate which of its rivals it may only echo; asks nothing but for what an assistant says.

    An assistant that tells a user what they have said in the same session knows it from nowhere else.
    """
    sessions = [_told_by_assistant(one) for one in wave]
    asked = {
        (other.id, spoken) for spoken, existing in zip(sessions, rivals, strict=True) if spoken for other in existing
    }
    heard = await memories_rivals.said_by_user(session, tenant, asked) if asked else frozenset()
    return [
        frozenset(other.id for other in existing if (other.id, spoken) in heard)
        for spoken, existing in zip(sessions, rivals, strict=True)
    ]


def _told_by_assistant(prepared: Prepared) -> str | None:
    """Return the session in which an assistant said this; None where somebody else did."""
    evidence = prepared.candidate.evidence
    if not evidence or any(one.role != Role.ASSISTANT for one in evidence):
        return None
    return evidence[0].session_id


def _known_name(row: Mapping[str, Any]) -> KnownName:
    return KnownName(
        wanted=row["wanted"],
        alias=row["alias"],
        entity_id=row["id"],
        canonical=row["canonical_name"],
        entity_type=row["entity_type"],
        mention_count=row["mention_count"],
        tie=row["tie"],
    )


def _wanted(resolved: Resolved, scope: UUID, by: LookUpContext) -> memories_rivals.RivalQuery:
    prepared = resolved.prepared
    payload = prepared.candidate.payload
    ending, held = prepared.candidate.ending, prepared.candidate.type.held
    compared = is_compared(prepared.candidate, resolved.slot, judged=by.judged)
    guardable = ending is None and prepared.candidate.speech_act is SpeechAct.ASSERTION
    opens = guardable and held is not None and payload.leaves_open()
    said = payload.model_dump(mode="json", by_alias=True) if opens or ending is not None else {}
    return memories_rivals.RivalQuery(
        scope_id=scope,
        type=prepared.candidate.type.name,
        slot=payload.kept_at(resolved.refs) if opens else resolved.slot,
        identity=prepared.identity,
        stated_at=prepared.stated_at,
        subject_id=resolved.subject_id,
        embedding=as_halfvec(prepared.texts[0].embedding) if compared else None,
        under=None if ending is None or held is None else held.under,
        kept=() if ending is None or held is None else (str(said[held.under]), *payload.also_held_under()),
        ahead=ending is not None and payload.event_time(prepared.candidate.zone) is not None,
        guards=by.types.guards_of(prepared.candidate.type.name) if guardable else (),
        guarded_at=payload.guarded_at(resolved.refs) if guardable else (),
        open_under=held.under if opens and held is not None else None,
        open_value=str(said[held.under]) if opens and held is not None else None,
        supposed_one=resolved.slot is not None,
        referred=_referred(prepared.candidate),
    )


def _referred(candidate: Candidate) -> tuple[UUID, ...]:
    of = () if candidate.ending is None else candidate.ending.of
    repeats = () if candidate.repeats is None else (candidate.repeats,)
    return (*of, *repeats, *candidate.replaces, *candidate.disputes)


def existing_of(row: Mapping[str, Any]) -> Existing:
    """Return a row of `read_rivals` as a decision sees it."""
    return Existing(
        **version_fields(row),
        relation=row["relation"],
        type_version=row["type_version"],
        content=row["content"],
        payload=row["payload"],
        topic=row["topic"],
        session_id=row["session_id"],
        sequence_number=row["sequence_number"],
        similarity=row["similarity"],
    )
