"""States that are over: `used to work at Volkswagen`, `lived in Rome`, `was a teacher`."""

from __future__ import annotations

from collections.abc import Iterator

from app.providers.rules import when
from app.providers.rules.clause import Clause, Said, Who
from app.providers.rules.describe import retold
from app.providers.rules.drafts import Draft, event


def bygone(clause: Clause, said: Said, *, topic: str, importance: float = 0.5) -> Iterator[Draft]:
    """Yield the state as an event, approximate where no time is named (seed 000): it is no fact any more."""
    if clause.subject.who in {Who.PRONOUN, Who.ADDRESSEE}:
        return
    time = when.find(clause.whole, said.now)
    description = retold(clause, said, time)
    if description is not None:
        yield event(
            clause, description, time, [clause.subject.name], importance=importance, topic=topic, approximate=True
        )
