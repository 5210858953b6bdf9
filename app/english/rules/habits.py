"""Habits and skills: `run every morning at 6am`, `speak Portuguese`, `play the cello`, `study at MIT`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from app.english.names import is_language
from app.english.rules.clause import Clause, SpeakerContext, Who
from app.english.rules.departures import past_state
from app.english.rules.drafts import PASSING, Draft, Rule, fact
from app.english.rules.noun_phrases import describes_event, list_items, thing, thing_after, value
from app.english.rules.occupations import organisation
from app.english.rules.sentences import HIDDEN
from app.english.verbs import form_of, third_person
from app.english.word_lists import word_set

OFTEN: Final = re.compile(
    r"\b(?:every\s+(?:other\s+|single\s+)?(?:morning|evening|night|day|week|weekend|month|year|summer|winter|spring|fall"
    r"|autumn|\w+day)s?|(?:once|twice|three times|four times|five times|several times|a few times|\d+ (?:times"
    r"|days))\s+"
    r"(?:a|per|each)\s+(?:day|week|month|year)|(?:on|in the)\s+(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days|weekends"
    r"|weekdays|mornings|evenings)|daily|weekly|each\s+(?:morning|evening|night|day|week))\b",
    re.IGNORECASE,
)
"""How often something is done."""

_REGULARLY: Final = frozenset({"always", "usually", "typically", "normally", "generally"})
_O_CLOCK: Final = re.compile(r"\bat\s+(?:\d{1,2}(?::\d\d)?\s?(?:am|pm|a\.m|p\.m)|noon|midnight)", re.IGNORECASE)
_STOP: Final = re.compile(
    rf"[.;:!?({HIDDEN}\u2014\u2026]|\s[-\u2013]\s|,\s|\s(?:because|since|so|but|which|and (?:it|i|we|they|that)|when"
    rf"|while"
    r"|as it|to (?:keep|help|stay|get|make))\b",
    re.IGNORECASE,
)
_NO_HABIT: Final = word_set(
    """
    be feel think know want hope say tell need look love like hate enjoy appreciate see hear mean guess inspire
    remind help make get miss wish keep have try seem prefer
    """
)
_THEIRS: Final = re.compile(r"\b(?:his|their|its)\b", re.IGNORECASE)
_LATELY: Final = re.compile(
    r"(?:[\s,]+(?:now|nowadays|these days|right now|currently|at the moment|lately|for now|too|as well|again|though"
    r"|anyway|already|any ?more))+$",
    re.IGNORECASE,
)
"""How a routine is told rather than what it is: with and without it, it is the same one."""
_AND_DOES: Final = re.compile(r"^and (?P<verb>[a-z]+)\b")
_OPEN_END: Final = re.compile(r"[\s,]+(?:or|and)$", re.IGNORECASE)
_BARE: Final = word_set("go do meet visit play come")
"""Verbs that say nothing with how often alone: `we go a few times a week`."""
_POINTING: Final = re.compile(
    r"\b(?:it|this|that|these|those|them|him|her|he|she|they|you|your|i|me|us|there|here|things?|stuff|something)\b",
    re.IGNORECASE,
)
_METHOD: Final = re.compile(
    r"\s+(?:the\s+|a\s+|an\s+)?(?:[\w-]+\s){1,4}?(?:technique|method|diet|routine|framework|methodology|approach|lifestyle"
    r"|schedule|system)\b",
    re.IGNORECASE,
)
_PART: Final = re.compile(r"[.;:!?,(]|\s(?:because|since|so|and|but)\b")
_LANGUAGE: Final = re.compile(
    r"(?:(?:some|a (?:little|bit of)|fluent|basic|both|only|how to|to|play)\s+)+", re.IGNORECASE
)
_SPOKEN: Final = re.compile(r"[.;:!?(]|\s(?:because|since|so|but|which|for|with|at|when|fluently|well)\b")
_PLAYED: Final = re.compile(r"[.;:!?(]|\s(?:for|with|since|because|every|on|in|when|as|at|after)\b")
_PLAYS: Final = word_set(
    """
    piano guitar violin cello drums bass flute saxophone trumpet clarinet ukulele harp banjo keyboard viola trombone
    oboe mandolin organ harmonica tennis soccer football basketball volleyball chess golf badminton cricket rugby
    hockey baseball squash softball handball poker bridge
    """
)
_AT: Final = re.compile(r"\s+(?:[\w ]{0,40}?\s)?at\s+(?=[A-Z]|the\s+[A-Z])")
_FROM: Final = re.compile(r"\s+(?:[^,.;]{0,60}?\s)?from\s+(?=[A-Z]|the\s+[A-Z])")
_MOST_WORDS: Final = 14
_LONGEST_FIELD: Final = 3


def routine(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read what is done regularly: `does 30 minutes of yoga every morning`, `I've been doing yoga twice a week`."""
    if not _is_doing(clause) or clause.lemma in _NO_HABIT:
        return
    stop = _STOP.search(clause.rest)
    rest = _LATELY.sub("", " ".join((clause.rest[: stop.start()] if stop else clause.rest).split()))
    often, first = OFTEN.search(rest), OFTEN.search(clause.before)
    if often is None and clause.adverbs & _REGULARLY:
        often = _O_CLOCK.search(rest)
    if often is None and first is not None:
        rest = f"{rest} {first.group().lower()}"
    elif often is None or (clause.lemma in _BARE and not OFTEN.sub("", rest).strip()):
        return
    if len(rest.split()) <= _MOST_WORDS and not (_POINTING.search(rest) or _THEIRS.search(rest)):
        rest = _OPEN_END.sub("", describes_event(rest))
        verb = clause.lemma if len(clause.subject.names) > 1 else third_person(clause.lemma)
        rest = _AND_DOES.sub(_inflected, rest) if verb != clause.lemma else rest
        yield fact(clause, verb, rest, stateful=False, importance=0.6, topic="personal")


