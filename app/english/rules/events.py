"""Events: what happened and what is planned for a time, by life verbs and named things; plans, routines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from app.english.dates.periods import Prefer
from app.english.names import token_names
from app.english.rules import event_time
from app.english.rules.clause import HIDDEN, Clause, SpeakerContext, Tense, Who
from app.english.rules.drafts import (
    PASSING,
    Draft,
    end_of_thought,
    event,
    fact,
    main_part,
    participants,
    retell,
    topic_of,
    who,
)
from app.english.rules.noun_phrases import in_third_person, says_something
from app.english.verbs import form_of, third_person
from app.english.word_lists import pairs, pattern, word_set, words
from app.model import Precision

_PATTERNS: Final = {
    verbs: re.compile(pattern, re.IGNORECASE | re.VERBOSE)
    for title in ("after", "patterns")
    for verbs, pattern in pairs("life_events", title).items()
}
_AFTER: Final = {verb: pattern for verbs, pattern in _PATTERNS.items() for verb in verbs.split()}
_ABSTRACT, _AHEAD = _PATTERNS["abstract"], _PATTERNS["ahead"]
_GATED, _STRONG, _WEAK, _MINOR, _STATES = (
    words("life_events", title) for title in ("gated", "strong", "weak", "minor", "states")
)
_LIGHT: Final = frozenset({"get", "have", "do", "go", "make"})
_MADE: Final = re.compile(r"\s+(?:a|an|my|our|the|\d+)\s+\w")
_SPECIFIC: Final = re.compile(r"(?:\s+\S+){2,}")
_VAGUE: Final = pattern("events", "vague")
_THE_ONE: Final = re.compile(r"\S+ the [a-z]+")
_LOOSE: Final = word_set("in on for it out up")
_SOON: Final = pattern("events", "soon", re.IGNORECASE)
_PLANNED: Final = pattern("events", "planned", re.IGNORECASE)
_BOOKED: Final = frozenset({"book", "reserve", "schedule"})
"""Verbs whose time is that of what they arrange where they say what for: `booked a table for Friday`."""

_FOR: Final = re.compile(r"\bfor\b")

_GOING: Final = re.compile(r"\bto (?:go|travel|attend|visit|take|do)$", re.IGNORECASE)
"""A plan that does not say where to."""

_COMING: Final = word_set("plan go move travel fly visit attend start marry adopt run have get")


def events_in(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Yield the event a clause tells of; nothing for states, for what is vague, or what does not stand alone."""
    if clause.negated or clause.subject.who is Who.PRONOUN:
        return
    been = clause.copula and clause.perfect and clause.rest.startswith("to ")
    if clause.happened and (been or not clause.copula) and not clause.progressive:
        yield from _past(clause, said)
    elif clause.lemma in _COMING and _is_coming(clause):
        yield from _ahead(clause, said)


