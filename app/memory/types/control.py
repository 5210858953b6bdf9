"""Something to avoid: a rule, an error pattern, a boundary."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from app.memory import normalise
from app.memory.fields import Name, Sentence
from app.memory.slots import accumulate
from app.memory.spec import Example, MemoryType, Payload
from app.model import Category, ScopeKind

_WEIGHT = {"low": 0.4, "medium": 0.6, "high": 0.8, "critical": 0.95}


class Control(Payload):
    """A rule, the kind of error that it prevents, and the severity."""

    text: Sentence = Field(alias="content", description="What to avoid, or what must hold.")
    error_pattern: Name | None = Field(
        default=None, description="The kind of error.", examples=["pagination_incomplete"]
    )
    severity: Literal["low", "medium", "high", "critical"] | None = Field(
        default=None, description="How bad it is when it is not kept to."
    )
    source_trajectory_id: Name | None = Field(default=None, description="The run that taught it.")

    def render(self) -> str:
        """Return the rule."""
        return self.text

    def distinct_by(self) -> tuple[str, ...]:
        """Return the kind of error, because one sentence may guard against two."""
        return (normalise.normalise_key(self.error_pattern or ""),)


def _importance(payload: Payload) -> float:
    return _WEIGHT.get((isinstance(payload, Control) and payload.severity) or "", 0.6)


TYPE = MemoryType(
    name="control",
    definition="What to avoid: a meta-rule, an error pattern or a boundary of behaviour.",
    payload=Control,
    prior=0.15,
    half_life_days=None,
    category=Category.CONTROL,
    on_conflict=accumulate,
    group="Facts",
    hints=("rule", "rules", "avoid", "pitfall", "pitfalls", "mistakes"),
    default_scope=ScopeKind.GLOBAL,
    extracted=False,
    importance=_importance,
    examples=(
        Example(
            utterance="Never use range() for unknown-length pagination",
            payloads=(
                {
                    "content": "Never use range() for unknown-length pagination",
                    "error_pattern": "pagination_incomplete",
                    "severity": "high",
                },
            ),
        ),
    ),
)
