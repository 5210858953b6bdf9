"""Cutting a batch into waves whose members cannot affect one another's decisions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self
from uuid import NAMESPACE_OID, UUID, uuid5

import numpy as np
from numpy.typing import NDArray

from app.memory import normalise
from app.memory.candidate import Candidate
from app.memory.spec import Refs
from app.model import EntityRef, Scope
from app.write.dedup import is_compared, least_likeness
from app.write.values import Prepared, Resolved

Numbered = tuple[int, Prepared]

LONGEST = 500_000
"""Characters of a wave. They are put into rows in one go, which keeps other requests waiting a tenth of a second."""


def by_scope(prepared: Sequence[Prepared]) -> dict[Scope, list[Numbered]]:
    """Return numbered candidates by their scopes, in order."""
    found: dict[Scope, list[Numbered]] = {}
    for place, one in enumerate(prepared):
        found.setdefault(one.candidate.scope, []).append((place, one))
    return found


def split_batch(prepared: Sequence[Numbered], *, judged: bool = False) -> Iterator[list[Numbered]]:
    """Yield the numbered candidates in waves, in order.

    Two candidates share a wave only if neither can merge with, replace or rename what the other says, as far
    as their own words tell: no common words or slot, no name one declares and the other uses, no likeness that merges
    or, where they are `judged`, that a judge is asked about. No wave is longer than LONGEST. Slots that only turn out
    to be one when names are resolved are `clashes`' to find.
    """
    likeness = least_likeness(judged=judged)
    wave = _Wave(likeness=likeness)
    for place, one in prepared:
        keys = _Keys.by(one, judged=judged)
        if not wave.admits(one, keys):
            yield wave.members
            wave = _Wave(likeness=likeness)
        wave.add(place, one, keys)
    if wave.members:
        yield wave.members


def clashes(resolved: Sequence[Resolved]) -> list[int]:
    """Return where to cut, so that no two candidates between two cuts claim one slot, or one ends what another says.

    Empty when none do.
    """
    cuts: list[int] = []
    seen, held, ended, sides = set[str](), set[str](), set[str](), set[str]()
    for place, one in enumerate(resolved):
        candidate = one.prepared.candidate
        claimed = set() if one.slot is None else _claims(candidate, one.slot, one.refs)
        own = _held(one.prepared, str(one.subject_id or _subject(one.prepared)))
        shown, open_to = _sides(candidate, one.slot, one.refs)
        if claimed & seen or open_to & sides or own & (ended if candidate.ending is None else held):
            cuts.append(place)
            seen, held, ended, sides = set(), set(), set(), set()
        seen |= claimed
        sides |= shown
        held |= own
        ended |= own if candidate.ending is not None else set()
    return cuts


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keys:
    """The names and keys that a candidate's own words touch.

    `claims` are of what it could merge with or compete with for a slot, `sides` show whether a slot holds one value or
    several, and `open_to` are those of others that it would follow. `topic` is compared in meaning, None where it
    may not be.
    """

    claims: set[str]
    sides: set[str]
    open_to: set[str]
    declared: set[str]
    used: set[str]
    ties: dict[str, str | None]
    held: set[str]
    topic: str | None

    @classmethod
    def by(cls, one: Prepared, *, judged: bool) -> Self:
        """Return the keys of a candidate, as if every name were an entity of its own."""
        candidate, refs = one.candidate, _by_name(one)
        slot = candidate.payload.slot(refs)
        sides, open_to = _sides(candidate, slot, refs)
        return cls(
            claims={one.identity.hex(), *_claims(candidate, slot, refs)},
            sides=sides,
            open_to=open_to,
            declared=_declared(one),
            used=_used(one),
            ties=_ties(one),
            held=_held(one, _subject(one)),
            topic=_topic(one) if is_compared(candidate, slot, judged=judged) else None,
        )


@dataclass(slots=True)
class _Wave:
    likeness: float
    members: list[Numbered] = field(default_factory=list)
    length: int = 0
    claimed: set[str] = field(default_factory=set)
    sides: set[str] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    ties: dict[str, str | None] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    meanings: dict[str, list[NDArray[np.float32]]] = field(default_factory=lambda: defaultdict(list))

    def admits(self, one: Prepared, keys: _Keys) -> bool:
        return not (
            self.length + len(one.content) > LONGEST
            or keys.claims & self.claimed
            or keys.open_to & self.sides
            or keys.used & self.declared
            or keys.declared & (self.used | self.declared)
            or any(self.ties.get(name, tie) != tie for name, tie in keys.ties.items())
            or keys.held & (self.ended if one.candidate.ending is None else self.held)
            or self._means_the_same(one, keys)
        )

    def add(self, place: int, one: Prepared, keys: _Keys) -> None:
        self.members.append((place, one))
        self.length += len(one.content)
        self.claimed |= keys.claims
        self.sides |= keys.sides
        self.declared |= keys.declared
        self.used |= keys.used
        self.ties |= keys.ties
        self.held |= keys.held
        if one.candidate.ending is not None:
            self.ended |= keys.held
        if keys.topic is not None:
            self.meanings[keys.topic].append(one.texts[0].embedding)

    def _means_the_same(self, one: Prepared, keys: _Keys) -> bool:
        alike = None if keys.topic is None else self.meanings.get(keys.topic)
        return bool(alike) and float(np.max(np.stack(alike or []) @ one.texts[0].embedding)) > self.likeness


def _claims(candidate: Candidate, slot: str | None, refs: Refs) -> set[str]:
    """Return the slot, if it claims one, and those where it guards or is guarded."""
    own = set() if slot is None else {f"{candidate.type.name}\x1f{slot}"}
    return own | _guarding(candidate, slot, refs)


def _sides(candidate: Candidate, slot: str | None, refs: Refs) -> tuple[set[str], set[str]]:
    """Return what this shows of how many values a slot holds, and what it would follow if others had shown it."""
    kept = candidate.payload.kept_at(refs)
    if kept is None or candidate.ending is not None:
        return set(), set()
    one, several = (f"{candidate.type.name}\x1f{kept}\x1f{many}" for many in ("one", "several"))
    own, other = (several, one) if slot is None else (one, several)
    return {own}, {other} if candidate.payload.leaves_open() else set()


def _guarding(candidate: Candidate, slot: str | None, refs: Refs) -> set[str]:
    """Return the slots where this guards or is guarded: what is guarded must see the guard that came before it."""
    guarded = candidate.payload.guarded_at(refs)
    held = (slot, slot.rpartition("|")[0]) if candidate.type.guards and slot is not None else ()
    return {f"guard\x1f{key}" for key in (*guarded, *held)}


def _held(one: Prepared, subject: str) -> set[str]:
    """Return what this is held under, of a subject: an ending under the same may end it."""
    candidate, held = one.candidate, one.candidate.type.held
    if held is None:
        return set()
    own = str(candidate.payload.model_dump(mode="json", by_alias=True)[held.under])
    others = () if candidate.ending is None else candidate.payload.also_held_under()
    return {f"{candidate.type.name}\x1f{subject}\x1f{normalise.normalise_name(under)}" for under in (own, *others)}


def _by_name(one: Prepared) -> Mapping[str, EntityRef]:
    return {
        mention.role: EntityRef(id=_named(mention.name), name=mention.name, entity_type="") for mention in one.mentions
    }


def _named(name: str) -> UUID:
    return uuid5(NAMESPACE_OID, normalise.normalise_name(name))


def _topic(one: Prepared) -> str:
    """Return what is compared in meaning: two that differ in a value that duplicates share never say the same."""
    return "\x1f".join((one.candidate.type.name, _subject(one), *one.candidate.payload.distinct_by()))


def _subject(one: Prepared) -> str:
    return normalise.normalise_name(one.candidate.payload.subject() or "")


def _declared(one: Prepared) -> set[str]:
    return {
        normalise.normalise_name(name)
        for mention in one.mentions
        if mention.declares
        for name in (mention.name, *mention.aliases)
    }


def _used(one: Prepared) -> set[str]:
    return {normalise.normalise_name(mention.name) for mention in one.mentions}


def _ties(one: Prepared) -> dict[str, str | None]:
    return {normalise.normalise_name(mention.name): mention.tie for mention in one.mentions}
