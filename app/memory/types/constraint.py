"""A hard rule about someone or something: `user may-use no external APIs` (seed 000, splitting an overloaded type)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, ValidationError, field_validator

from app.memory import modals, normalise, vocabulary
from app.memory.conflict import only_removed
from app.memory.spec import Adopted, Adoption, Example, Held, MemoryType, Name, Payload, Person, Refs, Sentence, Stored
from app.model import Category, Mention

_WEIGHT = {"low": 0.7, "medium": 0.8, "high": 0.9, "critical": 0.95}


class Constraint(Payload):
    """Whom a rule binds, in what, and what it says."""

    subject_name: Person = Field(default=vocabulary.USER, alias="subject", description="Whom or what the rule binds.")
    predicate: Name = Field(
        description="What it is about, hyphenated: `may-` what it allows or forbids, `must-` what it demands. "
        "`cannot use`, `must not use` and `is not allowed to use` are kept as `may-use`.",
        examples=["may-use"],
    )
    rule: Sentence = Field(description="What it says.", examples=["no external APIs, for compliance"])
    severity: Literal["low", "medium", "high", "critical"] = Field(
        default="high", description="How bad it is when it is not kept to."
    )

    @field_validator("predicate")
    @classmethod
    def _canonical(cls, value: str) -> str:
        canonical = modals.predicate(value)
        if not canonical:
            raise ValueError("must contain letters or digits")
        return canonical

    def render(self) -> str:
        """Return the rule as a sentence."""
        return f"{self.subject_name} {normalise.words(self.predicate)}: {' '.join(self.rule.split())}"

    def mentions(self) -> tuple[Mention, ...]:
        """Return whom or what it binds."""
        return (Mention(role="subject", name=self.subject_name),)

    def subject(self) -> str | None:
        """Return whom or what it binds."""
        return self.subject_name

    def slot(self, refs: Refs) -> str | None:
        """Return subject and predicate: two rules about one thing are one rule, or a matter for a person."""
        return f"{refs['subject'].id}|{self.predicate}"

    def value(self, refs: Refs) -> str | None:  # noqa: ARG002
        """Return the rule."""
        return normalise.sentence(self.rule)

    def distinct_by(self) -> tuple[str, ...]:
        """Return predicate and rule."""
        return (self.predicate, normalise.sentence(self.rule))


def _importance(payload: Payload) -> float:
    return _WEIGHT[payload.severity] if isinstance(payload, Constraint) else _WEIGHT["high"]


def _adopted(stored: Stored) -> Adopted | None:
    """Return the rule that a fact states, in its own words: what it forbids stays told by them."""
    found = modals.ruled(str(stored.payload.get("predicate", "")), str(stored.payload.get("object", "")))
    if found is None:
        return None
    fields = {
        "subject": stored.payload.get("subject", vocabulary.USER),
        "predicate": found.predicate,
        "rule": found.rule,
    }
    try:
        return Adopted(payload=Constraint.model_validate(fields), reason=found.because)
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
    hints=("constraint", "constraints", "allowed", "forbidden", "prohibited", "compliance"),
    held=Held(under="predicate", value="rule"),
    guards=("fact",),
    adopts=Adoption(sources=("fact",), rule=_adopted),
    importance=_importance,
    examples=(
        Example(
            utterance="I cannot use external APIs due to compliance requirements.",
            payloads=(
                {
                    "subject": "user",
                    "predicate": "may-use",
                    "rule": "no external APIs, due to compliance requirements",
                    "severity": "high",
                },
            ),
        ),
    ),
)
