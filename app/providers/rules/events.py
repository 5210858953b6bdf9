"""What happened, and what is planned for a time: life events by themselves, other doings when a time is named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from app.providers.rules import when
from app.providers.rules.clause import Clause, Said, Tense, Who
from app.providers.rules.describe import participants, retold, who
from app.providers.rules.drafts import PASSING, Draft, event
from app.providers.rules.life_events import (
    ABSTRACT,
    AFTER,
    AHEAD,
    GATED,
    MINOR,
    STATES,
    STRONG,
    TOLD_OF_OTHERS,
    WEAK,
)
from app.providers.rules.names import names_in
from app.providers.rules.topics import topic_of
from app.providers.rules.words import word_set

_PARTICLE: Final = re.compile(
    r"\s+(?:to|out|up|over|through|around|in on|on|into|down|off|back|sure|it|that|this|them|fun|great)\b",
    re.IGNORECASE,
)
_LIGHT: Final = frozenset({"get", "have", "do", "go", "make"})
_MADE: Final = re.compile(r"\s+(?:a|an|my|our|the|\d+)\s+\w")
_SPECIFIC: Final = re.compile(r"(?:\s+\S+){2,}")
_FEW: Final = re.compile(r"\b(?:a few|some|a couple|a bunch|a lot|many|more)(?: more| of| online)?$", re.IGNORECASE)
_VAGUE: Final = re.compile(
    r"\b(?:a|an|some)(?: [a-z-]+)? (?:place|movie|film|project|setback|game|event|experience|show|photo|picture)s?$"
)
_THE_ONE: Final = re.compile(r"\S+ the [a-z]+")
_LOOSE: Final = word_set("in on for it out up")
_SOON: Final = re.compile(
    r"\b(?:tomorrow|tonight|next|this|on|in|coming|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|weekend)\b",
    re.IGNORECASE,
)
_PLANNED: Final = re.compile(
    r"\s+(?:(?:to\s+|on\s+|for\s+)?(?:visit|go|travel|move|fly|attend|take|start|adopt|open|launch|get married|run|host"
    r"|compete|perform)(?:ting|ing)?\b|(?:a|an|my|our)\s+\w)",
    re.IGNORECASE,
)
_COMING: Final = word_set("plan go move travel fly visit attend start marry adopt run have get")


def happenings(clause: Clause, said: Said) -> Iterator[Draft]:
    """Yield the event a clause tells of; nothing for states, for what is vague, or what does not stand alone."""
    if clause.negated or clause.subject.who in {Who.PRONOUN, Who.ADDRESSEE}:
        return
    been = clause.copula and clause.perfect and clause.rest.startswith("to ")
    if clause.happened and (been or not clause.copula) and not clause.progressive:
        yield from _past(clause, said)
    elif clause.lemma in _COMING and _is_coming(clause):
        yield from _ahead(clause, said)


def _past(clause: Clause, said: Said) -> Iterator[Draft]:
    time = when.find(clause.whole, said.now)
    life = _is_life(clause)
    description = retold(clause, said, time) if life or _is_worth_telling(clause, time) else None
    if description is not None and not _is_empty(description, clause, time):
        yield event(
            clause, description, time, participants(clause, said, description),
            importance=0.6 if life and clause.lemma not in MINOR else PASSING, topic=topic_of(description),
        )  # fmt: skip


def _is_life(clause: Clause) -> bool:
    """Tell whether the verb and what follows it make an event that needs no time."""
    after = AFTER.get(clause.lemma)
    if after is None or after.match(clause.rest) is None:
        return False
    return clause.lemma in GATED or ABSTRACT.match(clause.rest) is None


def _is_worth_telling(clause: Clause, time: when.When | None) -> bool:
    """Tell whether something told with a time, or of someone by name, says what was done and to what."""
    others = clause.subject.who is Who.NAMED or len(clause.subject.names) > 1
    rest = _PARTICLE.sub("", clause.rest, count=1) if others else clause.rest
    if _SPECIFIC.match(clause.rest) is None or ABSTRACT.match(rest):
        return False
    if others:
        return clause.lemma not in STATES - TOLD_OF_OTHERS and not clause.perfect
    if clause.subjectless:
        return clause.lemma not in STATES - TOLD_OF_OTHERS and next(names_in(clause.rest), None) is not None
    if time is None or any(clause.whole[first:last].lower() == "just" for first, last in time.spans):
        return False
    return clause.lemma not in STATES and (clause.lemma not in _LIGHT or _MADE.match(clause.rest) is not None)


def _is_empty(description: str, clause: Clause, time: when.When | None) -> bool:
    """Tell whether no more is left than who and a verb, or than a few of something."""
    rest = description.removeprefix(who(clause))
    rest = rest.removesuffix(time.words) if time is not None else rest
    words = rest.split()
    named = any(word[0].isupper() or word[0].isdigit() for word in words)
    short = clause.lemma in STRONG or named or time is not None
    least = 1 if clause.lemma == "die" else 2 if short else 5 if clause.lemma in WEAK else 4
    loose = len(words) == 2 and words[1].lower() in _LOOSE  # noqa: PLR2004 - a verb and a particle
    vague = _FEW.search(rest) or _VAGUE.search(rest)
    pointed = clause.lemma not in STRONG and _THE_ONE.fullmatch(rest.strip())  # "booked the tickets": which?
    return len(words) < least or loose or bool(vague or pointed)


def _is_coming(clause: Clause) -> bool:
    """Tell whether the clause speaks of what is to come, as far as its verb tells."""
    if clause.tense is Tense.PAST or clause.perfect or clause.used_to or clause.modal not in {None, "will"}:
        return False
    if clause.lemma == "plan":
        return _PLANNED.match(clause.rest) is not None
    if clause.lemma == "have" and clause.modal is None and not clause.progressive:
        return AHEAD.match(clause.rest) is not None
    return (clause.progressive or clause.modal == "will") and AFTER[clause.lemma].match(clause.rest) is not None


def _ahead(clause: Clause, said: Said) -> Iterator[Draft]:
    """Yield what is planned for a time that is named: `User plans to visit Tokyo in June`."""
    time = when.find(clause.whole, said.now, prefer="future") if _SOON.search(clause.whole) else None
    if time is None or time.day is None or time.day[:7] < said.now.date().isoformat()[:7]:
        return
    description = retold(clause, said, time)
    if description is not None:
        yield event(clause, description, time, participants(clause, said, description), topic=topic_of(description))
