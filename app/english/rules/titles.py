"""Who someone is, said in passing: `Mette Olafsen, the new SRE at Crestmoor,`, `their CFO Ivora Tinn`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from app.english.names import COMMON, ORGANIZATION, PERSON, PLACE, is_given, kind_of
from app.english.rules.clause import Clause
from app.english.rules.drafts import INFERRED, THIRD_PERSON, Draft
from app.english.rules.occupations import is_role, organisation, position
from app.english.rules.sentences import HIDDEN
from app.english.word_lists import ROLE_OF

_NAME: Final = r"[A-Z][\w'-]+(?:\ [A-Z][\w'-]+){0,2}"
_AFTER: Final = re.compile(
    rf"(?P<name>{_NAME}),\ (?P<role>(?:the|our|their|his|her|my|a|an)\ (?:new\ )?[^,.;:!?()]{{3,60}})(?=,|$|\.)"
)
_BEFORE: Final = re.compile(
    r"(?:\b(?:[Tt]heir|[Oo]ur|[Tt]he|[Hh]is|[Hh]er|[Ii]ts)\s|^)"
    rf"(?P<role>[A-Z]?[a-z-]+(?:\ [a-z-]+){{0,2}}|[A-Z]{{2,4}}),?\ (?P<name>{_NAME})(?=[\s,.;:!?]|$)"
)
_FROM: Final = re.compile(
    rf"(?P<name>{_NAME})\ (?P<how>from|of|at)\ (?:the\ )?(?P<employer>{_NAME}(?:\ [A-Z][\w'-]+){{0,3}})"
)
_THE: Final = re.compile(r"\b(?:the|an?|my|our|new|some|\d+)\s\Z", re.IGNORECASE)
_IMPORTANCE: Final = 0.5


def titles(text: str, clause: Clause) -> Iterator[Draft]:
    """Yield the roles and employers a sentence gives people in apposition; `clause` says how surely."""
    if HIDDEN in text:
        return
    for found in _AFTER.finditer(text):
        held = position(found["role"]) if _is_name(found["name"]) else None
        if held is not None:
            yield _fact(found["name"], "has-role", held.role, THIRD_PERSON * clause.sure)
            if held.employer:
                yield _fact(found["name"], "works-at", held.employer, THIRD_PERSON * clause.sure)
    for found in _BEFORE.finditer(text):
        role = found["role"]
        if is_role(role) and not role.lower().startswith("my ") and _is_name(found["name"]):
            title = role if role.isupper() else role.lower()
            yield _fact(found["name"], "has-role", title, THIRD_PERSON * clause.sure)
    for found in _FROM.finditer(text):
        employer = organisation(found["employer"])
        # "overview of Tesla" names nobody, and "Galaxy Watch from Samsung" was bought there
        given = kind_of(found["name"]) == PERSON or is_given(found["name"].split(maxsplit=1)[0])
        bought = found["how"] == "from" and _THE.search(text, 0, found.start())
        person = given or (" " in found["name"] and not bought)
        person = person and _is_name(found["name"]) and kind_of(found["name"]) not in {PLACE, ORGANIZATION}
        if employer and person and kind_of(employer) == ORGANIZATION:
            yield _fact(found["name"], "works-at", employer, INFERRED * clause.sure)


def _is_name(name: str) -> bool:
    first = name.split(maxsplit=1)[0].lower()
    return first not in COMMON and first not in ROLE_OF and not is_role(name)


def _fact(name: str, predicate: str, value: str, sure: float) -> Draft:
    payload = {"subject": name, "predicate": predicate, "object": value}
    return Draft(type="fact", payload=payload, confidence=round(sure, 2), importance=_IMPORTANCE, topic="work")
