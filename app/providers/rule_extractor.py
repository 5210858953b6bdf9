"""The embedded extractor: memories by rules, without a key, a network or a language model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from app.english.erasure_requests import erasure_requests
from app.english.rules.propose import QuotedDraft, drafts_of, unread
from app.memory.extraction import (
    MOST_PROPOSALS,
    NOTHING_KNOWN,
    Extraction,
    KnownExcerpt,
    Proposal,
    Role,
    Turn,
)
from app.memory.registry import Registry

_INLINE: Final = 2_000
"""Characters that are read on the event loop, some milliseconds' worth; longer turns go to a thread."""

_AT_ONCE: Final = 2
"""Turns that are read in threads at once: others wait outside the pool of threads, which questions need, too."""


class RuleExtractor:
    """Proposes what a turn states in plain words: the same turn, the same proposals, every time."""

    name = "rules"
    reads_known = False
    reads_instructions = False
    window = 1

    def __init__(self) -> None:
        self._threads = asyncio.Semaphore(_AT_ONCE)

    async def extract(
        self,
        turns: Sequence[Turn],
        context: Sequence[Turn] = (),
        *,
        types: Registry | None = None,  # noqa: ARG002 - its rules are of a few built-in types
        excluded: frozenset[str] = frozenset(),
        known: KnownExcerpt = NOTHING_KNOWN,  # noqa: ARG002 - its keys are always the same
    ) -> Sequence[Extraction]:
        """Return at most five proposals a turn, none for what only asks, jokes or chats; never raises on any text.

        The turns before one tell which names are people's; nothing is taken from them.
        """
        every = (*context, *turns)
        read = [await self._read(turn, every[: len(context) + place]) for place, turn in enumerate(turns)]
        return [
            replace(one, proposals=tuple(proposal for proposal in one.proposals if proposal.type not in excluded))
            for one in read
        ]

    async def _read(self, turn: Turn, context: Sequence[Turn]) -> Extraction:
        if len(turn.content) <= _INLINE:
            return _extracted(turn, context)
        async with self._threads:
            return await asyncio.to_thread(_extracted, turn, context)

    async def aclose(self) -> None:
        """Do nothing: there is nothing to let go of."""


def _extracted(turn: Turn, context: Sequence[Turn]) -> Extraction:
    erasures = erasure_requests(turn.content) if turn.role is Role.USER else ()
    left = unread(turn)
    return Extraction(
        proposals=propose(turn, context),
        unusable=() if left is None else (left,),
        erasures=erasures,
        adoptable=True,
    )


def propose(turn: Turn, context: Sequence[Turn] = ()) -> tuple[Proposal, ...]:
    """Return the few memories a turn proposes, in its order; `context` tells whose names are people's."""
    return tuple(proposal for _, proposal in ruled_proposals(turn, context))


def ruled_proposals(turn: Turn, context: Sequence[Turn] = ()) -> tuple[tuple[str, Proposal], ...]:
    """Return what a turn proposes, each with the name of its rule."""
    found = drafts_of(turn, context, most=MOST_PROPOSALS)
    return tuple((one.draft.rule, _proposal(one)) for one in found)


def _proposal(found: QuotedDraft) -> Proposal:
    draft = found.draft
    return Proposal(
        type=draft.type,
        payload=draft.payload,
        quote=found.quote,
        speech_act=found.act,
        confidence=draft.confidence,
        importance=draft.importance,
        topic=draft.topic,
        ends=draft.ends,
        ended_at=draft.ended_at,
    )
