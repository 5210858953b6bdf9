"""The stored memories and entities that proposals refer to, among those that the extractor was shown.

A number of a line has become the id of a memory; whether that is of this scope, and still there, is read again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from pydantic import ValidationError

from app.english.claims import is_exchanged
from app.memory.extraction import EntityNames, KnownBelief, Proposal
from app.memory.fields import texts_in
from app.memory.placement import REVIEW_IMPORTANCE
from app.memory.registry import Registry
from app.memory.spec import Heed, MemoryType
from app.memory.versions import SlotClaim, SlotVerdict
from app.model import SpeechAct

_MOMENTARY: Final = re.compile(r"(?:_at|_on|date|since|until|_precision)$")
"""Fields, by their wire names, that tell when the old value began or ended."""

_GRAVE: Final = frozenset({Heed.FOOD, Heed.MEDICINE, Heed.RULE})
"""What an answer must heed for somebody's safety."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferredLines:
    """The stored memories, which are active, and the entities that proposals refer to, by id."""

    beliefs: Mapping[UUID, KnownBelief] = field(default_factory=dict)
    entities: Mapping[UUID, EntityNames] = field(default_factory=dict)

    def texts(self, proposal: Proposal) -> tuple[str, ...]:
        """Return all that stands in the lines that a proposal refers to: it counts as said."""
        told = (text for one in self._beliefs(proposal) for text in _texts(one.fields))
        named = (self.entities[one] for one in proposal.referred if one in self.entities)
        return (*told, *(name for one in named for name in (one.name, *one.aliases)))

    def fields(self, proposal: Proposal) -> tuple[Mapping[str, object], ...]:
        """Return the fields of the memories that a proposal refers to."""
        return tuple(one.fields for one in self._beliefs(proposal))

    def _beliefs(self, proposal: Proposal) -> Iterator[KnownBelief]:
        return (self.beliefs[one] for one in proposal.referred if one in self.beliefs)


NOTHING_REFERRED: Final = ReferredLines()


def _texts(value: object) -> Iterator[str]:
    yield from texts_in(value)
    if isinstance(value, Mapping):
        yield from (str(one) for one in value.values() if isinstance(one, int | float) and not isinstance(one, bool))


def referring(proposal: Proposal, lines: ReferredLines, types: Registry) -> list[Proposal]:
    """Return a proposal as it goes on, and an ending for each memory that it says is no longer so.

    What names one field of a memory that it replaces, or repeats, keeps the others; an ending of a stored memory has
    the fields of that memory. An id that leads nowhere refers to nothing.
    """
    ending = [
        replace(
            proposal,
            type=stored.type,
            payload=fields,
            ends=True,
            speech_act=SpeechAct.ASSERTION if proposal.speech_act is SpeechAct.NEGATION else proposal.speech_act,
            sentence=None,
            retires=(one,),
            replaces=(),
            repeats=None,
        )
        for one in proposal.retires
        if (stored := lines.beliefs.get(one)) is not None and (fields := _readable(stored, types)) is not None
    ]
    if proposal.ends:
        return ending or [replace(proposal, retires=(), replaces=(), repeats=None)]
    return [_completed(replace(proposal, retires=()), lines, types), *ending]


def _readable(stored: KnownBelief, types: Registry) -> Mapping[str, object] | None:
    """Return the fields of a stored memory in the present form of its type, None if it has none."""
    spec = types.find(stored.type)
    try:
        return None if spec is None else spec.read(stored.fields, stored.version).model_dump(mode="json", by_alias=True)
    except ValidationError:
        return None


def _completed(proposal: Proposal, lines: ReferredLines, types: Registry) -> Proposal:
    """Return a proposal with those fields of what it replaces or repeats that it leaves out, where the type is one."""
    replaces = tuple(one for one in proposal.replaces if one in lines.beliefs)
    repeated = None if proposal.repeats is None else lines.beliefs.get(proposal.repeats)
    repeats = proposal.repeats if repeated is not None and repeated.type == proposal.type else None
    found = replace(proposal, replaces=replaces, repeats=repeats)
    whole = [lines.beliefs[one] for one in ((repeats,) if repeats is not None else replaces)]
    spec = types.find(proposal.type)
    stored = whole[0] if len(whole) == 1 and whole[0].type == proposal.type else None
    fields = None if stored is None else _readable(stored, types)
    if spec is None or fields is None:
        return found
    kept = {
        name: value
        for name, value in fields.items()
        if value not in (None, [], {}) and name not in spec.of_value and not _MOMENTARY.search(name)
    }
    return replace(found, payload={**kept, **proposal.payload})


def gives_way(stored: KnownBelief, types: Registry, said: str) -> bool:
    """Return whether a statement under another key may take the place of a stored memory.

    What somebody's safety hangs on stands until it is said to have ended, or to be exchanged for another, and so does
    what its type's rule protects.
    """
    spec = types.find(stored.type)
    fields = None if spec is None else _readable(stored, types)
    if spec is not None and fields is not None and any(is_exchanged(one, said) for one in _named_by(spec, fields)):
        return stored.said is not None
    if spec is None or fields is None or stored.said is None or _is_grave(spec, fields):
        return False
    old = SlotClaim(value="old", stated_at=stored.said, confidence=1.0)
    match spec.on_conflict(old, replace(old, value="new")):
        case SlotVerdict.SUPERSEDE:
            return True
        case SlotVerdict.CONTRADICT:
            return spec.importance(spec.payload.model_validate(dict(fields))) < REVIEW_IMPORTANCE
        case _:
            return False


def _named_by(spec: MemoryType, fields: Mapping[str, object]) -> Iterator[str]:
    """Yield the words by which somebody names a memory: what it holds, or what it is of."""
    for name in (spec.tells, spec.held.value if spec.held is not None else None):
        value = fields.get(name) if name else None
        if isinstance(value, str):
            yield value


def _is_grave(spec: MemoryType, fields: Mapping[str, object]) -> bool:
    """Return whether a memory is of what an answer must heed for somebody's safety."""
    rule = spec.heed
    if rule is None or not _GRAVE & {*rule.kinds}:
        return False
    value = str(fields.get(rule.field, ""))
    return not rule.field or any(value == one or value.startswith(f"{one}.") for one in rule.values)


def ids_of(proposals: Sequence[Proposal]) -> frozenset[UUID]:
    """Return the ids of all that proposals refer to."""
    return frozenset(one for proposal in proposals for one in proposal.referred)
