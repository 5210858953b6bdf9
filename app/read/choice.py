"""Choice of the matches that answer: those that are relevant, true of the time asked for, and said once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from app.db.memories.ranking import RankingRow
from app.db.memories.turn_evidence import TurnEvidence
from app.read.assemble import floor, select
from app.read.occasions import on_that_day
from app.read.relevance import Relevance
from app.read.turn_evidence import TurnsInView
from app.read.values import Cut, QueryRequest, Ranked

TURNS_CONSIDERED: Final = 60
"""Best matches of which the turns are looked up beside their beliefs."""


def considered(request: QueryRequest) -> int:
    """Return how many of the best matches are looked at as turns beside their beliefs."""
    return max(TURNS_CONSIDERED, 3 * request.top_k)


def best_matches(
    judged: Relevance,
    turns: Mapping[UUID, TurnEvidence],
    ranked: Sequence[Ranked],
    sketches: Mapping[UUID, RankingRow],
    request: QueryRequest,
) -> tuple[tuple[Ranked, ...], tuple[Cut, ...]]:
    """Return the best `top_k` that answer, and what was left out, all of it where an explanation is wanted.

    A turn after those that are considered changes nothing about a match before it, unless it has a summary. So those
    are judged only where there is no answer without them.
    """
    late = ranked[len(ranked) if request.explain else considered(request) :]
    ruling = [
        one for one in late if (row := sketches[one.id]).type not in judged.verbatim or row.folded_into is not None
    ]
    known = {one.id for one in late}
    for some in ([*ranked[: len(ranked) - len(late)], *ruling], ranked):
        relevant, cut = _relevant(judged, turns, some, sketches, request)
        kept, elsewhen = on_that_day(relevant, sketches, judged.query)
        best = kept[: request.top_k]
        if len(some) == len(ranked) or (len(best) == request.top_k and known.isdisjoint(one.id for one in best)):
            break
    return best, (*elsewhen, *cut)


def _relevant(
    judged: Relevance,
    turns: Mapping[UUID, TurnEvidence],
    ranked: Sequence[Ranked],
    sketches: Mapping[UUID, RankingRow],
    request: QueryRequest,
) -> tuple[tuple[Ranked, ...], tuple[Cut, ...]]:
    """Return what is relevant, current and not said by another match, and what was left out as none of these."""
    evidence = judged.evidence(ranked, sketches)
    view = TurnsInView(turns=turns, sketches=sketches, evidence=evidence, query=judged.query, zone=request.now.tzinfo)
    shared = view.with_shared_evidence()
    scored = judged.with_relevance(ranked, shared)
    relevant, unlike = judged.cut(scored, sketches, shared, least=request.min_relevance)
    current, past = view.current(relevant)
    least = floor(judged.query.mode, request.min_confidence)
    once, again = view.once(select(current, sketches, query=judged.query, least=least))
    return once, (*past, *again, *unlike)
