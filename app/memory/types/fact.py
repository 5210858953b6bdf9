"""A stable predicate: `user works-at Volkswagen`."""

from __future__ import annotations

import builtins
import re
from typing import Self

from pydantic import AliasChoices, Field, PrivateAttr, field_validator

from app.english import medications, modals, predicates, questions
from app.english.dates.finder import same_date
from app.memory import normalise, vocabulary
from app.memory.fields import Flag, Name, Person, Sentence
from app.memory.slots import latest_statement_wins
from app.memory.spec import EndingKey, Example, Heed, HeedRule, MemoryType, Payload, Reclassified, Refs, Standing
from app.memory.versions import SlotClaim, SlotVerdict
from app.model import Category, EventTime, Mention, Precision, SpeechAct

_PAST = re.compile(r"^(?:used-to|had-been|had)(?:-|$)|-used-to-")
_WAS = re.compile(r"^(?:was|were)(?:-(?P<rest>.+))?$")
"""A state of the past, or, in the passive voice, what was done and stays true: `was-at`, `was-founded-by`."""

_ROUTINE = re.compile(
    r"""\b(?:every|each)\s(?:\w+\s){0,2}?(?:(?:mon|tues|wednes|thurs|fri|satur|sun|week)?day|morning|noon|afternoon|evening
        |night|week|weekend|fortnight|month)s?\b
        |\b(?:daily|weekly|monthly)\b
        |\b(?:once|twice|\w+\stimes)\s(?:a|per|each)\s(?:day|week|month)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Frequencies, which mark a routine (seed 002, procedural)."""


_MANY = re.compile(
    r"has (?P<what>(?:grand|step)?(?:children|sons|daughters)|kids|siblings|brothers|sisters|pets|dogs|cats)"
)
_COUNT = re.compile(
    r"\d{1,4}|no|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|several|many", re.IGNORECASE
)
"""Numbers: `has-children` of `three` is rendered as `has three children`."""
_MEASURE = re.compile(r"[+\-]?\d[\d.,]*(?:\s?(?:%|[^\W\d_]{1,12}))?")
"""A number, perhaps of a unit: `40`, `72.5 kg`."""


class Fact(Payload):
    """Subject, predicate, object; stateful predicates hold one value at a time."""

    subject_name: Person = Field(
        default=vocabulary.USER,
        alias="subject",
        description="Who or what the fact is about.",
        examples=["user"],
    )
    predicate: Name = Field(description="What is said, hyphenated.", examples=["works-at"])
    object: Sentence = Field(
        description="The value: an entity's name or a literal.",
        examples=["Volkswagen"],
        validation_alias=AliasChoices("object", "object_value"),
    )
    stateful: Flag | None = Field(
        default=None,
        description="Whether only one value can be true at a time, so that another one replaces it; false where "
        "several stand side by side. If not given, what the slot holds already decides, then the predicate.",
        validation_alias=AliasChoices("stateful", "predicate_is_stateful"),
    )

    _extractor_says_several: bool | None = PrivateAttr(default=None)

    @field_validator("predicate")
    @classmethod
    def _canonical(cls, value: str) -> str:
        canonical = vocabulary.predicate(value)
        if not canonical:
            raise ValueError("must contain letters or digits")
        return canonical

    def render(self) -> str:
        """Return the fact as a sentence."""
        counted = _MANY.fullmatch(normalise.words(self.predicate))
        if counted is not None and self._counts():
            return f"{self.subject_name} has {self.object} {counted['what']}"
        return predicates.sentence(self.subject_name, self.predicate, self.object)

    def mentions(self) -> tuple[Mention, ...]:
        """Return the subject, and the object if the predicate takes an entity or an entity has that name."""
        subject = Mention(role="subject", name=self.subject_name)
        if len(self.object) > 200:  # noqa: PLR2004 - a name's length; a literal may be longer
            return (subject,)
        kind = vocabulary.ENTITY_PREDICATES.get(self.predicate)
        return (
            subject,
            Mention(role="object", name=self.object, entity_type=kind, creates=kind is not None),
        )

    def subject(self) -> str | None:
        """Return the subject."""
        return self.subject_name

    def slot(self, refs: Refs) -> str | None:
        """Return subject + predicate when the predicate holds one value at a time."""
        return self.kept_at(refs) if self._holds_one() else None

    def kept_at(self, refs: Refs) -> str | None:
        """Return subject + predicate; how many there are of something is apart from who or what they are."""
        held = f"{refs['subject'].id}|{self.predicate}"
        return f"{held}|count" if self._counts() else held

    def leaves_open(self) -> bool:
        """Return whether neither the caller nor the value says how many values the predicate holds."""
        return self.stateful is None and not self._counts()

    def held_as(self, *, one: bool) -> Self:
        """Return the fact with one value at a time, or with several."""
        return self.model_copy(update={"stateful": one})

    def supposed(self, *, several: bool) -> Self:
        """Return the fact with what its extractor supposes, which counts where the vocabulary knows no answer."""
        copied = self.model_copy()
        copied._extractor_says_several = several  # noqa: SLF001 - a copy of its own
        return copied

    def supposition(self) -> str | None:
        """Return how many values a predicate is supposed to hold that the vocabulary does not know."""
        if not self.leaves_open() or vocabulary.holds_one(self.predicate) is not None:
            return None
        if self._extractor_says_several is not None:
            held = "one value at a time" if self._holds_one() else "several values"
            return f"the vocabulary does not know its predicate, which holds {held} by the extractor's word"
        if self._holds_one():
            return (
                "the vocabulary does not know its predicate, so it holds one value at a time: "
                "say `stateful: false` where it holds several"
            )
        return (
            "the vocabulary does not know its predicate, a plural or a possession, so it holds several values: "
            "say `stateful: true` where it holds one"
        )

    def _holds_one(self) -> bool:
        """Return whether it holds one value: as said, by the vocabulary, the extractor, or its words (seed 000: one).

        A number of children is one value, their names are several; what is measured has one measure at a time.
        """
        if self.stateful is not None:
            return self.stateful
        if self._counts():
            return True
        known = vocabulary.holds_one(self.predicate)
        if known is not None:
            return known
        if self._extractor_says_several is not None:
            return not self._extractor_says_several
        return _MEASURE.fullmatch(self.object) is not None or not predicates.is_of_several(self.predicate)

    def _counts(self) -> bool:
        return _MANY.fullmatch(normalise.words(self.predicate)) is not None and bool(_COUNT.fullmatch(self.object))

    def stored(self, event: EventTime | None) -> dict[str, builtins.object]:
        """Return the fields, with how many values it holds."""
        return {**super().stored(event), "stateful": self._holds_one()}

    def value(self, refs: Refs) -> str | None:
        """Return the object: the entity that it names, or the literal."""
        return str(refs["object"].id) if "object" in refs else self.written_value()

    def written_value(self) -> str | None:
        """Return the object as it is written."""
        return normalise.value(self.object)

    def guarded_at(self, refs: Refs) -> tuple[str, ...]:
        """Return subject + each predicate of possible rules about this."""
        return tuple(f"{refs['subject'].id}|{one}" for one in modals.over(self.predicate))

    def also_held_under(self) -> tuple[str, ...]:
        """Return the predicates of what one has or does, where it is said to be no longer had or done."""
        return vocabulary.HELD_UNDER.get(self.predicate, ())

    def distinct_by(self) -> tuple[str, ...]:
        """Return predicate and object."""
        return (self.predicate, normalise.value(self.object))

    def questions(self) -> tuple[str, ...]:
        """Return questions about the predicate."""
        return questions.about_fact(self.subject_name, self.predicate, self.object)

    def reclassified(self) -> Reclassified | None:
        """Return an event if the predicate is of a past state (seed 000); what was done by somebody stays a fact."""
        if not _PAST.search(self.predicate) and not _was_a_state(self.predicate):
            return None
        fields = {
            "event_description": self.render(),
            "event_at_precision": Precision.APPROXIMATE,
            "participants": [] if self.subject_name == vocabulary.USER else [self.subject_name],
        }
        return Reclassified(type="event", payload=fields, reason=f"{self.predicate} speaks of the past")


def _was_a_state(predicate: str) -> bool:
    """Return whether a predicate says in the past tense how somebody or something was: `was-at`, `was-married-to`."""
    found = _WAS.match(predicate)
    if found is None:
        return False
    rest = found["rest"] or ""
    # Who is no longer married was so, and a company that was founded still is.
    is_so = any(vocabulary.holds_one(vocabulary.predicate(one)) is not None for one in (f"is-{rest}", rest))
    return not rest.endswith("-by") and (is_so or not predicates.is_passive(rest))


def _latest_or_most_precise(old: SlotClaim, new: SlotClaim) -> SlotVerdict:
    """Return the verdict for a stateful slot, in which `1990` repeats the known `4 May 1990`."""
    if new.speech_act is SpeechAct.ASSERTION and same_date(old.value or "", new.value or ""):
        return SlotVerdict.MERGE
    return latest_statement_wins(old, new)


def _asks_before(old: Payload, new: Payload) -> bool:
    """Return whether another allergy, illness or medicine would be replaced, not the same in other words or doses."""
    if not isinstance(old, Fact) or not isinstance(new, Fact) or new.predicate not in vocabulary.LASTING:
        return False
    had, has = (set(_thing(one).split()) for one in (old, new))
    return not (had <= has or has <= had)


def _thing(fact: Fact) -> str:
    """Return what a fact of health is about, a medicine without its dose."""
    dose = medications.may_be_dose(fact.predicate, fact.object)
    return normalise.normalise_name(fact.object if dose is None else dose.name)


def _importance(payload: Payload) -> float:
    return vocabulary.IMPORTANT_PREDICATES.get(payload.predicate, 0.5) if isinstance(payload, Fact) else 0.5


def _nature(payload: Payload) -> Category | None:
    if not isinstance(payload, Fact):
        return None
    if payload.predicate in vocabulary.IDENTITY_PREDICATES:
        return Category.CORE
    if payload.predicate in vocabulary.PASSING_PREDICATES:
        return Category.SEMANTIC
    if payload.predicate in vocabulary.SKILL_PREDICATES or _ROUTINE.search(payload.object):
        return Category.PROCEDURAL
    return None


TYPE = MemoryType(
    name="fact",
    definition="A stable predicate about someone or something, true until it is replaced.",
    payload=Fact,
    prior=0.15,
    half_life_days=180,
    category=Category.SEMANTIC,
    on_conflict=_latest_or_most_precise,
    group="Facts",
    standing=Standing.WHO,
    heed=HeedRule(kinds=(Heed.FOOD, Heed.MEDICINE), field="predicate", values=vocabulary.OF_HEALTH),
    hints=("fact", "facts"),
    asked_by_questions=True,
    states=True,
    held=EndingKey(under="predicate", value="object"),
    importance=_importance,
    asks_before=_asks_before,
    nature=_nature,
    unasked=frozenset({"stateful"}),
    asks_several=True,
    examples=(
        Example(
            utterance="I work at Volkswagen.",
            payloads=({"subject": "user", "predicate": "works-at", "object": "Volkswagen"},),
        ),
        Example(
            utterance="Priya is the engineering manager.",
            payloads=({"subject": "Priya", "predicate": "has-role", "object": "engineering manager"},),
        ),
    ),
)
