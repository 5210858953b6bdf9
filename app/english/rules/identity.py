"""What people are: `my name is Alex`, `I'm a backend engineer at Acme`, `born in Porto`, `a mother of two`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from app.english.names import ORGANIZATION, PERSON, is_nationality, is_no_name, kind_of, leading_name
from app.english.rules import event_time, values
from app.english.rules.clause import Clause, SpeakerContext, Tense, Who
from app.english.rules.drafts import PASSING, STATED, Draft, entity, event, fact, preference, relation, retell
from app.english.rules.noun_phrases import describes_event, list_items, noun_phrase, thing, thing_after, value
from app.english.rules.preference_keys import choice, kind_of_choice
from app.english.rules.relationships import someone
from app.english.word_lists import KINDS, word_set
from app.memory.vocabulary import USER

_AGE: Final = re.compile(r",?\s*(?P<years>\d{1,3})(?:\s*years?\s*old)?\b")
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
_ON: Final = re.compile(r"(?:on\s+)?")
_ARTICLE: Final = re.compile(r"(?:a|an|the|our)\s", re.IGNORECASE)
_STUDENT: Final = ("student", "undergraduate")
_ROLELESS: Final = frozenset({"character", "avatar", "bot", "agent", "assistant"})
_RHETORICAL: Final = 0.7
"""How sure `I'm actually a doctor` is: it may be said only to be answered like one (seed 003)."""
_AT_NOW: Final = re.compile(r"\b(?:now|these days)\b", re.IGNORECASE)
_VISITING: Final = re.compile(
    r"\b(?:waiting|visiting|for (?:a|an|my) (?:meeting|interview|conference|visit|talk|demo|tour))\b", re.IGNORECASE
)
_GREETING: Final = re.compile(r"\b(?:hi|hello|hey|i'm|this is)\b", re.IGNORECASE)
_FROM: Final = re.compile(r"(?:originally\s+)?from\s+(?=(?:the\s+)?[A-Z])")
_ONE_WORD: Final = re.compile(r"(?P<word>\S+?)(?:\s*$|[,.;!]|\s+(?:and|but|so|by birth|originally)\b)")
_BASED: Final = re.compile(
    r"\s*(?:(?:currently\s+)?based|located|headquartered)\s+(?:out of|in|at|near)\s+", re.IGNORECASE
)
_BORN: Final = re.compile(r"born\s+(?:and raised\s+)?", re.IGNORECASE)
_IN: Final = re.compile(r"(?:[^,]{0,40}?\s)?in\s+(?=[A-Z])")
_BIRTHDAY: Final = re.compile(rf"\b(?:on|in)\s+(?P<date>{values.DATE})")
_MONTH: Final = re.compile(r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\b|\d", re.IGNORECASE)
_FLUENT: Final = re.compile(r"(?:fluent|bilingual|proficient)\s+in\s+", re.IGNORECASE)
_PARENT: Final = re.compile(
    r"(?:a\s+)?(?:single\s+)?(?:mom|mum|mother|dad|father|parent)s?\s+(?:of|to)\s+"
    r"(?:(?P<count>two|three|four|five|six|seven|eight|nine|ten|\d{1,2})"
    r"(?!\s+(?!kids\b|children\b)(?:\w+\s+){0,2}(?:boys|girls|sons|daughters|twins)\b)"
    r"|(?P<who>(?:\w+\s+){0,3}?(?:boys|girls|sons|daughters|twins|triplets)))\b",
    re.IGNORECASE,
)
_AFRAID: Final = re.compile(r"(?:(?:really|very|terribly)\s+)?(?:afraid|scared|terrified)\s+of\s+", re.IGNORECASE)
_A: Final = re.compile(r"(?:an?|the)\s+", re.IGNORECASE)
_PRAISE: Final = ("great", "good", "bad", "nice", "beautiful", "amazing", "cool", "fun", "wonderful", "must")


def _tells(clause: Clause) -> bool:
    """Tell whether it says what someone is now."""
    return clause.copula and clause.holds


def possession(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `my birthday is May 9`, `my goal is to learn Go`, `my car is a Toyota`, `my manager is Sarah`."""
    if not _tells(clause) or clause.subject.who is not Who.POSSESSED or clause.subject.given is not None:
        return
    owner, noun = clause.subject.owner or "", clause.subject.noun or ""
    birthday, goal = _birthday(clause, owner, noun), _GOAL.match(clause.rest)
    if noun in _NAMES:
        yield from _name(clause, owner)
    elif birthday is not None:
        yield birthday
    elif noun in _GOALS and goal and (wanted := value(_SOON.sub("", goal["goal"]))):
        yield fact(clause, "has-goal", f"to {describes_event(wanted)}", subject=owner, stateful=False, topic="personal")
    elif noun in _VALUED:
        found = thing(clause.rest)
        if found:
            predicate = _VALUED[noun]
            yield fact(clause, predicate, found.name, subject=owner, stateful=predicate != "speaks", topic="personal")
    else:
        yield from _thing(clause, owner, noun)


def _birthday(clause: Clause, owner: str, noun: str) -> Draft | None:
    """Return the fact of `my birthday is May 9`, `my sister's birthday is May 9`."""
    of, _, last = noun.rpartition("'s ")
    on = _ON.match(clause.rest)
    found = re.compile(values.DATE).match(clause.rest, on.end() if on else 0)
    if last not in _BIRTHDAYS or found is None:
        return None
    whose = f"{owner}'s {of}" if of else owner
    return fact(clause, "born-on", found.group().strip(" ,."), subject=whose, importance=0.8, topic="personal")


