"""The progress of a session: the latest statement about a session replaces the one before."""

from __future__ import annotations

from pydantic import Field

from app.memory import normalise
from app.memory.fields import Name, Sentence
from app.memory.slots import latest_statement_wins
from app.memory.spec import Example, MemoryType, Payload, Refs
from app.model import Category, ScopeKind


class Progress(Payload):
    """The progress of work in a session."""

    text: Sentence = Field(alias="content", description="How far the work of a session has come.")
    session: Name | None = Field(default=None, alias="session_id", description="The session whose progress it is.")

    def render(self) -> str:
        """Return the text."""
        return self.text

    def slot(self, refs: Refs) -> str | None:  # noqa: ARG002
        """Return the session, which has one state at a time."""
        return self.session

    def value(self, refs: Refs) -> str | None:  # noqa: ARG002
        """Return the progress."""
        return normalise.value(self.text)

    def distinct_by(self) -> tuple[str, ...]:
        """Return the session, because two sessions may have the same progress."""
        return () if self.session is None else (self.session,)


TYPE = MemoryType(
    name="progress",
    definition="How far the work of a session has come.",
    payload=Progress,
    prior=0.1,
    half_life_days=14,
    category=Category.EPISODIC,
    on_conflict=latest_statement_wins,
    group="Events",
    hints=("progress",),
    default_scope=ScopeKind.GLOBAL,
    extracted=False,
    examples=(
        Example(
            utterance="Three of five endpoints are migrated.",
            payloads=({"content": "Three of five endpoints are migrated.", "session_id": "run-7"},),
        ),
    ),
)
