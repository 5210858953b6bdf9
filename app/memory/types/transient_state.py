"""A passing state: `user is feeling stressed about the deadline`; the latest of a kind holds."""

from __future__ import annotations

import re

from pydantic import Field, field_validator

from app.english.joins import join
from app.english.verbs import form_of
from app.memory import normalise, vocabulary
from app.memory.fields import Name, Person, Sentence
from app.memory.slots import latest_statement_wins
from app.memory.spec import Example, MemoryType, Payload, Refs, Standing
from app.model import Category, Mention

_IS = re.compile(r"^(?:is|am|are)\s+", re.IGNORECASE)


class TransientState(Payload):
    """A subject's state; the memory's `valid_until` or `ttl_seconds` bounds it, else its half-life is three days."""

    subject_name: Person = Field(default=vocabulary.USER, alias="subject", description="Who is in this state.")
    state: Sentence = Field(
        description="The state, as it follows `is`.", examples=["feeling stressed about the deadline"]
    )
    kind: Name = Field(
        default="state",
        description="What kind of state; the latest of a kind replaces the one before.",
        examples=["mood", "whereabouts"],
    )

    @field_validator("state")
    @classmethod
    def _predicative(cls, value: str) -> str:
        return _IS.sub("", value)

    def render(self) -> str:
        """Return the state as a sentence."""
        form = form_of(self.state.split()[0].casefold())
        stated = form is not None and "s" in form.kinds
        return join(self.subject_name if stated else f"{self.subject_name} is", self.state)

    def mentions(self) -> tuple[Mention, ...]:
        """Return the subject."""
        return (Mention(role="subject", name=self.subject_name),)

    def subject(self) -> str | None:
        """Return the subject."""
        return self.subject_name

    def slot(self, refs: Refs) -> str | None:
        """Return subject and kind: a subject is in one state of a kind at a time."""
        return f"{refs['subject'].id}|{normalise.normalise_key(self.kind)}"

    def value(self, refs: Refs) -> str | None:  # noqa: ARG002
        """Return the state."""
        return normalise.value(self.state)

    def distinct_by(self) -> tuple[str, ...]:
        """Return kind and state."""
        return (normalise.normalise_key(self.kind), normalise.value(self.state))


def _importance(_payload: Payload) -> float:
    return 0.3


TYPE = MemoryType(
    name="transient_state",
    definition="A condition that will pass within days yet matters until then; never a mood of the moment.",
    payload=TransientState,
    prior=0.08,
    half_life_days=3,
    category=Category.EPISODIC,
    on_conflict=latest_statement_wins,
    group="Recent",
    standing=Standing.CURRENT,
    states=True,
    shown=True,
    hints=("mood", "feeling", "feel", "condition"),
    importance=_importance,
    examples=(
        Example(
            utterance="I'm feeling stressed about the deadline this week.",
            payloads=({"subject": "user", "state": "feeling stressed about the deadline", "kind": "mood"},),
        ),
    ),
)
