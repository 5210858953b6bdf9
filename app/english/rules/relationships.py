"""Relationships of people and animals, their names, ends and attributes: `my manager Sarah`, `Rex died`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from app.english.names import PERSON, bare_name, is_nationality, leading_name
from app.english.pronouns import parsed
from app.english.rules import occupations, values
from app.english.rules.clause import Clause, SpeakerContext, Who
from app.english.rules.drafts import Draft, ending, entity, fact, relation
from app.english.rules.noun_phrases import list_items, value, without_fillers
from app.english.word_lists import (
    COLLEAGUES,
    DIETS,
    FAITHS,
    KIN,
    PETS,
    expanded,
    is_doctor,
    lines,
    pattern,
    word_set,
    words,
)
from app.memory import vocabulary
from app.section_files import read_sections

_NAME_OF: Final = re.compile(r"(?P<noun>[\w -]+?)'s?\s+name", re.IGNORECASE)
_BY_NAME: Final = pattern("relationships", "by name")
_WHOSE: Final = re.compile(r"(?:one of )?(?:my|our)\s+(?P<noun>[\w-]+(?:\s[\w-]+)?)(?![\w'])", re.IGNORECASE)
_OF_OTHERS: Final = re.compile(r"(?P<whose>.+)'s\s(?P<noun>[^']+)")
_BYGONE: Final = re.compile(r"(?:(?P<old>old)|ex|former|previous|late|deceased|estranged)[\s-]+(?P<noun>\S.*)")
GONE: Final = pattern("relationships", "gone", re.IGNORECASE)
"""Words by which whom a sentence names is not one's any more."""
_NOT_NAMES: Final = word_set("i i'm i've i'd who the he she they we it and but")
_REPLACED: Final = word_set("roommate flatmate housemate neighbor neighbour")
"""Who is another one once they are the old one; an old friend is still a friend."""
_BROAD: Final = frozenset(KIN.values()) - {
    "friend-of", "has-mother", "has-father", "has-pet", "has-partner"
}  # fmt: skip
"""Ties that say less than their noun, which the entity keeps: a niece is a relative. What ends is a fact alone."""
_NAMED_BY_KIND: Final = word_set("manager partner")
"""Nouns that another noun before them makes something else."""

_SAME_KIND: Final = words("people", "same kind")
"""Words before them that leave them what they are."""

_HAS: Final = pattern("relationships", "has")
_COUNTED: Final = frozenset({"has-child", "has-pet", "has-sibling", "has-relative"})
_MOST_NAMES: Final = 6
_ANOTHER: Final = re.compile(expanded("relationships", r"\s*,?\s*\band(?=\s+<<COUNT>>\s)"))
"""Between those whom one has: `a dog called Rufus and a rabbit`."""
_TOGETHER: Final = re.compile(r"\s+(?:closely\s+)?together\b", re.IGNORECASE)
_ENDS: Final = frozenset(",.(!")
_HIM: Final = re.compile(r"(?:him|her|them)\b")


def relationship(clause: Clause, owner: str, noun: str, name: str) -> Iterator[Draft]:
    """Yield what someone is to whom, and who they are: `my manager Sarah`, `my dog Rex`.

    Of `my son's teacher` it is the son's; of `my ex-wife Ann` it is over.
    """
    noun = noun.lower()
    others = _OF_OTHERS.fullmatch(noun)
    if others:
        owner, noun = f"{owner}'s {others['whose']}", others["noun"]
    past = past_relationship(noun)
    yield from _tied(clause, owner, past or noun, name, over=past is not None)
    kind = tie_of(past or noun)
    if kind == "has-pet":
        yield entity(clause, name, "pet", attributes={"kind": noun})
    elif kind is not None and (kind in _BROAD or kind not in KIN.values()):  # kin, and whom one goes to
        known = parsed(owner) is None
        yield entity(clause, name, PERSON, attributes={"relationship": f"{owner}'s {noun}"} if known else None)


def _tied(clause: Clause, owner: str, noun: str, name: str, *, over: bool) -> Iterator[Draft]:
    work, predicate = _work_tie(noun), tie_of(noun)
    if work:
        draft = relation(clause, work, name, start=owner)
    elif predicate is not None:
        importance = 0.8 if predicate == "married-to" else 0.6
        draft = fact(clause, predicate, name, subject=owner, importance=importance, topic="personal")
    else:
        return
    yield replace(draft, ends=True) if over else draft


def past_relationship(noun: str) -> str | None:
    """Return the noun of what someone no longer is to one: `ex-wife`, `old boss`; None for what they still are."""
    found = _BYGONE.fullmatch(noun)
    kept = found is not None and found["old"] and not (_work_tie(found["noun"]) or found["noun"] in _REPLACED)
    return None if found is None or kept else found["noun"]


