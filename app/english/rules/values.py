"""Values of rules: what the words at a place of a clause name, checked for the kind of thing a rule asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from app.english.names import (
    PERSON,
    PLACE,
    is_group,
    is_language,
    is_nationality,
    is_no_name,
    is_place,
    kind_of,
    leading_name,
)
from app.english.rules.clause import SpeakerContext
from app.english.rules.noun_phrases import (
    Thing,
    in_third_person,
    list_items,
    thing,
    value,
)
from app.english.word_lists import (
    CONDITION_HEADS,
    CONDITIONS,
    COUNTED,
    DIETS,
    GROUPS,
    KINDS,
    LEFT_OUT,
    STATES,
    pattern,
    section,
    word_set,
    words,
)

Value = Callable[[str, SpeakerContext], Iterator[str]]
"""Yields the values that a text begins with; none when it begins with no thing of the kind."""

_A_DATE: Final = pattern("leads", "date")

_STOP: Final = re.compile(r"[.;:!?(\u2014]|\s+(?:so|because|which|but|since|that)\b|\s-")
_LED_TO: Final = re.compile(r"\s*(?:(?:also|and)\s+)?to\s+", re.IGNORECASE)
_DANGLING: Final = re.compile(r"\s(?:and|or)\s*$", re.IGNORECASE)
_ASIDES: Final = words("values", "asides")
_NO_SUBSTANCE: Final = word_set("mornings mondays meetings work people drama nonsense stupidity exercise effort")
"""What one is allergic to in jest."""
_SEVERITY: Final = word_set("severe bad mild serious terrible food seasonal a an some any my many")
_STATE: Final = pattern("values", "state", re.IGNORECASE)
_YEARS: Final = pattern("values", "years", re.IGNORECASE)
_MOST_AGE: Final = 120
_GOES_ON_LISTING: Final = re.compile(r",\s|\s+and\s")
_LONGEST_SUBSTANCE: Final = 4
_SPOKEN: Final = pattern("values", "spoken")
_SHARE: Final = pattern("values", "share")
_NARROWED: Final = re.compile(r"\s+(?:for|of)\s+(?!good\b)", re.IGNORECASE)
"""What makes `French lessons` less than French: `for beginners`."""
_HOW_WELL: Final = re.compile(r"^\s*(?:(?:some|a (?:little|bit of)|fluent|basic|both|only)\s+)+", re.IGNORECASE)
_PASTIMES: Final = section("activities", "instruments") | section("activities", "games")
_COUNTRY: Final = re.compile(r",\s+([A-Z][\w.]*(?:\s[A-Z][\w.]*)?)")
_DWELLINGS: Final = section("dwellings", "dwellings")
_NOWHERE: Final = section("dwellings", "no places")
_DWELLING_IN: Final = pattern("values", "dwelling in", re.IGNORECASE)
_LED: Final = GROUPS | KINDS["project"] | KINDS["organization"] | {"office", "budget"}
_LED_COUNTED: Final = _LED | {"people", "engineers", "staff"}
_GOES_ON: Final = re.compile(r"\s+(?:to|than)\b|[.,'-]\w", re.IGNORECASE)
"""What a value does not end before: `a strip of land adjacent to a road`."""
_STAND_INS: Final = word_set("one ones")
"""Words that stand for a thing that another sentence names."""
_MONTH: Final = re.compile(r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\b|\d", re.IGNORECASE)
_ONE_WORD: Final = re.compile(r"(?P<word>\S+?)(?:\s*$|[,.;!]|\s+(?:and|but|so|by birth|originally)\b)")
_GOAL: Final = re.compile(r"(?:[^.;,!?(]|(?<=\d)[.,](?=\d)){4,80}(?=[.;,!?(]|$)")
_SOON: Final = pattern("values", "soon", re.IGNORECASE)
_NAME_ENDS: Final = (",", ".", "!", "(", "-", "and ")
Test = Callable[[Thing, SpeakerContext], bool]


def a_thing(test: Test, *, whole: bool = False) -> Value:
    """Return what yields the thing that a text begins with if it passes a test; `whole`: with its article."""

    def values(text: str, said: SpeakerContext) -> Iterator[str]:
        found = thing(text)
        torn = found is not None and not found.capital and _GOES_ON.match(text, found.end)
        if found is not None and not torn and found.head not in _STAND_INS and test(found, said):
            yield found.whole if whole else found.name

    return values


def things(test: Test) -> Value:
    """Return what yields the things of an enumeration up to the first that does not pass a test."""
    first = a_thing(test)

    def values(text: str, said: SpeakerContext) -> Iterator[str]:
        for part in list_items(_SPOKEN.split(text)[0]):
            found = list(first(_HOW_WELL.sub(" ", part), said))
            if not found:
                return
            yield from found

    return values


def _is_known(found: Thing) -> bool:
    """Tell whether it has a name, or is a language, an instrument or a game."""
    low = found.name.lower()
    return any(letter.isupper() for letter in found.name) or low in _PASTIMES or is_language(found.name)


def _is_led(found: Thing, said: SpeakerContext) -> bool:
    """Tell whether it is someone or something that is led, rather than stress or time: `the project`, `Nia`."""
    return found.capital or found.head in _LED or _is_person(found, said)


def _is_person(found: Thing, said: SpeakerContext) -> bool:
    return kind_of(found.name, said.people) == PERSON


anything: Final = a_thing(lambda _thing, _said: True)
any_name: Final = a_thing(lambda found, _said: found.capital)
people: Final = things(_is_person)
quantity: Final = a_thing(lambda _thing, _said: True, whole=True)
led: Final = a_thing(_is_led)
led_in_number: Final = a_thing(lambda found, _said: found.head in _LED_COUNTED, whole=True)
birthplace: Final = a_thing(lambda found, _said: _MONTH.match(found.name) is None)
used: Final = things(lambda found, _said: _is_known(found))
equipment: Final = a_thing(lambda found, _said: found.words > 1 or _is_known(found))
learned: Final = things(lambda found, _said: _is_known(found))
pastimes: Final = things(lambda found, _said: found.name.lower() in _PASTIMES)


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
        lead = _DWELLING_IN.match(text, found.end)
        found = thing(text, lead.end()) if lead else None
    if found is None or found.first in _NOWHERE:
        return
    country = _COUNTRY.match(text, found.end)
    whole = country is not None and is_place(found.name) and is_place(country.group(1))
    yield f"{found.name}, {country.group(1)}" if whole and country else found.name


def named_place(text: str, said: SpeakerContext) -> Iterator[str]:
    """Yield a place with a name, that is not known to be something else."""
    for name in place(text, said):
        if name[0].isupper() and kind_of(name) in {PLACE, None}:
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
    return bool(_ASIDES.intersection((words[0], words[-1]))) or (len(words) == 1 and words[0].endswith("ly"))


def before_allergy(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield the things of which an allergy is named after them: `a severe peanut allergy`."""
    for what in list_items(re.split(r"\s+allerg(?:y|ies)\b", text, maxsplit=1, flags=re.IGNORECASE)[0]):
        substance = " ".join(word for word in what.split() if word.lower() not in _SEVERITY)
        name = value(COUNTED.get(substance.lower(), substance))
        yield from [name] if name else ()


