"""Who people are to one another: `my manager Sarah`, `Anna is my sister`, `our dog Rex`, `married to Anna`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from app.providers.rules.clause import Clause, Said, Who
from app.providers.rules.drafts import STATED, Draft, Rule, entity, fact, relation
from app.providers.rules.names import PERSON, bare, kind_of, leading_name
from app.providers.rules.phrases import thing_after
from app.providers.rules.words import word_set
from app.providers.rules.words.people import COLLEAGUES, DOCTORS, KIN, PETS

_NAME_OF: Final = re.compile(r"(?P<noun>[\w -]+?)'s?\s+name", re.IGNORECASE)
_BY_NAME: Final = re.compile(
    r"\b(?:[Mm]y|[Oo]ur)\s+(?:(?:new|old|best|older|younger|little|big|eldest|oldest|youngest|late|dear|good|ex|twin|step"
    r"|beloved|pet)[\s-]+)*(?P<noun>[a-z][\w-]*(?:\s(?:lead|manager|retriever|shepherd|terrier|pig))?)"
    r"(?:\s+(?:named|called)\s+|,?\s+)(?P<name>(?:(?:Dr|Mr|Mrs|Ms|Prof)\.?\s)?[A-Z][\w'-]+(?:\s[A-Z][\w'-]+)?)"
)
_WHOSE: Final = re.compile(r"(?:one of )?(?:my|our)\s+(?P<noun>[\w-]+(?:\s[\w-]+)?)", re.IGNORECASE)
_TO: Final = re.compile(r"\s+(?:to\s+)?(?=[A-Z])")
_NOT_NAMES: Final = word_set("i i'm i've i'd who the he she they we it and but")
_ONE_OF_A_KIND: Final = frozenset({"married-to", "has-mother", "has-father"})
_ENDS: Final = (",", ".", "(", "!", "and ", "from ", "who ")


def tie(clause: Clause, owner: str, noun: str, name: str) -> Iterator[Draft]:
    """Yield what someone is to whom, and who they are: `my manager Sarah`, `my dog Rex`."""
    noun = noun.lower()
    work = COLLEAGUES.get(noun) or COLLEAGUES.get(noun.rsplit(maxsplit=1)[-1])
    predicate = tie_of(noun)
    sure = min(0.8, 0.9 * clause.sure)
    if work:
        yield relation(clause, work, name, start=owner)
    elif predicate is not None:
        importance = 0.8 if predicate == "married-to" else 0.6
        yield fact(
            clause, predicate, name, subject=owner, stateful=predicate in _ONE_OF_A_KIND, importance=importance,
            topic="personal",
        )  # fmt: skip
    if predicate == "has-pet":
        yield entity(sure, name, "pet", attributes={"kind": noun} if noun != "pet" else None, topic="personal")
    elif work or predicate:
        yield entity(sure, name, PERSON, attributes={"relationship": f"{owner}'s {noun}"}, topic="personal")


def tie_of(noun: str) -> str | None:
    """Return the predicate of having someone: `golden retriever` -> `has-pet`; None when it is nobody."""
    head = noun.rsplit(maxsplit=1)[-1]
    single = head.removesuffix("s")
    if PETS.intersection((noun, head, single)):
        return "has-pet"
    if head in DOCTORS or head.endswith(("ologist", "iatrist", "odontist")):
        return f"has-{head}"
    return KIN.get(noun) or KIN.get(head) or KIN.get(single) or ("has-child" if head == "children" else None)


def introduced(text: str, clause: Clause) -> Iterator[Draft]:
    """Yield whom a sentence names in passing: `a gift for my sister Anna`; `clause` says who speaks and how surely."""
    for found in _BY_NAME.finditer(text):
        if found["name"].split()[0].lower() not in _NOT_NAMES and not found["name"].isupper():
            yield from tie(clause, clause.subject.name, found["noun"], bare(found["name"]))


def someone(clause: Clause) -> Iterator[Draft]:
    """Read `my manager is Sarah`, `my dog's name is Rex`."""
    noun = clause.subject.noun or ""
    of = _NAME_OF.fullmatch(noun)
    named = leading_name(clause.rest)
    if named is None:
        return
    after = clause.rest[named[1] :].strip()
    if kind_of(named[0]) in {PERSON, None} and (of or not after or after.startswith(_ENDS)):
        yield from tie(clause, clause.subject.owner or "", of["noun"] if of else noun, named[0])


def kinship(clause: Clause, said: Said) -> Iterator[Draft]:
    """Read `Sarah is my manager`, `Anna and Tom are my colleagues`."""
    whose = _WHOSE.match(clause.rest)
    if whose is None or clause.subject.who is not Who.NAMED:
        return
    noun = whose["noun"].lower()
    words = noun.split()
    known = next((one for one in (noun, words[-1], words[0]) if tie_of(one) or one in COLLEAGUES), None)
    single = words[0].removesuffix("s")
    if known is None and single in COLLEAGUES:
        known = single
    many = clause.subject.plural
    for name in clause.subject.names if known else ():
        yield from tie(clause, said.speaker, known.removesuffix("s") if known and many else known or noun, name)


def naming(clause: Clause, _said: Said) -> Iterator[Draft]:
    """Read `my dog is called Rex`, `I'm called Al`."""
    named = leading_name(clause.rest)
    if named is None or clause.negated or not clause.passive:
        return
    if clause.subject.who is Who.POSSESSED and clause.subject.owner:
        yield from tie(clause, clause.subject.owner, clause.subject.noun or "", named[0])
    elif clause.subject.own:
        yield fact(clause, "has-name", named[0], importance=STATED, topic="personal")


def marrying(clause: Clause, _said: Said) -> Iterator[Draft]:
    """Read `married to Anna`, `married Tom last year`."""
    spouse = thing_after(_TO, clause.rest)
    if spouse and not clause.negated and clause.modal is None:
        yield fact(clause, "married-to", spouse.name, importance=0.8, topic="personal")


RULES: Final[Mapping[str, tuple[Rule, ...]]] = {
    **dict.fromkeys(("call", "name"), (naming,)),
    "marry": (marrying,),
}
