"""Facts that a sentence takes for granted: `my kids`, `my Canon R5`, `as a nurse`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from app.english.names import PERSON, PLACE, kind_of
from app.english.rules.clause import HIDDEN, Clause, SpeakerContext
from app.english.rules.drafts import PASSING, Draft, fact
from app.english.rules.noun_phrases import BREAKERS, value
from app.english.rules.occupations import is_role
from app.english.rules.relationships import GONE
from app.english.verbs import form_of
from app.english.word_lists import DIETS, ORGANISATIONS, PETS, pattern

_PRODUCT: Final = pattern("presuppositions", "product")
_MADE: Final = re.compile(r"\d|\bi(?:Phone|Pad|Mac)")
_NEXT_WORD: Final = re.compile(r"\s+([a-z]+)")
_RELATIVE: Final = pattern("presuppositions", "relative")
_PET: Final = re.compile(
    r"(?<!is )(?<!are )\b[Mm]y\s+(?P<kind>(?:two|three|four|\d|rescue|pet|golden|german)\s+)?"
    rf"(?P<noun>(?:{'|'.join(sorted(PETS))})s?)\b(?!\s*,?\s(?:named\s+)?[A-Z][a-z])"
)
_AS_ROLE: Final = re.compile(
    r"(?:^|[.,;] )(?:[Aa]s|[Bb]eing) an? (?P<what>[a-z][\w -]{2,40}?)(?: myself)?,? (?=(?:I|we|my)\b|I')"
)
_REQUEST: Final = re.compile(
    r"(?:I|we)(?:'d)? (?:\w+ )?(?:need|want|like|ask|expect|require|order|instruct|authori[sz]e) you\b"
)
"""What is asked on the strength of a role, which was perhaps claimed for it (seed 003)."""

_NAMED: Final = re.compile(r"(?:'s|\s(?:is|was))\s+(?P<so>called\s|named\s)?\s*(?P<name>[A-Z][\w-]+)")
"""The name of a relative or a pet, which says more than that there is one."""
_NO_MORE: Final = ("former", "ex-", "past", "one-time", "onetime")
_NOBODY: Final = frozenset({"god", "lord"})


def presuppositions(text: str, clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Yield what a sentence, even a question, takes for granted of who speaks; `clause` says who, and how surely."""
    if HIDDEN in text:
        return
    yield from _as_one_is(text, clause)
    if "y " not in text or GONE.search(text):
        return
    yield from _products(text, clause)
    yield from _related(text, clause)


def _as_one_is(text: str, clause: Clause) -> Iterator[Draft]:
    """Read `As a nurse, I ...`, `Being a vegan, I ...`."""
    found = _AS_ROLE.search(text)
    what = found["what"].strip() if found else ""
    if what.startswith(_NO_MORE):
        return
    if what in DIETS:
        yield fact(clause, "has-diet", what)
    elif found and is_role(what) and not _REQUEST.match(text, found.end()):
        yield fact(clause, "has-role", what)


def _products(text: str, clause: Clause) -> Iterator[Draft]:
    for found in _PRODUCT.finditer(text):
        what = value(found["what"].removesuffix(" I"))
        first = found["what"].split(maxsplit=1)[0].lower()
        goes_on = _goes_on(text, found.end())  # "my Rocky Mountains trip"
        made = _MADE.search(found["what"]) or first in ORGANISATIONS or found["device"]
        if what and made and not goes_on and first not in _NOBODY and kind_of(what) not in {PERSON, PLACE}:
            yield _has(clause, "owns", what)


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
    nouns = [f"{one['kind'] or ''}{one['noun']}" for one in (relative, pet) if one and not _is_named(text, one.end())]
    if relative and relative["other"]:
        nouns.append(relative["other"])
    for noun in nouns:
        yield _has(clause, "has", _counted(noun))


def _is_named(text: str, at: int) -> bool:
    found = _NAMED.match(text, at)
    return found is not None and (found["so"] is not None or kind_of(found["name"]) == PERSON)


def _counted(noun: str) -> str:
    if noun.endswith(("s", "children")) or noun[:1].isdigit():
        return noun
    return f"a{'n' if noun[0] in 'aeiou' else ''} {noun}"


def _has(clause: Clause, predicate: str, what: str) -> Draft:
    return fact(clause, predicate, what, stateful=False, importance=PASSING)
