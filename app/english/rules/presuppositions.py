"""Facts that a sentence takes for granted: `my kids`, `my Canon R5`, `as a nurse`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from app.english.names import PERSON, PLACE, kind_of
from app.english.rules.clause import Clause, SpeakerContext
from app.english.rules.drafts import PASSING, STATED, Draft, event, fact
from app.english.rules.noun_phrases import BREAKERS, thing, value
from app.english.rules.occupations import is_role
from app.english.rules.sentences import HIDDEN
from app.english.verbs import form_of
from app.english.word_lists import DIETS, ORGANISATIONS, PETS, word_set

_DEVICES: Final = (
    r"camera|lens|car|bike|laptop|phone|guitar|watch|tablet|keyboard|printer|tv|machine|oven|headphones|model|telescope"
    r"|drone|flash|scooter|motorcycle|piano"
)
_PRODUCT: Final = re.compile(
    r"\b[Mm]y\s+(?:(?:new|old|trusty|current|own|beloved|vintage)\s+)*"
    r"(?P<what>(?:[A-Z][\w-]*|i(?:Phone|Pad|Mac|Pod)\w*|\d{4}|'\d\d)"
    r"(?:\s(?:[A-Z][\w./-]*|\d[\w./-]*|f/[\d.]+|i(?:Phone|Pad|Mac)\w*))+"
    rf"(?P<device>\s(?:{_DEVICES}))?)"
)
_MADE: Final = re.compile(r"\d|\bi(?:Phone|Pad|Mac)")
_NEXT_WORD: Final = re.compile(r"\s+([a-z]+)")
_RELATIVES: Final = (
    r"wife|husband|girlfriend|boyfriend|fianc[e\u00e9]e?|sons?|daughters?|kids|children|baby|sisters?|brothers?|twins"
    r"|nieces?|nephews?|grandkids|grandchildren|grandson|granddaughter|stepson|stepdaughter|roommates?"
)
_RELATIVE: Final = re.compile(
    rf"(?<!is )(?<!are )\b[Mm]y\s+(?P<kind>(?:older|younger|little|big|twin|two|three|four|five"
    rf"|\d)\s+)?(?P<noun>{_RELATIVES})(?:'s?)?\b"
    rf"(?!-)(?!\s*,?\s[A-Z][a-z])(?:\s+and\s+(?P<other>{_RELATIVES})\b)?"
)
_PET: Final = re.compile(
    r"(?<!is )(?<!are )\b[Mm]y\s+(?P<kind>(?:two|three|four|\d|rescue|pet|golden|german)\s+)?"
    rf"(?P<noun>(?:{'|'.join(sorted(PETS))})s?)\b(?!\s*,?\s(?:named\s+)?[A-Z][a-z])"
)
_SMALL: Final = r"(?!(?:in|on|of|to|for|and|my|at|with|from|time|the)\s)"
_BUSINESS: Final = re.compile(
    rf"\b[Mm]y\s+(?P<own>own\s+)?(?P<what>(?:{_SMALL}[a-z]+\s+){{0,3}}?"
    r"(?:business|store|shop|studio|bakery|restaurant|podcast|youtube channel|blog|startup|farm|company|team|brand|firm"
    r"|agency|label|garden|practice))\b"
)
_ANYONES: Final = word_set("company team brand firm agency label garden practice restaurant")
"""What one may only work for, or eat at, unless it is said to be one's own."""
_NOT_MINE: Final = re.compile(r"\b(?:favou?rite|local|next|dream|future|ideal|potential|first|go-?to|nearest)\b")
_TO_COME: Final = re.compile(r"\b(?:start|open|launch|hav|set|want|own)(?:t?ing|e)?(?: up)?\s+$")
"""What stands before a business that is wished for or planned."""
_TRIP: Final = re.compile(
    r"\b[Mm]y\s+(?:recent|last|previous|latest)\s+(?:\w+\s+)?(?P<what>trip|visit|vacation|holiday)\s+to\s+"
    r"(?=(?:the\s+)?[A-Z])"
)
_AS_ROLE: Final = re.compile(
    r"(?:^|[.,;] )(?:[Aa]s|[Bb]eing) an? (?P<what>[a-z][\w -]{2,40}?)(?: myself)?,? (?=(?:I|we|my)\b|I')"
)
_NO_MORE: Final = ("former", "ex-", "past", "one-time", "onetime")
_NOBODY: Final = frozenset({"god", "lord"})


