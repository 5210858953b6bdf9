"""The state of a feature: the latest statement about it replaces the one before."""

from __future__ import annotations

from pydantic import Field

from app.memory import normalise
from app.memory.fields import Name, Sentence
from app.memory.slots import latest_statement_wins
from app.memory.spec import Example, MemoryType, Payload, Refs
from app.model import Category, ScopeKind


class Feature(Payload):
    """A statement about a feature, and its state."""

    text: Sentence = Field(alias="content", description="Whether a feature is done, and what is known about it.")
    feature: Name | None = Field(
        default=None, alias="feature_key", description="The feature; a later statement on it replaces this one."
    )
    status: Name | None = Field(
        default=None, alias="feature_status", description="Such as `in_progress` or `complete`."
    )

    def render(self) -> str:
        """Return the text."""
        return self.text

    def slot(self, refs: Refs) -> str | None:  # noqa: ARG002
        """Return the feature, which is in one state at a time."""
        return normalise.normalise_key(self.feature or "") or None

    def value(self, refs: Refs) -> str | None:  # noqa: ARG002
        """Return its state and the statement."""
        return normalise.digest(normalise.value(self.text), normalise.normalise_key(self.status or "")).hex()

    def distinct_by(self) -> tuple[str, ...]:
        """Return the feature and its state, because one sentence may be said of two features."""
        if self.feature is None and self.status is None:
            return ()
        return (normalise.normalise_key(self.feature or ""), normalise.normalise_key(self.status or ""))


TYPE = MemoryType(
    name="feature",
    definition="Whether a feature is done, and what is known about it.",
    payload=Feature,
    prior=0.1,
    half_life_days=14,
    category=Category.EPISODIC,
    on_conflict=latest_statement_wins,
    group="Events",
    hints=("feature", "features"),
    default_scope=ScopeKind.GLOBAL,
    extracted=False,
    examples=(
        Example(
            utterance="Login with passkeys works on all browsers.",
            payloads=(
                {"content": "Login with passkeys works.", "feature_key": "passkeys", "feature_status": "complete"},
            ),
        ),
    ),
)
