"""What goes on: `I've been using a French press`, `training for a marathon`, `planning a trip to Jordan`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from app.providers.rules import when
from app.providers.rules.clause import Clause, Said, Tense, Who
from app.providers.rules.describe import own_part
from app.providers.rules.drafts import PASSING, Draft, fact
from app.providers.rules.habits import OFTEN, speaking
from app.providers.rules.phrases import says_something, told_of
from app.providers.rules.topics import topic_of
from app.providers.rules.words import word_set

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
_PLANNED: Final = re.compile(
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


def ongoing(clause: Clause, said: Said) -> Iterator[Draft]:
    """Read what someone has been doing, is at for a while, plans, or considers."""
    if not clause.holds or not clause.progressive or clause.subject.who in {Who.PRONOUN, Who.ADDRESSEE}:
        return
    if clause.subject.who is Who.POSSESSED and not clause.subject.given:
        return
    if next(speaking(clause, said), None) is not None:
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
    own = _TAIL.sub("", _HOW_LONG.sub("", own_part(rest))).strip(" ,.")
    if clause.subject.own:
        own = told_of(own)
    vague = _POINTING.search(own) or not says_something(own)
    least = _FEWEST.get(clause.verb, 2)
    return None if vague or not least <= len(own.split()) <= _MOST else own


def _planned(clause: Clause, said: Said) -> Iterator[Draft]:
    """Yield a plan without a time; one with a time is an event to come."""
    found = _PLANNED.match(clause.rest)
    if found is None or clause.tense is not Tense.PRESENT or (found["deed"] and _IDLE.match(found["deed"])):
        return
    what = _what(clause, clause.rest)
    if what is not None and when.find(clause.whole, said.now, prefer="future") is None:
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
