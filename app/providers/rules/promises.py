"""What someone has promised, wants done, or has on a date: `promised Doreth I'd email her the schedule by Friday`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from app.providers.rules import when
from app.providers.rules.clause import Clause, Said, Who
from app.providers.rules.describe import own_part
from app.providers.rules.drafts import Draft, Rule, event, fact
from app.providers.rules.names import leading_name
from app.providers.rules.phrases import says_something, told_of
from app.providers.rules.topics import topic_of

_TO: Final = re.compile(r"(?P<whom>)\s+to\s+(?P<what>\w.+)")
_THAT: Final = re.compile(
    r"\s+(?:(?P<whom>the user|my \w+|(?-i:[A-Z])[\w'-]+(?:\s(?-i:[A-Z])[\w'-]+)?)\s+)?(?:that\s+)?"
    r"(?:(?:i|we)(?:'d|'ll| would| will)|to)\s+(?P<what>\w.+)",
    re.IGNORECASE,
)
_BY: Final = re.compile(r"\bby\b(?=\s)", re.IGNORECASE)
_LIMIT: Final = re.compile(r"\b(?:by|before|until)$", re.IGNORECASE)
_TIME: Final = re.compile(r"(?:on |at |in )?(?P<time>.{3,40}?(?:,\s?(?:19|20)\d\d\b)?)(?:\s*,.*)?$")
_ONLY_TIME: Final = re.compile(r"\W*(?:on|at|in)?\W*", re.IGNORECASE)
_POINTING: Final = re.compile(r"\b(?:it|this|that|these|those|them|you|your|there|here)\b", re.IGNORECASE)
_OF_OTHERS: Final = re.compile(r"\b(?:he|she|they|him|her|his|their)\b", re.IGNORECASE)
_DEED: Final = range(3, 27)
_WISH: Final = range(2, 15)
_LONGEST_DATE_NAME: Final = 2


def promising(clause: Clause, said: Said) -> Iterator[Draft]:
    """Read `promised Doreth I'd email her the schedule by Friday`, `committing to fixing the pipeline before June`."""
    if clause.negated or clause.modal or clause.subject.who in {Who.PRONOUN, Who.ADDRESSEE}:
        return
    promised = clause.lemma == "promise"
    found = _THAT.match(clause.rest) if promised else _TO.match(clause.rest)
    if found is None:
        return
    dated = _BY.sub("on", found["what"])  # a date to meet, not an open time; equally long
    time = when.find(dated, said.now, prefer="future")
    what = _LIMIT.sub("", own_part(when.without(found["what"], time))).strip(" ,.")
    if clause.subject.own:
        if found["whom"] is None and _OF_OTHERS.search(what):
            return
        what = told_of(what)
    if len(what.split()) not in _DEED or _POINTING.search(what) or not says_something(" ".join(what.split()[:8])):
        return
    who, whom = clause.subject.name, found["whom"] or ""
    verb = "promised" if promised else "committed"
    due = f"by {time.exact_day}" if time is not None and time.exact_day else ""
    sentence = " ".join(f"{who} {verb} {whom} to {what} {due}".split())
    people = [who, whom] if whom[:1].isupper() else [who]
    yield event(clause, sentence, time, people, importance=0.7, topic=topic_of(what))


def wanting(clause: Clause, said: Said) -> Iterator[Draft]:
    """Read `Ivora wants high-level summaries only`; what the speaker wants is mostly wanted for the moment."""
    if not clause.holds or clause.progressive or clause.subject.who not in {Who.NAMED, Who.USER}:
        return
    what = own_part(clause.rest).strip(" ,.")
    what = re.sub(r"\bme\b", said.speaker, re.sub(r"\bmy\b", f"{said.speaker}'s", what))
    if len(what.split()) in _WISH and not _POINTING.search(what) and says_something(what):
        yield fact(clause, "wants", what, stateful=False, importance=0.5, topic=topic_of(what))


def scheduled(clause: Clause, said: Said) -> Iterator[Draft]:
    """Read `my exam is next Friday`, `Ren's defense is May 6`: what someone has on a date."""
    subject = clause.subject
    theirs = subject.who is Who.POSSESSED and not subject.given and subject.owner not in {"he", "she", "they"}
    if not theirs or not clause.copula or not clause.holds or "birth" in (subject.noun or ""):
        return
    name = leading_name(clause.rest)
    found = _TIME.match(clause.rest)
    if found is None or (name and len(name[0].split()) > _LONGEST_DATE_NAME):
        return
    time = when.find(found["time"], said.now, prefer="future")
    if time is not None and _ONLY_TIME.fullmatch(when.without(found["time"], time)):
        yield event(clause, subject.name, time, [subject.owner or subject.name], topic=topic_of(subject.name))


RULES: Final[Mapping[str, tuple[Rule, ...]]] = {
    **dict.fromkeys(("promise", "commit"), (promising,)),
    "want": (wanting,),
    "be": (scheduled,),
}
