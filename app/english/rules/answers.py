"""Short answers, read with the questions that they answer: `Where do you live?` - `Berlin.`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from app.english.names import COMMON
from app.english.patterns import pattern
from app.english.rules.noun_phrases import list_items, thing
from app.english.rules.occupations import occupation_of
from app.english.rules.values import DATE
from app.english.word_lists import word_set
from app.memory.extraction import Role, Turn

SURE: Final = 0.9
"""How sure a statement is of which the question said one half."""
_LONGEST: Final = 60
_LONGEST_QUESTION: Final = 300
_MOST: Final = 4
_OPENING: Final = pattern("answers", "opening", re.IGNORECASE)
_CLOSING: Final = pattern("answers", "closing")
_LAST: Final = re.compile(r"(?:^|[.!?:;\u2014\n] ?)(?P<question>[^.!?\n]{3,120})\?[^\w?]{0,20}$")
_LEAD: Final = pattern("answers", "lead", re.IGNORECASE)
_NO_ANSWER: Final = word_set(
    "no none nothing nope nobody never not nowhere everywhere guess secret private depends sorry pass unknown "
    "whatever dunno maybe home alone abroad downtown idk i you we they he she my your"
)
_PLACE: Final = re.compile(r"(?:in|at|from|near)\s+", re.IGNORECASE)
_AS: Final = re.compile(r"(?:i'm|i am|(?:i )?work(?:ing)? as)\s+", re.IGNORECASE)
_ARTICLE: Final = re.compile(r"(?:i'm |i am |(?:i )?work(?:ing)? as )?(?:an?|the)\s", re.IGNORECASE)
_ON: Final = re.compile(r"(?:on|in)\s+", re.IGNORECASE)
_TO: Final = re.compile(r"to\s+", re.IGNORECASE)
_COUNT: Final = pattern("answers", "count", re.IGNORECASE)
_YEARS: Final = re.compile(r"(?P<years>\d{1,3})(?: years?(?: old)?)?", re.IGNORECASE)
_DATES: Final = re.compile(DATE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _QuestionPattern:
    """A question in lower case, and what its answer says in full; `read` returns the answer's own part of that."""

    question: re.Pattern[str]
    says: str
    read: Callable[[str], str | None]


def read_answer(turn: Turn, context: Sequence[Turn]) -> str | None:
    """Return what a user's short answer to the turn before it says in full; None when it is none that is known here.

    `context` are the turns before, oldest first.
    """
    before = context[-1] if context else None
    if before is None or turn.role is not Role.USER or len(turn.content) > _LONGEST:
        return None
    if before.role not in {Role.USER, Role.ASSISTANT} or (before.role, before.speaker) == (turn.role, turn.speaker):
        return None
    asked = _LAST.search(before.content[-_LONGEST_QUESTION:].replace("\u2019", "'").rstrip())
    return None if asked is None else _restated(asked["question"].strip().lower(), turn.content.replace("\u2019", "'"))


def _restated(question: str, content: str) -> str | None:
    lead = _LEAD.match(question)
    question = question[lead.end() :] if lead else question
    opening = _OPENING.match(content.strip())
    answer = _CLOSING.sub("", content.strip()[opening.end() if opening else 0 :], count=1)
    for one in _QUESTIONS:
        found = one.question.fullmatch(question)
        if found is not None:
            said = one.read(answer)
            return None if said is None else one.says.format(said, **found.groupdict())
    return None


def _things(answer: str) -> str | None:
    """Return an answer that names one thing, or a few, and no more."""
    parts = list_items(answer)
    if not 0 < len(parts) <= _MOST or not all(_is_thing(part.strip()) for part in parts):
        return None
    return answer


def _is_thing(part: str) -> bool:
    found = thing(part)
    return found is not None and found.end == len(part) and not _NO_ANSWER.intersection(part.lower().split())


def _name(answer: str) -> str | None:
    """Return an answer that is one name: any answer begins with a capital."""
    words = answer.split()
    capitals = 0 < len(words) <= _MOST and all(word[0].isupper() for word in words)
    common = len(words) == 1 and words[0].lower() in COMMON
    return answer if capitals and not common and _is_thing(answer) else None


