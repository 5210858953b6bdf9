"""A procedure: `for API pagination, use a cursor`, with its steps and when to apply it."""

from __future__ import annotations

import re
from typing import Final

from pydantic import Field

from app.english.joins import join
from app.memory import normalise
from app.memory.fields import Name, Sentence
from app.memory.slots import latest_statement_wins
from app.memory.spec import Example, MemoryType, Payload, Refs
from app.model import Category, ScopeKind

_NUMBERED: Final = re.compile(r"^\d+[.)]\s+")
"""The number that a caller gives a step."""


class Procedural(Payload):
    """A procedure, its steps, and the occasion for it."""

    text: Sentence = Field(alias="content", description="What to do.")
    steps: tuple[Sentence, ...] = Field(default=(), max_length=100, description="The steps, in order.")
    trigger_conditions: tuple[Name, ...] = Field(
        default=(),
        max_length=20,
        description="When to apply it; a later procedure for the same occasion replaces this one.",
        examples=[["API returns paginated results"]],
    )

    def render(self) -> str:
        """Return the procedure with its occasion and steps, in one line."""
        when = f"{join('when', ' or '.join(self.trigger_conditions))}: " if self.trigger_conditions else ""
        steps = "; ".join(f"{place}. {_NUMBERED.sub('', step)}" for place, step in enumerate(self.steps, start=1))
        return " ".join(f"{when}{self.text}{f' ({steps})' if steps else ''}".split())

    def slot(self, refs: Refs) -> str | None:  # noqa: ARG002
        """Return the occasion, independent of the order of its conditions; None without one."""
        return normalise.joined(sorted({normalise.normalise_name(one) for one in self.trigger_conditions})) or None

    def value(self, refs: Refs) -> str | None:  # noqa: ARG002
        """Return the procedure and its steps."""
        return normalise.digest(*map(normalise.value, (self.text, *self.steps))).hex()

    def distinct_by(self) -> tuple[str, ...]:
        """Return the steps, because other steps are another procedure."""
        return tuple(map(normalise.sentence, self.steps))


def _importance(_payload: Payload) -> float:
    return 0.6


TYPE = MemoryType(
    name="procedural",
    aliases=("procedure",),
    definition="How to do something: a workflow, routine or habit that someone follows, with its steps.",
    payload=Procedural,
    prior=0.15,
    half_life_days=None,
    category=Category.PROCEDURAL,
    on_conflict=latest_statement_wins,
    group="Facts",
    hints=("procedure", "procedures", "workflow", "workflows", "steps", "how to", "routine"),
    default_scope=ScopeKind.GLOBAL,
    importance=_importance,
    examples=(
        Example(
            utterance="When I say 'run the usual deploy', check CI, merge to main, notify the team.",
            payloads=(
                {
                    "content": "run the usual deploy",
                    "steps": ["check CI", "merge to main", "notify the team"],
                    "trigger_conditions": ["the user says 'run the usual deploy'"],
                },
            ),
        ),
        Example(
            utterance="For API pagination, use cursor-based approach when the API returns paginated results: "
            "Initialize cursor, Fetch page, Check has_more flag.",
            payloads=(
                {
                    "content": "For API pagination, use cursor-based approach",
                    "steps": ["Initialize cursor", "Fetch page", "Check has_more flag"],
                    "trigger_conditions": ["API returns paginated results"],
                },
            ),
        ),
    ),
)
