"""Happenings, activities, promises, due dates.

What falls on a day that is named: `the grant report is due on Friday`, `the new deadline is 3 May`.

What happened, and what is planned for a time: life events by themselves, other doings when a time is named.

What goes on: `I've been using a French press`, `training for a marathon`, `planning a trip to Jordan`.

What someone has promised, wants done, or has on a date: `promised Doreth I'd email her the schedule by Friday`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from app.english.names import leading_name, token_names
from app.english.rules import event_time
from app.english.rules.clause import Clause, SpeakerContext, Tense, Who
from app.english.rules.drafts import PASSING, Draft, Rule, event, fact, owner_part, participants, retell, topic_of, who
from app.english.rules.habits import OFTEN, speaks
from app.english.rules.life_events import ABSTRACT, AFTER, AHEAD, GATED, MINOR, STATES, STRONG, TOLD_OF_OTHERS, WEAK
from app.english.rules.noun_phrases import describes_event, says_something, value
from app.english.rules.sentences import HIDDEN
from app.english.word_lists import word_set
from app.model import Precision

_WHAT: Final = r"(?:(?:the|our|my)\s+(?:new\s+)?)(?P<what>(?:[\w&'/-]+\s){0,4}?"

_DAY: Final = r"(?P<when>[^.;!?()]{2,60})"

_DUE: Final = re.compile(rf"\b{_WHAT}[\w&'/-]+)\s+(?P<how>is|are)\s+(?:now\s+|also\s+)?due\s+{_DAY}", re.IGNORECASE)

_DEADLINE: Final = re.compile(
    r"\b(?P<new>new\s+)?deadline(?:\s+for\s+(?:the\s+|my\s+|our\s+)?(?P<what>[\w&'/-]+(?:\s[\w&'/-]+){0,3}?))?\s+"
    rf"(?:is|(?:has\s+(?:been\s+)?|was\s+)?(?:moved|extended|pushed)(?:\s+back)?(?:\s+to)?)\s+(?:now\s+)?{_DAY}",
    re.IGNORECASE,
)

_HELD: Final = re.compile(
    r"\bthe\s+(?P<what>(?:[\w&'/-]+\s){0,4}?(?:demo|meeting|launch|release|review|retro|kick-?off|conference|wedding"
    r"|party|exam|interview|workshop|presentation|concert|ceremony|audit|go-live|hearing|election|match))"
    r"\s+(?:is|are)\s+(?:now\s+)?"
    r"(?P<when>(?:on|at|in|next|this|tomorrow|today|tonight|the\s+\d)\b[^.;!?()]{0,60})",
    re.IGNORECASE,
)

_BY: Final = re.compile(r"^(?:by|before|until)\s+", re.IGNORECASE)

_UNSURE: Final = re.compile(
    r"\b(?:if|unless|whether|in\s+case|suppose|imagine|wish|hope|doubt|unsure|not\s+sure|don't\s+think)\b",
    re.IGNORECASE,
)

_KNOWN: Final = frozenset({Precision.EXACT, Precision.DAY})

_IMPORTANCE: Final = 0.7


def due_dates(text: str, clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Yield what a sentence says is due, or is held, on a day to come; `clause` says who speaks."""
    if HIDDEN in text:
        return
    for pattern in (_DUE, _DEADLINE, _HELD):
        for found in pattern.finditer(text):
            if _UNSURE.search(text, 0, found.start()):
                break
            time = event_time.find(_BY.sub("on ", found["when"]), said.now, prefer="future")
            what = value(describes_event(found["what"])) if found["what"] else "deadline"
            if time is None or time.precision not in _KNOWN or what is None:
                continue
            due = (
                ""
                if pattern is _HELD or not found["what"]
                else " is due"
                if pattern is _DEADLINE
                else f" {found['how']} due"
            )
            yield event(clause, f"{what}{due}", time, importance=_IMPORTANCE, topic=topic_of(what))


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


