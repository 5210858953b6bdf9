"""Predicates that say what may or must be done, in one form, and the rules that a plain predicate comes under.

`cannot use`, `must not use` and `is not allowed to use` are one prohibition, `may-not-use`; `can use` is the permission
`may-use`, and what is an obligation is `must-use`. A plain predicate, `uses`, comes under all three.
"""

from __future__ import annotations

import re

from app.memory import vocabulary

_PROHIBITION = re.compile(
    r"^(?:(?:is|are)-)?(?:cannot|can-not|can't|may-not|must-not|mustn't|must-never|can-never|may-never|shall-not"
    r"|should-not|shouldn't|not-allowed-to|not-permitted-to|forbidden-to|never)-(?=\w)"
)
_PERMISSION = re.compile(r"^(?:(?:is|are)-)?(?:can|may|allowed-to|permitted-to)-(?=\w)")
_OBLIGATION = re.compile(
    r"^(?:(?:is|are)-)?(?:must-always|must|has-to|have-to|required-to|obliged-to|needs-to|shall)-(?=\w)"
)
_DENIAL = re.compile(
    r"(?:no(?!\s+(?:restriction|limit|limitation|constraint|exception)s?\b)|never|nothing|none|neither|nobody|nowhere)"
    r"(?=\s|$)",
    re.IGNORECASE,
)
_IRREGULAR = {"has": "have", "is": "be", "does": "do", "goes": "go"}


def predicate(text: str) -> str:
    """Return a predicate in its canonical form: `may-not-...` forbids, `may-...` allows, `must-...` demands."""
    canonical = vocabulary.predicate(text.replace("\u2019", "'"))
    for pattern, modal in ((_PROHIBITION, "may-not"), (_PERMISSION, "may"), (_OBLIGATION, "must")):
        bare = pattern.sub("", canonical)
        if bare != canonical:
            return f"{modal}-{_infinitive(bare)}"
    return canonical


def over(text: str) -> tuple[str, ...]:
    """Return the predicates under which rules about this one may stand: its own, and for a plain one its modals."""
    canonical = predicate(text)
    if canonical.startswith(("may-", "must-")):
        return (canonical, *opposed(canonical))
    bare = _infinitive(canonical)
    return (canonical, f"may-{bare}", f"may-not-{bare}", f"must-{bare}")


def opposed(canonical: str) -> tuple[str, ...]:
    """Return the predicates of the rules that say otherwise: a prohibition's are what allows and what demands."""
    if forbids(canonical):
        bare = canonical.removeprefix("may-not-")
        return (f"may-{bare}", f"must-{bare}")
    modal, dash, bare = canonical.partition("-")
    return (f"may-not-{bare}",) if dash and modal in {"may", "must"} else ()


def forbids(canonical: str) -> bool:
    """Return whether a predicate is a prohibition."""
    return canonical.startswith("may-not-")


def denied(rule: str) -> bool:
    """Return whether what is ruled begins with a denial of its own: `no external APIs`, `never on a Friday`."""
    return _DENIAL.match(rule.lstrip()) is not None


def in_full(canonical: str, rule: str) -> str:
    """Return the predicate of a rule, with the denial that its words hold: to allow nothing is to forbid."""
    if canonical.startswith("may-") and not forbids(canonical) and denied(rule):
        return f"may-not-{canonical.removeprefix('may-')}"
    return canonical


def _infinitive(bare: str) -> str:
    """Return a predicate with its first word, if that is a verb in the third person, without the ending."""
    verb, dash, rest = bare.partition("-")
    if verb in _IRREGULAR:
        verb = _IRREGULAR[verb]
    elif verb.endswith("ies") and len(verb) > len("ties"):
        verb = f"{verb[:-3]}y"
    elif verb.endswith(("sses", "shes", "ches", "xes", "zzes")):
        verb = verb[:-2]
    elif verb.endswith("s") and not verb.endswith(("ss", "us", "is")):
        verb = verb[:-1]
    return f"{verb}{dash}{rest}"
