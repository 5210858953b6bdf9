"""Declarations of who or what something is: `Volkswagen, or VW as everyone calls it, is a car maker in Wolfsburg`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from app.english.names import ORGANIZATION, PERSON, kind_of
from app.english.rules.clause import Clause, SpeakerContext, Who
from app.english.rules.drafts import Draft, Rule, entity
from app.english.rules.noun_phrases import noun_phrase, thing_after
from app.english.word_lists import KINDS

_NAME: Final = r"[A-Z][\w.&'-]*(?:\ (?:of\ |the\ )?[A-Z][\w.&'-]*){0,4}"
_ALIAS: Final = re.compile(
    rf"""(?P<name>{_NAME})\s*(?:
      ,\s*or\s+(?:just\s+)?(?P<or>{_NAME})\s+as\s+(?:everyone|everybody|people|we|they|most\ people|you)\s+(?:all\s+)?
       (?:calls?|knows?)\s+(?:it|her|him|them)
      |,?\s*\(?(?:also\ known\ as|a\.?k\.?a\.?|better\ known\ as|formerly\ known\ as|formerly|known\ as|nicknamed
      |goes\ by)
       \s+(?:the\s+)?["']?(?P<aka>{_NAME})["']?\)?
      |\s+\((?P<short>[A-Z][A-Z0-9&]{{1,6}})\)
    )""",
    re.VERBOSE,
)
_STANDS: Final = re.compile(
    rf"^(?P<alias>{_NAME})\s+(?:is\s+short\s+for|stands\s+for|is\s+another\s+name\s+for)\s+(?P<name>{_NAME})"
)
_A: Final = re.compile(r"(?:a|an|the|our|one of the)\s+", re.IGNORECASE)
_IS: Final = re.compile(r"\s*,?\s*is\s+")
_IN: Final = re.compile(r"\s+(?:based\s+|headquartered\s+|located\s+)?in\s+(?=[A-Z])")
_CARS: Final = re.compile(r"\b(?:(?:car|auto)\s?-?maker|car (?:company|manufacturer))\b", re.IGNORECASE)
_PRAISE: Final = ("great", "good", "bad", "nice", "beautiful", "amazing", "cool", "fun", "wonderful")
_MOST_WORDS: Final = 6
_UNKNOWN: Final = "unknown"


def aliases(text: str, sure: float) -> Iterator[Draft]:
    """Yield names that are said to mean the same, and what they name when that is said too."""
    stands = _STANDS.match(text)
    if stands:
        yield entity(sure, stands["name"], kind_of(stands["name"]) or _UNKNOWN, aliases=[stands["alias"]])
        return
    for found in _ALIAS.finditer(text):
        name, alias = found["name"], found["or"] or found["aka"] or found["short"]
        if found["short"] and not (_abbreviates(found["short"], name) and kind_of(name)):
            continue
        declared = _IS.match(text, found.end())
        kind, attributes = _declared(text[declared.end() :]) if declared else (None, {})
        kind = kind or kind_of(name) or kind_of(alias) or _UNKNOWN
        yield entity(sure, name, kind, aliases=[alias], attributes=attributes)


def declares(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `Volkswagen is an organization`, `Acme is a startup in Berlin`."""
    if clause.subject.who is not Who.NAMED or clause.subject.plural or not clause.copula or not clause.holds:
        return
    kind, attributes = _declared(clause.rest)
    if kind is not None and kind_of(clause.subject.name, said.people) != PERSON:
        yield entity(round(0.8 * clause.sure, 2), clause.subject.name, kind, attributes=attributes)


def _declared(text: str) -> tuple[str | None, dict[str, str]]:
    """Return the entity type a description names, and the attributes that go with it."""
    article = _A.match(text)
    found = noun_phrase(text, article.end(), most=_MOST_WORDS) if article else None
    if found is None or found.text.lower().startswith(_PRAISE):
        return None, {}
    head = found.text.split(" of ")[0].split()[-1].lower()
    kind = next((name for name, nouns in KINDS.items() if head in nouns), None)
    if kind is None:
        return None, {}
    attributes = {} if found.text.lower() == kind else {"kind": found.text}
    if _CARS.search(found.text):
        attributes["industry"] = "automotive"
    place = thing_after(_IN, text, found.end)
    if place is not None:
        attributes["headquarters" if kind == ORGANIZATION else "location"] = place.name
    return kind, attributes


def _abbreviates(short: str, name: str) -> bool:
    """Tell whether the capitals are the initials of the name before them: `Bank of America (BOA)`."""
    initials = {word[0] for word in name.split() if word[0].isupper()}
    return len(name.split()) > 1 and set(short) <= initials | {word[0].upper() for word in name.split()}


RULES: Final[Mapping[str, tuple[Rule, ...]]] = {"be": (declares,)}
