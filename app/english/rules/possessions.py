"""What is said of what people have: `my name is Alex`, `my favourite colour is blue`, `my goal is to learn Go`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from app.english.names import leading_name
from app.english.rules.clause import Clause, SpeakerContext, Who
from app.english.rules.drafts import STATED, Draft, fact, preference
from app.english.rules.noun_phrases import describes_event, slug, thing, value
from app.english.rules.preference_keys import choice, kind_of_choice
from app.english.rules.relationships import someone
from app.english.rules.traits import DATE
from app.english.word_lists import word_set
from app.memory.vocabulary import USER

_FAVOURITE: Final = re.compile(
    r"(?:(?:all[- ]time|absolute|personal|current|new)\s+)*(?:favou?rite|fave?)\s+(?P<what>.+)", re.IGNORECASE
)
_MY_FAVOURITE: Final = re.compile(
    r"my\s+(?:all[- ]time\s+)?favou?rite\s+(?P<what>[a-z]+(?:\s(?!of\b|because\b|so\b|and\b)[a-z]+)?)", re.IGNORECASE
)
_NO_FAVOURITE: Final = word_set("thing things part parts memory memories ones one moment way of")
_NO_CHOICE: Final = ("when", "how", "that", "because", "so ", "the one")
_INSIDE: Final = frozenset({"of", "the", "and", "in", "to", "with"})
_SPELLING: Final = {"color": "colour", "flavor": "flavour", "movie": "film"}
_AGE: Final = re.compile(r",\s*(?P<years>\d{1,3})(?:\s*years?\s*old)?\b")
_YEARS: Final = re.compile(r"\d{1,3}\b")
_DATE: Final = re.compile(rf"(?:on\s+)?(?P<date>{DATE})")
_GOAL: Final = re.compile(r"to\s+(?P<goal>(?!be\s+(?:able|happy)\b)\w[^.;,!?(]{4,80})(?=[.;,!?(]|$)", re.IGNORECASE)
_SOON: Final = re.compile(
    r"\s+(?:(?:this|next) (?:year|month|summer|winter|spring|fall|autumn|week)|soon|someday)$", re.IGNORECASE
)
_PREFERRED: Final = re.compile(r"(?:preferred|default|go-to|usual|main|primary)\s+\w+(?:\s\w+)?", re.IGNORECASE)
_OWNED: Final = word_set("car bike laptop phone camera computer guitar motorcycle tablet keyboard watch")
_NAMES: Final = frozenset({"name", "first name", "full name"})
_BIRTHDAYS: Final = frozenset({"birthday", "birthdate", "date of birth"})
_GOALS: Final = frozenset({"goal", "dream", "ambition", "long-term goal", "main goal"})
_VALUED: Final = {
    **dict.fromkeys(("native language", "mother tongue", "first language"), "speaks"),
    **dict.fromkeys(("job title", "title"), "has-role"),
    **dict.fromkeys(("timezone", "time zone"), "has-time-zone"),
    "nickname": "has-nickname",
    "pronouns": "has-pronouns",
    "major": "has-major",
}


def possession(clause: Clause) -> Iterator[Draft]:
    """Read `my name is Alex`, `my birthday is May 9`, `my manager is Sarah`."""
    owner, noun = clause.subject.owner or "", clause.subject.noun or ""
    favourite = _FAVOURITE.fullmatch(noun)
    date, years, goal = _DATE.match(clause.rest), _YEARS.match(clause.rest), _GOAL.match(clause.rest)
    if favourite:
        yield from _favourite(clause, owner, favourite["what"])
    elif noun in _NAMES:
        yield from _name(clause, owner)
    elif date and (whose := _whose_birthday(owner, noun)):
        yield fact(clause, "born-on", date["date"].strip(" ,."), subject=whose, importance=0.8, topic="personal")
    elif noun == "age" and years:
        yield fact(clause, "has-age", years.group(), subject=owner, importance=0.8, topic="personal")
    elif noun in _GOALS and goal and (wanted := value(_SOON.sub("", goal["goal"]))):
        yield fact(clause, "has-goal", f"to {describes_event(wanted)}", subject=owner, stateful=False, topic="personal")
    elif noun in _VALUED:
        found = thing(clause.rest)
        if found:
            predicate = _VALUED[noun]
            yield fact(
                clause, predicate, found.name, subject=owner, stateful=predicate != "speaks", topic="personal"
            )  # fmt: skip
    else:
        yield from _thing(clause, owner, noun)


def _whose_birthday(owner: str, noun: str) -> str | None:
    """Return whose birthday a noun names: `birthday`, `sister's birthday`; None for another noun."""
    of, _, last = noun.rpartition("'s ")
    if last not in _BIRTHDAYS:
        return None
    return f"{owner}'s {of}" if of else owner


def _thing(clause: Clause, owner: str, noun: str) -> Iterator[Draft]:
    """Read `my preferred editor is Neovim`, `my car is a Toyota Corolla`, `my manager is Sarah`."""
    found = thing(clause.rest)
    known = choice(found.name) if found and _PREFERRED.fullmatch(noun) and kind_of_choice(found.name) else None
    if known:
        yield preference(clause, known.key, known.value, subject=owner, topic=known.topic)
    elif found and found.capital and noun in _OWNED:
        yield fact(clause, "owns", found.name, subject=owner, stateful=False, topic="personal")
    else:
        yield from someone(clause)


def _favourite(clause: Clause, owner: str, what: str) -> Iterator[Draft]:
    chosen = thing(clause.rest, through=_INSIDE)
    if chosen is None or clause.rest.lower().startswith(_NO_CHOICE):
        return
    words = [_SPELLING.get(word, word) for word in what.lower().split()]
    key = slug(" ".join(words))
    if key and words[0] not in _NO_FAVOURITE:
        yield preference(clause, f"favourite.{key}", chosen.name, subject=owner, topic="personal")


def favourite(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `Harry Potter is my favourite book`."""
    found = _MY_FAVOURITE.match(clause.rest)
    key = slug(" ".join(_SPELLING.get(word, word) for word in found["what"].lower().split())) if found else ""
    if key and clause.subject.who is Who.NAMED and key not in _NO_FAVOURITE:
        yield preference(clause, f"favourite.{key}", clause.subject.name, subject=said.speaker, topic="personal")


def _name(clause: Clause, owner: str) -> Iterator[Draft]:
    alone = clause.rest.strip(" .!")
    named = leading_name(clause.rest) or ((alone, len(clause.rest)) if alone.isalpha() and owner == USER else None)
    if named is None:
        return
    yield fact(clause, "has-name", named[0], subject=owner, importance=STATED, topic="personal")
    age = _AGE.match(clause.rest, named[1])
    if age:
        yield fact(clause, "has-age", age["years"], subject=owner, importance=0.8, topic="personal")
