"""Forms of English verbs: from a form to its base, and from a base to its forms.

Statements use the past tense where questions use the base form: `Ann met Bob`, `whom did Ann meet?`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.english.word_lists import pairs, section

_IRREGULAR: Final = section("verbs", "irregular")
"""Base, past and participle."""

_REGULAR: Final = section("verbs", "regular")
_DOUBLED: Final = section("verbs", "doubled")
"""Bases that double their last letter."""

_SHORTEST_PAST: Final = 4


@dataclass(frozen=True, slots=True)
class Form:
    """The base that a word is a form of, and the name of the form: base, s, past, participle, ing."""

    lemma: str
    kinds: frozenset[str]


def third_person(lemma: str) -> str:
    """Return the third person singular: `run` -> `runs`."""
    if lemma in {"be", "have"}:
        return {"be": "is", "have": "has"}[lemma]
    if lemma.endswith(("s", "x", "z", "ch", "sh", "o")):
        return lemma + "es"
    return lemma[:-1] + "ies" if lemma.endswith("y") and lemma[-2] not in "aeiou" else lemma + "s"


def gerund(lemma: str) -> str:
    """Return the gerund: `swim` -> `swimming`."""
    return _ing(lemma)


def form_of(word: str) -> Form | None:
    """Return the base and the form of a lower-case word, None when it is no known verb."""
    return _FORMS.get(word)


def base_of(verb: str) -> str:
    """Return the base of a verb in the third person or the gerund: `plays`, `teaches`, `studies`, `sharing`."""
    form = form_of(verb)
    if form is not None:
        return form.lemma if form.kinds & {"s", "ing"} else verb
    if verb.endswith("ing") and len(verb) > len("bring"):
        return verb.removesuffix("ing")
    if verb.endswith("ies") and len(verb) > len("ties"):
        return f"{verb[:-3]}y"
    if verb.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith(("ss", "us", "is")) else verb


def looks_past(word: str) -> bool:
    """Return whether an unknown word looks like a past tense."""
    return len(word) > _SHORTEST_PAST and word.endswith("ed") and not word.endswith("eed") and word.isalpha()


def _inflected() -> Iterator[tuple[str, str, str]]:
    for verb in sorted(_IRREGULAR):
        base, past, participle = verb.split()
        yield from ((base, base, "base"), (past, base, "past"), (participle, base, "participle"))
        yield from ((third_person(base), base, "s"), (_ing(base), base, "ing"))
    yield ("got", "get", "participle")
    yield ("upped", "upped", "past")
    for base in sorted(_REGULAR):
        past = _past(base)
        yield from ((base, base, "base"), (past, base, "past"), (past, base, "participle"))
        yield from ((third_person(base), base, "s"), (_ing(base), base, "ing"))


def _past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return f"{base}{base[-1]}ed" if base in _DOUBLED else base + "ed"


def _ing(base: str) -> str:
    if base in {"be", "see"} or base.endswith(("ee", "oe", "ye")):
        return base + "ing"
    if base == "die":
        return "dying"
    if base.endswith("e"):
        return base[:-1] + "ing"
    return f"{base}{base[-1]}ing" if base in _DOUBLED else base + "ing"


def _table() -> dict[str, Form]:
    kinds: dict[str, dict[str, set[str]]] = {}
    for word, lemma, kind in _inflected():
        kinds.setdefault(word, {}).setdefault(lemma, set()).add(kind)
    # `found` is the past of `find` rather than the base `found`; the rule for companies checks that itself.
    return {word: Form(next(iter(lemmas)), frozenset(next(iter(lemmas.values())))) for word, lemmas in kinds.items()}


_FORMS: Final = _table()
_DID: Final = re.compile(r"\bdid(?:n't)?\b", re.IGNORECASE)
_WORD: Final = re.compile(r"\w+")
_PAST: Final = pairs("verbs", "asked")
"""Verbs whose past tense has another stem, without `go`, `do`, `have`, `get`, `take` and `come`, which say little."""


def past_forms(text: str) -> str:
    """Return the past forms of the irregular verbs in a question about the past, else the empty string."""
    if _DID.search(text) is None:
        return ""
    words = (word.casefold() for word in _WORD.findall(text))
    return " ".join(dict.fromkeys(_PAST[word] for word in words if word in _PAST))