def illnesses(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield illnesses by name."""
    found = thing(text)
    if found is None:
        return
    more = text[found.end :] if _GOES_ON_LISTING.match(text, found.end) else ""
    for one in list_items(found.name + more):
        words = one.lower().split()
        name = value(one)
        if name and ({words[0], words[-1]} & CONDITIONS or words[-1] in CONDITION_HEADS):
            yield name


def date(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield a date."""
    found = _A_DATE.match(text)
    if found is not None:
        yield found.group()


def a_state(states: frozenset[str]) -> Value:
    """Return what yields a listed state that one is in: `vegan`, `a type 1 diabetic`."""

    def values(text: str, _said: SpeakerContext) -> Iterator[str]:
        state = _STATE.match(text)
        what = state["what"].lower().strip() if state else ""
        if state and what in states:
            yield f"{state['kind'] or ''}{what}"

    return values


diet: Final = a_state(DIETS)
health_state: Final = a_state(STATES)

_FOOD: Final = re.compile(r"[a-z]+", re.IGNORECASE)


def diets_without(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield the diets that leave out a food."""
    food = _FOOD.match(text)
    yield from LEFT_OUT.get(food[0].lower(), "").split() if food else ()


def age(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield an age in years."""
    found = _YEARS.match(text)
    yield from [found["years"]] if found is not None and int(found["years"]) <= _MOST_AGE else ()


def nationality(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield of which people someone is, where nothing else is said of them."""
    found = _ONE_WORD.match(text)
    if found is not None and is_nationality(found["word"]):
        yield found["word"]


def given_up(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield what one has or does, without the word for one's share in it, or of its verb: `gym membership`, `it up`."""
    found = thing(text)
    if found is not None:
        whole = _NARROWED.match(text, found.end) is not None
        yield found.name if whole else _SHARE.sub("", found.name)


def whole(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield all the words up to another thought, with their article: `the Pomodoro technique for work`."""
    found = value(_STOP.split(text)[0], article=True)
    yield from [found] if found is not None else ()


def goal(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield what one wants to do."""
    found = _GOAL.match(text)
    wanted = value(_SOON.sub("", found.group())) if found is not None else None
    yield from [f"to {in_third_person(wanted)}"] if wanted else ()


def given_name(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield the name that someone is said to have, in small letters too where nothing else stands there."""
    named = leading_name(text)
    alone = text.strip(" .!")
    if named is not None or alone.isalpha():
        yield named[0] if named is not None else alone


def own_name(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield a person's name, where nothing goes on from it."""
    named = leading_name(text)
    after = text[named[1] :].lstrip() if named is not None else ""
    if named is not None and not is_no_name(named[0]) and (not after or after.startswith(_NAME_ENDS)):
        yield from [named[0]] if kind_of(named[0]) == PERSON else ()
