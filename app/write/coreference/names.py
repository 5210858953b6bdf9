"""Names as they are said together, with people who have none: who may be meant by what refers to somebody."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final

from app.english.descriptions import Description, descriptions_in
from app.english.names import UNKNOWN, Gender, NameMention, gender_of, is_given, sentences_of
from app.english.pronouns import PET

_JOINED: Final = re.compile(r"\s*,?\s*(?:and|or|&|,|as well as)\s+")
"""What stands between names that are said as equals."""

_CALLED: Final = re.compile(
    r"\s+|\s*\(|\s*,?\s*(?:(?:who|which|that)\s+)?(?:(?:is|was)\s+|['\u2019]s\s+)?(?:named|called)\s+"
    r"|(?:['\u2019]s\s+|,?\s+whose\s+)name\s+(?:is|was)\s+"
)
"""What stands between a noun and the name it goes with: `my brother Paul`, `a dog named Biscuit`."""

_ASIDE: Final = re.compile(r"\s*,\s*")
_IS: Final = re.compile(r"\s+(?:is|was)\s+")
_TOLD: Final = re.compile(
    r"(?:\s+(?:is|was|became|isn't|wasn't)|['\u2019]s)\s+(?:(?:also|now|still|really|not|just|only|one|of)\s+){0,2}|\s*[,(]\s*"
)
"""What stands between a name and what it is said to be: `Biscuit is a beagle`, `Paul, my brother`."""

_MEETING: Final = re.compile(r"\b(?:met|meet|meeting|married|marry|hired|dating|date)\s+$", re.IGNORECASE)
"""What only people come after."""


class AmbiguousName(Exception):
    """A pronoun that several may be meant by, none of them more than another; the message says so."""


@dataclass(frozen=True, slots=True)
class PossibleReferent:
    """Somebody or something that a reference may mean."""

    name: str
    entity_type: str
    assigned: bool = False
    joined: bool = False
    """Whether it was said as one of several: `Tom and Peter`."""

    start: int = 0
    """Where it stands in its text; -1 where it may have been said apart from the others."""

    gender: Gender | None = None
    """Who it is by the noun that goes with the name: a brother is a he."""

    leads: bool = False
    """Whether it begins its sentence or was met: people are, of whom nothing else is known."""

    follows: bool = False
    """Whether the pronoun that is looked for stands before it in its sentence."""

    owner: str | None = None
    """The name of whose it is, where that is said: the speaker of `my boss`."""

    unnamed: Description | None = None
    """The noun that stands for somebody without a name."""

    nameless: bool = False
    """Whether the name is but the noun and its words, by which nobody is known."""


def by_sentence(text: str, said: Sequence[NameMention]) -> Iterator[list[PossibleReferent]]:
    """Yield who is spoken of in a text by sentence, the last sentence first; names that are joined are equals."""
    starts = sentences_of(text)
    nouns = [one for one in descriptions_in(text) if said or not one.tells]
    nouns_of = {one.start: noun for one in said if (noun := _noun(text, one, nouns)) is not None}
    taken = {noun.start for noun in nouns_of.values()}
    links = [_JOINED.match(text, one.start + len(one.name), two.start) for one, two in pairwise(said)]
    ends = [found is not None and found.end() == two.start for found, two in zip(links, said[1:], strict=True)]
    found = [
        _candidate(text, one, nouns_of.get(one.start), starts, joined=before or after)
        for one, before, after in zip(said, [False, *ends], [*ends, False], strict=bool(said))
    ]
    found += [
        PossibleReferent(one.words, PET if one.animal else UNKNOWN, start=one.start, unnamed=one, nameless=True)
        for one in nouns
        if not one.tells and one.start not in taken
    ]
    found.sort(key=lambda one: one.start)
    sentences = [list(group) for _, group in groupby(found, key=lambda one: bisect_right(starts, one.start))]
    yield from reversed(sentences)


def _candidate(
    text: str, one: NameMention, noun: Description | None, starts: Sequence[int], *, joined: bool
) -> PossibleReferent:
    animal = noun is not None and noun.animal
    return PossibleReferent(
        one.name,
        PET if animal and one.entity_type in {UNKNOWN, "person"} else one.entity_type,
        joined=joined,
        start=one.start,
        gender=None if noun is None else noun.gender,
        leads=one.start in starts or bool(_MEETING.search(text, max(0, one.start - 12), one.start)),
    )


def _noun(text: str, one: NameMention, nouns: Sequence[Description]) -> Description | None:
    """Return the noun that goes with a name, before it or after it."""
    place = bisect_right(nouns, one.start, key=lambda noun: noun.start)
    end = one.start + len(one.name)
    before = nouns[place - 1] if place and nouns[place - 1].end <= one.start else None
    after = nouns[place] if place < len(nouns) else None
    if (
        before is not None
        and _goes(before, one)
        and _introduces(text[before.end : one.start], text[end : end + 1], one)
    ):
        return before
    if (
        after is not None
        and after.start - end <= _FAR
        and _goes(after, one)
        and _TOLD.fullmatch(text[end : after.start])
    ):
        return after
    return None


_FAR: Final = 40
"""Characters between a name and the noun that goes with it."""


def _goes(noun: Description, one: NameMention) -> bool:
    gender = None if noun.animal else gender_of(one.name)
    return noun.gender is None or gender in {None, noun.gender}


def _introduces(between: str, after: str, one: NameMention) -> bool:
    if len(between) > _FAR:
        return False
    if _ASIDE.fullmatch(between):
        return after in {"", *",.;:!?)"}
    if _IS.fullmatch(between):
        return is_given(one.name) or one.entity_type in {"person", PET}
    return _CALLED.fullmatch(between) is not None
