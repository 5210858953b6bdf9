"""What holds of people as they are: allergies, illnesses, diets, age, origin, languages, fears."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from app.english.names import ORGANIZATION, PLACE, is_nationality, kind_of
from app.english.rules.clause import Clause, SpeakerContext, Who
from app.english.rules.drafts import STATED, Draft, Rule, fact, relation
from app.english.rules.noun_phrases import list_items, thing, thing_after, value
from app.english.word_lists import DIETS, STATES, word_set

DATE: Final = (
    r"(?:the\s+)?(?:\d{1,2}(?:st|nd|rd|th)?\s+(?:of\s+)?[A-Z][a-z]+(?:,?\s+\d{4})?"
    r"|[A-Z][a-z]+\s+(?:the\s+)?\d{1,2}(?:st|nd|rd|th)?(?:,?\s+\d{4})?|[A-Z][a-z]+\s+\d{4}|\d{4}-\d\d-\d\d|\d{4}"
    r"|\d{1,2}[/.]\d{1,2}(?:[/.]\d{2,4})?)"
)
"""A date as people say when they were born."""

_ALLERGIC: Final = re.compile(
    r"(?:(?:severely|highly|really|very|deathly)\s+)?(?:allergic|intolerant)\s+to\s+(?P<what>[^.;:!?(\u2014]+)",
    re.IGNORECASE,
)
_STOP: Final = re.compile(r"\s+(?:so|because|which|but|since|that)\b|\s-")
_LED_TO: Final = re.compile(r"\s*(?:(?:also|and)\s+)?to\s+", re.IGNORECASE)
_DANGLING: Final = re.compile(r"\s(?:and|or)\s*$", re.IGNORECASE)
_ASIDES: Final = word_set(
    "allergic allergy i i'm it it's he she they my his her their not maybe perhaps mainly severe bad"
)
_BEFORE_NOUN: Final = frozenset({"a", "an", "the", "my", "his", "her", "their"})
_NO_SUBSTANCE: Final = word_set("mornings mondays meetings work people drama nonsense stupidity exercise effort")
"""What one is allergic to in jest."""
_STATE: Final = re.compile(
    r"(?:(?:a|an|partially|legally)\s+)?(?P<kind>type \d )?(?P<what>[a-z -]+?)"
    r"(?=[,.;(!]|\s+(?:and|so|but|because|since|for|now|too|with)\b|\s*$)",
    re.IGNORECASE,
)
_AGE: Final = re.compile(
    r"(?:(?:about|almost|nearly|around)\s+)?(?P<years>\d{1,3})(?:[\s-]*years?[\s-]*old|\s*yo\b|(?=\s*(?:,|$)))",
    re.IGNORECASE,
)
_FROM: Final = re.compile(r"(?:originally\s+)?from\s+(?=(?:the\s+)?[A-Z])")
_BASED: Final = re.compile(
    r"\s*(?:(?:currently\s+)?based|located|living|residing)\s+(?:out of|in|at|near)\s+", re.IGNORECASE
)
_BORN: Final = re.compile(r"born\s+(?:and raised\s+)?", re.IGNORECASE)
_IN: Final = re.compile(r"(?:[^,]{0,40}?\s)?in\s+(?=[A-Z])")
_BIRTHDAY: Final = re.compile(rf"\b(?:on|in)\s+(?P<date>{DATE})")
_TURNED: Final = re.compile(
    r"\s+(?P<years>\d{1,3})(?=\s*(?:$|[,.;:!?(-])|\s+(?:years?|yesterday|today|tonight|now|just|recently|ago|this|last|on|and"
    r"|but|so|a|two|three)\b|\s+in\s+[A-Z])"
)
_MONTH: Final = re.compile(r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\b|\d", re.IGNORECASE)
_ONE_WORD: Final = re.compile(r"(?P<word>\S+?)(?:\s*$|[,.;!]|\s+(?:and|but|so|by birth|originally)\b)")
_FLUENT: Final = re.compile(r"(?:fluent|bilingual|proficient)\s+in\s+", re.IGNORECASE)
_PARENT: Final = re.compile(
    r"(?:a\s+)?(?:single\s+)?(?:mom|mum|mother|dad|father|parent)s?\s+(?:of|to)\s+"
    r"(?:(?P<count>two|three|four|five|six|seven|eight|nine|ten|\d{1,2})"
    r"(?!\s+(?!kids\b|children\b)(?:\w+\s+){0,2}(?:boys|girls|sons|daughters|twins)\b)"
    r"|(?P<who>(?:\w+\s+){0,3}?(?:boys|girls|sons|daughters|twins|triplets)))\b",
    re.IGNORECASE,
)
_AFRAID: Final = re.compile(r"(?:(?:really|very|terribly)\s+)?(?:afraid|scared|terrified)\s+of\s+", re.IGNORECASE)
_MOST_AGE: Final = 120
_LONGEST_SUBSTANCE: Final = 4


def health(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `allergic to peanuts`, `lactose intolerant`, `vegetarian`, `a type 1 diabetic`."""
    allergic = _ALLERGIC.match(clause.rest)
    for name in substances(_STOP.split(allergic["what"])[0]) if allergic else ():
        if len(name.split()) <= _LONGEST_SUBSTANCE:
            yield fact(clause, "allergic-to", name, stateful=False, importance=1.0, topic="health")
    state = _STATE.match(clause.rest)
    words = state["what"].lower().strip() if state else ""
    if words in DIETS:
        yield fact(clause, "has-diet", words, importance=STATED, topic="food")
    elif state and words in STATES:
        name = f"{state['kind'] or ''}{words}"
        yield fact(clause, "has-condition", name, stateful=False, importance=STATED, topic="health")


