"""States that are no longer so: `I no longer work at Volkswagen`, `stopped taking metformin`, `used to live in Rome`.

Such a clause is read once more as if it were so; what it would state is what has ended.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from app.english.rules.clause import Clause, SpeakerContext, Tense
from app.english.rules.drafts import Draft, ending
from app.english.verbs import form_of

_ANY_MORE: Final = re.compile(r"[\s,]*\b(?:any ?more|any longer|nowadays)\b", re.IGNORECASE)
_GERUND: Final = re.compile(r"\s+(?P<up>up\s+)?(?:with\s+)?(?P<verb>being|[a-z]{2,20}ing)\b", re.IGNORECASE)
_OFF: Final = re.compile(r"\s+off\s+(?:of\s+)?(?:my\s+|the\s+)?(?=\w)", re.IGNORECASE)
_DONE: Final = re.compile(r"(?:done|finished|through) with\s+(?=\w+ing\b)", re.IGNORECASE)
_STOPPED: Final = frozenset({"stop", "quit", "cease", "give"})
_UNDER: Final[Mapping[str, tuple[str, ...]]] = {
    "fact": ("subject", "predicate"),
    "preference": ("subject", "preference_key"),
    "relation": ("from_entity", "relation_type"),
}
"""Types of states, and the fields of their payloads that say what state of whom it is."""

Read = Callable[[Clause, SpeakerContext], Iterator[Draft]]


def ends(clause: Clause, said: SpeakerContext, stated: Iterable[Draft], read: Read) -> Iterator[Draft]:
    """Yield what a clause says is no longer so; `stated` is what it says is so, `read` reads a clause."""
    affirmed = _affirmed(clause)
    if affirmed is None:
        return
    new = {_place(one) for one in stated}
    for one in read(affirmed, said):
        if one.type in _UNDER and _place(one) not in new:
            yield ending(clause, said, one, dated=not clause.used_to)


def _place(draft: Draft) -> tuple[str, ...]:
    return (draft.type, *(str(draft.payload.get(name)) for name in _UNDER.get(draft.type, ())))


def _affirmed(clause: Clause) -> Clause | None:
    """Return the clause as it was said when it was so; None when it does not say that something is over."""
    now = replace(clause, tense=Tense.PRESENT, negated=False, perfect=False, used_to=False)
    if clause.negated:
        more = _ANY_MORE.search(clause.rest) or "longer" in clause.adverbs
        said_so = clause.present and more and not clause.perfect
        return replace(now, rest=_ANY_MORE.sub("", clause.rest), adverbs=frozenset({"always"})) if said_so else None
    if clause.used_to:
        return now
    if clause.happened and not clause.copula:
        if clause.lemma in _STOPPED:
            return _doing(now, clause.rest, up=clause.lemma == "give")
        off = _OFF.match(clause.rest) if clause.lemma in {"come", "go", "get"} else None
        return replace(now, verb="take", lemma="take", rest=f" {clause.rest[off.end() :]}") if off else None
    done = _DONE.match(clause.rest) if clause.copula and clause.holds else None
    return _doing(now, f" {clause.rest[done.end() :]}", up=False) if done else None


def _doing(clause: Clause, rest: str, *, up: bool) -> Clause | None:
    """Return the clause of what was done until then: `taking metformin` -> `take metformin`."""
    found = _GERUND.match(rest)
    form = form_of(found["verb"].lower()) if found else None
    if found is None or form is None or "ing" not in form.kinds or up != bool(found["up"]):
        return None
    after = rest[found.end() :]
    if form.lemma == "be":
        return replace(clause, verb="be", lemma="be", rest=after.lstrip(), copula=True)
    return replace(clause, verb=form.lemma, lemma=form.lemma, rest=after, adverbs=frozenset({"always"}))
