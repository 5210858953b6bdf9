"""What people have: allergies, illnesses, degrees, children and pets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from app.english.names import bare_name, leading_name
from app.english.rules.clause import Clause, SpeakerContext
from app.english.rules.drafts import STATED, Draft, Rule, fact
from app.english.rules.noun_phrases import list_items, plural, thing, thing_after, value
from app.english.rules.relationships import relationship, tie_of
from app.english.word_lists import CONDITION_HEADS, CONDITIONS, DEGREES, word_set

_COUNT: Final = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2}|several|my|our|another)"
_HAS: Final = re.compile(
    rf"\s+(?P<count>{_COUNT})\s+(?P<kind>(?:[a-z][\w-]*\s+){{0,3}}?)(?P<noun>[a-z][\w-]*)"
    r"(?:\s*,?\s*(?:named|called|whose names? (?:is|are)|by the name of)\s+(?P<names>[A-Z][^.;!?()]*)"
    r"|\s*[,:\u2013-]\s*(?P<listed>[A-Z][\w'-]+(?:\s*(?:,|,?\s*and)\s*[A-Z][\w'-]+)*)\s*$)?"
)
_ALLERGY: Final = re.compile(
    r"\s+(?:an?\s+)?(?:\w+\s+)??(?:(?P<what>[\w-]+(?:\s[\w-]+)?)\s+allerg(?:y|ies)\b(?!\s+to)"
    r"|allerg(?:y|ies)\s+to\s+(?P<to>[^.;:!?(]+))",
    re.IGNORECASE,
)
_SEVERITY: Final = word_set("severe bad mild serious terrible food seasonal a an some any my many")
_AND: Final = re.compile(r"\s+and\s")
_WITH: Final = re.compile(r"\s+(?:as\s+having|with)\s+", re.IGNORECASE)
_INSIDE_DEGREE: Final = frozenset({"of", "in", "from"})
_CHILDREN: Final = frozenset({"children", "kids"})
_ONE: Final = frozenset({"a", "an", "another", "one", "1"})
_UNCOUNTED: Final = frozenset({"my", "our", "several"})
_COUNTED: Final = frozenset({"has-child", "has-pet", "has-sibling", "has-relative"})
_MOST_NAMES: Final = 3
_LONGEST_ILLNESS: Final = 4


def having(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `have a peanut allergy`, `have asthma`, `have two dogs named Biscuit and Maple`, `have a PhD in physics`."""
    if not clause.holds or clause.perfect or clause.subject.name == "it":
        return
    for read in (_allergic, _ill, _graduate, _counted):
        found = list(read(clause))
        if found:
            yield from found
            return


def diagnosis(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `was diagnosed with asthma`."""
    illness = thing_after(_WITH, clause.rest)
    if illness and clause.passive and not clause.negated and clause.modal is None:
        yield fact(clause, "has-condition", illness.name, stateful=False, importance=STATED, topic="health")


def _allergic(clause: Clause) -> Iterator[Draft]:
    found = _ALLERGY.match(clause.rest)
    for what in list_items(found["what"] or found["to"]) if found else ():
        words = [word for word in what.split() if word.lower() not in _SEVERITY]
        name = value(plural(" ".join(words)))
        if name:
            yield fact(clause, "allergic-to", name, stateful=False, importance=1.0, topic="health")


def _ill(clause: Clause) -> Iterator[Draft]:
    found = thing(clause.rest)
    if found is None:
        return
    more = clause.rest[found.end :] if _AND.match(clause.rest, found.end) else ""
    for one in list_items(found.name + more):
        words = one.lower().split()
        known = {words[0], words[-1]} & CONDITIONS or words[-1] in CONDITION_HEADS
        if known and len(words) <= _LONGEST_ILLNESS and (name := value(one)):
            yield fact(clause, "has-condition", name, stateful=False, importance=STATED, topic="health")


def _graduate(clause: Clause) -> Iterator[Draft]:
    found = _HAS.match(clause.rest)
    degree = thing(clause.rest, through=_INSIDE_DEGREE)
    if found and degree and DEGREES.intersection((found["noun"], found["noun"].removesuffix("s"))):
        yield fact(clause, "has-degree", degree.whole, stateful=False, topic="education")


def _counted(clause: Clause) -> Iterator[Draft]:
    found = _HAS.match(clause.rest)
    predicate = tie_of(found["noun"]) if found else None
    if found is None or predicate is None:
        return
    noun = f"{found['kind']}{found['noun']}"
    names = found["names"] or found["listed"]
    if names:
        for name in _names(names):
            yield from relationship(clause, clause.subject.name, noun.removesuffix("s"), name)
    elif found["count"].lower() not in _UNCOUNTED and predicate in _COUNTED:
        count = found["count"].lower()
        if noun in _CHILDREN and count not in _ONE:
            yield fact(clause, "has-children", count, topic="personal")
        else:
            yield fact(clause, "has", f"{found['count']} {noun}", stateful=False, topic="personal")


def _names(text: str) -> list[str]:
    """Return the names at the beginning of an enumeration."""
    found: list[str] = []
    for one in list_items(text)[:_MOST_NAMES]:
        named = leading_name(one)
        if named is None:
            break
        found.append(bare_name(named[0]))
    return found


RULES: Final[Mapping[str, tuple[Rule, ...]]] = {
    "have": (having,),
    "diagnose": (diagnosis,),
}
