"""Values of rules: what the words at a place of a clause name, checked for the kind of thing a rule asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from app.english.names import ORGANIZATION, PERSON, PLACE, is_group, is_language, is_place, kind_of
from app.english.rules.clause import SpeakerContext
from app.english.rules.noun_phrases import (
    Phrase,
    list_items,
    noun_phrase,
    plural,
    thing,
    thing_after,
    value,
    without_article,
)
from app.english.word_lists import (
    COLLEAGUES,
    CONDITION_HEADS,
    CONDITIONS,
    DEGREES,
    DIETS,
    NOT_TITLES,
    ROLE_HEADS,
    ROLE_OF,
    STATES,
    section,
    word_set,
)

Value = Callable[[str, SpeakerContext], Iterator[str]]
"""Yields the values that a text begins with; none when it begins with no thing of the kind."""

DATE: Final = (
    r"(?:the\s+)?(?:\d{1,2}(?:st|nd|rd|th)?\s+(?:of\s+)?[A-Z][a-z]+(?:,?\s+\d{4})?"
    r"|[A-Z][a-z]+\s+(?:the\s+)?\d{1,2}(?:st|nd|rd|th)?(?:,?\s+\d{4})?|[A-Z][a-z]+\s+\d{4}|\d{4}-\d\d-\d\d|\d{4}"
    r"|\d{1,2}[/.]\d{1,2}(?:[/.]\d{2,4})?)"
)
"""A date as people say when they were born."""

_ARTICLE: Final = re.compile(r"\s*(?:(?:a|an|the|our|their|his|her|its|currently|now)\s+)?(?:new\s+)?", re.IGNORECASE)
_SUFFIX: Final = re.compile(
    r"\w{3,}(?:ologist|ographer|ician|iatrist|ineer|keeper|writer|woman|smith|therapist|maker)s?", re.IGNORECASE
)
_EMPLOYER: Final = re.compile(r"\s*(?:,\s*)?(?:at|for|with|working (?:at|for)|here at|over at)\s+(?=\S)", re.IGNORECASE)
_OF: Final = re.compile(r"\s+(?:of|for)\s+(?:the\s+)?", re.IGNORECASE)
_POSSESSIVE: Final = re.compile(r"'s\b|s'(?=\s)")
_MOST_WORDS: Final = 6
_ARTICLES: Final = frozenset({"a", "an", "the"})
_NO_EMPLOYER: Final = word_set(
    "home night heart now work fun years least all free living last myself himself herself themselves money cash pay "
    "food peanuts tips friend friends day once present first long most times"
)
_NOBODY: Final = frozenset({"the moment", "the team", "my team", "our team"})
_STOP: Final = re.compile(r"[.;:!?(\u2014]|\s+(?:so|because|which|but|since|that)\b|\s-")
_LED_TO: Final = re.compile(r"\s*(?:(?:also|and)\s+)?to\s+", re.IGNORECASE)
_DANGLING: Final = re.compile(r"\s(?:and|or)\s*$", re.IGNORECASE)
_ASIDES: Final = word_set(
    "allergic allergy i i'm it it's he she they my his her their not maybe perhaps mainly severe bad"
)
_BEFORE_NOUN: Final = frozenset({"a", "an", "the", "my", "his", "her", "their"})
_NO_SUBSTANCE: Final = word_set("mornings mondays meetings work people drama nonsense stupidity exercise effort")
"""What one is allergic to in jest."""
_SEVERITY: Final = word_set("severe bad mild serious terrible food seasonal a an some any my many")
_STATE: Final = re.compile(
    r"(?:(?:a|an|partially|legally)\s+)?(?P<kind>type \d )?(?P<what>[a-z -]+?)"
    r"(?=[,.;(!]|\s+(?:and|so|but|because|since|for|now|too|with|any)\b|\s*$)",
    re.IGNORECASE,
)
_YEARS: Final = re.compile(
    r"\s*(?:(?:about|almost|nearly|around)\s+)?(?P<years>\d{1,3})"
    r"(?:[\s-]*years?[\s-]*old|\s*yo\b|(?=\s*(?:[,.;:!?(-]|$|(?:yesterday|today|tonight|now|just|recently|ago|this|last|on"
    r"|and|but|so)\b|in\s+[A-Z])))",
    re.IGNORECASE,
)
_MOST_AGE: Final = 120
_AND: Final = re.compile(r"\s+and\s")
_INSIDE_DEGREE: Final = frozenset({"of", "in", "from"})
_LONGEST_SUBSTANCE: Final = 4
_SPOKEN: Final = re.compile(
    r"[.;:!?(]|\s(?:because|since|so|but|which|for|with|at|when|every|on|in|as|after|fluently|well)\b"
)
_LANGUAGE: Final = re.compile(
    r"\s*(?:(?:some|a (?:little|bit of)|fluent|basic|both|only|how to|to|play)\s+)+", re.IGNORECASE
)
_INSTRUMENTS: Final = section("activities", "instruments")
_GAMES: Final = section("activities", "games")
_COUNTRY: Final = re.compile(r",\s+([A-Z][\w.]*(?:\s[A-Z][\w.]*)?)")
_DWELLINGS: Final = section("dwellings", "dwellings")
_NOWHERE: Final = section("dwellings", "no places")
_DWELLING_IN: Final = re.compile(
    r"(?:\s+(?:just\s+)?(?:near|outside)|\s+in)\s+(?=(?-i:[A-Z]))(?!(?-i:(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
    r"|Spring|Summer)[a-z]*)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Occupation:
    """A role, who employs, and where in the text both end."""

    role: str
    employer: str | None
    end: int


def occupation_of(text: str) -> Occupation | None:
    """Return the role that the text begins with, and its employer when one is named; None when it is no role."""
    lead = _ARTICLE.match(text)
    found = noun_phrase(text, lead.end() if lead else 0, through=frozenset(), most=_MOST_WORDS)
    if found is None or not is_role(found.text):
        return None
    role, end = found.text, found.end
    of = _OF.match(text, end)
    target = noun_phrase(text, of.end()) if of and found.text.split()[-1].lower() in ROLE_OF else None
    if target is not None and target.text[0].isupper():
        return Occupation(role, organisation(target.text), target.end)
    if target is not None:
        role, end = f"{role} of {without_article(target.text)}", target.end
    employer = employer_at(text, end)
    return Occupation(role, None, end) if employer is None else Occupation(role, employer.text, employer.end)


def is_role(text: str) -> bool:
    """Tell whether a noun phrase names a profession or position."""
    low = text.lower()
    words = [low] if low in ROLE_HEADS else low.replace("-", " ").split()
    if not words or NOT_TITLES.intersection(words) or _ARTICLES.intersection(words):  # "dating a nurse"
        return False
    if len(words) > 1 and text[:1].isupper() and kind_of(text) == PERSON:  # "Tim Cook"
        return False
    head = words[-1]
    return head in ROLE_HEADS or head.removesuffix("s") in ROLE_HEADS or _SUFFIX.fullmatch(head) is not None


def employer_at(text: str, at: int) -> Phrase | None:
    """Return the employer named at the place: `at Volkswagen's EV division`."""
    lead = _EMPLOYER.match(text, at)
    if lead is None:
        return None
    found = noun_phrase(text, lead.end())
    name = None if found is None else organisation(found.text)
    return None if found is None or name is None else Phrase(name, found.end)


def organisation(text: str) -> str | None:
    """Return an organisation's name as it is stored: `Volkswagen's EV division` is `Volkswagen EV division`."""
    found = value(_POSSESSIVE.sub("", text) if text[:1].isupper() else text)
    if found is None or found.lower() in _NOBODY or found.split()[0].lower() in _NO_EMPLOYER or found[0].isdigit():
        return None
    return found


def employer(text: str, said: SpeakerContext) -> Iterator[str]:
    """Yield an employer: an organisation, or a thing that is nobody and no place."""
    found = noun_phrase(text)
    name = None if found is None else organisation(found.text)
    if name is not None and kind_of(name, said.people) not in {PERSON, PLACE} and not is_boss(name, said):
        yield name


def company(text: str, said: SpeakerContext) -> Iterator[str]:
    """Yield an employer with a name of its own."""
    yield from (name for name in employer(text, said) if name[0].isupper() and not is_group(name))


def known_company(text: str, said: SpeakerContext) -> Iterator[str]:
    """Yield an organisation that is known to be one."""
    yield from (name for name in company(text, said) if kind_of(name) == ORGANIZATION)


def role(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield a profession or position."""
    held = occupation_of(text)
    if held is not None:
        yield held.role


def boss(text: str, said: SpeakerContext) -> Iterator[str]:
    """Yield whom one reports to: a person, or `my manager`."""
    found = thing(text)
    if found is not None and is_boss(found.name, said):
        yield found.name


def is_boss(name: str, said: SpeakerContext) -> bool:
    """Tell whether one works for this as for a person."""
    title = name.lower().removeprefix("my ").removeprefix("the ")
    return kind_of(name, said.people) == PERSON or title in COLLEAGUES


def leader(text: str, said: SpeakerContext) -> Iterator[str]:
    """Yield whom one reports to, by whatever name."""
    found = thing(text)
    if found is not None and (found.capital or is_boss(found.name, said) or found.name.startswith("the ")):
        yield found.name


def group(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield a group of more than one word."""
    found = thing(text)
    name = found.name.removeprefix("new ").removeprefix("local ") if found is not None else ""
    if is_group(name) and " " in name:
        yield name


def place(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield a place to live, with its country when that is named too."""
    found = thing(text)
    if found is not None and found.last in _DWELLINGS:
        found = thing_after(_DWELLING_IN, text, found.end)
    if found is None or found.first in _NOWHERE or found.last in _NOWHERE or kind_of(found.name) == PERSON:
        return
    country = _COUNTRY.match(text, found.end)
    whole = bool(country) and is_place(found.name) and is_place(country.group(1)) if country else False
    yield f"{found.name}, {country.group(1)}" if whole and country else found.name


def named_place(text: str, said: SpeakerContext) -> Iterator[str]:
    """Yield a place with a name, that is not known to be something else."""
    for name in place(text, said):
        if name[0].isupper() and kind_of(name) in {PLACE, None} and not is_group(name):
            yield name


def any_name(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield a thing that has a name."""
    found = thing(text)
    if found is not None and found.capital:
        yield found.name


def school(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield a school that is named."""
    found = thing(text)
    name = organisation(found.text) if found is not None and found.capital else None
    if name is not None:
        yield name


def substances(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield what an enumeration names; past an aside, such as `badly allergic`, only what `to` leads to again."""
    aside = False
    for part in list_items(_STOP.split(text)[0]):
        found = _LED_TO.match(part)
        name = value(_DANGLING.sub("", part[found.end() if found else 0 :]))
        aside = name is None or (aside and found is None) or _is_aside(part)
        short = name is not None and len(name.split()) <= _LONGEST_SUBSTANCE
        if name is not None and short and not aside and name.lower() not in _NO_SUBSTANCE:
            yield name


def _is_aside(part: str) -> bool:
    words = part.strip().lower().split()
    said = _ASIDES.intersection((words[0], words[-1])) or _BEFORE_NOUN.intersection(words[1:])
    return bool(said) or (len(words) == 1 and words[0].endswith("ly"))


def allergens(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield the things of `a severe peanut allergy`."""
    for what in list_items(text):
        words = [word for word in what.split() if word.lower() not in _SEVERITY]
        name = value(plural(" ".join(words)))
        if name:
            yield name


def illnesses(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield illnesses by name."""
    found = thing(text)
    if found is None:
        return
    more = text[found.end :] if _AND.match(text, found.end) else ""
    for one in list_items(found.name + more):
        words = one.lower().split()
        known = {words[0], words[-1]} & CONDITIONS or words[-1] in CONDITION_HEADS
        if known and len(words) <= _LONGEST_SUBSTANCE and (name := value(one)):
            yield name


def diagnosis(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield whatever a doctor has found."""
    found = thing(text)
    if found is not None:
        yield found.name


def diet(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield a diet that one keeps."""
    state = _STATE.match(text)
    if state and state["what"].lower().strip() in DIETS:
        yield state["what"].lower().strip()


def health_state(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield a state of health: `a type 1 diabetic`."""
    state = _STATE.match(text)
    if state and state["what"].lower().strip() in STATES:
        yield f"{state['kind'] or ''}{state['what'].lower().strip()}"


def age(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield an age in years."""
    found = _YEARS.match(text)
    if found is not None and 0 < int(found["years"]) <= _MOST_AGE:
        yield found["years"]


def degree(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield a degree, with its field."""
    found = thing(text, through=_INSIDE_DEGREE)
    nouns = found.name.lower().partition(" in ")[0].partition(" of ")[0].split() if found is not None else []
    if found is not None and nouns and nouns[-1] in DEGREES:
        yield found.whole


def languages(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield the languages of an enumeration."""
    for first in _first_words(text):
        if is_language(first.split()[0]):
            yield first.split()[0].capitalize()


def instruments(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield the instruments of an enumeration."""
    yield from (name for name in _first_words(text) if name.split()[-1].lower() in _INSTRUMENTS)


def pastimes(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield the instruments and games of an enumeration."""
    yield from (name for name in _first_words(text) if name.lower() in _INSTRUMENTS | _GAMES)


def _first_words(text: str) -> Iterator[str]:
    for one in list_items(_SPOKEN.split(text)[0]):
        lead = _LANGUAGE.match(one)
        found = thing(one, lead.end() if lead else 0)
        if found is not None:
            yield found.name


def date(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield a date as it is written."""
    found = re.match(DATE, text)
    if found is not None:
        yield found.group().strip(" ,.")


def quantity(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield a thing with its article: `a team of five engineers`."""
    found = thing(text)
    if found is not None:
        yield found.whole


def before_allergy(text: str, said: SpeakerContext) -> Iterator[str]:
    """Yield the things of which an allergy is named after them: `peanut allergy`."""
    found = re.match(r"(?P<what>[\w-]+(?:\s[\w-]+)?)\s+allerg(?:y|ies)\b", text, re.IGNORECASE)
    yield from allergens(found["what"], said) if found else ()


def employer_named(text: str, said: SpeakerContext) -> Iterator[str]:
    """Yield the employer that stands right here, with or without a name of its own."""
    if text[:1].isupper() or text.startswith("the "):
        yield from employer(text, said)


def nothing(_text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield no value: the clause says that whatever was so has ended."""
    return iter(())
