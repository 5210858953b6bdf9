"""Doses that change and medicines that are stopped: `upped my ramipril to 10 mg`, `stopped the aspirin`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from app.memory import doses
from app.providers.rules.clause import Clause, Said, Who
from app.providers.rules.drafts import Draft, Rule, ended, fact
from app.providers.rules.words.health import DOSE, MEDICINES
from app.providers.rules.words.people import DOCTORS

_NAME: Final = r"(?P<name>[A-Za-z][\w-]{3,40})"
_TO: Final = (
    rf"(?:\s+(?:up|down|back|again))*(?:\s+from\s+(?:{DOSE}|\d+))?(?:\s+(?:up|down))?\s+to\s+"
    rf"(?P<dose>{DOSE}[^.,;:!?(]{{0,40}})"
)
_REDOSED: Final = re.compile(
    rf"\s+(?:(?:(?P<mine>my)|the)\s+)?(?!dos(?:e|age)\b){_NAME}(?:\s+(?:dose|dosage))?{_TO}", re.IGNORECASE
)
_STRENGTH: Final = re.compile(r"\d\s?(?:mg|mcg|\u00b5g|\u03bcg|iu|units?)\b", re.IGNORECASE)
"""A dose of what is hardly anything but a medicine."""
_TO_DOSE: Final = re.compile(_TO, re.IGNORECASE)
_NOW: Final = re.compile(rf"(?:now\s+)?(?:at\s+)?(?P<dose>{DOSE}[^.,;:!?(]{{0,40}})", re.IGNORECASE)
_OWN: Final = re.compile(rf"{_NAME}(?P<dosed>\s+(?:dose|dosage))?", re.IGNORECASE)
_OFF: Final = re.compile(rf"(?:\s*(?:me|now))*\s*\boff\s+(?:of\s+)?(?:(?:the|my)\s+)?{_NAME}\b", re.IGNORECASE)
_STOPPED: Final = re.compile(
    rf"\s+(?:(?:taking|using|with)\s+)?(?:(?:the|my)\s+)?{_NAME}(?:\s+(?:tablets?|pills?|capsules?|injections?))?"
    r"(?=\s*(?:$|[^\w\s])|\s+(?:\w+ly|about|after|again|ago|altogether|an?|around|as|at|and|because|before|but|by|due|during|for|in|last"
    r"|months?|now|on|once|or|since|so|some|this|thanks|to|today|together|too|two|weeks?|when|while|with|yesterday|years?|\d+)\b)",
    re.IGNORECASE,
)
"""What is stopped is the medicine, not its trial or its bottle."""
_UNMARKED: Final = frozenset({"put", "cut"})
"""Verbs whose past is their base."""


def redosing(clause: Clause, said: Said) -> Iterator[Draft]:
    """Read `my GP put the ramipril up to 10 mg`, `my ramipril was increased to 10 mg`."""
    unmarked = clause.lemma in _UNMARKED and clause.holds
    if not (clause.happened or unmarked) or clause.subject.who is Who.ADDRESSEE:
        return
    own = _owned(clause)
    if clause.passive:
        found, name = (_TO_DOSE.match(clause.rest), own["name"]) if own else (None, "")
    else:
        found = _REDOSED.match(clause.rest)
        name = found["name"] if found else ""
        if found and not (found["mine"] or _treats(clause)):
            return
    if found is not None and _may_be_medicine(name, found["dose"]):
        yield _takes(clause, said, name, found["dose"])


def dosed(clause: Clause, said: Said) -> Iterator[Draft]:
    """Read `my ramipril dose is now 10 mg`, `I'm off the ramipril`."""
    if not clause.copula or not clause.holds:
        return
    own, off = _owned(clause), _OFF.match(clause.rest)
    now = _NOW.match(clause.rest) if own and (own["dosed"] or is_medicine(own["name"])) else None
    if own and now and _may_be_medicine(own["name"], now["dose"]):
        yield _takes(clause, said, own["name"], now["dose"])
    elif off and clause.subject.own and is_medicine(off["name"]):
        yield _over(clause, said, off["name"])


def stopping(clause: Clause, said: Said) -> Iterator[Draft]:
    """Read `stopped the aspirin`, `they took me off ramipril`."""
    if not clause.happened or clause.passive:
        return
    pattern = _STOPPED if clause.lemma in _STOPS else _OFF
    found = pattern.match(clause.rest)
    own = clause.subject.own or (pattern is _OFF and " me " in f"{clause.rest} ")
    if found is not None and own and is_medicine(found["name"]):
        yield _over(clause, said, found["name"])


def is_medicine(name: str) -> bool:
    """Tell whether the name is known to be a medicine's, or formed as theirs are."""
    return name.lower() in MEDICINES or doses.taken("takes", name, "") is not None


def _may_be_medicine(name: str, dose: str) -> bool:
    """Tell whether what has the dose is a medicine, rather than `the price` or `the sugar`."""
    return is_medicine(name) or name[0].isupper() or _STRENGTH.search(dose) is not None


def _treats(clause: Clause) -> bool:
    """Tell whether who changes a dose changes the speaker's: the speaker, `my GP`, `they`; not `my son`."""
    subject = clause.subject
    by_doctor = subject.who is Who.POSSESSED and subject.mine and subject.noun in DOCTORS - {"vet"}
    return subject.own or by_doctor or (subject.who is Who.PRONOUN and subject.plural)


def _owned(clause: Clause) -> re.Match[str] | None:
    """Return the medicine that is the subject, with the speaker as who takes it."""
    mine = clause.subject.who is Who.POSSESSED and clause.subject.mine and clause.subject.given is None
    return _OWN.fullmatch(clause.subject.noun or "") if mine else None


def _takes(clause: Clause, said: Said, name: str, dose: str) -> Draft:
    told = f"{name} {' '.join(dose.split())}".removesuffix(" now")
    return fact(clause, "takes", told, subject=said.speaker, stateful=False, importance=0.9, topic="health")


def _over(clause: Clause, said: Said, name: str) -> Draft:
    return ended(clause, said, fact(clause, "takes", name, subject=said.speaker, stateful=False, topic="health"))


_STOPS: Final = frozenset({"stop", "quit", "discontinue", "finish"})
RULES: Final[Mapping[str, tuple[Rule, ...]]] = {
    **dict.fromkeys(
        (
            "increase", "raise", "lower", "reduce", "cut", "drop", "change", "put", "bumped", "adjust", "upped", "move",
            "bring", "take",
        ),
        (redosing,),
    ),
    "be": (dosed,),
    **dict.fromkeys((*sorted(_STOPS), "take", "get", "come"), (stopping,)),
}  # fmt: skip
