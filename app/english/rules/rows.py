"""Rows of the table of rules, and the moods of the clauses that they read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from app.english.names import ORGANIZATION, kind_of
from app.english.rules.clause import Clause, SpeakerContext, Tense, Who
from app.english.rules.drafts import Draft
from app.english.rules.event_time import SINCE
from app.english.rules.values import Value
from app.english.word_lists import pattern, word_set

Rule = Callable[[Clause, SpeakerContext], Iterator[Draft]]
"""Reads a clause in its own way, where a row's fields do not suffice."""

TextRule = Callable[[str, Clause, SpeakerContext], Iterator[Draft]]
"""Reads a whole sentence, whatever its clauses; the clause says who speaks."""

CHOSEN: Final = word_set("now always currently mostly mainly only primarily usually typically exclusively")
"""Adverbs that make what is used a choice."""

_ROLELESS: Final = word_set("character avatar bot agent assistant")
_FOR_A_WHILE: Final = pattern("leads", "for a while", re.IGNORECASE)
UNMET: Final = 0.75
"""Precision of rules that the development conversations do not meet often enough to measure it."""


def is_now(clause: Clause) -> bool:
    """Tell whether the clause says what holds now: `works`, `is working`, `has worked since May`."""
    over = clause.perfect and not (clause.progressive or SINCE.search(clause.rest) or _FOR_A_WHILE.search(clause.rest))
    return clause.holds and not (over or clause.copula or clause.passive)


def is_told(clause: Clause) -> bool:
    """Tell whether the clause says what someone is."""
    return clause.holds and clause.copula


def is_done(clause: Clause) -> bool:
    """Tell whether the clause says what someone has done."""
    return clause.happened and not (clause.passive or clause.copula)


def is_undergone(clause: Clause) -> bool:
    """Tell whether the clause says what was done to someone: `was hired`, `got promoted`."""
    return clause.passive and not clause.negated and clause.modal is None


def is_general(clause: Clause) -> bool:
    """Tell whether the clause says what someone does in general, and not by choice."""
    return is_now(clause) and not (clause.progressive or clause.adverbs & CHOSEN)


def is_speakers_own(clause: Clause) -> bool:
    """Tell whether the clause says what the speaker alone does now."""
    return is_now(clause) and clause.subject.own and not clause.subject.plural


def is_others_habit(clause: Clause) -> bool:
    """Tell whether the clause says what someone other than the speaker does in general."""
    return is_general(clause) and not clause.subject.own


def is_one(clause: Clause) -> bool:
    """Tell whether the clause says what one person is, rather than a figure of a game."""
    return is_told(clause) and not clause.subject.plural and clause.subject.noun not in _ROLELESS


def is_of_somebody(clause: Clause) -> bool:
    """Tell whether the clause says what someone is, and not a company."""
    return is_told(clause) and kind_of(clause.subject.name) != ORGANIZATION


def is_born(clause: Clause) -> bool:
    """Tell whether the clause says what someone is or was."""
    return clause.copula and not clause.negated and clause.modal is None


def is_introduced(clause: Clause) -> bool:
    """Tell whether the speaker says who they are."""
    own = clause.subject.who in {Who.SPEAKER, Who.USER} and not clause.subject.plural
    return is_told(clause) and own and not clause.adverbs


def is_married(clause: Clause) -> bool:
    """Tell whether the clause says that someone married or is married."""
    said = not clause.negated and clause.modal is None and not clause.progressive
    return said and not was_undergone(clause)


def was_undergone(clause: Clause) -> bool:
    """Tell whether the clause says in what state someone was: `was married`."""
    return is_undergone(clause) and clause.tense is Tense.PAST and not clause.perfect


def is_any(clause: Clause) -> bool:
    """Tell nothing: a rule that reads clauses in its own way looks for itself."""
    return clause.sure > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A rule: of clauses with one of its `verbs` in its `mood`, what follows `lead` is read as `value`.

    `precision` is the share of what the rule makes that readers found true and useful on development conversations;
    it is how sure the extractor is. `past`: what was so and no longer is becomes an event. `alone`: of the rows of
    one verb with it, the first that reads something is the only one. `ends`: it says that the fact is no longer so,
    `open_value`: whatever its value was, where none is named. `unless` is what must not stand after the verb. `noun`:
    the subject is somebody's thing of that name, and the draft is about that somebody.
    """

    name: str
    verbs: str
    precision: float = UNMET
    mood: Callable[[Clause], bool] = is_any
    lead: str = ""
    value: Value | None = None
    type: str = "fact"
    predicate: str = ""
    topic: str | None = None
    stateful: bool | None = None
    past: bool = False
    alone: bool = False
    ends: bool = False
    open_value: bool = False
    unless: str = ""
    noun: str = ""
    read: Rule | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRow:
    """A rule that reads whole sentences; `asked`: questions too, `pasted`: also of texts that may be someone else's."""

    name: str
    read: TextRule
    precision: float = UNMET
    asked: bool = False
    pasted: bool = False
