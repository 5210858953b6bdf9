"""The policy of the context block: which of the relevant matches enter it, and which don't.

Each rule returns why it leaves a match out, or nothing. The table in docs/decisions/context.md lists them. A question
that asks for everything (`min_relevance=0`, `mode=audit`) is answered without them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from uuid import UUID

from app.db.memories.ranking import RankingRow, TurnEvidence
from app.english.questions import ASKS_FOR_QUESTIONS
from app.memory.extraction import NOT_PEOPLE, Role
from app.model import ReadMode
from app.read.asked_of import says_whom
from app.read.relevance import ANSWERED, MatchEvidence, Split, is_brief, split
from app.read.texts import is_only_asking, name_in, share_told, shared_terms, terms_in
from app.read.values import OPENING, Arm, ParsedQuery, QueryRequest, Ranked

NEW_LETTERS: Final = 40
"""Fewest letters of terms of an assistant's turn that stand in no line of the user's: with fewer it only restates.
Letters, because scripts without spaces have more and shorter terms."""

NUMBER: Final = 6
"""Letters as many as which a term with digits counts more: a time or an amount is short, and tells much."""

AS_GOOD: Final = 0.95
"""Least share of the evidence of the user's best line that an assistant's turn has."""

RESTATED: Final = 0.5
"""Share of the terms of an assistant's turn from which on it restates lines of the user's or the question."""

SETTLED: Final = 0.6
"""Least share of the evidence of the belief that the question asks for that a turn beside it has."""

TURN_SHARE: Final = 0.3
"""Least share of the best evidence that a turn has where people talk with one another."""

CHAT_SHARE: Final = 0.4
"""The same in a chat with an assistant, whose turns are about one thing after another."""

BRIEF_SHARE: Final = 0.7
"""The same of brief turns there that are not surely relevant."""

NAMED: Final = 0.5
"""Added to the evidence of a turn that says a name of the question, as a belief's has its name, but for those of people
who talk with one another."""

GATHERED: Final = 0.5
"""Times these shares, but for brief turns that are not sure, those of a question that gathers."""

SURE: Final = 0.9
"""Relevance over which a brief turn may stand far behind a belief, which has a name or a predicate for it, too."""

BETTER: Final = 1.05
"""Times the score of the best turn of the person whom a question names that another speaker's best turn has where
what is asked of the one was said by the other (docs/decisions/context.md)."""

WORDLESS: Final = "said by the assistant, without a word of the question"
"""Why an assistant's turn is left out that has too little of the question."""

SHARED: Final = 2
"""Words of the question that what the assistant said must have, or a quarter of them, unless it is asked back."""

AS_NEAR: Final = 0.7
"""Least share of the best retrieval score that a turn has which another says than the person whom a question names."""


@dataclass(frozen=True, kw_only=True)
class BlockPolicy:
    """The rules of the block, for one question and the matches that are relevant to it.

    `leading` are the matches with which others are compared: the same, whether or not the rest is to be explained.
    `heard` are these, also those that are not relevant, or said by a better match.
    """

    leading: Collection[UUID]
    heard: Sequence[Ranked]
    query: ParsedQuery
    rows: Mapping[UUID, RankingRow]
    turns: Mapping[UUID, TurnEvidence]
    evidence: MatchEvidence
    verbatim: Collection[str]

    def admit(self, ranked: Sequence[Ranked]) -> Split:
        """Return the matches that enter the block, and the others, each with the reason."""
        judged = self._judge(ranked)
        return split([(one, _why(judged, one)) for one in ranked])

    def eligible(self, ranked: Sequence[Ranked]) -> tuple[Ranked, ...]:
        """Return what may enter the block, if it answers: not recent turns, mere questions or the assistant's words."""
        if self.answered_by_another:
            return ()
        judged = self._judge(ranked)
        return tuple(
            one
            for one in judged.leading
            if not (judged.is_of_assistant(one) or in_conversation(judged, one) or only_ask(judged, one))
        )

    def without_restated(self, ranked: Sequence[Ranked]) -> Split:
        """Return the matches without what the assistant said of something that a person may have changed since."""
        judged = self._judge(ranked)
        people = {one.id for one in ranked if not judged.is_of_assistant(one)}
        why = "said by the assistant, and perhaps replaced since"
        stale = {one.id for one in ranked if one.id not in people and not people.isdisjoint(one.later)}
        return split((one, why if one.id in stale else "") for one in ranked)

    @cached_property
    def asks_for_questions(self) -> bool:
        """Whether the question asks what was asked."""
        return ASKS_FOR_QUESTIONS.search(self.query.reading.text) is not None

    @cached_property
    def answered_by_another(self) -> bool:
        """Whether another speaker said what answers better than all that the person said whom the question names."""
        return self._judge(self.heard).answered_by_another

    @cached_property
    def said(self) -> frozenset[UUID]:
        """What was said, word for word."""
        return frozenset(one.id for one in self.heard if self.rows[one.id].type in self.verbatim)

    @cached_property
    def of_assistant(self) -> frozenset[UUID]:
        """What the assistant said, or a tool that it used."""
        assistants, said = self.query.assistants, self.turns
        return frozenset(
            one.id
            for one in self.heard
            if self.rows[one.id].speaker_id in assistants
            or ((found := said.get(one.id)) is not None and found.role in NOT_PEOPLE)
        )

    @cached_property
    def asking(self) -> dict[UUID, bool]:
        """Whether turns only ask, as far as that was looked at: each is, several times."""
        return {}

    def _judge(self, ranked: Sequence[Ranked]) -> Judged:
        return Judged(policy=self, ranked=tuple(ranked))


