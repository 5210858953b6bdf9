"""Where people move to: `moved from Boston to Berlin to work at Volkswagen`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from app.english.names import ORGANIZATION, is_group, is_place, kind_of
from app.english.rules import values
from app.english.rules.clause import Clause, SpeakerContext
from app.english.rules.drafts import Draft, fact, relation
from app.english.rules.rows import is_done
from app.english.rules.values import employer_at, occupation_of, organisation

_TO: Final = re.compile(r"[^,]{0,80}?\b(?:in)?to\s+", re.IGNORECASE)
_FROM: Final = re.compile(r"[^,]{0,80}?\bfrom\s+", re.IGNORECASE)
_AIM: Final = re.compile(r"\bto\s+(?:work|start(?:\s+working)?|be|become|take\s+a\s+job)(?:\s+as)?\b", re.IGNORECASE)


def moves(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read where one lives since a move, and works when that is its aim or an employer its end."""
    if not is_done(clause):
        return
    aim = _AIM.search(clause.rest)
    if aim:
        yield from _aim(clause, clause.rest[aim.end() :])
    road = clause.rest[: aim.start()] if aim else clause.rest
    target, source = _place_after(_TO, road, said), _place_after(_FROM, road, said)
    if target is None:
        return
    if is_group(target):
        if " " in target and not target.lower().startswith("new "):
            yield relation(clause, "member-of", target)
    elif ORGANIZATION in {kind_of(target), kind_of(source or "")} and not is_place(target):
        yield fact(clause, "works-at", organisation(target) or target, importance=0.8, topic="work")
    elif is_place(target) or (target[0].isupper() and kind_of(target) is None and (not source or is_place(source))):
        yield fact(clause, "lives-in", target, importance=0.8, topic="personal")


def _aim(clause: Clause, rest: str) -> Iterator[Draft]:
    """Yield what someone moved for: an employer, or a role."""
    held = occupation_of(rest)
    employer = employer_at(rest, 0)
    if held is not None:
        yield fact(clause, "has-role", held.role, topic="work")
    name = employer.text if employer is not None else held.employer if held is not None else None
    if name:
        yield fact(clause, "works-at", name, importance=0.8, topic="work")


def _place_after(lead: re.Pattern[str], rest: str, said: SpeakerContext) -> str | None:
    found = lead.match(rest)
    return next(values.place(rest[found.end() :], said), None) if found else None
