"""A stable predicate: `user works-at Volkswagen`."""

from __future__ import annotations

import re

from pydantic import AliasChoices, Field, field_validator

from app.english import modals, predicates, questions
from app.english.dates import compare
from app.memory import normalise, vocabulary
from app.memory.fields import Flag, Name, Person, Sentence
from app.memory.slots import latest_statement_wins
from app.memory.spec import EndingKey, Example, Heed, HeedRule, MemoryType, Payload, Reclassified, Refs, Standing
from app.memory.versions import SlotClaim, SlotVerdict
from app.model import Category, Mention, Precision, SpeechAct

_PAST = re.compile(r"^(?:used-to|was|were|had-been|had)(?:-|$)|-used-to-")
_STILL_TRUE = re.compile(r"^(?:was|were)-(?:born|named|called|raised)(?:-|$)")
"""Predicates in the past tense that stay true."""

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
    stateful: Flag = Field(
        default=True,
        description="Whether only one value can be true at a time.",
        validation_alias=AliasChoices("stateful", "predicate_is_stateful"),
    )

    @field_validator("predicate")
    @classmethod
    def _canonical(cls, value: str) -> str:
        canonical = vocabulary.predicate(value)
        if not canonical:
            raise ValueError("must contain letters or digits")
        return canonical

    def render(self) -> str:
        """Return the fact as a sentence."""
        said = normalise.words(self.predicate)
        counted = _MANY.fullmatch(said)
        if counted is not None and _COUNT.fullmatch(self.object):
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
        return f"{refs['subject'].id}|{self.predicate}" if self.stateful else None

    def value(self, refs: Refs) -> str | None:
        """Return the object: the entity that it names, or the literal."""
        return str(refs["object"].id) if "object" in refs else normalise.normalise_name(self.object)

    def guarded_at(self, refs: Refs) -> tuple[str, ...]:
        """Return subject + each predicate of possible rules about this, if the predicate holds one value at a time."""
        return tuple(f"{refs['subject'].id}|{one}" for one in modals.over(self.predicate)) if self.stateful else ()

    def also_held_under(self) -> tuple[str, ...]:
        """Return the predicates of what one has or does, where it is said to be no longer had or done."""
        return vocabulary.HELD_UNDER.get(self.predicate, ())

    def distinct_by(self) -> tuple[str, ...]:
        """Return predicate and object."""
        return (self.predicate, normalise.normalise_name(self.object))

    def questions(self) -> tuple[str, ...]:
        """Return questions about the predicate."""
        return questions.about_fact(self.subject_name, self.predicate, self.object)

    def reclassified(self) -> Reclassified | None:
        """Return an event if the predicate is in the past tense (seed 000)."""
        if not _PAST.search(self.predicate) or _STILL_TRUE.match(self.predicate):
            return None
        fields = {
            "event_description": self.render(),
            "event_at_precision": Precision.APPROXIMATE,
            "participants": [] if self.subject_name == vocabulary.USER else [self.subject_name],
        }
        return Reclassified(type="event", payload=fields, reason=f"{self.predicate} speaks of the past")


def _latest_or_most_precise(old: SlotClaim, new: SlotClaim) -> SlotVerdict:
    """Return the verdict for a stateful slot, in which `1990` repeats the known `4 May 1990`."""
    if new.speech_act is SpeechAct.ASSERTION and compare.same_date(old.value or "", new.value or ""):
        return SlotVerdict.MERGE
    return latest_statement_wins(old, new)


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
    nature=_nature,
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
