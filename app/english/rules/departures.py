"""What ends by being left: jobs by dismissal, marriages, and whom one has lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from app.english.names import PERSON, PLACE, kind_of, leading_name
from app.english.rules.clause import Clause, SpeakerContext, Who
from app.english.rules.drafts import Draft, ending, fact, relation
from app.english.rules.noun_phrases import thing_after
from app.english.rules.relationships import tie_of
from app.english.rules.values import organisation
from app.english.word_lists import COLLEAGUES

ANY: Final = ""
"""In place of a value: whichever is held."""

_BY: Final = re.compile(r"\s*(?:from|by|at)\s+(?:my (?:job|position|role) (?:at|with)\s+)?", re.IGNORECASE)
_DISMISSED: Final = re.compile(
    r"(?:been\s+)?(?:fired|laid off|let go|sacked|dismissed|made redundant)\b(?!\s+up\b)", re.IGNORECASE
)
_TIMED: Final = re.compile(
    r"\s+(?:last|this|in|on|yesterday|today|early|two|three|a few|\d+|at (?:the age|\d))\b", re.IGNORECASE
)
_APART: Final = re.compile(r"\s*(?:up|apart)?(?:\s+with\s+(?P<whom>.+))?", re.IGNORECASE)
_UP: Final = re.compile(
    r"\s+(?:up|apart)\s*(?:$|[.,;!]|(?:with|after|before|because|last|this|in|on|yesterday|today|two|recently|and"
    r"|again)\b)",
    re.IGNORECASE,
)
_DIVORCED: Final = re.compile(
    r"\s*(?:(?:recently|just|finally|now)\s+)*divorced\b(?!\s+(?:papers|m[ae]n|wom[ae]n|parents|couples?|people|friends?|dad|mom"
    r"|mum|mother|father)\b)(?:\s+from\s+(?P<whom>.+))?",
    re.IGNORECASE,
)
_DEAD: Final = re.compile(r"(?:dead|gone)\b(?!\s+(?:tired|serious|set|to|for|on|in|set|wrong))", re.IGNORECASE)
_MATES: Final = ("married-to", "has-partner")
_KEPT_BY_BOTH: Final = ("has-pet", *_MATES)


def dismissal(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `got laid off from Acme`, `was fired last week`."""
    if not clause.happened or clause.subject.who is Who.ADDRESSEE:
        return
    words = clause.rest.lstrip() if clause.copula or clause.lemma == "get" else f"{clause.verb}{clause.rest}"
    found = _DISMISSED.match(words) if clause.copula or clause.lemma == "get" or clause.passive else None
    if found is not None:
        by = thing_after(_BY, words, found.end())
        named = by is not None and by.capital and kind_of(by.name, said.people) not in {PERSON, PLACE}
        employer = organisation(by.text) if by is not None and named else None
        yield ending(clause, said, fact(clause, "works-at", employer or ANY, importance=0.8, topic="work"))


def separation(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `got divorced`, `divorced Tom`, `Anna and I broke up`, `my husband and I separated`."""
    if clause.negated or clause.modal or clause.subject.who is Who.ADDRESSEE:
        return
    parted = _parted(clause)
    if parted is None:
        return
    ties, whom = parted
    named = leading_name(whom) if whom else None
    mine = clause.subject.own or clause.subject.mine or said.speaker in clause.subject.names
    other = named[0] if named else next((one for one in clause.subject.names if one != said.speaker), ANY)
    if not mine and clause.subject.plural:
        return
    if not mine or clause.subject.given:
        other = clause.subject.given or (named[0] if named else ANY)
    owner = said.speaker if mine else clause.subject.name
    for one in ties:
        yield ending(clause, said, fact(clause, one, other, subject=owner, importance=0.8, topic="personal"))


def _parted(clause: Clause) -> tuple[tuple[str, ...], str | None] | None:
    """Return which ties have ended and, where it is said, from whom; None when none has."""
    if clause.copula or clause.lemma == "get":
        found = _DIVORCED.match(clause.rest)
        return (("married-to",), found["whom"]) if found else None
    if clause.passive and clause.lemma == "divorce":
        return ("married-to",), None
    if not clause.happened:
        return None
    if clause.lemma == "divorce":
        return ("married-to",), clause.rest.strip()
    apart = _APART.match(clause.rest)
    whole = clause.lemma in {"break", "split"} and _UP.match(clause.rest) is not None
    if apart is not None and (whole or (clause.lemma == "separate" and _alone(clause.rest))):
        return _MATES, apart["whom"]
    return None


def _alone(rest: str) -> bool:
    """Tell whether nothing is named that was separated: `separated last year`, but not `separated the files`."""
    return not rest.strip(" .!") or _TIMED.match(rest) is not None or rest.startswith(" from my")


def death(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `Rex died`, `my husband passed away`, `my dog Rex is dead`: whom one no longer has."""
    away = clause.lemma == "die" or (clause.lemma == "pass" and clause.rest.startswith(" away"))
    gone = clause.copula and clause.holds and _DEAD.match(clause.rest) is not None
    if not ((away and clause.happened) or gone):
        return
    subject = clause.subject
    if subject.who is Who.NAMED and not subject.plural:
        yield from _gone(clause, said, subject.name)
    elif subject.who is Who.POSSESSED and subject.mine and subject.noun:
        yield from _lost(clause, said, subject.noun, subject.given)


def _gone(clause: Clause, said: SpeakerContext, name: str) -> Iterator[Draft]:
    for one in _KEPT_BY_BOTH:
        yield ending(clause, said, fact(clause, one, name, subject=said.speaker, topic="personal"))


def _lost(clause: Clause, said: SpeakerContext, noun: str, given: str | None) -> Iterator[Draft]:
    owner, work, tied = said.speaker, COLLEAGUES.get(noun), tie_of(noun)
    if work:
        yield ending(clause, said, relation(clause, work, given or ANY, start=owner))
    elif tied in _MATES or (tied is not None and given):
        yield ending(clause, said, fact(clause, tied, given or ANY, subject=owner, topic="personal"))
