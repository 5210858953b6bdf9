"""Canonical forms of predicates of permission, prohibition and obligation, and the rules that a plain one falls under.

`cannot use`, `must not use` and `is not allowed to use` are one prohibition, `may-not-use`; `can use` is the permission
`may-use`, and what is an obligation is `must-use`. A plain predicate, `uses`, comes under all three.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from app.english.verbs import base_of
from app.english.word_lists import listed, pairs, pattern
from app.memory import normalise, vocabulary


def _listed(title: str) -> tuple[str, ...]:
    """Return the words of a section of `data/modals.txt`, in their order."""
    return tuple(word for line in listed("modals", title) for word in line.split())


def _begins_with(words: Iterable[str], *, but: str = "") -> re.Pattern[str]:
    """Return the pattern of one of these words at the beginning of a predicate, with or without a form of `be`.

    `but` are the words of which none may follow; an apostrophe may be missing.
    """
    excluded = rf"(?!(?:{but})\b)" if but else ""
    return re.compile(rf"^(?:(?:is|are|am)-)?(?:{'|'.join(words)})-(?=\w){excluded}".replace("n't", "n'?t"))


_REFUSALS: Final = _listed("refusals")
_INABILITIES: Final = _listed("inabilities")
_DENIALS: Final = _listed("denials")
_REFUSAL: Final = _begins_with(_REFUSALS, but="have|need|require|matter|apply|mind")
"""Excludes the absence of an obligation: `does not have to use`, `does not require`."""

_MODALS: Final = (
    ("may-not", _begins_with((*_listed("prohibitions"), *_INABILITIES, *_DENIALS))),
    ("may", _begins_with(_listed("permissions"))),
    ("must", _begins_with(_listed("obligations"))),
)
_STRICT: Final = _begins_with(_listed("strict"))
_BARE: Final = frozenset(_listed("bare"))
_CANNOT: Final = _begins_with(("cannot", "can-not", "can't", "can-never", "shall-not"))
"""A prohibition, or an inability: `cannot swim`."""

_CANNOT_USE: Final = frozenset({"cannot-use", "can-not-use", "can't-use"})
_MUST: Final = _begins_with(("must-always", "must", "shall"))
"""An obligation by a rule, or a single task: `must finish the report`."""

_DENIAL: Final = pattern("modals", "denial", re.IGNORECASE)
_THAT_ONE: Final = pattern("modals", "that one", re.IGNORECASE)
_GROUND: Final = pattern("modals", "ground", re.IGNORECASE)
_ALWAYS: Final = pattern("modals", "always", re.IGNORECASE)
_WISH: Final = pattern("modals", "wish", re.IGNORECASE)
_HOLDER: Final = pattern("modals", "holder")
_SAID: Final = pattern("modals", "said", re.IGNORECASE | re.DOTALL)
_BASE_FORMS: Final = pairs("modals", "base forms")
_BE: Final = ("is-", "are-", "am-")


def predicate(text: str) -> str:
    """Return a predicate in its canonical form: `may-not-...` forbids, `may-...` allows, `must-...` demands."""
    canonical = vocabulary.predicate(text.replace("\u2019", "'"))
    for modal, beginning in _MODALS:
        bare = beginning.sub("", canonical)
        if bare != canonical:
            return f"{modal}-{_infinitive(bare)}"
    return canonical


def of_rule(text: str) -> str:
    """Return the predicate of a rule in its canonical form: there, `do not use` forbids as `must not use` does."""
    canonical = predicate(text)
    bare = _REFUSAL.sub("", canonical)
    return canonical if bare == canonical else f"may-not-{_infinitive(bare)}"


def normalised_rule(canonical: str) -> tuple[str, ...]:
    """Return the predicates under which earlier releases stored a prohibition."""
    bare = canonical.removeprefix("may-not-")
    plain = (*_REFUSALS, *_DENIALS, *_INABILITIES)
    return tuple(f"{one}-{bare}" for one in (*plain, *(f"is-{two}" for two in plain if not two.endswith("n't"))))


def over(text: str) -> tuple[str, ...]:
    """Return the predicates of rules about this one: its own, and the modal forms of a plain one."""
    canonical = predicate(text)
    if canonical.startswith(("may-", "must-")):
        return (canonical, *opposed(canonical))
    bare = _infinitive(canonical)
    return (canonical, f"may-{bare}", f"may-not-{bare}", f"must-{bare}")


def opposed(canonical: str) -> tuple[str, ...]:
    """Return the predicates of contradicting rules: for a prohibition, those that allow and that demand."""
    if forbids(canonical):
        bare = canonical.removeprefix("may-not-")
        return (f"may-{bare}", f"must-{bare}")
    modal, dash, bare = canonical.partition("-")
    return (f"may-not-{bare}",) if dash and modal in {"may", "must"} else ()


def forbids(canonical: str) -> bool:
    """Return whether a predicate is a prohibition."""
    return canonical.startswith("may-not-")


def denied(rule: str) -> bool:
    """Return whether a rule's text begins with a negation: `no external APIs`, `never on a Friday`."""
    return _DENIAL.match(rule.lstrip()) is not None


