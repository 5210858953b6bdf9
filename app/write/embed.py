"""Stage: prepare a candidate without a look at the store: its sentence, scores, index texts, terms and vectors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from app import threads
from app.db.reembedding import Lacking, QuestionsToEmbed, TextsToEmbed
from app.errors import InvalidInput
from app.lexical.bm25 import searched_terms
from app.lexical.embedding_text import lead, split_chunks, without_names
from app.memory import confidence, normalise, vocabulary
from app.memory.candidate import Candidate
from app.memory.extraction import Role
from app.memory.fields import MAX_TEXT
from app.memory.registry import Registry
from app.model import ConfidenceParts, Mention, Scope
from app.providers.embeddings import Embedder
from app.write.values import IndexText, Prepared, spoken_names

_INLINE = 10_000
"""Characters that are tokenised on the event loop, some five milliseconds' worth; more go to a thread."""

CONTEXT_FOR = 80
"""Texts of more words than this stand on their own (measured: context adds nothing to them)."""

_ANSWERING = vocabulary.ASSISTANTS | {Role.TOOL, Role.SYSTEM}
"""Speakers whose long turns are answers: of many words about many things, and found by their own words alone."""


async def prepare(
    candidates: Sequence[Candidate], *, embedder: Embedder, now: datetime, language: str
) -> list[Prepared]:
    """Return the candidates with sentences, confidence and vectors; one embedding call for all of them.

    Raises ProviderError when the embedder fails; nothing has been written then.
    """
    drafts = [_Draft(candidate) for candidate in candidates]
    brief = sum(len(draft.content) for draft in drafts) <= _INLINE
    dense = await threads.work(lambda: _dense(drafts), brief=brief)
    flat = [text for texts in dense for _, text in texts]
    vectors = await embedder.embed(flat, purpose="document")
    return await threads.work(lambda: _assemble(drafts, dense, vectors, now, language), brief=brief)


class _Draft:
    """A candidate and the texts it is searched by."""

    def __init__(self, candidate: Candidate) -> None:
        self.candidate = candidate
        self.content = candidate.sentence
        self.mentions = tuple(_tied(one, candidate) for one in candidate.payload.mentions())
        if len(self.content) > MAX_TEXT:
            raise InvalidInput(
                f"the memory would be a sentence of {len(self.content)} characters: say it in {MAX_TEXT}",
                field="content",
            )

    @property
    def names(self) -> frozenset[str]:
        return spoken_names(self.mentions)

    @property
    def conversation(self) -> tuple[Scope, str | None]:
        return self.candidate.scope, self.candidate.session_id

    @property
    def lead(self) -> str | None:
        """The end of the earlier turns, for a text short enough to need it."""
        if self.candidate.context is None or len(self.content.split()) > CONTEXT_FOR:
            return None
        return lead(self.candidate.context)

    @property
    def stands_alone(self) -> bool:
        """Return whether there is nothing before it that it needs: no turn, a first one, or a person's long one."""
        if self.lead is not None:
            return False
        answers = any(
            one.role == "speaker" and normalise.normalise_name(one.name) in _ANSWERING for one in self.mentions
        )
        return not answers or self.candidate.session_id is None or len(self.content.split()) <= CONTEXT_FOR

    def dense_texts(self, spoken: frozenset[str]) -> list[tuple[str, str]]:
        """Return (kind, text) to embed; its names are left out, and those who speak in its conversation."""
        names = self.names | spoken
        parts = split_chunks(without_names(names, self.content)) or (self.content,)
        texts = [("both" if self.stands_alone else "content", part) for part in parts]
        if self.lead is not None:
            lead = without_names(names, self.lead)
            texts += [("context", f"{lead} {part}") for part in parts]
        return texts


def _tied(mention: Mention, candidate: Candidate) -> Mention:
    """Return a mention with the tie that its name was said to have, unless it says one itself."""
    tie = candidate.ties.get(normalise.normalise_name(mention.name))
    return mention if tie is None or mention.tie is not None else replace(mention, tie=tie)


