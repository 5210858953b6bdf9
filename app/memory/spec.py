"""The interface of a memory type: a frozen `MemoryType` and a `Payload` class, both in the type's own file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from enum import StrEnum
from typing import Final, Literal, Self, get_args
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from app.english import questions
from app.memory import normalise
from app.memory.freshness import CATEGORY_DECAY, Decay
from app.memory.versions import SlotClaim, SlotVerdict
from app.model import BUILT_IN, Category, EntityRef, EventTime, Mention, ScopeKind, StatedRelation

Refs = Mapping[str, EntityRef]
"""The resolved entities of mentions, by role."""

GroupName = Literal["Facts", "Preferences", "Events", "Entities", "Relations", "Recent"]
"""The heading of a group of the context block."""

GROUPS: Final[tuple[str, ...]] = get_args(GroupName)
"""The six groups; a type of another group goes to the last, the catch-all."""


HEED_GROUP: Final = "Heed"
"""The heading of the first group: what an answer must heed, whatever was asked."""


class Standing(StrEnum):
    """The section of a user's profile, by its heading, that memories of a type belong to while they hold."""

    WHO = "Who"
    CONSTRAINTS = "Constraints"
    PREFERENCES = "Preferences"
    CURRENT = "Current"


class Heed(StrEnum):
    """The questions that a memory matters to although they share no word.

    Those about food, about illness and medicine, about what a rule says, and those that ask the assistant to do
    something.
    """

    FOOD = "food"
    MEDICINE = "medicine"
    RULE = "rule"
    ANSWERS = "answers"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeedRule:
    """The memories of a type that answers must heed: all, or those whose `field` has or begins with one of `values`."""

    kinds: tuple[Heed, ...]
    field: str = ""
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reclassified:
    """Another type and payload for a candidate, and the reason (seed 000, rule adjustments)."""

    type: str
    payload: Mapping[str, object]
    reason: str


