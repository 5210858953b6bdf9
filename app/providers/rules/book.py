"""All rules: by the verb they read, and those that read every clause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from app.providers.rules import (
    being,
    choices,
    decisions,
    endings,
    entities,
    events,
    habits,
    having,
    home,
    instructions,
    leading,
    medicines,
    ongoing,
    partings,
    promises,
    tastes,
    ties,
    traits,
    work,
)
from app.providers.rules.clause import Clause, Said
from app.providers.rules.drafts import Draft, Rule

_TABLES: Final[tuple[Mapping[str, tuple[Rule, ...]], ...]] = (
    work.RULES,
    home.RULES,
    leading.RULES,
    ties.RULES,
    traits.RULES,
    having.RULES,
    habits.RULES,
    choices.RULES,
    tastes.RULES,
    decisions.RULES,
    promises.RULES,
    being.RULES,
    entities.RULES,
    partings.RULES,
    medicines.RULES,
)
_BY_VERB: Final[Mapping[str, tuple[Rule, ...]]] = {
    verb: tuple(rule for table in _TABLES for rule in table.get(verb, ()))
    for verb in {verb for table in _TABLES for verb in table}
}
_EVERY: Final[tuple[Rule, ...]] = (habits.routine, ongoing.ongoing, events.happenings)


def drafts_of(clause: Clause, said: Said) -> Iterator[Draft]:
    """Yield what the rules read in a clause, and what it says is no longer so."""
    found = list(_read(clause, said))
    yield from found
    yield from endings.over(clause, said, found, _read)


def _read(clause: Clause, said: Said) -> Iterator[Draft]:
    for rule in (*_BY_VERB.get(clause.lemma, ()), *_EVERY):
        yield from rule(clause, said)
    yield from instructions.forbidden(clause)