def presuppositions(text: str, clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Yield what a sentence, even a question, takes for granted of who speaks; `clause` says who, and how surely."""
    if HIDDEN in text:
        return
    yield from _as_one_is(text, clause)
    if "y " not in text:
        return
    yield from _products(text, clause)
    yield from _related(text, clause)
    yield from _businesses(text, clause)
    trip = _TRIP.search(text)
    place = thing(text, trip.end()) if trip else None
    if trip and place:
        verb = "visited" if trip["what"] == "visit" else f"went on a {trip['what']} to"
        who = clause.subject.name
        yield event(clause, f"{who} {verb} {place.name}", None, [who], topic="travel", past=True)


def _as_one_is(text: str, clause: Clause) -> Iterator[Draft]:
    """Read `As a nurse, I ...`, `Being a vegan, I ...`."""
    found = _AS_ROLE.search(text)
    what = found["what"].strip() if found else ""
    if what.startswith(_NO_MORE):
        return
    if what in DIETS:
        yield fact(clause, "has-diet", what, importance=STATED, topic="food")
    elif what and is_role(what):
        yield fact(clause, "has-role", what, topic="work")


def _products(text: str, clause: Clause) -> Iterator[Draft]:
    for found in _PRODUCT.finditer(text):
        what = value(found["what"].removesuffix(" I"))
        first = found["what"].split(maxsplit=1)[0].lower()
        goes_on = _goes_on(text, found.end())  # "my Rocky Mountains trip"
        made = _MADE.search(found["what"]) or first in ORGANISATIONS or found["device"]
        if what and made and not goes_on and first not in _NOBODY and kind_of(what) not in {PERSON, PLACE}:
            yield _has(clause, "owns", what, "personal")


def _goes_on(text: str, at: int, *, one: bool = False) -> bool:
    """Tell whether another noun follows, so that something else is one's own; no bare verb follows what is `one`."""
    found = _NEXT_WORD.match(text, at)
    word = found.group(1) if found else ""
    form = form_of(word) if word and word not in BREAKERS else None
    if form is None:
        return bool(word) and word not in BREAKERS
    return word.endswith("ing") or (one and form.kinds == {"base"})


def _related(text: str, clause: Clause) -> Iterator[Draft]:
    relative, pet = _RELATIVE.search(text), _PET.search(text)
    pet = pet if pet and not _goes_on(text, pet.end(), one=pet["noun"] in PETS) else None  # "my snake plant"
    nouns = [f"{found['kind'] or ''}{found['noun']}" for found in (relative, pet) if found]
    if relative and relative["other"]:
        nouns.append(relative["other"])
    for noun in nouns:
        yield _has(clause, "has", _counted(noun), "personal")


def _businesses(text: str, clause: Clause) -> Iterator[Draft]:
    for found in _BUSINESS.finditer(text):
        what = value(found["what"])
        specific = found["own"] or (" " in found["what"] and found["what"].split()[-1] not in _ANYONES)
        if what and specific and not (_NOT_MINE.search(what) or _TO_COME.search(text[: found.start()])):
            yield _has(clause, "owns", what, "work")


def _counted(noun: str) -> str:
    if noun.endswith(("s", "children")) or noun[:1].isdigit():
        return noun
    return f"a{'n' if noun[0] in 'aeiou' else ''} {noun}"


def _has(clause: Clause, predicate: str, what: str, topic: str) -> Draft:
    return fact(clause, predicate, what, stateful=False, importance=PASSING, topic=topic)
