"""What ends by being left: jobs, schools, homes, marriages, what is sold, and who has died.

`quit my job at Acme`, `got laid off`, `left the platform team`, `dropped out of MIT`, `got divorced`, `Rex died`.

States that are over: `used to work at Volkswagen`, `lived in Rome`, `was a teacher`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from app.english.names import ORGANIZATION, PERSON, PLACE, bare_name, is_group, kind_of, leading_name
from app.english.rules import event_time
from app.english.rules.clause import Clause, SpeakerContext, Who
from app.english.rules.drafts import Draft, Rule, ending, event, fact, relation, retell
from app.english.rules.noun_phrases import Thing, thing, thing_after
from app.english.rules.occupations import employer_at, organisation, position
from app.english.rules.relationships import tie_of
from app.english.word_lists import COLLEAGUES

ANY: Final = ""
"""In place of a value: whichever is held."""

_JOB: Final = re.compile(
    r"\s+(?:from\s+)?(?:my|his|her|their|the|our)\s+(?:\w+\s+){0,2}?(?:job|position|post|role|employer|work)\b",
    re.IGNORECASE,
)

_FROM: Final = re.compile(r"\s+(?:from|of)\s+(?:my (?:job|position|role) (?:at|with)\s+)?", re.IGNORECASE)

_BY: Final = re.compile(r"\s*(?:from|by|at)\s+(?:my (?:job|position|role) (?:at|with)\s+)?", re.IGNORECASE)

_AS: Final = re.compile(r"\s+as\s+", re.IGNORECASE)

_DISMISSED: Final = re.compile(
    r"(?:been\s+)?(?:fired|laid off|let go|sacked|dismissed|made redundant)\b(?!\s+up\b)", re.IGNORECASE
)

_LEFT_BEHIND: Final = re.compile(
    r"\s+(?:at\b|early|late\b|around\b|to\b|for (?:lunch|the (?:day|night|evening|weekend)|home|a (?:bit|moment|while))"
    r"|this (?:morning|evening)|on\b|in the\b|open\b|alone\b|running\b|behind\b|a \w+|some\b|an? hour|\d)",
    re.IGNORECASE,
)
"""What follows when somebody only went out, or left a thing somewhere."""

_OUT_OF: Final = re.compile(r"\s+(?:out of|away from|out from)\s+", re.IGNORECASE)

_DROPPED: Final = re.compile(r"\s+out\s+(?:of\s+)?", re.IGNORECASE)

_APART: Final = re.compile(r"\s*(?:up|apart)?(?:\s+with\s+(?P<whom>.+))?", re.IGNORECASE)

_UP: Final = re.compile(
    r"\s+(?:up|apart)\s*(?:$|[.,;!]|(?:with|after|before|because|last|this|in|on|yesterday|today|two|recently|and"
    r"|again)\b)",
    re.IGNORECASE,
)

_DIVORCED: Final = re.compile(
    r"\s*(?:(?:recently|just|finally|now)\s+)*divorced\b(?!\s+(?:papers|m[ae]n|wom[ae]n|parents|couples?|people|friends?|dad|mom|mum|mother|father)\b)"
    r"(?:\s+from\s+(?P<whom>.+))?",
    re.IGNORECASE,
)

_DEAD: Final = re.compile(r"(?:dead|gone)\b(?!\s+(?:tired|serious|set|to|for|on|in|set|wrong))", re.IGNORECASE)

_WHOM: Final = r"\s+(?:(?:my|our)\s+(?:old\s+|dear\s+|beloved\s+)?(?P<noun>[a-z-]+)\s+)?(?P<name>(?-i:[A-Z])[\w-]+)"

_LOST_ONE: Final = re.compile(
    rf"{_WHOM}\s*(?:$|[.,;!]|(?:to|after|on|last|this|yesterday|today|in\s(?-i:[A-Z])\w+|two|three|a\s(?:week|month|year))\b)",
    re.IGNORECASE,
)

_PUT_DOWN: Final = re.compile(rf"(?:\s+to\s+(?:put|have))?{_WHOM}\s+(?:put\s+)?(?:down\b|to\s+sleep\b)", re.IGNORECASE)

_OWN: Final = re.compile(r"\s+(?:my|our)\s+(?:old\s+|beloved\s+)?(?=\w)", re.IGNORECASE)

_MATES: Final = ("married-to", "has-partner")

_KEPT_BY_BOTH: Final = ("has-pet", *_MATES)


def leaving(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `quit my job at Acme`, `left Volkswagen`, `resigned as CTO`, `left the platform team`."""
    if not clause.happened or clause.passive or clause.copula or clause.subject.who is Who.ADDRESSEE:
        return
    job = _JOB.match(clause.rest)
    if job or clause.lemma == "lose":
        yield from _out_of_work(clause, said, clause.rest[job.end() :]) if job else ()
    elif clause.lemma in {"resign", "retire"}:
        yield from _resigned(clause, said)
    elif clause.lemma in {"leave", "quit"}:
        yield from _left(clause, said)


