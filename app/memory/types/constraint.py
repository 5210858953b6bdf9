"""A hard rule about someone or something: `user may-not-use external APIs` (seed 000, splitting an overloaded type)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, ModelWrapValidatorHandler, ValidationError, field_validator, model_validator

from app.english import modals
from app.memory import normalise, vocabulary
from app.memory.fields import Name, Person, Sentence
from app.memory.slots import only_removed
from app.memory.spec import (
    AdoptedPayload,
    Adoption,
    EndingKey,
    Example,
    Heed,
    HeedRule,
    MemoryType,
    Payload,
    Refs,
    Standing,
    StoredBelief,
)
from app.model import Category, Mention

_WEIGHT = {"low": 0.7, "medium": 0.8, "high": 0.9, "critical": 0.95}


class Constraint(Payload):
    """A rule: its subject, its predicate, and its text."""

    subject_name: Person = Field(default=vocabulary.USER, alias="subject", description="Whom or what the rule binds.")
    predicate: Name = Field(
        description="What it is about, hyphenated: `may-not-` what it forbids, `may-` what it allows, `must-` what it "
        "demands. `cannot use`, `must not use` and `is not allowed to use` are kept as `may-not-use`, and so is "
        "`may use` with a rule that begins with `no`.",
        examples=["may-not-use"],
    )
    rule: Sentence = Field(
        description="What is forbidden, allowed or demanded.", examples=["external APIs, for compliance"]
    )
    severity: Literal["low", "medium", "high", "critical"] = Field(
        default="high", description="How bad it is when it is not kept to."
    )

    @field_validator("predicate")
    @classmethod
    def _canonical(cls, value: str) -> str:
        canonical = modals.of_rule(value)
        if not canonical:
            raise ValueError("must contain letters or digits")
        return canonical

    @model_validator(mode="wrap")
    @classmethod
    def _in_full(cls, given: object, validate: ModelWrapValidatorHandler[Self]) -> Self:
        read = validate(given)
        predicate = modals.rule_sentence(read.predicate, read.rule)
        return read if predicate == read.predicate else read.model_copy(update={"predicate": predicate})

    def render(self) -> str:
        """Return the rule as a sentence with a single negation."""
        denied = modals.forbids(self.predicate) and modals.denied(self.rule)
        predicate = self.predicate.replace("may-not-", "may-", 1) if denied else self.predicate
        return f"{self.subject_name} {normalise.words(predicate)}: {' '.join(self.rule.split())}"

    def mentions(self) -> tuple[Mention, ...]:
        """Return the subject that the rule binds."""
        return (Mention(role="subject", name=self.subject_name),)

    def subject(self) -> str | None:
        """Return the subject that the rule binds."""
        return self.subject_name

    def slot(self, refs: Refs) -> str | None:
        """Return subject and predicate: two rules with both are one rule, or go to review.

        Prohibitions have a slot each, because a further prohibition does not replace the others.
        """
        held = f"{refs['subject'].id}|{self.predicate}"
        return f"{held}|{normalise.digest(self._rule_text()).hex()[:32]}" if modals.forbids(self.predicate) else held

    def value(self, refs: Refs) -> str | None:  # noqa: ARG002
        """Return the rule with its negation."""
        return self._rule_text()

    def _rule_text(self) -> str:
        said = normalise.value(self.rule)
        return f"no {said}" if modals.forbids(self.predicate) and not modals.denied(self.rule) else said

    def guarded_at(self, refs: Refs) -> tuple[str, ...]:
        """Return subject + each predicate under which a rule could contradict this one."""
        return tuple(f"{refs['subject'].id}|{one}" for one in modals.opposed(self.predicate))

    def also_held_under(self) -> tuple[str, ...]:
        """Return the other forms of a prohibition: `may-use` with `no external APIs`, or its own words."""
        if not modals.forbids(self.predicate):
            return ()
        return (*modals.opposed(self.predicate)[:1], *modals.normalised_rule(self.predicate))

    def ends(self, stored: Mapping[str, object]) -> bool:
        """Return whether a stored rule forbids or demands the same, in whichever of these forms."""
        return not self.also_held_under() or Constraint.model_validate(stored).predicate == self.predicate

    def distinct_by(self) -> tuple[str, ...]:
        """Return predicate and rule."""
        return (self.predicate, normalise.value(self.rule))


def _importance(payload: Payload) -> float:
    return _WEIGHT[payload.severity] if isinstance(payload, Constraint) else _WEIGHT["high"]


def _adopted(stored: StoredBelief) -> AdoptedPayload | None:
    """Return the rule that a fact states, in the fact's own words, None if it states none."""
    found = modals.rule_of_fact(str(stored.payload.get("predicate", "")), str(stored.payload.get("object", "")))
    if found is None:
        return None
    fields = {
        "subject": stored.payload.get("subject", vocabulary.USER),
        "predicate": found.predicate,
        "rule": found.rule,
    }
    try:
        return AdoptedPayload(payload=Constraint.model_validate(fields), reason=found.because)
    except ValidationError:
        return None


TYPE = MemoryType(
    name="constraint",
    definition="A hard rule that binds someone or something: what they can't, may not or must do, whatever changes "
    "around it; never a wish, a habit or a state.",
    payload=Constraint,
    prior=0.15,
    half_life_days=None,
    category=Category.CONTROL,
    on_conflict=only_removed,
    group="Facts",
    standing=Standing.CONSTRAINTS,
    heed=HeedRule(kinds=(Heed.RULE,), field="severity", values=("high", "critical")),
    hints=("constraint", "constraints", "allowed", "forbidden", "prohibited", "compliance"),
    held=EndingKey(under="predicate", value="rule"),
    guards=("fact", "constraint"),
    adopts=Adoption(sources=("fact",), rule=_adopted),
    importance=_importance,
    examples=(
        Example(
            utterance="I cannot use external APIs due to compliance requirements.",
            payloads=(
                {
                    "subject": "user",
                    "predicate": "may-not-use",
                    "rule": "external APIs, due to compliance requirements",
                    "severity": "high",
                },
            ),
        ),
    ),
)
