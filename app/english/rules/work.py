"""Where people work, as what, with whom, and for whom."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from app.english.names import ORGANIZATION, PERSON, is_group, is_place, kind_of
from app.english.rules import event_time
from app.english.rules.clause import Clause, SpeakerContext, Who
from app.english.rules.departures import past_state
from app.english.rules.drafts import FACTUAL, Draft, Rule, event, fact, relation
from app.english.rules.noun_phrases import Thing, thing, thing_after, value
from app.english.rules.occupations import employer_at, organisation, position
from app.english.word_lists import COLLEAGUES, KINDS, word_set

_FOR: Final = re.compile(r"\s+(?:directly\s+)?(?P<how>for|under)\s+", re.IGNORECASE)
_TO: Final = re.compile(r"\s+(?:directly\s+)?to\s+", re.IGNORECASE)
_BY: Final = re.compile(r"\s+(?:by|at|with)\s+", re.IGNORECASE)
_AS: Final = re.compile(r"[^,]{0,60}?\bas\s+(?=(?:a|an|the|our|their|head|chief|lead)\b)", re.IGNORECASE)
_WITH: Final = re.compile(r"\s+(?:closely\s+)?(?:with|alongside)\s+", re.IGNORECASE)
_TOGETHER: Final = re.compile(r"\s+(?:closely\s+)?together\b(?:\s+(?:on|in|at|for)\s+)?", re.IGNORECASE)
_ON: Final = re.compile(r"\s+on\s+(?=the\s|our\s|my\s|[A-Z])")
_IN: Final = re.compile(r"\s+in\s+", re.IGNORECASE)
_MANNER: Final = re.compile(
    r"\s+(?:remotely|from home|full[- ]time|part[- ]time|night shifts?|freelance)\b", re.IGNORECASE
)
_JOB: Final = re.compile(
    r"\s+(?P<job>working|(?:a|my|the)\s+(?:new\s+)?(?:job|role|position))?(?=\s+(?:at|for|as|with)\s)", re.IGNORECASE
)
_POST: Final = re.compile(
    r"\s+(?:a|the|my)\s+(?:\w+\s+){0,2}?(?:job|role|position|post)(?=\s+(?:at|with)\s)", re.IGNORECASE
)
_STILL: Final = re.compile(r"\b(?:since|for)\s+(?:\S+\s+){0,3}(?:\d|years?|months?|weeks?|[A-Z])")
_ANY_MORE: Final = re.compile(r"\b(?:any ?more|any longer)\b", re.IGNORECASE)
_PROMOTED: Final = re.compile(r"\s+(?:promoted|hired)\b", re.IGNORECASE)
_FOR_THE_DAY: Final = re.compile(
    r"\b(?:today|tonight|this (?:morning|afternoon|evening|week|weekend))\b", re.IGNORECASE
)
_AT_PRESENT: Final = re.compile(r"\b(?:right now|at the moment)\b", re.IGNORECASE)
_NOBODY: Final = word_set("myself himself herself themselves peanuts money cash pay food tips friend friends")
_NEW: Final = re.compile(r"^(?:new|local|small)\s+")
_NO_FIELD: Final = ("progress", "my ", "person", "pairs", "general")
_LONGEST_FIELD: Final = 4


def works(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `work at, for, as, in, on, with, together`."""
    over = clause.perfect and not (clause.progressive or _STILL.search(clause.rest))
    if clause.past_state or (clause.holds and over):
        yield from _worked(clause, said)
    elif clause.holds:
        yield from _works(clause, said)
    elif clause.negated and (_ANY_MORE.search(clause.rest) or "longer" in clause.adverbs):
        yield from _no_longer(clause)