def events_in(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Yield the event a clause tells of; nothing for states, for what is vague, or what does not stand alone."""
    if clause.negated or clause.subject.who in {Who.PRONOUN, Who.ADDRESSEE}:
        return
    been = clause.copula and clause.perfect and clause.rest.startswith("to ")
    if clause.happened and (been or not clause.copula) and not clause.progressive:
        yield from _past(clause, said)
    elif clause.lemma in _COMING and _is_coming(clause):
        yield from _ahead(clause, said)


def _past(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    time = event_time.find(clause.whole, said.now)
    life = _is_life(clause)
    description = retell(clause, said, time) if life or _is_worth_telling(clause, time) else None
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


def _is_worth_telling(clause: Clause, time: event_time.ClauseTime | None) -> bool:
    """Tell whether something told with a time, or of someone by name, says what was done and to what."""
    others = clause.subject.who is Who.NAMED or len(clause.subject.names) > 1
    rest = _PARTICLE.sub("", clause.rest, count=1) if others else clause.rest
    if _SPECIFIC.match(clause.rest) is None or ABSTRACT.match(rest):
        return False
    if others:
        return clause.lemma not in STATES - TOLD_OF_OTHERS and not clause.perfect
    if clause.subjectless:
        return clause.lemma not in STATES - TOLD_OF_OTHERS and next(token_names(clause.rest), None) is not None
    if time is None or any(clause.whole[first:last].lower() == "just" for first, last in time.spans):
        return False
    return clause.lemma not in STATES and (clause.lemma not in _LIGHT or _MADE.match(clause.rest) is not None)


def _is_empty(description: str, clause: Clause, time: event_time.ClauseTime | None) -> bool:
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


def _ahead(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Yield what is planned for a time that is named: `User plans to visit Tokyo in June`."""
    time = event_time.find(clause.whole, said.now, prefer="future") if _SOON.search(clause.whole) else None
    if time is None or time.day is None or time.day[:7] < said.now.date().isoformat()[:7]:
        return
    description = retell(clause, said, time)
    if description is not None:
        yield event(clause, description, time, participants(clause, said, description), topic=topic_of(description))


_NEVER: Final = word_set(
    """
    be feel think want look wonder mean mention hear see say tell talk chat ask wait hope wish need know get go have do
    come try consider enjoy love like plan crave miss make hate worry stress guess figure notice put keep work
    """
)
"""Verbs of which having been at it tells little: thoughts, talk, and verbs that need their object read."""

_PROJECTS: Final = word_set(
    """
    write build train learn study prepare organize organise develop design renovate restore save practice practise teach
    coach create launch research compose record apply sell collect grow raise run
    """
)
"""Verbs of what one is at for a while, so that `I'm training for a marathon` will matter."""

_AT_IT: Final = re.compile(
    r"(?:dealing with|suffering from|struggling with|recovering from|living with|trying to|working on|going to"
    r"|getting into)\b",
    re.IGNORECASE,
)

_POINTING: Final = re.compile(
    r"\b(?:it|this|that|these|those|them|him|her|he|she|they|you|your|there|here|something|things|stuff|one|ones|what|how"
    r"|a few more|a (?:lot|ton|bunch)|tons|lots|everything|each other|some|me|us|myself|about)\b",
    re.IGNORECASE,
)

_HOW_LONG: Final = re.compile(
    r"\s+(?:for\s+(?:the\s+(?:past|last)\s+)?(?:about\s+|over\s+|almost\s+)?"
    r"(?:(?:an?|\d+|two|three|four|five|six|seven|eight|nine|ten|several|many|a few)\s+)?"
    r"(?:days?|weeks?|months?|years?|hours?|ages|while)|lately|recently|these days|right now|at the moment|now"
    r"|regularly"
    r"|since\b.*|so far|already|again|today|tonight|this (?:week|morning|afternoon|evening)|all (?:day|week"
    r"|morning))\b",
    re.IGNORECASE,
)

_TAIL: Final = re.compile(
    r"(?:[\s,]+(?:too|as well|soon|especially|and|for|with|in|on|at|a|the|to|of))+$", re.IGNORECASE
)

_OF_NOW: Final = re.compile(
    r"\b(?:right now|at the moment|today|tonight|this (?:morning|afternoon|evening|week)|all (?:day|morning|week))\b",
    re.IGNORECASE,
)

_PLANNED_ACTIVITY: Final = re.compile(
    r"\s+(?:(?:a|an|my|our|another)\s+(?:\w+\s+){0,3}?(?:trip|vacation|wedding|party|move|visit|holiday|event|tournament"
    r"|fundraiser|marathon|honeymoon|getaway|conference|workshop|reunion|surgery|renovation)\b|(?P<deed>(?:to|on)\s+\w+))",
    re.IGNORECASE,
)

_IDLE: Final = re.compile(
    r"(?:to|on)\s+(?:use|ask|check|try|look|do|see|go|make|think|add|start with|stick|reach|be|have|find|keep|upgrade"
    r"|include|research|experiment|\w+ing)\b",
    re.IGNORECASE,
)
"""Plans for the work at hand: what one is about to look up, ask or try out."""

_CONSIDERED: Final = re.compile(
    r"\s+(?:of\s+|about\s+)?(?P<what>(?:switching|moving|buying|getting|adopting|applying|quitting|leaving|starting|joining"
    r"|enrolling|hiring|selling|opening|learning|studying|retiring|investing|migrating|upgrading|visiting (?!on\b|in\b)"
    r"|travell?ing|going|entering|working|becoming|changing|relocating|having (?:kids|children|a baby)"
    r"|taking (?:a|an|up|the)|renting|signing up|replacing|dropping)\s+.+)",
    re.IGNORECASE,
)

_HALF_SURE: Final = 0.5

_WEIGHED: Final = 0.6

_FEWEST: Final = {"trying": 3, "working": 4}
"""Words that must follow for it to say something: `working on a project` does not."""

_MOST: Final = 14


def activities(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read what someone has been doing, is at for a while, plans, or considers."""
    if not clause.holds or not clause.progressive or clause.subject.who in {Who.PRONOUN, Who.ADDRESSEE}:
        return
    if clause.subject.who is Who.POSSESSED and not clause.subject.given:
        return
    if next(speaks(clause, said), None) is not None:
        return
    if clause.lemma == "plan":
        yield from _planned(clause, said)
    elif clause.lemma in {"consider", "think"}:
        yield from _considered(clause)
    elif clause.perfect and not OFTEN.search(clause.rest):
        if clause.lemma not in _NEVER or _AT_IT.match(clause.verb + clause.rest):
            yield from _doing(clause, f"has-been-{clause.verb}")
    elif not clause.perfect and clause.lemma in _PROJECTS and not _OF_NOW.search(clause.whole):
        yield from _doing(clause, f"is-{clause.verb}")


def _doing(clause: Clause, predicate: str) -> Iterator[Draft]:
    what = _what(clause, clause.rest)
    if what is not None:
        topic = topic_of(f"{clause.verb} {what}")
        yield fact(clause, predicate, what, stateful=False, importance=PASSING, topic=topic)


def _what(clause: Clause, rest: str) -> str | None:
    """Return what it is that goes on, without how long; None when it is vague."""
    own = _TAIL.sub("", _HOW_LONG.sub("", owner_part(rest))).strip(" ,.")
    if clause.subject.own:
        own = describes_event(own)
    vague = _POINTING.search(own) or not says_something(own)
    least = _FEWEST.get(clause.verb, 2)
    return None if vague or not least <= len(own.split()) <= _MOST else own


def _planned(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Yield a plan without a time; one with a time is an event to come."""
    found = _PLANNED_ACTIVITY.match(clause.rest)
    if found is None or clause.tense is not Tense.PRESENT or (found["deed"] and _IDLE.match(found["deed"])):
        return
    what = _what(clause, clause.rest)
    if what is not None and event_time.find(clause.whole, said.now, prefer="future") is None:
        yield fact(clause, "is-planning", what, stateful=False, importance=0.5, topic=topic_of(what))


def _considered(clause: Clause) -> Iterator[Draft]:
    """Yield what is weighed: not done yet, so half as sure (seed 003)."""
    found = None if clause.perfect else _CONSIDERED.match(clause.rest)
    what = _what(clause, found["what"]) if found else None
    if what is not None:
        draft = fact(clause, "is-considering", what, stateful=False, topic=topic_of(what))
        yield Draft(
            type=draft.type, payload=draft.payload, confidence=_HALF_SURE, importance=_WEIGHED, topic=draft.topic
        )


_TO: Final = re.compile(r"(?P<whom>)\s+to\s+(?P<what>\w.+)")

_THAT: Final = re.compile(
    r"\s+(?:(?P<whom>the user|my \w+|(?-i:[A-Z])[\w'-]+(?:\s(?-i:[A-Z])[\w'-]+)?)\s+)?(?:that\s+)?"
    r"(?:(?:i|we)(?:'d|'ll| would| will)|to)\s+(?P<what>\w.+)",
    re.IGNORECASE,
)

_DUE_BY: Final = re.compile(r"\bby\b(?=\s)", re.IGNORECASE)

_LIMIT: Final = re.compile(r"\b(?:by|before|until)$", re.IGNORECASE)

_TIME: Final = re.compile(r"(?:on |at |in )?(?P<time>.{3,40}?(?:,\s?(?:19|20)\d\d\b)?)(?:\s*,.*)?$")

_ONLY_TIME: Final = re.compile(r"\W*(?:on|at|in)?\W*", re.IGNORECASE)

_POINTING_BACK: Final = re.compile(r"\b(?:it|this|that|these|those|them|you|your|there|here)\b", re.IGNORECASE)

_OF_OTHERS: Final = re.compile(r"\b(?:he|she|they|him|her|his|their)\b", re.IGNORECASE)

_DEED: Final = range(3, 27)

_WISH: Final = range(2, 15)

_LONGEST_DATE_NAME: Final = 2


def promises(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `promised Doreth I'd email her the schedule by Friday`, `committing to fixing the pipeline before June`."""
    if clause.negated or clause.modal or clause.subject.who in {Who.PRONOUN, Who.ADDRESSEE}:
        return
    promised = clause.lemma == "promise"
    found = _THAT.match(clause.rest) if promised else _TO.match(clause.rest)
    if found is None:
        return
    dated = _DUE_BY.sub("on", found["what"])  # a date to meet, not an open time; equally long
    time = event_time.find(dated, said.now, prefer="future")
    what = _LIMIT.sub("", owner_part(event_time.without(found["what"], time))).strip(" ,.")
    if clause.subject.own:
        if found["whom"] is None and _OF_OTHERS.search(what):
            return
        what = describes_event(what)
    if len(what.split()) not in _DEED or _POINTING_BACK.search(what) or not says_something(" ".join(what.split()[:8])):
        return
    who, whom = clause.subject.name, found["whom"] or ""
    verb = "promised" if promised else "committed"
    due = f"by {time.exact_day}" if time is not None and time.exact_day else ""
    sentence = " ".join(f"{who} {verb} {whom} to {what} {due}".split())
    people = [who, whom] if whom[:1].isupper() else [who]
    yield event(clause, sentence, time, people, importance=0.7, topic=topic_of(what))


def wanting(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `Ivora wants high-level summaries only`; what the speaker wants is mostly wanted for the moment."""
    if not clause.holds or clause.progressive or clause.subject.who not in {Who.NAMED, Who.USER}:
        return
    what = owner_part(clause.rest).strip(" ,.")
    what = re.sub(r"\bme\b", said.speaker, re.sub(r"\bmy\b", f"{said.speaker}'s", what))
    if len(what.split()) in _WISH and not _POINTING_BACK.search(what) and says_something(what):
        yield fact(clause, "wants", what, stateful=False, importance=0.5, topic=topic_of(what))


def appointments(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `my exam is next Friday`, `Ren's defense is May 6`: what someone has on a date."""
    subject = clause.subject
    theirs = subject.who is Who.POSSESSED and not subject.given and subject.owner not in {"he", "she", "they"}
    if not theirs or not clause.copula or not clause.holds or "birth" in (subject.noun or ""):
        return
    name = leading_name(clause.rest)
    found = _TIME.match(clause.rest)
    if found is None or (name and len(name[0].split()) > _LONGEST_DATE_NAME):
        return
    time = event_time.find(found["time"], said.now, prefer="future")
    if time is not None and _ONLY_TIME.fullmatch(event_time.without(found["time"], time)):
        yield event(clause, subject.name, time, [subject.owner or subject.name], topic=topic_of(subject.name))


RULES: Final[Mapping[str, tuple[Rule, ...]]] = {
    **dict.fromkeys(("promise", "commit"), (promises,)),
    "want": (wanting,),
    "be": (appointments,),
}
