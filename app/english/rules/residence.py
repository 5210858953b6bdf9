"""Where people live, come from and move to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from app.english.names import ORGANIZATION, is_group, is_place, kind_of
from app.english.rules.clause import Clause, SpeakerContext, Who
from app.english.rules.departures import past_state
from app.english.rules.drafts import Draft, Rule, fact, relation
from app.english.rules.event_time import SINCE
from app.english.rules.noun_phrases import noun_phrase, thing_after, value
from app.english.rules.occupations import employer_at, organisation, position
from app.english.word_lists import word_set

_IN: Final = re.compile(
    r"\s+(?:back\s+|out\s+|here\s+|over\s+)?(?:in|at|near|outside(?: of)?|just outside)\s+", re.IGNORECASE
)
_TO: Final = re.compile(r"[^,]{0,80}?\b(?:in)?to\s+", re.IGNORECASE)
_FROM: Final = re.compile(r"[^,]{0,80}?\bfrom\s+", re.IGNORECASE)
_UP_IN: Final = re.compile(r"\s+up\s+(?:in|near|outside)\s+", re.IGNORECASE)
_AIM: Final = re.compile(r"\bto\s+(?:work|start(?:\s+working)?|be|become|take\s+a\s+job)(?:\s+as)?\b", re.IGNORECASE)
_WITH: Final = re.compile(r"\s+with\s+(?=(?:my|his|her|their|two|three|\w+\s+roommates?)\b)", re.IGNORECASE)
_ALONE: Final = re.compile(r"\s+(?:alone|by myself)\b", re.IGNORECASE)
_STILL: Final = re.compile(r"\b(?:for|all|here|my whole)\b", re.IGNORECASE)
_COUNTRY: Final = re.compile(r",\s+([A-Z][\w.]*(?:\s[A-Z][\w.]*)?)")
_GENERIC: Final = word_set(
    """
    apartment house flat city country town home village suburbs place area neighborhood neighbourhood building room
    moment present world dorm state hostel
    """
)
_DWELLINGS: Final = word_set("apartment house flat home place bungalow cottage studio condo townhouse village suburb")
_DWELLING_IN: Final = re.compile(
    r"(?:\s+(?:just\s+)?(?:near|outside)|\s+in)\s+(?=(?-i:[A-Z]))(?!(?-i:(?:January|February|March|April|May|June|July|August"
    r"|September|October|November|December|Spring|Summer)\b))",
    re.IGNORECASE,
)
_NOWHERE: Final = word_set(
    """
    fear hope denial sin poverty terror style peace harmony exile pain luxury comfort silence darkness misery agony
    ignorance bliss dread shame regret solitude isolation secret chaos squalor filth past future fantasy dream bubble
    uncertainty constant anxiety freedom
    """
)
"""How people live rather than where."""


def lives(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `live in Berlin`, `lived in Rome`, `used to live in Rome`, `live with my parents`."""
    company = _WITH.match(clause.rest)
    whom = noun_phrase(clause.rest, company.end(), through=frozenset({"and"})) if company else None
    place = _place_after(_IN, clause.rest[whom.end :] if whom else clause.rest)
    still = clause.progressive or SINCE.search(clause.rest) or _STILL.search(clause.rest)
    if clause.past_state or (clause.holds and clause.perfect and not still):
        yield from past_state(clause, said, topic="personal") if place else ()
        return
    if not clause.holds:
        return
    if place is not None:
        yield fact(clause, "lives-in", place, importance=0.8, topic="personal")
    if _ALONE.match(clause.rest):
        yield fact(clause, "lives", "alone", importance=0.6, topic="personal")
    elif whom is not None and value(whom.text):
        others = re.sub(r"\bmy\s+", "", whom.text)
        yield fact(clause, "lives", f"with {others}", importance=0.6, topic="personal")


def moving(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `moved from Boston to Berlin to work at Volkswagen`: where one lives and works since."""
    if not clause.happened or clause.subject.who is Who.ADDRESSEE or clause.passive:
        return
    aim = _AIM.search(clause.rest)
    if aim:
        yield from _aim(clause, clause.rest[aim.end() :])
    road = clause.rest[: aim.start()] if aim else clause.rest
    target, source = _place_after(_TO, road), _place_after(_FROM, road)
    if target is None:
        return
    if is_group(target):
        if " " in target and not target.lower().startswith("new "):
            yield relation(clause, "member-of", target)
    elif ORGANIZATION in {kind_of(target), kind_of(source or "")} and not is_place(target):
        yield fact(clause, "works-at", organisation(target) or target, importance=0.8, topic="work", inferred=True)
    elif is_place(target) or (target[0].isupper() and kind_of(target) is None and (not source or is_place(source))):
        yield fact(clause, "lives-in", target, importance=0.8, topic="personal", inferred=True)


def _aim(clause: Clause, rest: str) -> Iterator[Draft]:
    """Yield what someone moved for: an employer, or a role."""
    held = position(rest)
    employer = employer_at(rest, 0)
    if held is not None:
        yield fact(clause, "has-role", held.role, topic="work")
    name = employer.text if employer is not None else held.employer if held is not None else None
    if name:
        yield fact(clause, "works-at", name, importance=0.8, topic="work")


def comes_from(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `come from Sweden`, `grew up in Porto`."""
    if clause.lemma == "come" and clause.holds:
        found = _place_after(_FROM, clause.rest)
        if found is not None and found[0].isupper():
            yield fact(clause, "comes-from", found, topic="personal")
    elif clause.lemma == "grow" and clause.happened:
        found = _place_after(_UP_IN, clause.rest)
        if found is not None:
            yield fact(clause, "grew-up-in", found, topic="personal")


def _place_after(lead: re.Pattern[str], rest: str) -> str | None:
    """Return the place or other thing that a preposition introduces, with its country when that is named too."""
    found = thing_after(lead, rest)
    if found is not None and found.last in _DWELLINGS:
        found = thing_after(_DWELLING_IN, rest, found.end)
    if found is None or found.last in _GENERIC or found.first in _NOWHERE:
        return None
    country = _COUNTRY.match(rest, found.end)
    if country and is_place(found.name) and is_place(country.group(1)):
        return f"{found.name}, {country.group(1)}"
    return found.name


RULES: Final[Mapping[str, tuple[Rule, ...]]] = {
    **dict.fromkeys(("live", "reside"), (lives,)),
    **dict.fromkeys(("move", "relocate", "migrate"), (moving,)),
    **dict.fromkeys(("come", "grow"), (comes_from,)),
}
