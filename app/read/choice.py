"""Choice of the matches that answer: those that are relevant, true of the time asked for, and said once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final
from uuid import UUID

from app.db.memories.ranking import RankingRow
from app.db.memories.turn_evidence import TurnEvidence
from app.model import Memory, ReadMode
from app.read.assemble import estimate_tokens, floor, select
from app.read.relevance import Relevance
from app.read.turn_evidence import TurnsInView
from app.read.values import ContextBlock, ContextGroup, Cut, ParsedQuery, QueryRequest, Ranked, Window

Split = tuple[tuple[Ranked, ...], tuple[Cut, ...]]
"""Matches that are kept, and those that are not, with the reason."""

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
) -> Split:
    """Return the best `top_k` that answer, and what was left out, all of it where an explanation is wanted.

    A turn after those that are considered changes nothing about a match before it, unless it has a summary or says
    the same. So the others are judged only where there is no answer without them.
    """
    most = len(ranked) if request.explain else considered(request)
    early, late = ranked[:most], ranked[most:]
    said = {_saying(sketches[one.id]) for one in early}
    ruling = [
        one
        for one in late
        if (row := sketches[one.id]).type not in judged.verbatim or row.folded_into is not None or _saying(row) in said
    ]
    known = {one.id for one in late}
    for some in ([*early, *ruling], ranked):
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
) -> Split:
    """Return what is relevant, current and not said by another match, and what was left out as none of these."""
    evidence = judged.evidence(ranked, sketches)
    view = TurnsInView(turns=turns, sketches=sketches, evidence=evidence, query=judged.query, zone=request.now.tzinfo)
    shared = view.with_shared_evidence()
    scored = judged.with_relevance(ranked, shared)
    relevant, unlike = judged.cut(scored, sketches, shared, least=request.min_relevance)
    current, past = view.current(relevant)
    least = floor(judged.query.mode, request.min_confidence)
    chosen = select(current, sketches, query=judged.query, least=least)
    distinct, alike = said_once(chosen, sketches, judged.verbatim, request.now.tzinfo)
    once, again = view.once(distinct)
    return once, (*past, *alike, *again, *unlike)


def said_once(
    ranked: Sequence[Ranked], sketches: Mapping[UUID, RankingRow], verbatim: Collection[str], zone: tzinfo | None
) -> Split:
    """Return the best placed of the turns that say the same word for word, marked with how often that was said.

    The mark is for questions of how often, because the same words on another day may tell of another occasion.
    """
    same: dict[tuple[object, ...], list[Ranked]] = defaultdict(list)
    for one in ranked:
        if (row := sketches[one.id]).type in verbatim:
            same[*_saying(row), one.marks].append(one)
    repeated = {alike[0].id: alike for alike in same.values() if len(alike) > 1}
    dropped = {one.id for alike in repeated.values() for one in alike[1:]}
    kept = []
    for one in ranked:
        if alike := repeated.get(one.id):
            since = min(sketches[each.id].stated_at for each in alike).astimezone(zone).date()
            kept.append(one._replace(marks=(*one.marks, f"said {len(alike)} times since {since}")))
        elif one.id not in dropped:
            kept.append(one)
    return tuple(kept), tuple(
        Cut(one.id, one.relevance, "said by a better match") for one in ranked if one.id in dropped
    )


def _saying(row: RankingRow) -> tuple[object, ...]:
    """Return what is equal for turns of one scope that say the same word for word."""
    return row.scope_id, row.said


def on_that_day(ranked: Sequence[Ranked], sketches: Mapping[UUID, RankingRow], query: ParsedQuery) -> Split:
    """Split off what happened on other days, where the question asks what happened in its windows."""
    asked = query.asks_what_happened and bool(query.windows)
    return _split(ranked, {one.id for one in ranked if asked and sketches[one.id].elsewhen})


def held_then(ranked: Sequence[Ranked], memories: Mapping[UUID, Memory], query: ParsedQuery, now: datetime) -> Split:
    """Split off values that did not hold in the past window of a question, where another of their slot did."""
    over = [one for one in query.windows if one.upper is not None and one.upper <= now]
    if query.mode is not ReadMode.HISTORICAL or not over or len(over) < len(query.windows):
        return tuple(ranked), ()
    valued = {one.id: memories[one.id] for one in ranked if one.id in memories and memories[one.id].slot is not None}
    held = {one.slot for one in valued.values() if _held(one, over)}
    return _split(ranked, {key for key, one in valued.items() if one.slot in held and not _held(one, over)})


def none_known(query: ParsedQuery, zone: tzinfo | None, budget: int) -> ContextBlock | None:
    """Return the block that says that nothing is known to have happened then; None where that was not asked."""
    named = [one for one in query.windows if one.lower is not None and one.upper is not None]
    if not query.asks_what_happened or not named:
        return None
    line = f"- nothing is known to have happened {' or '.join(_days(one, zone) for one in named)}"
    text = f"## Events\n{line}"
    tokens = estimate_tokens(text)
    if tokens > budget:
        return None
    return ContextBlock(text=text, tokens=tokens, groups=(ContextGroup(name="Events", lines=(line,)),))


def _held(memory: Memory, windows: Sequence[Window]) -> bool:
    return any(
        (one.upper is None or memory.valid_from < one.upper)
        and (one.lower is None or memory.valid_until is None or memory.valid_until > one.lower)
        for one in windows
    )


def _split(ranked: Sequence[Ranked], other: set[UUID]) -> Split:
    kept = tuple(one for one in ranked if one.id not in other)
    gone = tuple(one for one in ranked if one.id in other)
    return kept, tuple(Cut(id=one.id, relevance=one.relevance, why="of another time") for one in gone)


def _days(window: Window, zone: tzinfo | None) -> str:
    if window.lower is None or window.upper is None:
        return ""
    first = window.lower.astimezone(zone).date()
    last = (window.upper - timedelta(microseconds=1)).astimezone(zone).date()
    return f"on {first}" if first == last else f"from {first} to {last}"
