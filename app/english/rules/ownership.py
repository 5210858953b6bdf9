"""What people lead, own and use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from app.english.names import is_group, kind_of
from app.english.rules.clause import Clause, SpeakerContext, Who
from app.english.rules.drafts import Draft, fact, relation
from app.english.rules.noun_phrases import Thing, thing
from app.english.rules.preference_keys import CHOSEN, kind_of_choice
from app.english.word_lists import GROUPS, KINDS, word_set

_QUANTITY: Final = re.compile(
    r"\s+(?:a|an|\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|several)\s", re.IGNORECASE
)
_BUSINESS: Final = re.compile(
    r"\s+(?:the|our|my|its|a)\s+(?:\S+\s+){0,4}(?:team|company|project|shop|store|business|department|group|lab|studio"
    r"|restaurant|office|division|program|programme|channel|blog|bakery|cafe)\b",
    re.IGNORECASE,
)
_OWNED: Final = ("my ", "our ", "his ", "her ")
_NO_TOOL: Final = word_set("to up as all both public drugs every my his her their me")
_NOT_LED: Final = word_set("to up sure people everyone time stress expectations it way by me")
_LED: Final = GROUPS | KINDS["project"] | KINDS["organization"] | {"office", "budget"}
_PROJECT: Final = re.compile(r"(?<=[a-z\d])\s+project$")
_LONGEST_TOOL: Final = 5


def leads(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `manages the project`, `leads a team of five engineers`."""
    found = thing(clause.rest)
    if not clause.holds or found is None or found.first in _NOT_LED:
        return
    if clause.lemma in {"run", "head"} and _BUSINESS.match(clause.rest) is None:
        return
    if _QUANTITY.match(clause.rest):
        if found.head in _LED | {"people", "engineers", "staff"}:
            yield fact(clause, "manages", found.whole, topic="work")
    elif found.head == "team" and clause.rest.lstrip().lower().startswith(("my ", "our ")):
        yield relation(clause, "manages", f"{said.speaker}'s team")
    elif _is_led(found, clause, said):
        yield relation(clause, "manages", _PROJECT.sub("", found.name) if found.capital else found.name)


def _is_led(found: Thing, clause: Clause, said: SpeakerContext) -> bool:
    """Tell whether it is someone or something that is led, rather than stress or time."""
    definite = clause.rest.lstrip().lower().startswith(("the ", "our ", "my "))
    return (
        found.capital
        or found.head in _LED
        or is_group(found.name)
        or (definite and kind_of(found.name, said.people) is not None)
    )


def owns(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `own a bakery`, `Volkswagen owns Audi`."""
    found = thing(clause.rest)
    if found is None or not clause.holds:
        return
    if clause.subject.who is Who.NAMED and found.capital:
        yield relation(clause, "owns", found.name)
    else:
        yield fact(clause, "owns", found.whole, stateful=False, topic="personal")


def uses_tool(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `the team uses OTLP HTTP`, `I use Vim for quick edits`; what is used by choice is a preference."""
    found = thing(clause.rest)
    if found is None or not clause.holds or clause.progressive or found.first in _NO_TOOL:
        return
    if clause.rest.lstrip().lower().startswith(_OWNED) or found.words > _LONGEST_TOOL or "always" in clause.adverbs:
        return
    if clause.adverbs & CHOSEN and kind_of_choice(found.name) is not None:
        return
    if any(letter.isupper() for letter in found.name) or (clause.subject.who is not Who.SPEAKER and found.words > 1):
        yield fact(clause, "uses", found.name, stateful=False, importance=0.6, topic="tech")