class Payload(BaseModel):
    """The fields that a type adds to a memory, with methods for their meaning. Subclasses override what they need."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    def render(self) -> str:
        """Return the payload as a self-contained sentence."""
        raise NotImplementedError

    def mentions(self) -> tuple[Mention, ...]:
        """Return the names to resolve to entities, each under its own role."""
        return ()

    def subject(self) -> str | None:
        """Return the role or the literal name of the subject."""
        return None

    def slot(self, refs: Refs) -> str | None:  # noqa: ARG002
        """Return the key under which only one value can be true at a time, None if memories accumulate."""
        return None

    def value(self, refs: Refs) -> str | None:  # noqa: ARG002
        """Return the normalised value for the slot: equal values are repetitions, others conflict."""
        return None

    def kept_at(self, refs: Refs) -> str | None:  # noqa: ARG002
        """Return the slot that this claims if it holds one value; None for types that always, or never, have a slot."""
        return None

    def leaves_open(self) -> bool:
        """Return whether the payload leaves it open if it holds one value at `kept_at`, or several."""
        return False

    def held_as(self, *, one: bool) -> Self:  # noqa: ARG002
        """Return the payload with one value, or with several, decided."""
        return self

    def supposed(self, *, several: bool) -> Self:  # noqa: ARG002
        """Return the payload with what its extractor supposes of how many values it holds; the least that counts."""
        return self

    def supposition(self) -> str | None:
        """Return what is supposed where the payload leaves it open and nothing is known, as a fixed text."""
        return None

    def written_value(self) -> str | None:
        """Return the value for the slot as long as no entity has that name; None for types whose value names none."""
        return None

    def guarded_at(self, refs: Refs) -> tuple[str, ...]:  # noqa: ARG002
        """Return the slots, or prefixes of slots, of guards against this payload; none if nothing can guard it."""
        return ()

    def also_held_under(self) -> tuple[str, ...]:
        """Return other values of the ending's `under` field under which memories may say the same."""
        return ()

    def ends(self, stored: Mapping[str, object]) -> bool:  # noqa: ARG002
        """Return whether an ending with this payload may mean a stored one that is held under one of its values."""
        return True

    def distinct_by(self) -> tuple[str, ...]:
        """Return the values that duplicates must share, besides their words."""
        return ()

    def event_time(self, zone: tzinfo) -> EventTime | None:  # noqa: ARG002
        """Return the time of the event, None for types without one."""
        return None

    def intended(self, said: datetime) -> tuple[str, str] | None:  # noqa: ARG002
        """Return who intends what, where it tells what was still ahead when it was said; the name may be empty."""
        return None

    def happened(self) -> str | None:
        """Return what happened, as a sentence; None where it tells of no event."""
        return None

    def stored(self, event: EventTime | None) -> dict[str, object]:  # noqa: ARG002
        """Return the fields as they are stored, by their wire names; `event` is the result of `event_time`."""
        return self.model_dump(mode="json", by_alias=True)

    def edge(self) -> StatedRelation | None:
        """Return the relation this states between two of its mentions."""
        return None

    def reclassified(self) -> Reclassified | None:
        """Return another type for an extracted payload whose own words show it, else None."""
        return None

    def collapsed(self, refs: Refs) -> Reclassified | None:  # noqa: ARG002
        """Return another type for a payload whose names were resolved to one entity, else None."""
        return None

    def questions(self) -> tuple[str, ...]:
        """Return up to three questions that this payload answers, as someone would ask them later."""
        return questions.topic_question(self.render())

    def merged_with(self, newer: Self) -> Self:  # noqa: ARG002
        """Return the payload of a merge with a repetition: the older one, unless the type collects attributes."""
        return self

    def respelled(self, newer: Payload) -> Self:
        """Return the payload with those texts of a repetition that are its own in another spelling.

        Leaving out capitals corrects nothing: it is how people type.
        """
        fields = type(self).model_fields
        texts = {name: (getattr(self, name), getattr(newer, name, None)) for name in fields}
        corrected = {
            name: other
            for name, (own, other) in texts.items()
            if isinstance(own, str) and isinstance(other, str) and type(own) is type(other)
            if normalise.respelled(own, other) and not (other.casefold() == other and own.casefold() != own)
        }
        return self.model_copy(update=corrected) if corrected else self


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An utterance and the payloads to extract from it, used in prompts and as a test case."""

    utterance: str
    payloads: tuple[Mapping[str, object], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBelief:
    """A memory of another type: its type, its payload by wire names, and its content."""

    type: str
    payload: Mapping[str, object]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptedPayload:
    """A payload of the adopting type, and the reason, which is a fixed text of the rule."""

    payload: Payload
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """The rule by which a type adopts memories of other types (seed 000, schema evolution).

    Backfills apply it to memories that are older than the type; writes apply it to proposals of the embedded rules.
    `sources` are the types to adopt from; `rule` returns None for a memory that keeps its type. A memory that the rule
    misses can be adopted later, while one that it adopts wrongly is lost to its own type: it must be certain. `ended`
    returns the fields, by their wire names, of an ending of this type that the ending of such a memory may mean. It
    need not be certain, because an ending ends only memories that exist.
    """

    sources: tuple[str, ...]
    rule: Callable[[StoredBelief], AdoptedPayload | None]
    ended: Callable[[StoredBelief], Mapping[str, object] | None] | None = None


NO_VALUE = "anything"
"""The placeholder for the value in the payload of an ending that does not name it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndingKey:
    """The fields, by their wire names, by which an ending finds the memories that it ends.

    `under` is the field that identifies the belief besides its subject (a predicate, a key); `value` is its value.
    """

    under: str
    value: str