def _inflected(found: re.Match[str]) -> str:
    form = form_of(found["verb"])
    return f"and {third_person(found['verb'])}" if form is not None and "base" in form.kinds else found.group()


def _is_doing(clause: Clause) -> bool:
    """Tell whether it says what someone does, or has been doing."""
    continuing = clause.progressive == clause.perfect
    told = clause.subject.who not in {Who.PRONOUN, Who.ADDRESSEE}
    return told and clause.holds and continuing and not clause.copula and not clause.passive


def following(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `follows the Pomodoro technique for work`."""
    if clause.holds and _METHOD.match(clause.rest):
        whole = value(_PART.split(clause.rest)[0], article=True)
        if whole and not _POINTING.search(whole):
            yield fact(clause, third_person(clause.lemma), whole, stateful=False, importance=0.6, topic="personal")


def speaks(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `speak Portuguese and a little French`, `learning German`, `learning the cello`."""
    learning = clause.lemma == "learn"
    if clause.lemma not in {"speak", "learn"} or not clause.holds or clause.progressive != learning:
        return
    for one in list_items(_SPOKEN.split(clause.rest)[0]):
        lead = _LANGUAGE.match(one.strip())
        found = thing(one.strip(), lead.end() if lead else 0)
        if found and is_language(found.first):
            word = found.first.capitalize()
        elif found and learning and found.last in _PLAYS:
            word = found.name
        else:
            continue
        predicate = "learning" if learning else "speaks"
        yield fact(clause, predicate, word, stateful=False, importance=0.6, topic="personal")


def playing(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `play the cello`, `play tennis`."""
    if clause.holds and clause.progressive == clause.perfect:
        for one in list_items(_PLAYED.split(clause.rest)[0]):
            name = value(one)
            if name and name.lower() in _PLAYS:
                yield fact(clause, "plays", name, stateful=False, importance=0.6, topic="personal")


def studying(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `study physics at MIT`, `studied at MIT`."""
    found = thing_after(_AT, clause.rest)
    school = None if found is None else organisation(found.text)
    if clause.holds and clause.progressive >= clause.perfect:
        if school:
            yield fact(clause, "studies-at", school, topic="education")
        field = thing(clause.rest)
        known = field is not None and field.words <= _LONGEST_FIELD and (school or clause.progressive)
        if field and known and clause.subject.who is not Who.PRONOUN:
            yield fact(clause, "studies", field.name, stateful=False, topic="education")
    elif clause.past_state and school:
        yield from past_state(clause, said, topic="education", importance=PASSING)


def graduating(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `graduated from Stanford`: true for ever."""
    found = thing_after(_FROM, clause.rest) if clause.happened else None
    school = None if found is None else organisation(found.text)
    if school:
        yield fact(clause, "studied-at", school, stateful=False, topic="education")


RULES: Final[Mapping[str, tuple[Rule, ...]]] = {
    **dict.fromkeys(("follow", "practise", "practice"), (following,)),
    **dict.fromkeys(("speak", "learn"), (speaks,)),
    "play": (playing,),
    "study": (studying,),
    "graduate": (graduating,),
}