def _works(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    yield from _employed(clause, said)
    yield from _as(clause, clause.rest)
    if found := _MANNER.match(clause.rest):
        yield fact(clause, "works", found.group().strip().lower(), stateful=False, topic="work")
    yield from _side_by_side(clause, said)
    yield from _field(clause)
    yield from _began(clause, said)


def _employed(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    under = _FOR.match(clause.rest)
    boss = thing_after(_FOR, clause.rest)
    if under and boss and (_is_boss(boss, said) or under["how"].lower() == "under"):
        yield relation(clause, "reports-to", boss.name)
        return
    employer = employer_at(clause.rest, 0)
    if employer is not None and not _is_no_employer(employer.text, clause, said):
        yield fact(clause, "works-at", employer.text, importance=0.8, topic="work")


def _is_no_employer(name: str, clause: Clause, said: SpeakerContext) -> bool:
    """Tell whether one works with it, for it, or there without having a job there: `with Excel`, `at a cafe today`."""
    if name.lower().split()[0] in _NOBODY or (clause.progressive and _FOR_THE_DAY.search(clause.rest)):
        return True
    if clause.progressive and not name[0].isupper() and _AT_PRESENT.search(clause.rest):
        return True
    if _WITH.match(clause.rest) is None or is_group(name):
        return False
    known = kind_of(name, said.people)
    return known != ORGANIZATION


def _is_boss(found: Thing, said: SpeakerContext) -> bool:
    """Tell whether one works for this as for a person."""
    title = found.name.lower().removeprefix("my ").removeprefix("the ")
    return kind_of(found.name, said.people) == PERSON or title in COLLEAGUES


def _as(clause: Clause, rest: str) -> Iterator[Draft]:
    found = _AS.match(rest)
    held = position(rest[found.end() :]) if found else None
    if held:
        yield fact(clause, "has-role", held.role, topic="work")
        if held.employer:
            yield fact(clause, "works-at", held.employer, importance=0.8, topic="work")


def _side_by_side(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    colleague = thing_after(_WITH, clause.rest)
    named = colleague is not None and colleague.capital and clause.subject.who is Who.NAMED
    if colleague and (named or kind_of(colleague.name, said.people) == PERSON):
        yield relation(clause, "works-with", colleague.name)
    if _TOGETHER.match(clause.rest) is None:
        return
    names = clause.subject.names
    for other in names[1:]:
        yield relation(clause, "works-with", other, start=names[0])
    group = thing_after(_TOGETHER, clause.rest)
    if group and is_group(group.name):
        for name in names:
            yield relation(clause, "member-of", group.name, start=name, inferred=True)


def _field(clause: Clause) -> Iterator[Draft]:
    """Read `work in marketing`, `work on the Atlas project`."""
    project = thing_after(_ON, clause.rest)
    if project and project.words > 1 and is_group(project.name):
        yield relation(clause, "member-of", project.name)
    elif project and project.words > 1 and project.last in KINDS["project"]:
        yield fact(clause, "works-on", project.name, stateful=False, topic="work")
    field = thing_after(_IN, clause.rest)
    if field and field.words <= _LONGEST_FIELD and not field.name.lower().startswith(_NO_FIELD):
        yield fact(clause, "works-in", field.name, topic="work")


def _began(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Yield the beginning of what has been since: `I've worked at Volkswagen since 2019`."""
    began = event_time.since(clause.rest, said.now)
    employer = employer_at(clause.rest, 0)
    if began is not None and employer is not None and clause.subject.who is not Who.PRONOUN:
        words = f" {began.words}" if began.words else ""
        description = f"{clause.subject.name} started working at {employer.text}{words}"
        yield event(clause, description, began, [clause.subject.name, employer.text], topic="work")


def _worked(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    if employer_at(clause.rest, 0) is not None or _AS.match(clause.rest) is not None:
        yield from past_state(clause, said, topic="work")


def _no_longer(clause: Clause) -> Iterator[Draft]:
    employer = employer_at(clause.rest, 0)
    name = None if employer is None else value(_ANY_MORE.sub("", employer.text))
    if name and clause.subject.who is not Who.PRONOUN:
        who = clause.subject.name
        yield event(
            clause, f"{who} no longer works at {name}", None, [who, name], importance=FACTUAL, topic="work",
            approximate=True,
        )  # fmt: skip


def gets_job(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `got a new job at Acme`, `accepted a position with Acme`: where one works, now or soon."""
    job = _POST.match(clause.rest) if clause.happened and not clause.passive else None
    employer = employer_at(clause.rest, job.end()) if job and clause.subject.who is not Who.ADDRESSEE else None
    if employer is not None and employer.text[0].isupper():
        yield fact(clause, "works-at", employer.text, importance=0.8, topic="work", inferred=True)


def starting(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `started working at Acme`, `started a new job as a nurse`: where one works now."""
    job = _JOB.match(clause.rest) if clause.happened else None
    if job and (job["job"] or clause.rest.startswith(" at ")):
        after = clause.rest[job.end() :]
        yield from _as(clause, after)
        employer = employer_at(after, 0)
        if employer:
            yield fact(clause, "works-at", employer.text, importance=0.8, topic="work")


def joining(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `joined the platform team`, `joined Volkswagen as an engineer`."""
    found = thing(clause.rest)
    if found is None or not clause.happened or clause.subject.who is Who.ADDRESSEE:
        return
    name = _NEW.sub("", found.name)
    if is_group(name) and " " in name:
        time = event_time.find(clause.whole, said.now)
        yield relation(clause, "member-of", name, since=time.exact_day if time else None)
    elif kind_of(name) == ORGANIZATION and not is_group(name):
        yield fact(clause, "works-at", organisation(name) or name, importance=0.8, topic="work", inferred=True)
    yield from _as(clause, clause.rest[found.end :])


def reporting(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `report to Sarah`."""
    boss = thing_after(_TO, clause.rest)
    if boss and clause.holds and (boss.capital or boss.name.lower().startswith(("my ", "the "))):
        began = event_time.since(clause.rest, said.now)
        yield relation(clause, "reports-to", boss.name, since=began.exact_day if began else None)


def promoting(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `was promoted to senior engineer`, `got hired by Acme as a designer`."""
    got = _PROMOTED.match(clause.rest) if clause.lemma == "get" else None
    if not clause.happened or not (got or clause.passive):
        return
    rest = clause.rest[got.end() :] if got else clause.rest
    to = _TO.match(rest)
    held = position(rest[to.end() :]) if to else None
    if held:
        yield fact(clause, "has-role", held.role, topic="work")
    yield from _by(clause, rest, inferred=True)
    yield from _as(clause, rest)


def employing(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `employed by Acme`."""
    if clause.passive and clause.holds:
        yield from _by(clause, clause.rest, inferred=False)


def _by(clause: Clause, rest: str, *, inferred: bool) -> Iterator[Draft]:
    found = thing_after(_BY, rest)
    name = None if found is None else organisation(found.text)
    if name and not is_place(name):
        yield fact(clause, "works-at", name, importance=0.8, topic="work", inferred=inferred)


RULES: Final[Mapping[str, tuple[Rule, ...]]] = {
    "work": (works,),
    **dict.fromkeys(("start", "begin"), (starting,)),
    "join": (joining,),
    "report": (reporting,),
    **dict.fromkeys(("promote", "hire"), (promoting,)),
    "get": (promoting, gets_job),
    **dict.fromkeys(("land", "accept", "take"), (gets_job,)),
    "employ": (employing,),
}