def substances(text: str) -> Iterator[str]:
    """Yield what an enumeration names; past an aside, such as `badly allergic`, only what `to` leads to again."""
    aside = False
    for part in list_items(text):
        found = _LED_TO.match(part)
        name = value(_DANGLING.sub("", part[found.end() if found else 0 :]))
        aside = name is None or (aside and found is None) or _is_aside(part)
        if name is not None and not aside and name.lower() not in _NO_SUBSTANCE:
            yield name


def _is_aside(part: str) -> bool:
    words = part.strip().lower().split()
    said = _ASIDES.intersection((words[0], words[-1])) or _BEFORE_NOUN.intersection(words[1:])
    return bool(said) or (len(words) == 1 and words[0].endswith("ly"))


def age(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `32 years old`, `32`."""
    years = age_in(clause.rest, spelt=clause.subject.who is Who.PRONOUN)
    if years:
        yield fact(clause, "has-age", years, importance=0.8, topic="personal")


def age_in(text: str, *, spelt: bool = False) -> str | None:
    """Return the age the text begins with; `spelt`: only where the words say that it is one."""
    found = _AGE.match(text)
    if found is None or not 0 < int(found["years"]) <= _MOST_AGE or (spelt and "old" not in found.group()):
        return None
    return found["years"]


def origin(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `from Sweden`, `German`, `based in Lisbon`, `born in Porto in 1990`."""
    place = thing_after(_FROM, clause.rest)
    if place and kind_of(place.name) in {PLACE, None}:
        yield fact(clause, "comes-from", place.name, topic="personal")
        return
    one = _ONE_WORD.match(clause.rest)
    if one and is_nationality(one["word"]):
        yield fact(clause, "has-nationality", one["word"], topic="personal")
    yield from home(clause, clause.rest, 0)
    yield from birth(clause)


def home(clause: Clause, text: str, at: int) -> Iterator[Draft]:
    """Read `based in Manchester` at a place of the text."""
    place = thing_after(_BASED, text, at)
    if place and place.capital and kind_of(clause.subject.name) == ORGANIZATION:
        yield relation(clause, "located-at", place.name)
    elif place and place.capital:
        yield fact(clause, "lives-in", place.name, importance=0.8, topic="personal")


def birth(clause: Clause) -> Iterator[Draft]:
    """Read `born in Lisbon on 3 May 1990`."""
    found = _BORN.match(clause.rest)
    if found is None or clause.negated:
        return
    rest = clause.rest[found.end() :]
    place = thing_after(_IN, rest)
    if place and not _MONTH.match(place.name):
        yield fact(clause, "born-in", place.name, importance=0.8, topic="personal")
    date = _BIRTHDAY.search(rest)
    if date:
        yield fact(clause, "born-on", date["date"].strip(" ,."), importance=0.8, topic="personal")


def turns_age(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `turned 40 last week`."""
    found = _TURNED.match(clause.rest) if clause.happened else None
    if found and 0 < int(found["years"]) <= _MOST_AGE:
        yield fact(clause, "has-age", found["years"], importance=0.8, topic="personal")


def traits(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `fluent in Portuguese`, `a mother of two`, `afraid of heights`."""
    fluent, parent = _FLUENT.match(clause.rest), _PARENT.match(clause.rest)
    for language in list_items(clause.rest[fluent.end() :]) if fluent else ():
        word = thing(language)
        if word and is_nationality(word.first):
            yield fact(clause, "speaks", word.first.capitalize(), stateful=False, topic="personal")
    if parent and parent["count"]:
        yield fact(clause, "has-children", parent["count"].lower(), importance=0.8, topic="personal")
    elif parent:
        yield fact(clause, "has", parent["who"], stateful=False, importance=0.8, topic="personal")
    fear = thing_after(_AFRAID, clause.rest)
    if fear and not fear.last.endswith("ing"):
        yield fact(clause, "afraid-of", fear.name, stateful=False, topic="personal")


RULES: Final[Mapping[str, tuple[Rule, ...]]] = {"turn": (turns_age,)}
