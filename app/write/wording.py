"""The words by which a stored memory is known in turns and in requests to forget it."""

from __future__ import annotations

from collections.abc import Mapping

from app.lexical.bm25 import terms
from app.lexical.excision import Wording
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
