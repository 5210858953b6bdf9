"""The form of a memory type: one frozen `MemoryType` and one `Payload` class, both in the type's own file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from app.english import questions
from app.memory.freshness import CATEGORY_DECAY, Decay
from app.memory.versions import SlotClaim, SlotVerdict
from app.model import BUILT_IN, Category, EntityRef, EventTime, Mention, ScopeKind, StatedRelation

Refs = Mapping[str, EntityRef]
"""Role -> the entity its mention was resolved to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reclassified:
    """The type and the fields that something belongs under, and why (seed 000, rule adjustments)."""

    type: str
    payload: Mapping[str, object]
    reason: str


class Payload(BaseModel):
    """The fields a type adds to a memory, and what they mean. Subclasses override what they need."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    def render(self) -> str:
        """Return a self-contained sentence that says what this payload says."""
        raise NotImplementedError

    def mentions(self) -> tuple[Mention, ...]:
        """Return the names to resolve to entities, each under a role of its own."""
        return ()

    def subject(self) -> str | None:
        """Return the role or literal name of what this is about."""
        return None

    def slot(self, refs: Refs) -> str | None:  # noqa: ARG002
        """Return the key under which only one value can be true at a time; None: memories accumulate."""
        return None

    def value(self, refs: Refs) -> str | None:  # noqa: ARG002
        """Return what is claimed for the slot, normalised: equal values repeat, others conflict."""
        return None

    def guarded_at(self, refs: Refs) -> tuple[str, ...]:  # noqa: ARG002
        """Return the slots that a guard over this would hold, or begin with; none where nothing can guard it."""
        return ()

    def also_held_under(self) -> tuple[str, ...]:
        """Return under what else, besides what it says itself, memories may be held that say the same."""
        return ()

    def distinct_by(self) -> tuple[str, ...]:
        """Return what two memories must share to be duplicates, beyond their words."""
        return ()

    def event_time(self, zone: tzinfo) -> EventTime | None:  # noqa: ARG002
        """Return when this happened, for types that happen."""
        return None

    def stored(self, event: EventTime | None) -> dict[str, object]:  # noqa: ARG002
        """Return the fields as they are kept, by their wire names; `event` is what `event_time` returned."""
        return self.model_dump(mode="json", by_alias=True)

    def edge(self) -> StatedRelation | None:
        """Return the relation this states between two of its mentions."""
        return None

    def reclassified(self) -> Reclassified | None:
        """Return what an extracted payload really is, where its own words show another type."""
        return None

    def collapsed(self, refs: Refs) -> Reclassified | None:  # noqa: ARG002
        """Return what this is once its names are known to be one entity, where that makes it another type."""
        return None

    def questions(self) -> tuple[str, ...]:
        """Return up to three questions that this answers, as someone who looks for it later would ask them."""
        return questions.topic_question(self.render())

    def merged_with(self, newer: Self) -> Self:  # noqa: ARG002
        """Return the payload of a repetition: the older one, unless the type gathers attributes."""
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An utterance and the payloads it should yield: prompt example and test case at once."""

    utterance: str
    payloads: tuple[Mapping[str, object], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A belief that is stored under another type: its type, its payload by wire names, and its sentence."""

    type: str
    payload: Mapping[str, object]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptedPayload:
    """What a stored belief says as this type, and by which rule: our own words, the same for all it holds of."""

    payload: Payload
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """How what is said as another type is told to be of this one (seed 000, schema evolution).

    Backfills ask it of what was stored before there was the type; what the embedded rules propose is asked at the
    writing. `sources` are the types looked through; `rule` returns None where a belief stays what it is. What a rule
    misses can be found by another one later; what it takes wrongly is lost to its own type, so it is sure or says
    nothing. `ended` returns the fields, by their wire names, of the ending of one of this type that the ending of such
    a belief may mean. It need not be sure: an ending ends only what is held.
    """

    sources: tuple[str, ...]
    rule: Callable[[Stored], AdoptedPayload | None]
    ended: Callable[[Stored], Mapping[str, object] | None] | None = None


NO_VALUE = "anything"
"""Stands in the payload of an ending for a value that it does not name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndingKey:
    """The fields, by their wire names, by which an ending finds what it ends.

    `under` is what a belief is held under besides its subject (a predicate, a key); `value` is what is held there.
    """

    under: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryType:
    """Everything the service knows about one type; `registry.discover()` finds it by its file.

    `asked_by_questions`: its memories are found by the questions they answer, too. On where that was measured to
    help: it doubles the vectors a memory has, and more. `likeness_merges`: two of its memories whose cosine is over
    .92 are one; off for events, which are one by the same words or by a judge. `extracted`: a language model may
    propose it from a turn; off for types that only callers write. `folds`: once faded, those that are alike become
    one semantic memory.
    `verbatim`: its memories are what was said, word for word; what they say may have been replaced since.
    `nature`: how what is extracted fades by what it says of the user (seed 002): core for who they are, procedural
    for what they do again and again, any other where both are ruled out; None where the payload leaves it open, and
    for a type that never says such things. `held`: how its beliefs are found by a
    statement that one is no longer so; None for types whose memories don't stop being true. `guards`: the types it
    guards against: a memory of theirs, whose `guarded_at` names the slot of an active one of this type, or how it
    begins, is stored,
    linked to it by `conflicts-with`, and reviewed. `filters`: the fields of its payload, by their wire names, that a
    listing can be narrowed by, each with what makes a value the one that is stored; the first has an index.
    `adopts`: what of other types is one of this type, to backfills and at the writing. `chosen`: fields, by their wire
    names, whose values are chosen from a vocabulary or worked out, not said. `choices`: what a model may choose from,
    by field; `unasked`: fields that a model is not asked for. `shown`: a model that extracts is shown the memories that
    a turn may touch, as it is those that are `held`. `states`: its memories say what
    is so, unlike a wish. `begins`: what is said to begin later is not so until
    then; off for intentions, which are held before their time. `otherwise`: what an extractor's payload
    is that has the fields of this type and can't be of it. `version`: of a tenant's own type, from 1;
    0 for those that are built in. `earlier` returns a version before; `past`: this is one.
    """

    name: str
    definition: str
    payload: type[Payload]
    prior: float
    half_life_days: float | None
    category: Category
    on_conflict: Callable[[SlotClaim, SlotClaim], SlotVerdict]
    examples: tuple[Example, ...]
    group: str
    hints: tuple[str, ...] = ()
    default_scope: ScopeKind = ScopeKind.USER
    aliases: tuple[str, ...] = ()
    dedup_by_meaning: bool = True
    likeness_merges: bool = True
    floor: float | None = None
    asked_by_questions: bool = False
    extracted: bool = True
    folds: bool = False
    verbatim: bool = False
    held: EndingKey | None = None
    guards: tuple[str, ...] = ()
    filters: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    adopts: Adoption | None = None
    importance: Callable[[Payload], float] = field(default=lambda _payload: 0.5)
    nature: Callable[[Payload], Category | None] | None = None
    chosen: frozenset[str] = frozenset()
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unasked: frozenset[str] = frozenset()
    states: bool = False
    begins: bool = True
    shown: bool = False
    otherwise: Callable[[Mapping[str, object]], Reclassified | None] | None = None
    version: int = 0
    earlier: Callable[[int], MemoryType | None] | None = None
    past: bool = False

    def owner(self, tenant: UUID) -> UUID:
        """Return whose type it is: the tenant's, or nobody's when it is built in."""
        return tenant if self.version else BUILT_IN

    def at(self, version: int) -> MemoryType:
        """Return the type as it was in a version of it; as it is, where that is not kept."""
        found = None if version == self.version or self.earlier is None else self.earlier(version)
        return self if found is None else found

    def read(self, payload: Mapping[str, object], version: int) -> Payload:
        """Return a stored payload, as the version of the type that it was written with.

        Raises pydantic's ValidationError where it is of a shape that the type no longer has.
        """
        return self.at(version).payload.model_validate(dict(payload))

    @property
    def counted_as(self) -> str:
        """Return the name under which its memories are counted in metrics: tenants' names are too many to count by."""
        return "own" if self.version else self.name

    def decay(self, category: Category | None) -> Decay:
        """Return how such a memory fades; an explicitly chosen category wins over the type."""
        if category is not None:
            return CATEGORY_DECAY[category]
        return Decay(half_life_days=self.half_life_days, floor=self.floor or 0.0)

    @property
    def indexed_filter(self) -> str | None:
        """Return the field whose value `memories.filter_key` holds; None for a type without filters."""
        return next(iter(self.filters), None)

    def filter_key(self, stored: Mapping[str, object]) -> str | None:
        """Return what a stored payload is found by under an index."""
        found = None if self.indexed_filter is None else stored.get(self.indexed_filter)
        return None if found is None else str(found)

    def ended(self, fields: Mapping[str, object]) -> tuple[Payload, bool]:
        """Return the payload of what is said to have ended, and whether it names the value.

        Raises ValueError (pydantic's among them) where the fields can't be such a payload.
        """
        if self.held is None:
            raise ValueError(f"a memory of type {self.name} does not end")
        named = fields.get(self.held.value) is not None
        given = fields if named else {**fields, self.held.value: NO_VALUE}
        return self.payload.model_validate(dict(given)), named
