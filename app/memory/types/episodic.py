"""A message of an interaction, word for word, with its position in the session."""

from __future__ import annotations

from pydantic import Field

from app.memory.fields import Name, Place, Sentence
from app.memory.slots import accumulate
from app.memory.spec import Example, MemoryType, Payload
from app.model import Category, Mention, ScopeKind


class Episodic(Payload):
    """The words, the speaker, and the position in the session."""

    text: Sentence = Field(alias="content", description="What was said or done.")
    session: Name = Field(alias="session_id", description="The conversation it belongs to.")
    sequence: Place | None = Field(default=None, alias="sequence_number")
    speaker: Name | None = Field(default=None, description="Who said it.")

    def render(self) -> str:
        """Return the words, after the speaker's name."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text

    def mentions(self) -> tuple[Mention, ...]:
        """Return the speaker."""
        if self.speaker is None:
            return ()
        return (Mention(role="speaker", name=self.speaker, entity_type="person"),)

    def distinct_by(self) -> tuple[str, ...]:
        """Return the position in the session, because repeated words are another episode."""
        return (self.session, str(self.sequence))


TYPE = MemoryType(
    name="episodic",
    definition="What happened in an interaction, kept in the order of its session.",
    payload=Episodic,
    prior=0.08,
    half_life_days=45,
    floor=0.02,
    category=Category.EPISODIC,
    on_conflict=accumulate,
    group="Recent",
    hints=("conversation", "session", "said", "mentioned"),
    default_scope=ScopeKind.AGENT,
    dedup_by_meaning=False,
    extracted=False,
    folds=True,
    verbatim=True,
    examples=(
        Example(
            utterance="User asked about pricing for enterprise plan",
            payloads=(
                {
                    "content": "User asked about pricing for enterprise plan",
                    "session_id": "conv-42",
                    "sequence_number": 1,
                },
            ),
        ),
    ),
)