def _person(answer: str) -> str | None:
    """Return who an answer names, without what it adds of them: `Anna Lindberg, VP Product`."""
    return _name(answer.partition(",")[0].strip())


def _role(answer: str) -> str | None:
    """Return an answer that names a profession, with an article."""
    lead = _AS.match(answer)
    held = occupation_of(answer[lead.end() :] if lead else answer)
    if held is None or held.end < len(answer) - (lead.end() if lead else 0):
        return None
    article = "" if _ARTICLE.match(answer) else "an " if answer[:1].lower() in "aeiou" else "a "
    return article + answer[lead.end() if lead else 0 :]


def _place(answer: str) -> str | None:
    lead = _PLACE.match(answer)
    return _name(answer[lead.end() :] if lead else answer)


def _substances(answer: str) -> str | None:
    lead = _TO.match(answer)
    return _things(answer[lead.end() :] if lead else answer)


def _thing(answer: str) -> str | None:
    return answer if _is_thing(answer) else None


def _date(answer: str) -> str | None:
    lead = _ON.match(answer)
    found = _DATES.fullmatch(answer, lead.end() if lead else 0)
    return None if found is None else found.group()


def _count(answer: str) -> str | None:
    found = _COUNT.fullmatch(answer)
    return None if found is None else found["count"].lower()


def _years(answer: str) -> str | None:
    found = _YEARS.fullmatch(answer)
    return None if found is None else found["years"]


_NOW: Final = r"(?: (?:now|currently|these days|at the moment))?"
_ALLERGIES: Final = (
    r"(?:(?:do you have|have you got|are there) )?any (?:food |known |drug )?allergies(?: i should know (?:of|about))?"
    r"|do you have allergies|(?:are you|what are you) allergic to(?: anything)?|(?:what|which) allergies do you have"
)
_WORK: Final = (
    r"what(?:'s| is) your (?:job|profession|occupation|role|job title)"
    rf"|what do you do(?: for (?:a living|work))?{_NOW}"
)
_QUESTIONS: Final = tuple(
    _QuestionPattern(question=re.compile(question), says=says, read=read)
    for question, says, read in (
        (rf"where (?:do you live|are you (?:living|based|located)){_NOW}", "I live in {}", _place),
        (rf"(?:what|which) (?:city|town|country|place) (?:do you live|are you) in{_NOW}", "I live in {}", _place),
        (r"where (?:are you|do you come) (?:originally )?from(?: originally)?", "I'm from {}", _place),
        (r"where were you born", "I was born in {}", _place),
        (rf"where do you work{_NOW}|(?:who|which company|what company) do you work for{_NOW}", "I work at {}", _place),
        (r"what(?:'s| is) your (?:first |full )?name", "My name is {}", _name),
        (r"what (?:should|can|may|do|shall) (?:i|we|people|your friends) call you", "Call me {}", _name),
        (_WORK, "I'm {}", _role),
        (r"who(?:'s| is) your (?P<who>manager|boss|supervisor|line manager|doctor|dentist|therapist|landlord)",
         "My {who} is {}", _person),
        (r"who do you report to", "My manager is {}", _person),
        (r"what(?:'s| is) your (?P<who>[a-z]+(?: [a-z]+)?)(?:'s name| called)", "My {who}'s name is {}", _name),
        (r"how old are you|what(?:'s| is) your age", "I am {} years old", _years),
        (r"when(?:'s| is) your birthday|when were you born|what(?:'s| is) your (?:birthday|date of birth|birthdate)",
         "I was born on {}", _date),
        (r"what(?:'s| is) your favou?rite (?P<what>[a-z]+(?: [a-z]+)?)", "My favourite {what} is {}", _thing),
        (_ALLERGIES, "I'm allergic to {}", _substances),
        (r"(?:how many|do you have(?: any)?) (?:children|kids)(?: do you have)?", "I have {} children", _count),
        (r"(?:what|which) languages do you speak", "I speak {}", _things),
    )
)  # fmt: skip
"""Questions that are asked to get to know someone. Each statement is then read like any other."""