def _conversation_names(drafts: Sequence[_Draft]) -> dict[tuple[Scope, str | None], frozenset[str]]:
    """Return who speaks in each session, as far as this write shows: they address one another by name."""
    found: dict[tuple[Scope, str | None], frozenset[str]] = defaultdict(frozenset)
    for draft in drafts:
        if draft.candidate.session_id is not None:
            found[draft.conversation] |= draft.names
    return found


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
        mentions=candidate.mentions,
    )
    return Prepared(
        candidate=candidate,
        content=draft.content,
        stated_at=candidate.stated_at or now,
        parts=parts,
        confidence=confidence.capped_score(parts, candidate.speech_act),
        event=candidate.payload.event_time(candidate.zone) or candidate.covers,
        mentions=draft.mentions,
        identity=normalise.digest(
            candidate.type.name if candidate.ending is None else f"{candidate.type.name} ended",
            candidate.speech_act,
            normalise.value(candidate.stated),
            *candidate.payload.distinct_by(),
        ),
        texts=_index_texts(draft, texts, vectors, language),
    )


def _index_texts(
    draft: _Draft, texts: Sequence[tuple[str, str]], vectors: NDArray[np.float32], language: str
) -> tuple[IndexText, ...]:
    whole = {"content": draft.content, "both": draft.content, "context": f"{draft.lead} {draft.content}"}
    seen: set[str] = set()
    rows = []
    for (kind, _), vector in zip(texts, vectors, strict=True):
        rows.append(
            IndexText(
                kind=kind,
                embedding=vector,
                terms=None if kind in seen else searched_terms(whole[kind], language),
            )
        )
        seen.add(kind)
    return tuple(rows)


def search_texts(candidates: Sequence[Candidate]) -> list[list[tuple[str, str]]]:
    """Return the texts, by their kind, that these memories are embedded by, as if they were written together."""
    return _dense([_Draft(candidate) for candidate in candidates])


def _dense(drafts: Sequence[_Draft]) -> list[list[tuple[str, str]]]:
    spoken = _conversation_names(drafts)
    return [draft.dense_texts(spoken.get(draft.conversation, frozenset())) for draft in drafts]


def worded(content: str, context: str | None, kind: str) -> str:
    """Return the whole text whose terms a memory's index rows of a kind are found by."""
    return f"{lead(context)} {content}" if kind == "context" and context is not None else content


def stored_texts(given: Sequence[TextsToEmbed], types: Registry) -> list[list[str]]:
    """Return, for each memory, the texts of its index rows by part.

    Names are left out as at the writing; those recorded at one instant in one session were written together, and
    know of one another's. There are as many parts as there were.
    """
    names = [_names(one, types) for one in given]
    together = defaultdict[object, frozenset[str]](frozenset)
    for one, own in zip(given, names, strict=True):
        if one.session is not None:
            together[one.scope, one.session, one.recorded_at] |= own
    return [
        _texts(one, own | together.get((one.scope, one.session, one.recorded_at), frozenset()))
        for one, own in zip(given, names, strict=True)
    ]


def stored_questions(given: Sequence[QuestionsToEmbed], types: Registry) -> list[list[str]]:
    """Return each memory's questions by ordinal as they are embedded: without names, as the memory itself."""
    names = [_names(one, types) for one in given]
    return [
        [without_names(own, question) for question in one.rows.values()] for one, own in zip(given, names, strict=True)
    ]


def _texts(one: TextsToEmbed, names: frozenset[str]) -> list[str]:
    own = [place for place, kind in one.rows.items() if kind != "context"]
    led = [place for place, kind in one.rows.items() if kind == "context"]
    content = without_names(names, one.content)
    found = dict(zip(own, _parts(content, len(own)), strict=True))
    before = "" if one.context is None else f"{without_names(names, lead(one.context))} "
    found |= zip(led, (f"{before}{part}" for part in _parts(content, len(led))), strict=True)
    return [found[place] for place in one.rows]


def _parts(text: str, count: int) -> list[str]:
    """Return a text in so many parts; one that has fewer words ends with the same part again."""
    if count == 0:
        return []
    parts = split_chunks(text, 1, max_parts=count) or (text,)
    return [*parts, *(parts[-1:] * (count - len(parts)))]


def _names(one: Lacking, types: Registry) -> frozenset[str]:
    """Return the names that stay out of a memory's vectors; none where its payload is of a shape of another time."""
    spec = types.by_name.get(one.type)
    if spec is None:
        return frozenset()
    try:
        return spoken_names(spec.read(one.payload, one.type_version).mentions())
    except ValidationError:
        return frozenset()


def average_length(wave: Sequence[Prepared]) -> float:
    """Return the average length of the memories' own texts, as scopes count it: without what was said before."""
    texts = [one for prepared in wave for one in prepared.texts if one.kind != "context"]
    lengths = [len(one.terms) for one in texts if one.terms is not None]
    return max(1.0, sum(lengths) / max(1, len(lengths)))