def _work_tie(noun: str) -> str | None:
    return COLLEAGUES.get(noun) or COLLEAGUES.get(_head(noun))


def _head(noun: str) -> str:
    """Return the last word of a noun; the noun itself where those before it make it another one: `file manager`."""
    *before, head = noun.split()
    return noun if head in _NAMED_BY_KIND and not _SAME_KIND.issuperset(before) else head


def tie_of(noun: str) -> str | None:
    """Return the predicate of having someone: `golden retriever` -> `has-pet`; None when it is nobody."""
    head = _head(noun)
    single = head.removesuffix("s")
    if PETS.intersection((noun, head, single)):
        return "has-pet"
    if is_doctor(head):
        return f"has-{head}"
    return KIN.get(noun) or KIN.get(head) or KIN.get(single) or ("has-child" if head == "children" else None)


def introduction(text: str, clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Yield whom a sentence names in passing: `a gift for my sister Anna`; `clause` says who speaks and how surely."""
    for found in () if GONE.search(text) else _BY_NAME.finditer(text):
        if found["name"].split()[0].lower() not in _NOT_NAMES and not found["name"].isupper():
            whole = f"{found['how']}{found['noun']}"
            noun = whole if past_relationship(whole) else found["noun"]
            yield from relationship(clause, clause.subject.name, noun, bare_name(found["name"]))


def someone(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `my manager is Sarah`, `my dog's name is Rex`, `my sisters are Ada and Lou`, `my dog is called Rex`."""
    named = leading_name(clause.rest)
    if named is None or not (clause.passive or (clause.copula and clause.holds)):
        return
    owner, noun = clause.subject.owner or "", clause.subject.noun or ""
    if clause.subject.who is Who.POSSESSED:
        of = _NAME_OF.fullmatch(noun)
        ties = () if of is None and _is_said_of_people(named[0]) else _each(clause, of["noun"] if of else noun, named)
        found = [draft for name, one in ties for draft in relationship(clause, owner, one, name)]
        yield from found or ([fact(clause, "has-name", named[0])] if clause.passive else [])


def _each(clause: Clause, noun: str, first: tuple[str, int]) -> Iterator[tuple[str, str]]:
    """Yield who is named with their noun: after one in the plural, each of those who are named."""
    single = noun.removesuffix("s")
    if single != noun and tie_of(single) is not None:
        yield from ((name, _single(noun)) for name in _names(clause.rest))
        return
    after = without_fillers(clause.rest[first[1] :])
    if not after or after.startswith(("and ", "from ", "who ")) or clause.rest[first[1] :].strip()[:1] in _ENDS:
        yield first[0], noun


def _single(noun: str) -> str:
    """Return a noun in the singular, where that is the same tie: one's twins are children, one's twin is not."""
    single = noun.removesuffix("s")
    return single if tie_of(single) == tie_of(noun) else noun


def _is_said_of_people(word: str) -> bool:
    """Tell whether a word with a capital says what someone is like rather than who they are: `my wife is French`."""
    return is_nationality(word) or word.lower() in DIETS | FAITHS


def kinship(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `Sarah is my manager`, `Anna and Tom are my colleagues`."""
    whose = _WHOSE.match(clause.rest) if clause.copula and clause.holds else None
    if whose is None or clause.subject.who is not Who.NAMED:
        return
    noun = whose["noun"].lower()
    nouns = () if past_relationship(noun) else (noun, _head(noun), noun.split()[0])
    known = next((one for one in nouns if tie_of(one) or one in COLLEAGUES), noun)
    for name in clause.subject.names:
        yield from relationship(clause, said.speaker, known.removesuffix("s") if clause.subject.plural else known, name)


def having(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `have two dogs named Biscuit and Maple`, `have three children`, `have a cat and two dogs`."""
    if clause.holds and not clause.perfect:
        for part in _ANOTHER.split(clause.rest):
            yield from _had(clause, part)


def _had(clause: Clause, part: str) -> Iterator[Draft]:
    found = _HAS.match(part)
    predicate = tie_of(found["noun"]) if found else None
    if found is None or predicate is None:
        return
    noun, count = f"{found['kind'] or ''}{found['noun']}", found["count"]
    names = found["names"] or found["listed"]
    if names:
        for name in _names(names):
            yield from relationship(clause, clause.subject.name, _single(noun), name)
    elif count and predicate in _COUNTED:
        children = noun in {"children", "kids"}
        yield fact(clause, "has-children", count) if children else fact(clause, "has", f"{count} {noun}")


def _names(text: str) -> list[str]:
    """Return the names at the beginning of an enumeration."""
    found: list[str] = []
    for one in list_items(text)[:_MOST_NAMES]:
        named = leading_name(one)
        if named is None:
            break
        found.append(bare_name(named[0]))
    return found


def working_together(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `John and Sarah work together`."""
    if clause.holds and _TOGETHER.match(clause.rest):
        for other in clause.subject.names[1:]:
            yield relation(clause, "works-with", other, start=clause.subject.names[0])


_OVER: Final = tuple(
    (tuple(ties.split()), re.compile(expanded("relationships", found), re.IGNORECASE))
    for ties, found in lines("relationships", "over")
)
"""Ties that are over, and the words from the verb on that say so."""


def parted(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read that a tie is over: `got divorced`, `Anna and I broke up`, `Rex died`, `Ugo moved out`, `Nora dumped me`."""
    if clause.negated or clause.modal or not (clause.copula or clause.passive or clause.happened):
        return
    done = f"{clause.lemma} {clause.rest.strip()}"
    ties, found = next(((ties, found) for ties, one in _OVER if (found := one.match(done))), ((), None))
    if found is None:
        return
    subject, whom = clause.subject, found.groupdict().get("whom")
    named = leading_name(whom) if whom else None
    owner, other = said.speaker, named[0] if named else ""
    if found.groupdict().get("gone") is not None:
        other = subject.given or (subject.name if subject.who is Who.NAMED and not subject.plural else "")
        ties = ties if other else ()
    elif subject.own:
        other = other or next((one for one in subject.names if one != said.speaker), "")
        ties = ties if _is_of_mates(clause, whom) else ()
    elif subject.mine and _is_mate(subject.noun or ""):
        other = subject.given or other
    else:
        owner = subject.name
        ties = () if subject.plural or " and " in (subject.noun or "") else ties
    for one in ties:
        yield ending(clause, said, fact(clause, one, other, subject=owner))


def _is_of_mates(clause: Clause, whom: str | None) -> bool:
    """Tell whether the speaker parts from a partner: `my wife and I broke up`, but not `broke up with the band`."""
    nouns = [found["noun"] for found in _WHOSE.finditer(f"{clause.before} {whom or ''}")]
    named = not whom or leading_name(whom) is not None or _HIM.match(whom) is not None
    return any(map(_is_mate, nouns)) if nouns else named


def _is_mate(noun: str) -> bool:
    """Tell whether a noun, with or without a name, says what a partner is: `wife`, `boyfriend Tom`."""
    low = noun.lower()
    return any(KIN.get(one) in {"married-to", "has-partner"} for one in (low, *low.split()[:1]))


_ATTRIBUTES: Final = frozenset(
    line.split()[0]
    for title in ("persons", "health", "work and study")
    for line in read_sections("app.english", "predicates")[title]
) - {"has-name", "born-on", "has-goal", "has-pronouns", "lives-with"}
"""Attributes that no other rule reads."""

_TELLING: Final = re.compile(r"\d|[A-Z]|\w@\w")
_END: Final = re.compile(r"[,;:!?()]|\.(?=\s|$)|\s(?:and|but|so|because|since|now|until)\b")
_WHOLE: Final = re.compile(r"[;:!?()]|\.(?=\s|$)")
"""The end of an address, which has commas."""
_MOST_WORDS: Final = 8


def attributes(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read what the vocabulary has a predicate for: `my home town is Ghent`, `my email is a.vogel@example.org`."""
    subject = clause.subject
    if subject.who is not Who.POSSESSED or not clause.holds or subject.given is not None or subject.owner is None:
        return
    predicate = vocabulary.predicate(subject.noun or "")
    if predicate in _ATTRIBUTES and vocabulary.ENTITY_PREDICATES.get(predicate) != "person":
        read = _READ_BY.get(predicate, _telling)
        end = _WHOLE if predicate == "address" else _END
        for one in read(end.split(clause.rest, maxsplit=1)[0], said):
            yield fact(clause, predicate, one, subject=subject.owner)


def _telling(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield a value with a number or a name, but not what is thought of it: `hard to explain`."""
    name = value(text)
    if name is not None and len(name.split()) <= _MOST_WORDS and _TELLING.search(name):
        yield name


_READ_BY: Final[Mapping[str, values.Value]] = {
    "has-nationality": values.nationality,
    "has-age": values.age,
    "has-diet": values.diet,
    "has-role": lambda text, said: occupations.role(f"a {text}", said),
}
