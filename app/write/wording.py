"""The words by which a stored memory is known in turns and in requests to forget it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from app.db.erasure.traces import QuotedTurn
from app.lexical.bm25 import terms
from app.lexical.excision import Wording
from app.memory.extraction import Role
from app.memory.spec import MemoryType
from app.memory.vocabulary import USER


def wording_of(
    spec: MemoryType | None, payload: Mapping[str, object], *, content: str, subject: str | None, language: str
) -> Wording:
    """Return the wording of a memory: of what it says of its subject; empty for one that is a turn itself."""
    if spec is None or spec.verbatim:
        return Wording(language=language)
    field = spec.tells or (None if spec.held is None else spec.held.value)
    told = None if field is None else payload.get(field)
    without = {*terms(subject or "", language), USER}
    return Wording.of(told if isinstance(told, str) and told else content, language=language, without=without)


def restatements(sources: Sequence[QuotedTurn], others: Sequence[QuotedTurn]) -> list[QuotedTurn]:
    """Return the turns in which somebody else than a user says it again, in a session in which it was said before."""
    began: dict[str, datetime] = {}
    for one in sources:
        if one.session_id is not None:
            began[one.session_id] = min(one.occurred_at, began.get(one.session_id, one.occurred_at))
    return [
        one
        for one in others
        if one.role != Role.USER and one.session_id in began and one.occurred_at >= began[one.session_id]
    ]
