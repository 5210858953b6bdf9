"""An intention: `user plans to visit Tokyo in June`, for as long as it is ahead."""

from __future__ import annotations

import re
from datetime import datetime

from pydantic import Field, field_validator

from app.english.descriptions import DETERMINERS
from app.english.joins import join
from app.english.verbs import form_of
from app.memory import normalise, vocabulary
from app.memory.fields import Person, Sentence
from app.memory.slots import accumulate
from app.memory.spec import EndingKey, Example, MemoryType, Payload, Standing
from app.model import Category, Mention

_TO = re.compile(r"^to\s+", re.IGNORECASE)


class Plan(Payload):
    """A person's intention; the memory's `valid_from` and `valid_until` (or `ttl_seconds`) bound it in time."""

    subject_name: Person = Field(default=vocabulary.USER, alias="subject", description="Who intends it.")
    plan: Sentence = Field(description="What is intended, as a verb.", examples=["visit Tokyo in June"])

    @field_validator("plan")
    @classmethod
    def _verb(cls, value: str) -> str:
        return _TO.sub("", value)

    def render(self) -> str:
        """Return the intention as a sentence."""
        first, lead = self.plan.split()[0].casefold(), f"{self.subject_name} plans"
        form = form_of(first)
        thing = first in DETERMINERS or (form is not None and form.kinds == {"ing"})
        return join(lead if thing else f"{lead} to", self.plan)

    def mentions(self) -> tuple[Mention, ...]:
        """Return the person with the intention."""
        return (Mention(role="subject", name=self.subject_name),)

    def subject(self) -> str | None:
        """Return the person with the intention."""
        return self.subject_name

    def intended(self, said: datetime) -> tuple[str, str]:  # noqa: ARG002
        """Return the person and the intended action."""
        return self.subject_name, self.plan

    def distinct_by(self) -> tuple[str, ...]:
        """Return the intended action."""
        return (normalise.value(self.plan),)


TYPE = MemoryType(
    name="plan",
    definition="An intention with a time ahead of it: a trip, a goal, something to be done.",
    payload=Plan,
    prior=0.10,
    half_life_days=30,
    category=Category.EPISODIC,
    on_conflict=accumulate,
    held=EndingKey(under="subject", value="plan"),
    group="Events",
    standing=Standing.CURRENT,
    begins=False,
    intends=True,
    shown=True,
    hints=("plan", "plans", "planning", "planned", "intend", "intention", "goal", "goals"),
    examples=(
        Example(
            utterance="I plan to visit Tokyo in June.",
            payloads=({"subject": "user", "plan": "visit Tokyo in June"},),
        ),
    ),
)