@dataclass(frozen=True, kw_only=True)
class Judged:
    """The matches of a question, with what the rules need to know of all of them."""

    policy: BlockPolicy
    ranked: tuple[Ranked, ...]

    @cached_property
    def leading(self) -> tuple[Ranked, ...]:
        """The matches with which others are compared."""
        return tuple(one for one in self.ranked if one.id in self.policy.leading)

    def row(self, one: Ranked) -> RankingRow:
        """Return the row of a match."""
        return self.policy.rows[one.id]

    def is_turn(self, one: Ranked) -> bool:
        """Tell whether a match is what was said, word for word."""
        return one.id in self.policy.said

    def is_of_assistant(self, one: Ranked) -> bool:
        """Tell whether the assistant said it, or a tool that it used."""
        return one.id in self.policy.of_assistant

    def is_of_tool(self, one: Ranked) -> bool:
        """Tell whether a tool said it, which restates nothing."""
        said = self.policy.turns.get(one.id)
        return said is not None and said.role == Role.TOOL

    @cached_property
    def best(self) -> float:
        """The evidence of the best match that is no mere question, nor the assistant's, unless that is asked for."""
        back = self.policy.query.reading.asks_back
        own = (one for one in self.leading if (back or not self.is_of_assistant(one)) and not only_ask(self, one))
        return max((self.policy.evidence.whole[one.id] for one in own), default=0.0)

    @cached_property
    def settled(self) -> float:
        """The evidence of the best belief whose predicate the question asks for; 0 without one."""
        asked = self.policy.query.asked_predicates
        found = (one for one in self.leading if not self.is_turn(one) and self.row(one).predicate in asked)
        return max((self.policy.evidence.whole[one.id] for one in found), default=0.0)

    @cached_property
    def said_by_user(self) -> frozenset[str]:
        """The terms of the question and of all that is not the assistant's, but for what only asks."""
        own = (one for one in self.leading if not self.is_of_assistant(one) and not only_ask(self, one))
        return frozenset(self.policy.query.terms).union(*(terms_in(self.row(one).opening) for one in own))

    @cached_property
    def asked_person(self) -> frozenset[UUID]:
        """The ids of the one person whom the question names, where they speak here; none otherwise."""
        speaking = {self.row(one).speaker_id for one in self.leading if self.is_turn(one)}
        named = {
            frozenset(each for entity in mentioned.entities for each in entity.ids)
            for mentioned in self.policy.query.named
        }
        here = [ids for ids in named if ids & speaking]
        return here[0] if len(here) == 1 else frozenset()

    @cached_property
    def answered_by_another(self) -> bool:
        """Whether somebody else said what answers better than all that the person said whom the question names."""
        if not self.asked_person:
            return False
        own, others = 0.0, 0.0
        for one in filter(self.is_turn, self.leading):
            speaker = self.row(one).speaker_id
            if speaker in self.asked_person:
                own = max(own, one.score)
            elif speaker is not None and not self.is_of_assistant(one):
                others = max(others, one.score)
        return others > BETTER * own

    @cached_property
    def nearest(self) -> float:
        """The best retrieval score of a turn, before whoever says it counts."""
        return max((one.retrieval for one in self.leading if self.is_turn(one)), default=0.0)


Rule = Callable[[Judged, Ranked], str]
"""A rule: returns why a match is left out, or nothing."""


def in_conversation(judged: Judged, one: Ranked) -> str:
    """Leave out the last turns of the session that asks: the prompt has them."""
    said = judged.policy.turns.get(one.id)
    return "among the last turns of the session that asks" if said is not None and said.recent else ""