def rule_sentence(canonical: str, rule: str) -> str:
    """Return the predicate of a rule with the negation of its text applied: to allow nothing is to forbid."""
    if canonical.startswith("may-") and not forbids(canonical) and denied(rule):
        return f"may-not-{canonical.removeprefix('may-')}"
    return canonical


def _infinitive(bare: str) -> str:
    """Return a predicate whose first word, if a verb in the third person or a gerund, is in its base form."""
    verb, dash, rest = bare.partition("-")
    return f"{_BASE_FORMS.get(verb) or base_of(verb)}{dash}{rest}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModalRule:
    """A rule that a fact states: its predicate, its text, and the evidence that it is a rule."""

    predicate: str
    rule: str
    because: str


def rule_of_fact(predicate_: str, told: str) -> ModalRule | None:
    """Return the rule that a fact states; None where it may be an ability or a single task."""
    plain = normalise.normalise_key(predicate_.replace("\u2019", "'"))
    plain = f"{plain}-from" if plain.endswith(("prohibited", "forbidden")) else plain
    verb, _, rest = told.strip().partition(" ")
    if _without_be(plain) in _BARE and rest and verb.isalpha():
        return _ruled(f"{plain}-{verb.lower()}", f"{normalise.words(plain)} {told}", rest)
    if _HOLDER.match(plain):
        words = told.replace("\u2019", "'")
        found = _SAID.match(words)
        if found is None:
            return None
        return _ruled(normalise.normalise_key(f"{found['modal']} {found['verb']}"), words, found["rest"])
    return _ruled(plain, f"{normalise.words(plain)} {told}", told)


def _without_be(plain: str) -> str:
    return next((plain.removeprefix(be) for be in _BE if plain.startswith(be)), plain)


def _ruled(plain: str, rule: str, rest: str) -> ModalRule | None:
    canonical = predicate(plain)
    if _WISH.search(rule) or not canonical.startswith(("may-", "must-")):
        return None
    if _STRICT.match(plain):
        return ModalRule(predicate=canonical, rule=rest, because="it says what is forbidden or required")
    if _CANNOT.match(plain) and _GROUND.search(rest):
        return ModalRule(predicate=canonical, rule=rest, because="it says what cannot be done, and by what rule")
    if plain in _CANNOT_USE and not _THAT_ONE.match(rest):
        return ModalRule(predicate=canonical, rule=rest, because="it says what cannot be used")
    if _MUST.match(plain) and (_GROUND.search(rest) or _ALWAYS.search(rest)):
        return ModalRule(predicate=canonical, rule=rest, because="it says what must be done, always or by what rule")
    return None
