"""Predicates that say what may or must be done, in one form, and the rules that a plain predicate comes under.

`cannot use`, `must not use`, `is not allowed to use` and `can use` all speak of the same permission: `may-use`. What
is an obligation is `must-use`. A plain predicate, `uses`, comes under both.
"""

from __future__ import annotations

import re

from app.memory import vocabulary

_PERMISSION = re.compile(
    r"^(?:(?:is|are)-)?(?:cannot|can-not|can't|can|may-not|may|must-not|mustn't|must-never|can-never|may-never|shall-not"
    r"|should-not|shouldn't|not-allowed-to|allowed-to|not-permitted-to|permitted-to|forbidden-to|never)-(?=\w)"
)
_OBLIGATION = re.compile(
    r"^(?:(?:is|are)-)?(?:must-always|must|has-to|have-to|required-to|obliged-to|needs-to|shall)-(?=\w)"
)
_IRREGULAR = {"has": "have", "is": "be", "does": "do", "goes": "go"}


def predicate(text: str) -> str:
    """Return a predicate in its canonical form, a permission as `may-...` and an obligation as `must-...`."""
    canonical = vocabulary.predicate(text.replace("\u2019", "'"))
    for pattern, modal in ((_PERMISSION, "may"), (_OBLIGATION, "must")):
        bare = pattern.sub("", canonical)
        if bare != canonical:
            return f"{modal}-{_infinitive(bare)}"
    return canonical


def over(text: str) -> tuple[str, ...]:
    """Return the predicates under which rules about this one may stand: its own, and for a plain one its modals."""
    canonical = predicate(text)
    if canonical != vocabulary.predicate(text) or canonical.startswith(("may-", "must-")):
        return (canonical,)
    return (canonical, f"may-{_infinitive(canonical)}", f"must-{_infinitive(canonical)}")


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