def only_ask(judged: Judged, one: Ranked) -> str:
    """Leave out turns that only ask, unless the question asks what was asked.

    Where people talk with one another, who is known by name, a reaction beside a question may tell something.
    """
    known = judged.policy.asking
    asks = known.get(one.id)
    if asks is None:
        asks = known[one.id] = not judged.policy.asks_for_questions and _asks(judged, one)
    return "only asks" if asks else ""


def _asks(judged: Judged, one: Ranked) -> bool:
    row = judged.row(one)
    if not judged.is_turn(one) or len(row.opening) >= OPENING or judged.is_of_assistant(one):
        return False
    if row.speaker_id is None:
        return is_only_asking(row.opening)
    return row.asking is not None and share_told(row.asking) == 0


def assistant_words(judged: Judged, one: Ranked) -> str:
    """Leave out what the assistant said, unless it is asked for or says by its own words what the user did not."""
    query = judged.policy.query
    if not judged.is_of_assistant(one) or not judged.is_turn(one):
        return ""
    evidence = judged.policy.evidence.whole[one.id]
    if query.reading.asks_back:
        return "" if Arm.LEXICAL in one.places or evidence >= ANSWERED * judged.best else WORDLESS
    if Arm.LEXICAL not in one.places or not _shares_words(query.reading.text, judged.row(one).opening):
        return WORDLESS
    if evidence < AS_GOOD * judged.best and not query.reading.goes_on:
        return "said by the assistant, and less relevant than what the user said"
    said = terms_in(judged.row(one).opening)
    new = said - judged.said_by_user
    least = 1 if judged.is_of_tool(one) else max(NEW_LETTERS, (1 - RESTATED) * _telling(said))
    return "said by the assistant, and nothing new" if _telling(new) < least else ""


def _shares_words(question: str, text: str) -> bool:
    """Tell whether a text has as many words of the question as what the assistant said needs."""
    asked, said = shared_terms(question, text)
    return len(asked & said) >= min(SHARED, len(asked) / 4)


def _telling(said: Collection[str]) -> int:
    """Return how much terms tell, in letters."""
    return sum(len(one) + NUMBER * any(map(str.isdigit, one)) for one in said)


def of_others(judged: Judged, one: Ranked) -> str:
    """Leave out what is asked of one person and answered by another."""
    query, row = judged.policy.query, judged.row(one)
    asked = row.predicate in query.asked_predicates
    if judged.policy.answered_by_another and row.session_id is not None and not asked:
        return "the one who is asked about said nothing as near"
    if judged.asked_person and judged.is_turn(one) and not judged.is_of_assistant(one):
        another = row.speaker_id is not None and row.speaker_id not in judged.asked_person
        if another and one.retrieval < AS_NEAR * judged.nearest:
            return "said by another than the one who is asked about, and less near"
    if not query.about or row.subject is None or not asked:
        return ""
    if any(row.subject_id in entity.ids for mentioned in query.mentioned for entity in mentioned.entities):
        return ""
    return "" if name_in(row.subject) in query.about else "about somebody else"


def beside_better(judged: Judged, one: Ranked) -> str:
    """Leave out turns that are far less relevant than the best match, or than the belief that is asked for."""
    if not judged.is_turn(one) or one.relevance >= 1:
        return ""
    query, evidence = judged.policy.query, judged.policy.evidence.whole[one.id]
    alone = query.assistants or judged.row(one).speaker_id is None
    whom = alone and says_whom(query, judged.row(one))
    if whom:
        evidence += NAMED
    if evidence < SETTLED * judged.settled:
        return "far less relevant than the belief that is asked for"
    unsure = is_brief(judged.row(one)) and one.relevance <= SURE
    share = TURN_SHARE if not query.assistants else BRIEF_SHARE if unsure else CHAT_SHARE
    share *= GATHERED if (query.reading.gathers and not unsure) or (whom and query.asked_predicates) else 1.0
    return "far less relevant than the best match" if evidence < share * judged.best else ""


RULES: Final[tuple[Rule, ...]] = (in_conversation, only_ask, assistant_words, of_others, beside_better)


def _why(judged: Judged, one: Ranked) -> str:
    """Return why a match is left out, or nothing."""
    for rule in RULES:
        if why := rule(judged, one):
            return why
    return ""


def applies(request: QueryRequest, query: ParsedQuery) -> bool:
    """Tell whether the policy applies: not where everything is asked for."""
    return request.min_relevance != 0 and query.mode is not ReadMode.AUDIT
