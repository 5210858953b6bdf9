"""Everything about a candidate that needs no look at the store: its sentence, scores and vectors."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from app.memory import confidence, normalise
from app.memory.candidate import Candidate
from app.model import ConfidenceParts
from app.providers.embeddings import Embedder
from app.text.lexical import terms
from app.text.parts import split_parts
from app.write.values import IndexText, Prepared

_INLINE = 64
"""Candidates that are tokenised on the event loop; more go to a thread (some 20 microseconds each)."""

_SPOKEN_BY = re.compile(r"^(?:speaker|subject|from|participant_\d+)$")


async def prepare(
    candidates: Sequence[Candidate], *, embedder: Embedder, now: datetime, language: str
) -> list[Prepared]:
    """Return the candidates with sentences, confidence and vectors; one embedding call for all of them.

    Raises ProviderError when the embedder fails; nothing has been written then.
    """
    drafts = [_Draft(candidate) for candidate in candidates]
    names = _name_pattern(name for draft in drafts for name in draft.names)
    dense = [draft.dense_texts(names) for draft in drafts]
    flat = [text for texts in dense for _, text in texts]
    vectors = await embedder.embed(flat, purpose="document")
    if len(drafts) <= _INLINE:
        return _assemble(drafts, dense, vectors, now, language)
    return await asyncio.to_thread(_assemble, drafts, dense, vectors, now, language)


class _Draft:
    """A candidate and the texts it is searched by."""

    def __init__(self, candidate: Candidate) -> None:
        self.candidate = candidate
        self.content = candidate.content or candidate.payload.render()
        self.mentions = candidate.payload.mentions()

    @property
    def names(self) -> list[str]:
        return [one.name for one in self.mentions if _SPOKEN_BY.match(one.role)]

    @property
    def in_context(self) -> str | None:
        context = self.candidate.context
        return None if context is None else f"{context}\n{self.content}"

    def dense_texts(self, names: re.Pattern[str] | None) -> list[tuple[str, str]]:
        """Return (kind, text) to embed: names left out, because they drown what is said about them."""
        texts = [("content", part) for part in split_parts(_without(names, self.content))]
        if self.in_context is not None:
            texts += [("context", part) for part in split_parts(_without(names, self.in_context))]
        return texts or [("content", self.content)]


def _name_pattern(names: object) -> re.Pattern[str] | None:
    found = sorted({re.escape(str(name)) for name in names if name}, key=len, reverse=True)  # type: ignore[attr-defined]
    if not found:
        return None
    return re.compile(rf"\b(?:{'|'.join(found)})(?:['\u2019]s)?\b:?", re.IGNORECASE)


def _without(names: re.Pattern[str] | None, text: str) -> str:
    if names is None:
        return text
    return names.sub(" ", text).strip() or text


def _assemble(
    drafts: Sequence[_Draft],
    dense: Sequence[Sequence[tuple[str, str]]],
    vectors: NDArray[np.float32],
    now: datetime,
    language: str,
) -> list[Prepared]:
    prepared = []
    row = 0
    for draft, texts in zip(drafts, dense, strict=True):
        own = vectors[row : row + len(texts)]
        row += len(texts)
        prepared.append(_prepared(draft, texts, own, now, language))
    return prepared


def _prepared(
    draft: _Draft,
    texts: Sequence[tuple[str, str]],
    vectors: NDArray[np.float32],
    now: datetime,
    language: str,
) -> Prepared:
    candidate = draft.candidate
    parts = ConfidenceParts(
        source=candidate.source_strength,
        extractor=candidate.extractor_confidence,
        prior=candidate.type.prior,
    )
    return Prepared(
        candidate=candidate,
        content=draft.content,
        stated_at=candidate.stated_at or now,
        parts=parts,
        confidence=confidence.believed(parts, candidate.speech_act),
        event=candidate.payload.event_time(candidate.zone),
        mentions=draft.mentions,
        identity=normalise.digest(
            candidate.type.name,
            candidate.speech_act,
            normalise.sentence(draft.content),
            *candidate.payload.distinct_by(),
        ),
        texts=_index_texts(draft, texts, vectors, language),
    )


def _index_texts(
    draft: _Draft, texts: Sequence[tuple[str, str]], vectors: NDArray[np.float32], language: str
) -> tuple[IndexText, ...]:
    whole = {"content": draft.content, "context": draft.in_context or ""}
    seen: set[str] = set()
    rows = []
    for (kind, _), vector in zip(texts, vectors, strict=True):
        rows.append(
            IndexText(
                kind=kind,
                embedding=as_halfvec(vector),
                terms=None if kind in seen else terms(whole[kind], language),
            )
        )
        seen.add(kind)
    return tuple(rows)


def as_halfvec(vector: NDArray[np.float32]) -> str:
    """Return a vector in pgvector's text format, to the digits half precision keeps."""
    return "[" + ",".join(f"{value:.5g}" for value in vector.tolist()) + "]"
