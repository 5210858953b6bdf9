"""Attributes of somebody by their names: `my blood type is O negative`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from app.english.rules import occupations, values
from app.english.rules.clause import Clause, SpeakerContext, Who
from app.english.rules.drafts import Draft, fact
from app.english.rules.noun_phrases import value
from app.memory import vocabulary
from app.section_files import read_sections

_OF_PERSONS: Final = frozenset(
    line.split()[0]
    for title in ("persons", "health", "work and study")
    for line in read_sections("app.english", "predicates")[title]
)
_READ_ELSEWHERE: Final = frozenset(
    {"has-name", "born-on", "has-age", "has-goal", "has-pronouns", "has-role", "lives-with"}
)
"""Attributes that rules of their own read."""

_READ_BY: Final[Mapping[str, values.Value]] = {
    "has-nationality": values.nationality,
    "has-age": values.age,
    "has-diet": values.diet,
}

_OF_WORDS: Final = frozenset({"has-gender", "has-relationship-status"})
"""Attributes whose value is a plain word; that of the others has a number or a name."""

_TELLING: Final = re.compile(r"\d|[A-Z]|\w@\w")
_END: Final = re.compile(r"[,;:!?()]|\.(?=\s|$)|\s(?:and|but|so|because|since|now|until)\b")
_WHOLE: Final = re.compile(r"[;:!?()]|\.(?=\s|$)")
"""Ends of a value that has commas."""
_MOST_WORDS: Final = 8


def attributes(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read what the vocabulary has a predicate for: `my home town is Ghent`, `my email is a.vogel@example.org`."""
    subject = clause.subject
    if subject.who is not Who.POSSESSED or not clause.holds or subject.given is not None or subject.owner is None:
        return
    predicate = vocabulary.predicate(subject.noun or "")
    if predicate == "has-role":
        found = list(occupations.role(f"a {clause.rest}", said))
    elif predicate in _READ_BY:
        found = list(_READ_BY[predicate](clause.rest, said))
    elif predicate in _OF_PERSONS - _READ_ELSEWHERE and vocabulary.ENTITY_PREDICATES.get(predicate) != "person":
        found = list(_values(predicate, clause.rest))
    else:
        return
    for one in found:
        yield fact(clause, predicate, one, subject=subject.owner)


def _values(predicate: str, text: str) -> Iterator[str]:
    """Yield the value that the text begins with, but not what is thought of it: `hard to explain`."""
    name = value((_WHOLE if predicate == "address" else _END).split(text, maxsplit=1)[0])
    if name is None or len(name.split()) > _MOST_WORDS:
        return
    if predicate in _OF_WORDS:
        yield from [name] if name.isalpha() and not name.endswith("ing") else ()
    elif _TELLING.search(name[0] if predicate in vocabulary.ENTITY_PREDICATES else name):
        yield name
