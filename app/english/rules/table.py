"""All rules: by the verb they read, and those that read every clause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from app.english import medications
from app.english.rules import (
    aliases,
    conditions,
    copula,
    decisions,
    departures,
    endings,
    events,
    habits,
    instructions,
    ownership,
    preferences,
    relationships,
    residence,
    traits,
    work,
)
from app.english.rules.clause import Clause, SpeakerContext
from app.english.rules.drafts import Draft, Rule

_TABLES: Final[tuple[Mapping[str, tuple[Rule, ...]], ...]] = (
    work.RULES,
    residence.RULES,
    ownership.RULES,
    relationships.RULES,
    traits.RULES,
    conditions.RULES,
    habits.RULES,
    preferences.CHOICE_RULES,
    preferences.TASTE_RULES,
    decisions.RULES,
    events.RULES,
    copula.RULES,
    aliases.RULES,
    departures.RULES,
    medications.RULES,
)
_BY_VERB: Final[Mapping[str, tuple[Rule, ...]]] = {
    verb: tuple(rule for table in _TABLES for rule in table.get(verb, ()))
    for verb in {verb for table in _TABLES for verb in table}
}
_EVERY: Final[tuple[Rule, ...]] = (habits.routine, events.activities, events.events_in)


def apply_rules(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Yield what the rules read in a clause, and what it says is no longer so."""
    found = list(_read(clause, said))
    yield from found
    yield from endings.ends(clause, said, found, _read)


def _read(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    for rule in (*_BY_VERB.get(clause.lemma, ()), *_EVERY):
        yield from rule(clause, said)
    yield from instructions.prohibition(clause)