def _past(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    prefer: Prefer = "future" if clause.lemma in _BOOKED and _FOR.search(clause.rest) else "past"
    time = event_time.find(_told(clause), said.now, prefer=prefer)
    whole = event_time.find(clause.whole, said.now, prefer=prefer)
    if time is not None and whole is not None and whole.at != time.at:  # "I recently got a kite, which I bought in May"
        time = replace(time, at=None, precision=Precision.UNKNOWN, words="")
    life = _is_life(clause, time)
    description = retell(clause, said, time) if life or _is_worth_telling(clause, time) else None
    if description is not None and not _is_empty(description, clause, time):
        yield event(
            clause, description, time, participants(clause, said, description),
            importance=0.6 if life and clause.lemma not in _MINOR else PASSING, topic=topic_of(description),
        )  # fmt: skip


def _told(clause: Clause) -> str:
    """Return the words of a clause without another thought after it, whose time is not the clause's."""
    lead = len(clause.whole) - len(clause.rest)
    return clause.whole[: lead + end_of_thought(clause.rest)]


def _is_life(clause: Clause, time: event_time.ClauseTime | None) -> bool:
    """Tell whether the verb and what follows it make an event of a life; weaker verbs need a date or a named thing."""
    after = _AFTER.get(clause.lemma)
    if after is None or after.match(clause.rest) is None:
        return False
    if clause.lemma not in _GATED and _ABSTRACT.match(clause.rest):
        return False
    told = clause.lemma in _STRONG or clause.subject.who is Who.USER or clause.passive
    return told or (time is not None and not time.vague) or _named(clause, time)


def _named(clause: Clause, time: event_time.ClauseTime | None) -> bool:
    """Tell whether something after the verb has a name, the words of time apart."""
    rest = event_time.without(clause.rest, time, offset=len(clause.whole) - len(clause.rest))
    return next(token_names(rest), None) is not None


def _is_worth_telling(clause: Clause, time: event_time.ClauseTime | None) -> bool:
    """Tell whether something told with a time, or of others by name, names who or what was there or taken part in."""
    others = clause.subject.who is Who.NAMED or len(clause.subject.names) > 1
    if clause.lemma in _STATES or _SPECIFIC.match(clause.rest) is None or _ABSTRACT.match(clause.rest):
        return False
    if clause.lemma in _LIGHT and _MADE.match(clause.rest) is None:
        return False
    just = time is None or any(clause.whole[first:last].lower() == "just" for first, last in time.spans)
    if just and not (others or clause.subjectless):
        return False
    return _named(clause, time)


def _is_empty(description: str, clause: Clause, time: event_time.ClauseTime | None) -> bool:
    """Tell whether no more is left than who and a verb, or than a few of something."""
    rest = description.removeprefix(who(clause))
    rest = rest.removesuffix(time.words) if time is not None else rest
    words = rest.split()
    named = any((word[0].isupper() or word[0].isdigit()) and not event_time.CUE.match(word) for word in words)
    dated = time is not None and bool(time.spans)
    short = clause.lemma in _STRONG or named or dated
    least = 1 if clause.lemma == "die" else 2 if short else 5 if clause.lemma in _WEAK else 4
    loose = len(words) == 2 and words[1].lower() in _LOOSE  # noqa: PLR2004 - a verb and a particle
    pointed = clause.lemma not in _STRONG and _THE_ONE.fullmatch(rest.strip())  # "booked the tickets": which?
    return len(words) < least or loose or bool(_VAGUE.search(rest) or pointed)


def _is_coming(clause: Clause) -> bool:
    """Tell whether the clause speaks of what is to come, as far as its verb tells."""
    if clause.tense is Tense.PAST or clause.perfect or clause.used_to or clause.modal not in {None, "will"}:
        return False
    if clause.lemma == "plan":
        return _PLANNED.match(clause.rest) is not None
    if clause.lemma == "have" and clause.modal is None and not clause.progressive:
        return _AHEAD.match(clause.rest) is not None
    fixed = clause.lemma == "start" and clause.holds and clause.subject.own  # "I start at Acme on Monday"
    return (clause.progressive or clause.modal == "will" or fixed) and _AFTER[clause.lemma].match(
        clause.rest
    ) is not None


def _ahead(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Yield what is planned for a time that is named: `User plans to visit Tokyo in June`."""
    time = event_time.find(_told(clause), said.now, prefer="future") if _SOON.search(clause.whole) else None
    if time is None or time.day is None:
        return
    description = retell(clause, said, time)
    if description is not None and _GOING.search(description) is None:
        yield event(clause, description, time, participants(clause, said, description), topic=topic_of(description))


_POINTING: Final = pattern("events", "pointing", re.IGNORECASE)
_HOW_LONG: Final = pattern("events", "how long", re.IGNORECASE)
_TAIL: Final = pattern("events", "tail", re.IGNORECASE)
_PLANNED_ACTIVITY: Final = pattern("events", "planned activity", re.IGNORECASE)
_CONSIDERED: Final = pattern("events", "considered", re.IGNORECASE)
"""What changes a life or a way of working; what one may buy or try out is of the moment."""


def plans(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `planning a trip to Jordan`: a plan without a time; one with a time is an event to come."""
    if clause.lemma == "plan" and _PLANNED_ACTIVITY.match(clause.rest):
        time = event_time.find(clause.whole, said.now, prefer="future")
        yield from _under_way(clause, "is-planning", clause.rest, 0.5) if time is None or time.at is None else ()


def considers(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `considering switching to Rust`: weighed, not done yet, so hardly surer than not (seed 003)."""
    found = _CONSIDERED.match(clause.rest)
    yield from _under_way(clause, "is-considering", found["what"], 0.6) if found else ()


def _under_way(clause: Clause, predicate: str, rest: str, importance: float) -> Iterator[Draft]:
    """Yield what someone is at now, without how long; nothing when it is vague."""
    own = in_third_person(_TAIL.sub("", _HOW_LONG.sub("", main_part(rest))).strip(" ,."))
    told = clause.subject.who is not Who.PRONOUN and clause.holds and clause.progressive and not clause.perfect
    if told and says_something(own) and not _POINTING.search(own) and " " in own:
        yield fact(clause, predicate, own, importance=importance, topic=topic_of(own))


_TIME: Final = re.compile(r"(?:on |at |in )?(?P<time>.{3,40}?(?:,\s?(?:19|20)\d\d\b)?)(?:\s*,.*)?$")
_ONLY_TIME: Final = re.compile(r"\W*(?:on|at|in)?\W*", re.IGNORECASE)


def appointments(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `my exam is next Friday`, `Ren's defense is May 6`: what someone has on a date."""
    subject = clause.subject
    theirs = subject.who is Who.POSSESSED and not subject.given and subject.owner not in {"he", "she", "they"}
    if not theirs or not clause.copula or not clause.holds or "birth" in (subject.noun or ""):
        return
    found = _TIME.match(clause.rest)
    time = event_time.find(found["time"], said.now, prefer="future") if found else None
    if found and time is not None and _ONLY_TIME.fullmatch(event_time.without(found["time"], time)):
        yield event(clause, subject.name, time, [subject.owner or subject.name], topic=topic_of(subject.name))


_MOVED: Final = pattern("events", "moved", re.IGNORECASE)
"""An appointment, and the date that it is moved to."""


def moved_appointments(text: str, speaker: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `the wedding was moved to 19 December`: what someone now has on that date.

    A day alone is one of the month of what moved, which the sentence does not tell.
    """
    found = None if HIDDEN in text else _MOVED.search(text)
    if found is None:
        return
    when = next(one for one in (found["when"], found["then"]) if one)
    what = f"{said.speaker}'s {(found['what'] or found['which']).lower()}"
    time = event_time.find(when, said.now, prefer="future")
    if time is not None and _ONLY_TIME.fullmatch(event_time.without(when, time)):
        yield _called_off(speaker, what)
        if not event_time.DAY_ALONE.fullmatch(when.strip(" .")):
            yield event(speaker, what, time, [said.speaker], importance=0.6, topic=topic_of(what))


def _called_off(speaker: Clause, what: str) -> Draft:
    """Return that an event to come does not take place as it was planned."""
    draft = event(speaker, what, None, importance=0.6, topic=topic_of(what))
    return replace(draft, payload={"event_description": what}, ends=True)


OFTEN: Final = pattern("events", "often", re.IGNORECASE)
"""How often something is done."""

_REGULARLY: Final = frozenset({"always", "usually", "typically", "normally", "generally"})
_O_CLOCK: Final = re.compile(r"\bat\s+(?:\d{1,2}(?::\d\d)?\s?(?:am|pm|a\.m|p\.m)|noon|midnight)", re.IGNORECASE)
_STOP: Final = pattern("events", "stop", re.IGNORECASE)
_NO_HABIT: Final = words("events", "no habit")
_LATELY: Final = pattern("events", "lately", re.IGNORECASE)
"""How a routine is told rather than what it is: with and without it, it is the same one."""
_OPEN_END: Final = re.compile(r"[\s,]+(?:or|and|for an?)$", re.IGNORECASE)
_BARE: Final = word_set("go do meet visit play come")
"""Verbs that say nothing with how often alone: `we go a few times a week`."""
_MOST_WORDS: Final = 14


def routine(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read what is done regularly: `does 30 minutes of yoga every morning`, `I've been doing yoga twice a week`."""
    form = form_of(clause.verb)
    once = not clause.progressive and form is not None and form.kinds >= {"past", "base"}  # "I set a limit"
    if once or not _is_doing(clause) or clause.lemma in _NO_HABIT:
        return
    stop = _STOP.search(clause.rest)
    if stop and clause.rest[stop.end() : stop.end() + 1].isdigit():
        return
    rest = _LATELY.sub("", " ".join((clause.rest[: stop.start()] if stop else clause.rest).split()))
    often = OFTEN.search(rest) or (_O_CLOCK.search(rest) if clause.adverbs & _REGULARLY else None)
    bare = clause.lemma in _BARE and not OFTEN.sub("", rest).strip()
    if often and not bare and len(rest.split()) <= _MOST_WORDS and not _POINTING.search(rest):
        rest = _OPEN_END.sub("", in_third_person(rest))
        yield fact(clause, third_person(clause.lemma), rest, stateful=False, importance=0.6, topic="personal")


def _is_doing(clause: Clause) -> bool:
    """Tell whether it says what someone does, or has been doing."""
    continuing = clause.progressive == clause.perfect
    told = clause.subject.who is not Who.PRONOUN
    return told and clause.holds and continuing and not clause.copula and not clause.passive
