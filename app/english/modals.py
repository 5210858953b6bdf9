"""Canonical forms of predicates of permission, prohibition and obligation, and the rules that a plain one falls under.

`cannot use`, `must not use` and `is not allowed to use` are one prohibition, `may-not-use`; `can use` is the permission
`may-use`, and what is an obligation is `must-use`. A plain predicate, `uses`, comes under all three.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.memory import normalise, vocabulary

_REFUSALS = ("do-not", "don't", "does-not", "doesn't", "will-not", "won't")
"""Negations that forbid in a rule: `don't use`. In a fact they state that something is not done, allowed or not."""

_INABILITIES = ("unable-to", "not-able-to", "isn't-able-to", "aren't-able-to")
_DENIALS = (
    *("should-never", "shall-never", "banned-from", "barred-from", "not-supposed-to"),
    *(f"{be}n't-{word}-to" for be in ("is", "are") for word in ("allowed", "permitted", "supposed")),
)
_PROHIBITION = re.compile(
    r"^(?:(?:is|are|am)-)?(?:cannot|can-not|can't|may-not|must-not|mustn't|must-never|can-never|may-never|shall-not"
    r"|should-not|shouldn't|not-allowed-to|not-permitted-to|forbidden-to|prohibited-from|forbidden-from|never"
    rf"|{'|'.join((*_INABILITIES, *_DENIALS))})-(?=\w)".replace("n't", "n'?t")
)
_REFUSAL = re.compile(
    rf"^(?:{'|'.join(_REFUSALS)})-(?=\w)(?!(?:have|need|require|matter|apply|mind)\b)".replace("n't", "n'?t")
)
"""Excludes the absence of an obligation: `does not have to use`, `does not require`."""

_PERMISSION = re.compile(r"^(?:(?:is|are|am)-)?(?:can|may|allowed-to|permitted-to)-(?=\w)")
_OBLIGATION = re.compile(
    r"^(?:(?:is|are|am)-)?(?:must-always|must|has-to|have-to|required-to|obliged-to|needs-to|shall)-(?=\w)"
)
_DENIAL = re.compile(
    r"(?:no(?!\s+(?:restriction|limit|limitation|constraint|exception)s?\b)|never|nothing|none|neither|nobody|nowhere)"
    r"(?=\s|$)",
    re.IGNORECASE,
)
_STRICT = re.compile(
    r"^(?:(?:is|are)-)?(?:must-not|mustn't|must-never|may-not|may-never|not-allowed-to|not-permitted-to|forbidden-to|"
    r"prohibited-from|forbidden-from|required-to|obliged-to)-(?=\w)"
)
_CANNOT = re.compile(r"^(?:cannot|can-not|can't|can-never|shall-not)-(?=\w)")
"""A prohibition, or an inability: `cannot swim`."""

_MUST = re.compile(r"^(?:must-always|must|shall)-(?=\w)")
"""An obligation by a rule, or a single task: `must finish the report`."""

_GROUND = re.compile(
    r"\b(?:complian\w+|polic(?:y|ies)|regulat\w+|laws?|legal\w*|contract\w*|licen[cs]\w+|gdpr|hipaa|pci|soc\s?2|security|"
    r"confidential\w*|nda|court|rules?|audit\w*|privacy|export\scontrol\w*|sanctions?|mandat\w+|standards?)\b",
    re.IGNORECASE,
)
_ALWAYS = re.compile(r"\b(?:always|at\sall\stimes|every|all|any|never|only)\b", re.IGNORECASE)
_WISH = re.compile(
    r"\b(?:if|unless|would|could|might|wish(?:es)?|wants?|hopes?|prefers?|maybe|perhaps|today|tomorrow|tonight|this\s(?:week|"
    r"month|morning)|by\s(?:mon|tues|wednes|thurs|fri|satur|sun)day|no\slonger|used\sto|was|were)\b",
    re.IGNORECASE,
)
_HOLDER = re.compile(
    r"^(?:has-)?(?:hard-)?(?:constraint|rule|policy|restriction|requirement|compliance-rule|prohibition)$"
)
_SAID = re.compile(
    r"^(?P<modal>must\snever|must\snot|may\snot|cannot|can't|must\salways|must|(?:is|are)\snot\s(?:allowed|permitted)\sto|"
    r"(?:is|are)\s(?:prohibited|forbidden)\sfrom|(?:is|are)\srequired\sto)\s(?P<verb>\w+)\s(?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_IRREGULAR = (
    {"has": "have", "is": "be", "does": "do", "goes": "go"}
    | {
        f"{verb[:-1]}ing": verb
        for verb in (
            "use",
            "share",
            "store",
            "disclose",
            "release",
            "expose",
            "remove",
            "change",
            "write",
            "make",
            "take",
            "hire",
        )
    }
    | {f"{verb}{verb[-1]}ing": verb for verb in ("run", "log", "ship", "commit", "submit", "get", "cut", "put", "set")}
)


def predicate(text: str) -> str:
    """Return a predicate in its canonical form: `may-not-...` forbids, `may-...` allows, `must-...` demands."""
    canonical = vocabulary.predicate(text.replace("\u2019", "'"))
    for pattern, modal in ((_PROHIBITION, "may-not"), (_PERMISSION, "may"), (_OBLIGATION, "must")):
        bare = pattern.sub("", canonical)
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
    """Return a predicate whose first word, if a verb in the third person, is in its base form."""
    verb, dash, rest = bare.partition("-")
    if verb in _IRREGULAR:
        verb = _IRREGULAR[verb]
    elif verb.endswith("ing") and len(verb) > len("bring"):
        verb = verb.removesuffix("ing")
    elif verb.endswith("ies") and len(verb) > len("ties"):
        verb = f"{verb[:-3]}y"
    elif verb.endswith(("sses", "shes", "ches", "xes", "zzes")):
        verb = verb[:-2]
    elif verb.endswith("s") and not verb.endswith(("ss", "us", "is")):
        verb = verb[:-1]
    return f"{verb}{dash}{rest}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModalRule:
    """A rule that a fact states: its predicate, its text, and the evidence that it is a rule."""

    predicate: str
    rule: str
    because: str


_BARE = re.compile(
    r"^(?:(?:is|are)-)?(?:must-not|must-never|must-always|must|may-not|cannot|can-not|can't|not-allowed-to|not-permitted-to|"
    r"forbidden-to|prohibited-from|forbidden-from|required-to|obliged-to)$"
)
"""Predicates whose verb is in the value: `must-not` + `share data`."""


def rule_of_fact(predicate_: str, told: str) -> ModalRule | None:
    """Return the rule that a fact states; None where it may be an ability or a single task."""
    plain = normalise.normalise_key(predicate_.replace("\u2019", "'"))
    plain = f"{plain}-from" if plain.endswith(("prohibited", "forbidden")) else plain
    verb, _, rest = told.strip().partition(" ")
    if _BARE.match(plain) and rest and verb.isalpha():
        return _ruled(f"{plain}-{verb.lower()}", f"{normalise.words(plain)} {told}", rest)
    if _HOLDER.match(plain):
        words = told.replace("\u2019", "'")
        found = _SAID.match(words)
        return (
            None
            if found is None
            else _ruled(normalise.normalise_key(f"{found['modal']} {found['verb']}"), words, found["rest"])
        )
    return _ruled(plain, f"{normalise.words(plain)} {told}", told)


def _ruled(plain: str, rule: str, rest: str) -> ModalRule | None:
    canonical = predicate(plain)
    if _WISH.search(rule) or not canonical.startswith(("may-", "must-")):
        return None
    if _STRICT.match(plain):
        return ModalRule(predicate=canonical, rule=rest, because="it says what is forbidden or required")
    if _CANNOT.match(plain) and _GROUND.search(rest):
        return ModalRule(predicate=canonical, rule=rest, because="it says what cannot be done, and by what rule")
    if _MUST.match(plain) and (_GROUND.search(rest) or _ALWAYS.search(rest)):
        return ModalRule(predicate=canonical, rule=rest, because="it says what must be done, always or by what rule")
    return None