def _thing(clause: Clause, owner: str, noun: str) -> Iterator[Draft]:
    found = thing(clause.rest)
    known = choice(found.name) if found and _PREFERRED.fullmatch(noun) and kind_of_choice(found.name) else None
    if known:
        yield preference(clause, known.key, known.value, subject=owner, topic=known.topic)
    elif found and found.capital and noun in _OWNED:
        yield fact(clause, "owns", found.name, subject=owner, stateful=False, topic="personal")
    elif noun in {"employer", "company"} and found and found.capital:
        yield fact(clause, "works-at", found.name, subject=owner, importance=0.8, topic="work")
    else:
        yield from someone(clause)


def _name(clause: Clause, owner: str) -> Iterator[Draft]:
    alone = clause.rest.strip(" .!")
    named = leading_name(clause.rest) or ((alone, len(clause.rest)) if alone.isalpha() and owner == USER else None)
    if named is None or owner in {"he", "she", "they", "it"}:
        return
    yield fact(clause, "has-name", named[0], subject=owner, importance=STATED, topic="personal")
    age = _AGE.match(clause.rest, named[1])
    if age and age.group().startswith(","):
        yield fact(clause, "has-age", age["years"], subject=owner, importance=0.8, topic="personal")


def occupation(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `a backend engineer`, `the CTO of Acme`, `at Google now`; `was a teacher` is an event of the past."""
    if not clause.copula or clause.negated or clause.modal or clause.subject.noun in _ROLELESS:
        return
    held = None if clause.subject.plural else values.occupation_of(clause.rest)
    if clause.tense is Tense.PAST or clause.used_to:
        yield from _was(clause, said) if held is not None else ()
    elif held is None:
        yield from _employment(clause, said)
    elif clause.subject.who is not Who.PRONOUN or _ARTICLE.match(clause.rest):
        student = held.role.lower().endswith(_STUDENT)
        doubtful = clause.subject.own and "actually" in clause.adverbs
        sure = replace(clause, sure=clause.sure * _RHETORICAL) if doubtful else clause
        topic = "education" if student else "work"
        yield fact(sure, "has-role", held.role, topic=topic)
        if held.employer:
            predicate = "studies-at" if student else "works-at"
            yield fact(clause, predicate, held.employer, importance=0.8, topic=topic)


def _was(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    time = event_time.find(clause.whole, said.now)
    description = retell(clause, said, time)
    if description is not None and clause.subject.who not in {Who.PRONOUN, Who.ADDRESSEE}:
        yield event(clause, description, time, [clause.subject.name], importance=PASSING, topic="work", past=True)


def _employment(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `at Google now`; being somewhere is not working there."""
    now = "now" in clause.adverbs or _AT_NOW.search(clause.rest)
    at = re.compile(r"(?:at|with)\s+").match(clause.rest)
    visiting = _VISITING.search(clause.rest)
    for name in values.known_company(clause.rest[at.end() :], said) if at and now and not visiting else ():
        yield fact(clause, "works-at", name, importance=0.8, topic="work")


def origin(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `from Sweden`, `German`; of a company where it is based."""
    if not _tells(clause):
        return
    source, one, based = _FROM.match(clause.rest), _ONE_WORD.match(clause.rest), _BASED.match(clause.rest)
    for place in values.named_place(clause.rest[source.end() :], said) if source else ():
        yield fact(clause, "comes-from", place, topic="personal")
    if one and is_nationality(one["word"]):
        yield fact(clause, "has-nationality", one["word"], topic="personal")
    if based and kind_of(clause.subject.name) == ORGANIZATION:
        for place in values.named_place(clause.rest[based.end() :], said):
            yield relation(clause, "located-at", place)


def birth(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `born in Lisbon on 3 May 1990`."""
    found = _BORN.match(clause.rest)
    if found is None or not clause.copula or clause.negated or clause.modal:
        return
    rest = clause.rest[found.end() :]
    place, date = thing_after(_IN, rest), _BIRTHDAY.search(rest)
    if place and not _MONTH.match(place.name):
        yield fact(clause, "born-in", place.name, importance=0.8, topic="personal")
    if date:
        yield fact(clause, "born-on", date["date"].strip(" ,."), importance=0.8, topic="personal")


def traits(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `fluent in Portuguese`, `a mother of two`, `afraid of heights`."""
    if not _tells(clause):
        return
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


def introduction(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `I'm Alex`, `I'm Alex, 32 years old`: a name, and nothing else of it."""
    named = leading_name(clause.rest) if _tells(clause) else None
    if named is None or clause.subject.plural or clause.adverbs or clause.subject.who not in {Who.SPEAKER, Who.USER}:
        return
    name, after = named[0], clause.rest[named[1] :].lstrip()
    greeted = kind_of(name) is None and not is_no_name(name) and _GREETING.search(clause.before) is not None
    if (kind_of(name) == PERSON or greeted) and (not after or after.startswith((",", ".", "!", "(", "-", "and "))):
        yield fact(clause, "has-name", name, importance=STATED, topic="personal")
        years = _AGE.match(after)
        if years:
            yield fact(clause, "has-age", years["years"], importance=0.8, topic="personal")


def declares(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `Volkswagen is an organization`: a name that is known to be one of that kind, or of none."""
    if clause.subject.who is not Who.NAMED or clause.subject.plural or not _tells(clause):
        return
    article = _A.match(clause.rest)
    found = noun_phrase(clause.rest, article.end()) if article else None
    if found is None or found.text.lower().startswith(_PRAISE):
        return
    kind = next((name for name, nouns in KINDS.items() if found.text.split()[-1].lower() in nouns), None)
    if kind == ORGANIZATION and kind_of(clause.subject.name, said.people) in {ORGANIZATION, None}:
        attributes = {} if found.text.lower() == kind else {"kind": found.text}
        yield entity(clause, clause.subject.name, kind, attributes=attributes)
