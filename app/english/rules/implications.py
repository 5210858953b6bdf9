"""What is implied: by a short answer to a question (`Where do you live?` - `Berlin.`), or by `my kids`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from app.english.names import COMMON, PERSON, PLACE, kind_of
from app.english.rules.clause import Clause, SpeakerContext
from app.english.rules.drafts import PASSING, STATED, Draft, event, fact
from app.english.rules.noun_phrases import BREAKERS, list_items, thing, value
from app.english.rules.sentences import HIDDEN
from app.english.rules.values import DATE, is_role, occupation_of
from app.english.verbs import form_of
from app.english.word_lists import DIETS, ORGANISATIONS, PETS, word_set
from app.memory.extraction import Role, Turn

SURE: Final = 0.9
"""How sure a statement is of which the question said one half."""

_LONGEST: Final = 60

_LONGEST_QUESTION: Final = 300

_MOST: Final = 4

_OPENING: Final = re.compile(
    r"(?:(?:yes|yeah|yep|well|oh|um|uh|hm+|sure|just|only|it's|it is)[,.: ]+){1,3}", re.IGNORECASE
)

_CLOSING: Final = re.compile(
    r"(?:[, ]+(?:now|currently|these days|at the moment|actually|please|thanks|mostly))?[.! ]*$"
)

_LAST: Final = re.compile(r"(?:^|[.!?:;\u2014\n] ?)(?P<question>[^.!?\n]{3,120})\?[^\w?]{0,20}$")

_LEAD: Final = re.compile(
    r"(?:\s|(?:and|so|ok|okay|great|thanks|hi|hello|first|now|by the way|btw|may i ask|out of curiosity)\b[,!]?)+",
    re.IGNORECASE,
)

_NO_ANSWER: Final = word_set(
    "no none nothing nope nobody never not nowhere everywhere guess secret private depends sorry pass unknown "
    "whatever dunno maybe home alone abroad downtown idk i you we they he she my your"
)

_PLACE: Final = re.compile(r"(?:in|at|from|near)\s+", re.IGNORECASE)

_AS: Final = re.compile(r"(?:i'm|i am|(?:i )?work(?:ing)? as)\s+", re.IGNORECASE)

_ARTICLE: Final = re.compile(r"(?:i'm |i am |(?:i )?work(?:ing)? as )?(?:an?|the)\s", re.IGNORECASE)

_ON: Final = re.compile(r"(?:on|in)\s+", re.IGNORECASE)

_TO: Final = re.compile(r"to\s+", re.IGNORECASE)

_COUNT: Final = re.compile(
    r"(?P<count>two|three|four|five|six|seven|eight|nine|ten|\d{1,2})(?: (?:children|kids))?", re.IGNORECASE
)

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