def class_name(name: str) -> str:
    """Return a type's name in camel case, for classes and schemas."""
    return "".join(word.capitalize() for word in name.split("_"))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryType:
    """The definition of a memory type; `registry.discover()` finds it by its file.

    - `asked_by_questions`: memories are indexed by hypothetical questions, too. On where that was measured to help, as
      it at least doubles the vectors of a memory.
    - `likeness_merges`: two memories with a cosine over .92 merge; off for events, which merge by equal words or by a
      judge only.
    - `extracted`: a language model may propose it from a turn; off for types that only callers write.
    - `folds`: similar faded memories are consolidated into one semantic memory.
    - `verbatim`: the content is what was said, word for word, and may have been replaced since.
    - `quotes`: the field that holds words of a source, which stand at the end of the sentence, after where they are
      from. They are shown in part where they are long, and nobody is taken to have said them.
    - `tells`: the field whose words tell what a memory says of its subject, where it is not the value of `held`.
    - `asks_before`: returns whether a person decides before a new payload takes the place of an old one in its slot.
    - `nature`: the category by what a payload says of the user (seed 002): core for who they are, procedural for what
      they do repeatedly, another one where both are ruled out, None where the payload leaves it open.
    - `held`: the fields by which an ending finds memories; None for types whose memories don't end.
    - `guards`: the types it guards against. A memory of those types is stored, linked by `conflicts-with` and
      reviewed, if its `guarded_at` has the slot, or a prefix of the slot, of an active memory of this type.
    - `of_value`: fields, by their wire names, that explain the value: another value does not keep them.
    - `filters`: the fields of the payload, by their wire names, that listings can filter by, each with the function
      that normalises a value; the first one has an index.
    - `adopts`: the rule by which it adopts memories of other types.
    - `chosen`: fields, by their wire names, whose values are chosen from a vocabulary or computed, not said.
    - `choices`: the values that a model may choose for a field; `unasked`: fields that a model is not asked for.
    - `asks_several`: a model is asked whether other values can be true beside the one it tells.
    - `shown`: an extracting model is shown the memories that a turn may touch, as it is those that are `held`.
    - `states`: memories say what is so now, unlike a wish or an intention.
    - `begins`: a memory with a later `valid_from` is not valid until then; off for intentions, which hold before.
    - `intends`: memories may tell of what is to come, which an event carries out.
    - `standing`: the section of a user's profile for its memories; None for types that only questions find.
    - `heed`: which memories answers must heed, whatever is asked; None for none.
    - `otherwise`: returns another type for an extracted payload that is not valid for this one.
    - `version`: the version of a tenant's own type, from 1; 0 for built-in types. `earlier` returns a former version;
      `past` marks one.
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
    standing: Standing | None = None
    heed: HeedRule | None = None
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
    quotes: str | None = None
    held: EndingKey | None = None
    tells: str | None = None
    of_value: frozenset[str] = frozenset()
    guards: tuple[str, ...] = ()
    filters: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    adopts: Adoption | None = None
    importance: Callable[[Payload], float] = field(default=lambda _payload: 0.5)
    asks_before: Callable[[Payload, Payload], bool] | None = None
    nature: Callable[[Payload], Category | None] | None = None
    chosen: frozenset[str] = frozenset()
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unasked: frozenset[str] = frozenset()
    asks_several: bool = False
    states: bool = False
    begins: bool = True
    intends: bool = False
    shown: bool = False
    otherwise: Callable[[Mapping[str, object]], Reclassified | None] | None = None
    version: int = 0
    earlier: Callable[[int], MemoryType | None] | None = None
    past: bool = False

    def owner(self, tenant: UUID) -> UUID:
        """Return the owner of the type: the tenant, or BUILT_IN for a built-in type."""
        return tenant if self.version else BUILT_IN

    def at(self, version: int) -> MemoryType:
        """Return a version of the type, the present one if that version is not stored."""
        found = None if version == self.version or self.earlier is None else self.earlier(version)
        return self if found is None else found

    def read(self, payload: Mapping[str, object], version: int) -> Payload:
        """Return a stored payload, validated by the version of the type that it was written with.

        Raises pydantic's ValidationError where it does not fit the type.
        """
        return self.at(version).payload.model_validate(dict(payload))

    @property
    def happens(self) -> bool:
        """Tell whether memories of the type have a time of their own, apart from when they were stated."""
        return self.payload.event_time is not Payload.event_time

    @property
    def counted_as(self) -> str:
        """Return the label of the type in metrics, one for all tenants' own types, to bound the number of labels."""
        return "own" if self.version else self.name

    def decay(self, category: Category | None) -> Decay:
        """Return the decay of a memory of the type; an explicitly chosen category overrides the type's."""
        if category is not None:
            return CATEGORY_DECAY[category]
        return Decay(half_life_days=self.half_life_days, floor=self.floor or 0.0)

    @property
    def indexed_filter(self) -> str | None:
        """Return the field whose value `memories.filter_key` holds, None for a type without filters."""
        return next(iter(self.filters), None)

    def filter_key(self, stored: Mapping[str, object]) -> str | None:
        """Return the value of `memories.filter_key` for a stored payload."""
        found = None if self.indexed_filter is None else stored.get(self.indexed_filter)
        return None if found is None else str(found)

    def ended(self, fields: Mapping[str, object]) -> tuple[Payload, bool]:
        """Return the payload of an ending, and whether it names the value.

        Raises ValueError (or pydantic's ValidationError) where the fields don't fit the type.
        """
        if self.held is None:
            raise ValueError(f"a memory of type {self.name} does not end")
        named = fields.get(self.held.value) is not None
        given = fields if named else {**fields, self.held.value: NO_VALUE}
        return self.payload.model_validate(dict(given)), named
