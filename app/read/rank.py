"""Ranking of what was found, by trust, freshness, neighbours and speaker; predecessors of a value.

A question such as "where did I work before Volkswagen?" asks for what Volkswagen replaced.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from types import MappingProxyType
from typing import Final
from uuid import UUID

from app.db.memories.ranking import RankingRow, TurnEvidence
from app.lexical.labels import compare_labels
from app.lexical.tokens import one_edit_apart
from app.memory.drift import DEMOTION
from app.memory.freshness import SECONDS_PER_DAY, faded
from app.model import MemoryStatus
from app.read.texts import labels_in, name_in, share_told_of_speaker
from app.read.values import OPENING, Before, Fused, Note, ParsedQuery, QueryPlan, Ranked


def slot_holders(ranked: Sequence[Ranked], rows: Mapping[UUID, RankingRow], query: ParsedQuery) -> tuple[UUID, ...]:
    """Return the memories whose value is what the question asks to look behind, in the slot it most likely means.

    Of several slots with that value, one of the person that is asked about comes first, then one of a predicate
    that the question names, then the best match.
    """
    before = query.before
    found = [] if before is None else [rows[one.id] for one in ranked if _holds(rows[one.id], before)]
    if before is None or not found:
        return ()
    best = min(
        range(len(found)),
        key=lambda place: (not _about(found[place], before), not _asked(found[place], query), place),
    )
    slot = _slot(found[best])
    return tuple(one.id for one in found if _slot(one) == slot)


def predecessor_first(
    ranked: Sequence[Ranked], replaced: Sequence[UUID], missing: Sequence[Ranked]
) -> tuple[Ranked, ...]:
    """Return the list with what was replaced in front, in the order given; `missing` are those that it lacks."""
    by_id = {one.id: one for one in (*ranked, *missing)}
    raised = [by_id[one] for one in replaced if one in by_id]
    top = max((one.score for one in ranked), default=0.0)
    note = "what the question looks behind replaced it: first"
    lifted = [one._replace(score=max(top, one.score), notes=(*one.notes, note)) for one in raised]
    places = {one.id for one in raised}
    return (*lifted, *(one for one in ranked if one.id not in places))


def _holds(row: RankingRow, before: Before) -> bool:
    value = row.slot_value
    if row.slot is None or not value:
        return False
    return value in before.entities or f" {value} " in f" {before.words} "


def _about(row: RankingRow, before: Before) -> bool:
    return row.subject is not None and name_in(row.subject) in before.subjects


def _asked(row: RankingRow, query: ParsedQuery) -> bool:
    return row.predicate in query.asked_predicates


def _slot(row: RankingRow) -> tuple[UUID, str, str | None]:
    return row.scope_id, row.type, row.slot


_SCORE_AND_ID: Final = itemgetter(1, 0)
"""The order of `Ranked`."""

_NOTES: Final = Ranked._fields.index("notes")

_LEAST_FRESH: Final = 0.02
"""The lowest freshness that ranking counts, for every type: the floor of the Cognitive categories."""

Factor = tuple[str, float]
"""The note of a factor, and what the score is multiplied by."""

_BY: Final = ": x{:.2f}"

_NEAR: Final = "its words are near those of the question: +{:.4f}"
_BESIDE: Final = "beside turns that match: +{:.4f}"
_AROUND: Final = "the words around it are near those of the question: +{:.4f}"
_ASKS: Final = f"ends as a question{_BY}"
_CONTRADICTED: Final = f"contradicted by a belief that is trusted more{_BY}"
_VOLATILE: Final = f"its slot changes too often{_BY}"
_DISPUTES: Final = frozenset({_CONTRADICTED, _VOLATILE})

_LONG_NAME: Final = 5
"""Letters of a name that may be misspelled by one and still be meant."""


def rank(
    fused: Sequence[Fused],
    rows: Mapping[UUID, RankingRow],
    *,
    query: ParsedQuery,
    plan: QueryPlan,
    now: datetime,
    verbatim: Collection[str],
    speakers: Mapping[UUID, str] = MappingProxyType({}),
    numbered: Mapping[UUID, bool] = MappingProxyType({}),
) -> tuple[Ranked, ...]:
    """Return what was found, best first: `score = retrieval x confidence^c x min(1, freshness)^g` x factors.

    `retrieval` is the fused score with the neighbours' share; the factors are the plan's, and each that applied is
    named in the notes with its number. `verbatim` are the types of turns, `speakers` the names of those who speak,
    `numbered` the matches about a number that the question names, and about others. A memory without a row is
    left out.
    """
    read = [(one, rows[one.id]) for one in fused if one.id in rows]
    present = [row for _, row in read]
    beside = plan.neighbours * (plan.beside_assistant if _said_by(present, query.assistants) else 1.0)
    shares = _neighbours(read, verbatim, beside, plan)
    asking = {row.id: _question_factor(row.asking, plan) for row in present if row.asking is not None}
    speaker = _one_speaker(query, present, speakers)
    factors = _factors(present, demotions(present), asking, speaker, numbered, query, plan)
    scored = _scored(read, shares, factors, plan, now)
    ordered = _with_answers(scored, rows, asking, query.assistants, verbatim, plan)
    if query.wants_newest and plan.newest:
        ordered = _newest_first(ordered, rows, plan)
    return _with_words_around(ordered, {one.id: one.around for one in fused if one.around})


def about_others(
    rows: Mapping[UUID, RankingRow], query: ParsedQuery, turns: Mapping[UUID, TurnEvidence]
) -> frozenset[UUID]:
    """Return the beliefs that say of others what another match says of those whom the question is about.

    With them the turns that are known for such beliefs alone.
    """
    if not query.about:
        return frozenset()
    said: dict[tuple[str, str], list[RankingRow]] = defaultdict(list)
    for row in rows.values():
        kind = row.predicate or (row.slot or "").partition("|")[2].partition(".")[0]
        if row.subject is not None and kind:
            said[row.type, kind].append(row)
    others: set[UUID] = set()
    for alike in said.values():
        of_others = [row.id for row in alike if name_in(row.subject or "") not in query.about]
        if len(of_others) < len(alike):
            others.update(of_others)
    known = {turn: {one.id for one in found.beliefs} for turn, found in turns.items()} if others else {}
    return frozenset(others | {turn for turn, beliefs in known.items() if beliefs and beliefs <= others})


def demote(ranked: Sequence[Ranked], others: Collection[UUID], plan: QueryPlan) -> tuple[Ranked, ...]:
    """Return the matches with those `about_others` demoted, best first."""
    if not others:
        return tuple(ranked)
    note = f"about others than the question{_BY}", plan.others
    weighed = [
        one._replace(score=one.score * plan.others, notes=(*one.notes, note)) if one.id in others else one
        for one in ranked
    ]
    return tuple(sorted(weighed, key=lambda one: one.score, reverse=True))


def freshness_of(row: RankingRow, now: datetime) -> float:
    """Return the freshness at `now`: since the last access, or, never accessed, since it was stated."""
    days = (now - (row.last_accessed_at or row.stated_at)).total_seconds() / SECONDS_PER_DAY
    return faded(days, row.half_life_days, row.floor, row.access_count)


def demotions(rows: Sequence[RankingRow]) -> dict[UUID, float]:
    """Return what the weaker sides of contradictions are multiplied by: their confidence over the strongest's.

    Memories contradict each other when they hold one slot and at least one of them is contested (seed 001). A side
    that the question did not find counts too.
    """
    holding = [row for row in rows if row.slot is not None and row.status == MemoryStatus.ACTIVE]
    contested = {_slot(row) for row in holding if row.contested or row.strongest is not None}
    sides: dict[tuple[UUID, str, str | None], list[RankingRow]] = defaultdict(list)
    for row in holding if contested else ():
        sides[_slot(row)].append(row)
    ratios: dict[UUID, float] = {}
    for slot in contested:
        held = sides[slot]
        strongest = max(max(row.confidence, row.strongest or 0.0) for row in held)
        if strongest > 0:
            ratios |= {row.id: row.confidence / strongest for row in held}
    return {memory: ratio for memory, ratio in ratios.items() if ratio < 1}


def _neighbours(
    read: Sequence[tuple[Fused, RankingRow]], verbatim: Collection[str], share: float, plan: QueryPlan
) -> dict[UUID, float]:
    """Return what each turn gains from the turns up to two before and after it: the more, the fewer words it has.

    `share` is that of the better of the turns beside it: an assistant is asked about one thing after another.

    A belief neither gains nor lends: it is brief, but complete, and found by words that its turn may not have.
    """
    sessions: dict[tuple[UUID, str], dict[int, float]] = defaultdict(dict)
    placed = []
    for one, row in read:
        number = row.sequence_number
        if number is not None and row.session_id is not None and row.type in verbatim:
            turns = sessions[row.scope_id, row.session_id]
            turns[number] = one.retrieval
            placed.append((one.id, row.words, turns, number))
    gains: dict[UUID, float] = {}
    brevity, farther = plan.brevity, plan.farther
    for turn, words, turns, at in placed:
        if len(turns) == 1:
            continue
        beside = turns.get
        before, after = beside(at - 1, 0.0), beside(at + 1, 0.0)
        earlier, later = beside(at - 2, 0.0), beside(at + 2, 0.0)
        near, far = max(before, after), max(earlier, later)
        if near or far:
            gains[turn] = share * (brevity / (brevity + words)) * (near + farther * far)
    return gains


def _one_speaker(query: ParsedQuery, rows: Sequence[RankingRow], names: Mapping[UUID, str]) -> frozenset[UUID]:
    """Return the ids of the one speaker whom the question names, in full or in part; none when it names several."""
    speaking = {row.speaker_id for row in rows}
    named = [frozenset(one for entity in mentioned.entities for one in entity.ids) for mentioned in query.mentioned]
    speakers = {ids for ids in named if ids & speaking}
    partly = {one for one, name in names.items() if one in speaking and _named_in_part(name, query.unknown_names)}
    speakers |= {frozenset({one}) for one in partly if not any(one in ids for ids in speakers)}
    return next(iter(speakers)) if len(speakers) == 1 else frozenset()


def _named_in_part(name: str, words: Sequence[str]) -> bool:
    """Tell whether one of the words is, or is spelled nearly as, a word of the name."""
    return any(
        word == part or (len(part) >= _LONG_NAME and one_edit_apart(word, part))
        for part in _parts(name)
        for word in words
    )


def _parts(name: str) -> list[str]:
    return name_in(name).split()


def _factors(
    rows: Sequence[RankingRow],
    ratios: Mapping[UUID, float],
    asking: Mapping[UUID, float],
    speaker: Collection[UUID],
    numbered: Mapping[UUID, bool],
    query: ParsedQuery,
    plan: QueryPlan,
) -> dict[UUID, list[Factor]]:
    """Return the factors of those memories that have any, in the order in which they multiply."""
    replaced = [one.id for one in rows if one.status == MemoryStatus.SUPERSEDED] if query.about_past else []
    back = ", which the question asks for" if query.reading.asks_back else ""
    asked_back = query.reading.asks_back or query.reading.goes_on
    every: tuple[tuple[str, float, Sequence[UUID]], ...] = (
        *((_CONTRADICTED, ratio, (memory,)) for memory, ratio in ratios.items()),
        (_VOLATILE, DEMOTION, [one.id for one in rows if one.volatile]),
        (
            f"happened at another time than the question names{_BY}",
            plan.elsewhen,
            [one.id for one in rows if one.elsewhen],
        ),
        (
            f"about another number than the question names{_BY}",
            plan.misnumbered,
            [one for one, same in numbered.items() if not same],
        ),
        *((_ASKS, factor, (memory,)) for memory, factor in asking.items()),
        (f"said by the one the question names{_BY}", plan.speaker, _said_by(rows, speaker)),
        (
            f"said by the assistant{back}{_BY}",
            plan.asked_back if asked_back else plan.assistant,
            _said_by(rows, query.assistants),
        ),
        (
            f"of a type the question hints at{_BY}",
            plan.type_hint,
            [one.id for one in rows if one.type in query.types.preferred] if query.types.preferred else (),
        ),
        (f"history, which the question asks for{_BY}", plan.history, replaced),
    )
    found: dict[UUID, list[Factor]] = defaultdict(list)
    for why, factor, memories in every:
        for memory in memories if factor != 1 else ():
            found[memory].append((why, factor))
    return found


def numbered_matches(rows: Mapping[UUID, RankingRow], query: ParsedQuery) -> dict[UUID, bool]:
    """Return for each match with a label (`flight 12`) whether it is one of the question's, False for another number.

    Of a text that is longer than its opening nothing is known.
    """
    if not query.labels:
        return {}
    texts = {one.id: one.opening for one in rows.values() if len(one.opening) < OPENING}
    return compare_labels(query.labels, texts, labels_in)


def _question_factor(text: str, plan: QueryPlan) -> float:
    """Return the factor of a turn that ends with a question: the more it says of the speaker, the higher."""
    return plan.question + (plan.told_in_question - plan.question) * share_told_of_speaker(text)


def _said_by(rows: Sequence[RankingRow], speakers: Collection[UUID]) -> list[UUID]:
    return [one.id for one in rows if one.speaker_id in speakers] if speakers else []


def _current(row: RankingRow) -> bool:
    """Return whether it holds its slot uncontested; then its age does not matter."""
    return row.slot is not None and row.status == MemoryStatus.ACTIVE and not row.contested


def _scored(
    read: Sequence[tuple[Fused, RankingRow]],
    shares: Mapping[UUID, float],
    factors: Mapping[UUID, Sequence[Factor]],
    plan: QueryPlan,
    now: datetime,
) -> list[Ranked]:
    """Return the matches with their scores; `shares` are what their neighbours add."""
    trusted, fades = plan.confidence, plan.freshness
    scored = []
    for (memory, found, places, words, _), row in read:
        fresh, confidence = min(1.0, freshness_of(row, now)), row.confidence
        share = shares.get(memory, 0.0)
        retrieval = found + share
        score = retrieval * confidence**trusted
        if row.slot is None or not _current(row):
            score *= max(fresh, _LEAST_FRESH) ** fades
        notes: tuple[Note, ...] = ((_NEAR, words),) if words else ()
        if share:
            notes = (*notes, (_BESIDE, share))
        disputed = 1.0
        if moved := factors.get(memory):
            notes = (*notes, *moved)
            for why, factor in moved:
                score *= factor
                if why in _DISPUTES:
                    disputed *= factor
        given = (memory, score, retrieval, confidence, fresh, places, notes, 1.0, (), disputed, (), False)
        scored.append(Ranked._make(given))
    return scored


def _with_answers(
    scored: Sequence[Ranked],
    rows: Mapping[UUID, RankingRow],
    asking: Mapping[UUID, float],
    assistants: Collection[UUID],
    verbatim: Collection[str],
    plan: QueryPlan,
) -> list[Ranked]:
    """Return the matches in order, with what `asking`, factors of turns that ask, took given back where it is due.

    The next turn answers: where a person says it, and it doesn't ask itself, it has at least `plan.answer` of what the
    asking turn had. And the factor chooses among the turns of a session, so the best one of each session is spared.
    """
    if not asking:
        return sorted(scored, key=_SCORE_AND_ID, reverse=True)
    found = {one.id: one for one in scored}
    had = {one: found[one].score / factor for one, factor in asking.items()}
    sessions: dict[tuple[UUID, str | None], list[RankingRow]] = defaultdict(list)
    for one in scored:
        row = rows[one.id]
        if row.session_id is not None and row.type in verbatim:
            sessions[row.scope_id, row.session_id].append(row)
    asked = {(rows[one].scope_id, rows[one].session_id) for one in had}
    numbered = {key: {row.sequence_number: row for row in sessions.get(key, ())} for key in asked}
    for turn, score in had.items():
        row = rows[turn]
        answer = numbered[row.scope_id, row.session_id].get((row.sequence_number or 0) + 1)
        if answer is not None and answer.id not in asking and answer.speaker_id not in assistants:
            found[answer.id] = _at_least(found[answer.id], plan.answer * score, "answers a turn that matches: +{:.4f}")
    for key in asked & sessions.keys():
        _, best = max((found[row.id].score, row.id) for row in sessions[key])
        if best in had:
            found[best] = _at_least(found[best], had[best], "the best turn of its session: +{:.4f}")
    return sorted(found.values(), key=_SCORE_AND_ID, reverse=True)


def _at_least(hit: Ranked, score: float, why: str) -> Ranked:
    if score <= hit.score:
        return hit
    return hit._replace(score=score, notes=(*hit.notes, (why, score - hit.score)))


def _newest_first(ordered: Sequence[Ranked], rows: Mapping[UUID, RankingRow], plan: QueryPlan) -> list[Ranked]:
    """Return the list with its best ones reordered by age: each gains `plan.newest / (1 + days behind the newest)`.

    Only among matches of a similar score, because over the whole list age drowns relevance: an old turn may be the
    only answer. What holds its slot is as new as the newest.
    """
    first = ordered[: plan.reordered]
    least = plan.rival * max((hit.retrieval for hit in first), default=0.0)
    best = [hit for hit in first if hit.retrieval >= least]
    if len(best) < 2:  # noqa: PLR2004 - one is in order
        return list(ordered)
    newest = max(rows[hit.id].stated_at for hit in best)
    raised = [_raised(hit, rows[hit.id], newest, plan) for hit in best]
    others = [hit for hit in ordered if hit not in best]
    return sorted([*raised, *others], key=_SCORE_AND_ID, reverse=True)


def _with_words_around(ordered: Sequence[Ranked], shares: Mapping[UUID, float]) -> tuple[Ranked, ...]:
    """Return the list reordered by what the words around the matches add, as shares of the best score."""
    if not shares:
        return tuple(ordered)
    best = max((one.score for one in ordered), default=0.0)
    raised = [
        Ranked._make((one.id, one.score + gain, *one[2:_NOTES], (*one.notes, (_AROUND, gain)), *one[_NOTES + 1 :]))
        if (gain := best * shares.get(one.id, 0.0))
        else one
        for one in ordered
    ]
    return tuple(sorted(raised, key=_SCORE_AND_ID, reverse=True))


def _raised(hit: Ranked, row: RankingRow, newest: datetime, plan: QueryPlan) -> Ranked:
    behind = 0.0 if _current(row) else (newest - row.stated_at).total_seconds() / SECONDS_PER_DAY
    gain = 1 + plan.newest / (1 + behind)
    note = f"{behind:.1f} days behind the newest: x{gain:.2f}"
    return hit._replace(score=hit.score * gain, notes=(*hit.notes, note))
