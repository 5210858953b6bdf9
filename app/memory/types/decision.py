"""A choice that was made: `database: PostgreSQL, rather than MySQL`."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from app.english.joins import join, unfinished
from app.memory import normalise
from app.memory.fields import Name, Sentence
from app.memory.slots import latest_statement_wins
from app.memory.spec import EndingKey, Example, MemoryType, Payload, Refs
from app.model import Category, Mention

_LONGEST_NAME = 200

_CONNECTIVES: Final = frozenset({"because", "since", "as", "so", "to", "due", "for", "given"})
"""Words that a reason begins with."""


class Decision(Payload):
    """The subject of a decision, the choice, its reason, and the alternatives."""

    topic: Name = Field(
        alias="subject",
        description="What is decided about; a later decision on it replaces this one.",
        examples=["database"],
    )
    decision: Sentence = Field(description="What was decided.", examples=["PostgreSQL"])
    rationale: Sentence | None = Field(default=None, description="Why.", examples=["it has row-level security"])
    alternatives: tuple[Name, ...] = Field(
        default=(), max_length=20, description="What was decided against.", examples=[["MySQL"]]
    )

    def render(self) -> str:
        """Return the decision as a sentence."""
        named = self.decision.casefold().startswith(self.topic.casefold())
        text = join("decided:" if named else f"{join('decided on', self.topic)}:", self.decision)
        if self.alternatives:
            text = join(f"{unfinished(text)}, rather than", ", ".join(self.alternatives))
        return f"{unfinished(text)}, {_reason(self.rationale)}" if self.rationale else text

    def mentions(self) -> tuple[Mention, ...]:
        """Return the subject and the choice, which stay literals unless an entity has that name."""
        decided = () if len(self.decision) > _LONGEST_NAME else (_known("decision", self.decision),)
        return (_known("subject", self.topic), *decided)

    def subject(self) -> str | None:
        """Return the subject of the decision."""
        return self.topic

    def slot(self, refs: Refs) -> str | None:  # noqa: ARG002
        """Return the subject, which has one decision at a time; None for one without a letter or digit."""
        return normalise.normalise_name(self.topic) or None

    def value(self, refs: Refs) -> str | None:  # noqa: ARG002
        """Return the choice."""
        return normalise.value(self.decision)

    def distinct_by(self) -> tuple[str, ...]:
        """Return the subject and the choice."""
        return (normalise.normalise_name(self.topic), normalise.value(self.decision))


def _reason(rationale: str) -> str:
    """Return a rationale as the end of a sentence, after `because` unless it has a word of its own for that."""
    return rationale if rationale.split(maxsplit=1)[0].casefold() in _CONNECTIVES else f"because {rationale}"


def _known(role: str, name: str) -> Mention:
    return Mention(role=role, name=name, creates=False)


def _importance(_payload: Payload) -> float:
    return 0.8


TYPE = MemoryType(
    name="decision",
    definition="A choice someone made about a piece of work or their life, with its reasons; not a taste or a habit.",
    payload=Decision,
    prior=0.15,
    half_life_days=180,
    category=Category.SEMANTIC,
    on_conflict=latest_statement_wins,
    group="Facts",
    hints=("decision", "decisions", "decide", "decided", "chose", "chosen", "choice"),
    held=EndingKey(under="subject", value="decision"),
    of_value=frozenset({"rationale", "alternatives"}),
    importance=_importance,
    examples=(
        Example(
            utterance="I chose PostgreSQL for this project.",
            payloads=({"subject": "database", "decision": "PostgreSQL"},),
        ),
        Example(
            utterance="We decided to go with FastAPI over Flask because it is async.",
            payloads=(
                {
                    "subject": "web framework",
                    "decision": "FastAPI",
                    "rationale": "it is async",
                    "alternatives": ["Flask"],
                },
            ),
        ),
    ),
)
