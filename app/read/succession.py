"""Later turns that may say that a found statement has changed.

"I live in Porto." and then "Our house in Evora is ready." No word list tells such turns: most share neither key nor
predicate with the statement. But they are about the same thing, so each word of the statement has a near one in them,
which holds for few other turns.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from operator import itemgetter
from statistics import median
from typing import Final
from uuid import UUID

from app.db.memories.ranking import RankingRow, TurnEvidence
from app.lexical.bm25 import terms
from app.lexical.tokens import normalise, tokenize
from app.memory import vocabulary
from app.memory.extraction import Role
from app.model import ReadMode
from app.read.values import ParsedQuery, Ranked, WordNearness

ABOUT_THE_SAME: Final = 0.18
"""Least mean nearness of a statement's words to those of a later turn. Of turns told later, 4 in 100 have it by chance,
and 86 in 100 of those that change the statement (English; docs/decisions/context.md)."""

FEW: Final = 0.5
"""Words that are added to those of a statement for the mean: the nearness of one or two words tells less."""

USUAL: Final = 0.08
"""Mean nearness that is usual for turns about other things; what the median of a question's turns has above it is the
language's."""

FEWEST: Final = 4
"""Fewest later turns whose median tells what is usual."""

ANSWERS: Final = 0.5
"""Least relevance of a statement for which later turns are looked for."""

AS_GOOD: Final = 0.8
"""Least share of the best relevance that it has, too."""

ANCHORS: Final = 2
"""Most such statements."""

MOST: Final = 2
"""Most later turns of a statement: those that are nearest to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Successions:
    """Later turns by the statement that they may have changed, newest first."""

    later: Mapping[UUID, tuple[UUID, ...]]

    @property
    def turns(self) -> frozenset[UUID]:
        """All later turns."""
        return frozenset(turn for turns in self.later.values() for turn in turns)


def find_successions(
    admitted: Sequence[Ranked],
    candidates: Sequence[Ranked],
    rows: Mapping[UUID, RankingRow],
    turns: Mapping[UUID, TurnEvidence],
    *,
    query: ParsedQuery,
    words: WordNearness | None,
    changing: Collection[str],
) -> Successions:
    """Return the later turns among `candidates` about what the best of `admitted` say.

    None where the past is asked for. `candidates` are turns, and beliefs read from turns, that may be shown;
    `changing` are the types whose memories may change. What is about somebody else says nothing of a statement, and
    neither does a name that the question has.
    """
    if query.mode is not ReadMode.DEFAULT or query.about_past:
        return Successions(later={})
    found: dict[UUID, tuple[UUID, ...]] = {}
    best = max((one.relevance for one in admitted), default=0.0)
    answering = [
        one
        for one in admitted
        if one.relevance >= max(ANSWERS, AS_GOOD * best)
        and rows[one.id].type in changing
        and rows[one.id].speaker_id not in query.assistants
    ]
    known = {vocabulary.USER, *(word for one in query.mentioned for word in tokenize(normalise(one.text)))}
    for anchor in answering[:ANCHORS]:
        row = rows[anchor.id]
        own = {one.id for one in turns.get(anchor.id, TurnEvidence()).beliefs}
        after = [
            each
            for one in candidates
            if (each := rows[one.id]).stated_at > row.stated_at
            and each.scope_id == row.scope_id
            and each.type in changing
            and turns.get(each.id, TurnEvidence()).role in {None, Role.USER}
            and _same_subject(row, each, turns.get(each.id), rows, own)
        ]
        near = _likeness(row.opening, [one.opening for one in after], words, known)
        about = [(likeness, one) for likeness, one in zip(near, after, strict=True) if likeness >= ABOUT_THE_SAME]
        if about:
            nearest = [one for _, one in nlargest(MOST, about, key=itemgetter(0))]
            nearest.sort(key=lambda one: (one.stated_at, one.id), reverse=True)
            found[anchor.id] = tuple(one.id for one in nearest)
    return Successions(later=found)


def _same_subject(
    anchor: RankingRow,
    later: RankingRow,
    turn: TurnEvidence | None,
    rows: Mapping[UUID, RankingRow],
    own: Collection[UUID],
) -> bool:
    """Tell whether something later may speak of the anchor's subject: it, or a belief read from it, is about that.

    So may a turn from which no belief was read. `own` are the beliefs read from the anchor.
    """
    beliefs = () if turn is None else turn.beliefs
    if later.id in own or any(one.id == anchor.id or one.id in own for one in beliefs):
        return False
    subjects = {later.subject, *(rows[one.id].subject for one in beliefs if one.id in rows)} - {None}
    return not subjects or anchor.subject is None or anchor.subject in subjects


def _likeness(text: str, others: Sequence[str], words: WordNearness | None, known: Collection[str]) -> list[float]:
    """Return how near the words of a text are to those of each other one, less what is usual among these.

    The words in `known` do not count. Without vectors of words, the share of its terms that the other one has.
    """
    if not others:
        return []
    if words is None:
        said = set(terms(text)).difference(*(terms(one) for one in known))
        return [len(said.intersection(terms(one))) / max(1, len(said)) for one in others]
    near = words.likeness(text, others, without=known, few=FEW)
    usual = median(near) if len(near) >= FEWEST else USUAL
    return [one - max(0.0, usual - USUAL) for one in near]