def _left(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    found = thing(clause.rest)
    if found is None or _LEFT_BEHIND.match(clause.rest, found.end):
        return
    if is_group(found.name) and " " in found.name:
        yield ending(clause, said, relation(clause, "member-of", found.name))
    elif found.capital and kind_of(found.name, said.people) not in {PERSON, PLACE}:
        yield from _employer(clause, said, found)


def _employer(clause: Clause, said: SpeakerContext, found: Thing) -> Iterator[Draft]:
    name = organisation(found.text)
    if name is not None:
        sure = kind_of(name) == ORGANIZATION
        yield ending(clause, said, fact(clause, "works-at", name, importance=0.8, topic="work", inferred=not sure))


def _out_of_work(clause: Clause, said: SpeakerContext, after: str) -> Iterator[Draft]:
    """Yield the end of a job: at an employer that is named, or else wherever it was; and of a role that is named."""
    employer = employer_at(after, 0)
    name = ANY if employer is None else employer.text
    yield ending(clause, said, fact(clause, "works-at", name, importance=0.8, topic="work"))
    title = _AS.match(after)
    held = position(after[title.end() :]) if title else None
    if held is not None:
        yield ending(clause, said, fact(clause, "has-role", held.role, topic="work"))


def _resigned(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `resigned`, `retired from Volkswagen last year`, but not `retired the old server`."""
    origin = thing_after(_FROM, clause.rest)
    if origin is not None and origin.capital:
        yield from _employer(clause, said, origin)
    elif not clause.rest.strip(" .!,") or _AS.match(clause.rest) or _TIMED.match(clause.rest):
        yield from _out_of_work(clause, said, clause.rest)


_TIMED: Final = re.compile(
    r"\s+(?:last|this|in|on|yesterday|today|early|two|three|a few|\d+|at (?:the age|\d))\b", re.IGNORECASE
)


def dismissal(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `got laid off from Acme`, `was fired last week`."""
    if not clause.happened or clause.subject.who is Who.ADDRESSEE:
        return
    words = clause.rest.lstrip() if clause.copula or clause.lemma == "get" else f"{clause.verb}{clause.rest}"
    found = _DISMISSED.match(words) if clause.copula or clause.lemma == "get" or clause.passive else None
    if found is not None:
        by = thing_after(_BY, words, found.end())
        named = by is not None and by.capital and kind_of(by.name, said.people) not in {PERSON, PLACE}
        employer = organisation(by.text) if by is not None and named else None
        yield ending(clause, said, fact(clause, "works-at", employer or ANY, importance=0.8, topic="work"))


def departing(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `moved out of Boston`, `dropped out of MIT`, `graduated from Stanford`."""
    if not clause.happened or clause.passive or clause.subject.who is Who.ADDRESSEE:
        return
    if clause.lemma == "move":
        place = thing_after(_OUT_OF, clause.rest)
        if place is not None and place.capital:
            yield ending(clause, said, fact(clause, "lives-in", place.name, importance=0.8, topic="personal"))
        return
    lead = _DROPPED if clause.lemma == "drop" else _FROM
    school = thing_after(lead, clause.rest)
    name = organisation(school.text) if school is not None and school.capital else None
    if name is not None:
        yield ending(clause, said, fact(clause, "studies-at", name, topic="education"))


def separating(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `got divorced`, `divorced Tom`, `Anna and I broke up`, `my husband and I separated`."""
    if clause.negated or clause.modal or clause.subject.who is Who.ADDRESSEE:
        return
    parted = _parted(clause)
    if parted is None:
        return
    ties, whom = parted
    named = leading_name(whom) if whom else None
    mine = clause.subject.own or clause.subject.mine or said.speaker in clause.subject.names
    other = named[0] if named else next((one for one in clause.subject.names if one != said.speaker), ANY)
    owner = said.speaker if mine else clause.subject.name
    if not mine and clause.subject.plural:
        return
    if not mine or clause.subject.given:
        other = clause.subject.given or (named[0] if named else ANY)
    for one in ties:
        yield ending(clause, said, fact(clause, one, other, subject=owner, importance=0.8, topic="personal"))


def _parted(clause: Clause) -> tuple[tuple[str, ...], str | None] | None:
    """Return which ties have ended and, where it is said, from whom; None when none has."""
    if clause.copula or clause.lemma == "get":
        found = _DIVORCED.match(clause.rest)
        return (("married-to",), found["whom"]) if found else None
    if clause.passive and clause.lemma == "divorce":
        return ("married-to",), None
    if not clause.happened:
        return None
    if clause.lemma == "divorce":
        return ("married-to",), clause.rest.strip()
    apart = _APART.match(clause.rest)
    whole = clause.lemma in {"break", "split"} and _UP.match(clause.rest) is not None
    if apart is not None and (whole or (clause.lemma == "separate" and _alone(clause.rest))):
        return _MATES, apart["whom"]
    return None


def _alone(rest: str) -> bool:
    """Tell whether nothing is named that was separated: `separated last year`, but not `separated the files`."""
    return not rest.strip(" .!") or _TIMED.match(rest) is not None or rest.startswith(" from my")


def death(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `Rex died`, `my husband passed away`, `my dog Rex is dead`: whom one no longer has."""
    away = clause.lemma == "die" or (clause.lemma == "pass" and clause.rest.startswith(" away"))
    gone = clause.copula and clause.holds and _DEAD.match(clause.rest) is not None
    if not ((away and clause.happened) or gone):
        return
    subject = clause.subject
    if subject.who is Who.NAMED and not subject.plural:
        for one in _KEPT_BY_BOTH:
            yield ending(clause, said, fact(clause, one, subject.name, subject=said.speaker, topic="personal"))
    elif subject.who is Who.POSSESSED and subject.mine and subject.noun:
        yield from _lost(clause, said, subject.noun, subject.given)


def _lost(clause: Clause, said: SpeakerContext, noun: str, given: str | None) -> Iterator[Draft]:
    owner, work, tied = said.speaker, COLLEAGUES.get(noun), tie_of(noun)
    if work:
        yield ending(clause, said, relation(clause, work, given or ANY, start=owner))
    elif tied in _MATES or (tied is not None and given):
        yield ending(clause, said, fact(clause, tied, given or ANY, subject=owner, topic="personal"))


def losing(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `lost our dog Rex`, `had to put Rex down`: whom one no longer has."""
    put = clause.lemma in {"put", "have"}
    found = (_PUT_DOWN if put else _LOST_ONE).match(clause.rest)
    told = clause.happened or (clause.lemma == "put" and clause.holds)
    if found is None or not told or not clause.subject.own:
        return
    someone = tie_of(found["noun"].lower()) if found["noun"] else kind_of(found["name"]) not in {PLACE, ORGANIZATION}
    if someone:
        for one in _KEPT_BY_BOTH:
            yield ending(
                clause, said, fact(clause, one, bare_name(found["name"]), subject=said.speaker, topic="personal")
            )


def selling(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `sold my Tesla`."""
    found = thing_after(_OWN, clause.rest) if clause.happened else None
    if found is not None:
        yield ending(clause, said, fact(clause, "owns", found.name, topic="personal"))


RULES: Final[Mapping[str, tuple[Rule, ...]]] = {
    **dict.fromkeys(("leave", "quit", "resign", "retire"), (leaving,)),
    "lose": (leaving, losing),
    **dict.fromkeys(("move", "drop", "graduate"), (departing,)),
    **dict.fromkeys(("divorce", "break", "split", "separate"), (separating,)),
    **dict.fromkeys(("die", "pass"), (death,)),
    **dict.fromkeys(("get",), (dismissal, separating)),
    **dict.fromkeys(("fire", "let", "lay", "dismiss", "sack"), (dismissal,)),
    "be": (dismissal, separating, death),
    "sell": (selling,),
    **dict.fromkeys(("put", "have"), (losing,)),
}


def past_state(clause: Clause, said: SpeakerContext, *, topic: str, importance: float = 0.5) -> Iterator[Draft]:
    """Yield the state as an event, approximate where no time is named (seed 000): it is no fact any more."""
    if clause.subject.who in {Who.PRONOUN, Who.ADDRESSEE}:
        return
    time = event_time.find(clause.whole, said.now)
    description = retell(clause, said, time)
    if description is not None:
        yield event(
            clause, description, time, [clause.subject.name], importance=importance, topic=topic, approximate=True
        )
