"""What people are: `I'm a backend engineer`, `the CTO of Acme`, `part of the platform team`, `my manager is Sarah`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from app.english.names import ORGANIZATION, PERSON, is_group, is_no_name, kind_of, leading_name
from app.english.rules import traits
from app.english.rules.clause import Clause, SpeakerContext, Tense, Who
from app.english.rules.departures import past_state
from app.english.rules.drafts import PASSING, STATED, Draft, Rule, fact, relation
from app.english.rules.noun_phrases import thing_after
from app.english.rules.occupations import employer_at, position
from app.english.rules.possessions import favourite, possession
from app.english.rules.relationships import kinship

_MEMBER: Final = re.compile(
    r"(?:a\s+)?(?:(?:founding\s+|proud\s+)?member|part)\s+of\s+|(?:on|in)\s+(?=(?:the|our)\s)", re.IGNORECASE
)
_ARTICLE: Final = re.compile(r"(?:a|an|the|our)\s", re.IGNORECASE)
_NOW: Final = re.compile(r"\b(?:now|these days)\b", re.IGNORECASE)
_VISITING: Final = re.compile(
    r"\b(?:waiting|visiting|for (?:a|an|my) (?:meeting|interview|conference|visit|talk|demo|tour))\b", re.IGNORECASE
)
_GREETING: Final = re.compile(r"\b(?:hi|hello|hey|i'm|this is)\b", re.IGNORECASE)
_STUDENT: Final = ("student", "undergraduate")
_ROLELESS: Final = frozenset({"character", "avatar", "bot", "agent", "assistant"})
_RHETORICAL: Final = 0.7
"""How sure `I'm actually a doctor` is: it may be said only to be answered like one (seed 003)."""


def read_copula(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read what a copula says of someone, or of what is theirs (`my manager is Sarah`)."""
    if not clause.copula or clause.modal or clause.negated or clause.subject.name == "it":
        return
    if clause.tense is Tense.PAST or clause.used_to:
        yield from _was(clause, said)
        return
    if clause.subject.who is Who.POSSESSED and clause.subject.given is None:
        yield from possession(clause)
    if clause.subject.noun not in _ROLELESS:
        for read in _READINGS:
            found = list(read(clause, said))
            if found:
                yield from found
                return


def _was(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Yield where and when someone was born, and as an event of the past what they were by profession."""
    yield from traits.birth(clause)
    if position(clause.rest) is not None:
        yield from past_state(clause, said, topic="work", importance=PASSING)


def _position(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    held = None if clause.subject.plural else position(clause.rest)
    if held is None or (clause.subject.who is Who.PRONOUN and not _ARTICLE.match(clause.rest)):
        return
    student = held.role.lower().endswith(_STUDENT)
    doubtful = clause.subject.own and "actually" in clause.adverbs
    sure = replace(clause, sure=clause.sure * _RHETORICAL) if doubtful else clause
    yield fact(sure, "has-role", held.role, topic="education" if student else "work")
    if held.employer:
        predicate = "studies-at" if student else "works-at"
        yield fact(clause, predicate, held.employer, importance=0.8, topic="education" if student else "work")
    yield from traits.home(clause, clause.rest, held.end)


def _membership(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    group = thing_after(_MEMBER, clause.rest)
    if group and is_group(group.name) and group.words > 1:
        yield relation(clause, "member-of", group.name)


def _employment(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `I'm at Google now`; being somewhere is not working there."""
    employer = employer_at(f" {clause.rest}", 0)
    now = "now" in clause.adverbs or _NOW.search(clause.rest)
    if employer and now and not _VISITING.search(clause.rest) and kind_of(employer.text) == ORGANIZATION:
        yield fact(clause, "works-at", employer.text, importance=0.8, topic="work", inferred=True)


def _introduction(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `I'm Alex`, `I'm Alex, 32 years old`: a name, and nothing else of it."""
    named = leading_name(clause.rest)
    if named is None or clause.subject.plural or clause.adverbs or clause.subject.who not in {Who.SPEAKER, Who.USER}:
        return
    name, after = named[0], clause.rest[named[1] :].lstrip()
    greeted = kind_of(name) is None and not is_no_name(name) and _GREETING.search(clause.before) is not None
    if (kind_of(name) == PERSON or greeted) and (not after or after.startswith((",", ".", "!", "(", "-", "and "))):
        yield fact(clause, "has-name", name, importance=STATED, topic="personal")
        years = traits.age_in(after.lstrip(", "))
        if years:
            yield fact(clause, "has-age", years, importance=0.8, topic="personal")


_READINGS: Final[tuple[Callable[[Clause, SpeakerContext], Iterator[Draft]], ...]] = (
    favourite, traits.health, traits.age, traits.origin, kinship, _position, _membership, traits.traits, _employment,
    _introduction,
)  # fmt: skip
"""The ways to read a complement, surest first: the first that finds something is taken."""

RULES: Final[Mapping[str, tuple[Rule, ...]]] = {"be": (read_copula,)}
