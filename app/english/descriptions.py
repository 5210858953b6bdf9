"""Recognition of people and animals that a text mentions by nouns: `my boss`, `a new intern`, `our cat`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final

from app.english.names import Gender, NameMention, NameToken, gender_of, is_given, names_in, sentences_of, words_of
from app.english.word_lists import pattern, word_set, words
from app.lexical.bm25 import STOP_WORDS
from app.model import UNKNOWN_TYPE


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A noun for a person or an animal with its modifiers, and their position in the text.

    `owner` is a possessive at its beginning (`my`, `her`), and `rest` the words after it: `new boss` of `my new boss`.
    `named`: it stands as a name does, for somebody of the speaker's own (`Mum`).
    `tells` means that the noun is a predicate of another person, as in `Priya is a manager`, and mentions nobody.
    """

    words: str
    start: int
    end: int
    noun: str
    owner: str | None
    rest: str
    plural: bool
    animal: bool
    gender: Gender | None
    tells: bool
    named: bool = False


PET: Final = "pet"
_FEMALE: Final = words("people", "women")
_MALE: Final = words("people", "men")
_PEOPLE: Final = _FEMALE | _MALE | words("people", "others")
_ANIMALS: Final = words("people", "animals")
_PLURALS: Final = {
    **{f"{one}s": one for one in _PEOPLE | _ANIMALS},
    "people": "person", "children": "child", "wives": "wife", "men": "man", "women": "woman", "guys": "guy",
    "ladies": "lady", "babies": "baby", "puppies": "puppy", "bunnies": "bunny", "ponies": "pony",
    "folks": "person", "policemen": "policeman", "kitties": "kitty",
}  # fmt: skip
_BY_ENDING: Final = re.compile(r"[a-z]{3,20}(?:ologist|iatrist|odontist|woman|trician)")
_OWNERS: Final = word_set("my our your his her their its")
DETERMINERS: Final = _OWNERS | word_set(
    "a an the this that these those some another one every each any no what two three"
)
OWN_KIN: Final = word_set("mom mommy mum mummy mama dad daddy papa grandma granny gran nana grandpa grandad")
"""Nouns that mean the speaker's own relative where they stand as a name does: `Mum called`."""

_TITLE: Final = re.compile(r" (?!I\b)[A-Z]")
"""What follows a noun that begins a name: `Nana Mouskouri`."""

_ALONE: Final = OWN_KIN | {"someone", "somebody"}
"""Nouns that need no determiner."""

_FAR: Final = 5
"""Most words between a noun and its determiner."""

_COPULAS: Final = words("descriptions", "copulas")
_EXPLETIVES: Final = word_set("there it that this there's it's that's")
_BETWEEN: Final = word_set("also now still actually really not just only probably currently such quite both basically")
_OF_THINGS: Final = words("people", "of things")
_JOINED: Final = re.compile(r"\s*,?\s*(?:and|or|&|,|as well as)\s+")
"""What stands between names that are said as equals."""

_CALLED: Final = pattern("descriptions", "called")
"""What stands between a noun and the name it goes with: `my brother Paul`, `a dog named Biscuit`."""

_TOLD: Final = pattern("descriptions", "told")
"""What stands between a name and what it is said to be: `Biscuit is a beagle`, `Paul, my brother`."""

_MEETING: Final = re.compile(r"\b(?:met|meet|meeting|married|marry|hired|dating|date)\s+$", re.IGNORECASE)
"""What only people come after."""

_APART: Final = 40
"""Characters between a name and the noun that goes with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscourseMention:
    """Somebody or something that is spoken of, by name or, with `unnamed`, by a noun.

    `joined`: as one of several, `Tom and Peter`. `leads`: it begins its sentence or was met, as people are of whom
    nothing else is known. `follows`: a pronoun that is looked for stands before it in its sentence. `owner` is whose
    the unnamed one is, where known, and `nameless`: nobody knows its name. `written`: it stands in a text;
    `assigned`: a pronoun has meant it.
    """

    name: str
    entity_type: str = UNKNOWN_TYPE
    gender: Gender | None = None
    start: int = 0
    joined: bool = False
    leads: bool = False
    follows: bool = False
    unnamed: Description | None = None
    owner: str | None = None
    nameless: bool = False
    written: bool = True
    assigned: bool = False


def gender_of_noun(noun: str) -> Gender | None:
    """Return the gender of the person that a noun means: a wife is a she; None for most nouns."""
    if noun in _FEMALE:
        return Gender.FEMALE
    return Gender.MALE if noun in _MALE else None


def is_person(noun: str) -> bool:
    """Return whether the noun means a person."""
    return noun in _PEOPLE


def is_plural(noun: str) -> bool:
    """Return whether the noun means several: `parents`, `mum and dad`, but not `boss`."""
    last = noun.rsplit(maxsplit=1)[-1]
    return " and " in noun or last in _PLURALS or (last.endswith("s") and not last.endswith(("ss", "us", "is", "'s")))


def descriptions_in(text: str) -> list[Description]:
    """Return the people and animals that a text mentions by nouns, in order; in linear time."""
    words = [one for one in words_of(text, most=len(text)) if one.text[0].isalnum()]
    found = (_unnamed(text, words, place) for place in range(len(words)))
    return [one for one in found if one is not None]


def _unnamed(text: str, words: Sequence[NameToken], place: int) -> Description | None:
    word = words[place]
    noun = _PLURALS.get(word.bare.lower(), word.bare.lower())
    if noun not in _PEOPLE and noun not in _ANIMALS and not _BY_ENDING.fullmatch(noun):
        return None
    first = _beginning(text, words, place)
    named = first == place and noun in OWN_KIN and word.text[0].isupper() and not _TITLE.match(text, word.end)
    if first is None or (not named and _says_whose(text, words, place)):
        return None
    opener, end = words[first], word.start + len(word.bare.lower())
    owned = first < place and (opener.lower in _OWNERS or opener.lower != opener.bare.lower())
    return Description(
        words=text[opener.start : end],
        start=opener.start,
        end=end,
        noun=noun,
        owner=opener.text if owned else "my" if named else None,
        rest=noun if named else text[words[first + 1 if first < place else place].start : end],
        plural=noun != word.bare.lower(),
        animal=noun in _ANIMALS,
        gender=gender_of_noun(noun),
        tells=not named and _tells(text, words, first),
        named=named,
    )


def _beginning(text: str, words: Sequence[NameToken], place: int) -> int | None:
    """Return the position of a noun's determiner or first modifier; None when the noun means nobody."""
    for first in range(place - 1, max(-1, place - _FAR - 1), -1):
        word = words[first]
        if text[word.end : words[first + 1].start].strip():
            break
        if word.bare.lower() in STOP_WORDS["english"] and word.lower not in DETERMINERS:  # "how's Mum"
            break
        if word.lower in DETERMINERS or (word.lower != word.bare.lower() and word.lower not in _COPULAS | _EXPLETIVES):
            return first
    noun = words[place].bare.lower()
    return place if noun in _ALONE or noun in _PLURALS else None


def _says_whose(text: str, words: Sequence[NameToken], place: int) -> bool:
    """Return whether the noun only modifies another one: `my boss's wife`, `the customer service`."""
    word = words[place]
    if place + 1 == len(words) or text[word.end : words[place + 1].start].strip():
        return False
    after = words[place + 1].lower
    return after in _OF_THINGS or (
        word.lower != word.bare.lower() and after != "name" and after not in STOP_WORDS["english"]
    )


def _tells(text: str, words: Sequence[NameToken], first: int) -> bool:
    """Return whether the words from a position on are a predicate: `is a manager`, but not `there is a manager`."""
    place = first - 1
    while place >= 0 and words[place].lower in _BETWEEN:
        place -= 1
    if place < 0 or _breaks(text, words, place):
        return False
    verb = words[place].lower
    if verb == "as" or "'" in verb:
        return verb in _COPULAS or (verb.endswith("'s") and verb not in _EXPLETIVES)
    begins = place == 0 or _breaks(text, words, place - 1)
    return verb in _COPULAS and not begins and words[place - 1].lower not in _EXPLETIVES


def _breaks(text: str, words: Sequence[NameToken], place: int) -> bool:
    return bool(text[words[place].end : words[place + 1].start].strip())


def mentions_in(text: str, kinds: Mapping[str, str]) -> list[list[DiscourseMention]]:
    """Return who is spoken of in a text by sentence, the last first; names that are joined are equals.

    `kinds` maps folded names that need no capitals to their entity types.
    """
    starts, nouns = sentences_of(text), descriptions_in(text)
    kin = {(noun.start, noun.words) for noun in nouns if noun.named}
    said = [one for one in names_in(text, kinds) if (one.start, one.name) not in kin]
    nouns_of = {one.start: noun for one in said if (noun := _noun_of(text, one, nouns)) is not None}
    taken = {noun.start for noun in nouns_of.values()}
    links = [_JOINED.match(text, one.start + len(one.name), two.start) for one, two in pairwise(said)]
    ends = [found is not None and found.end() == two.start for found, two in zip(links, said[1:], strict=True)]
    found = [
        _named(text, one, nouns_of.get(one.start), starts, joined=before or after)
        for one, before, after in zip(said, [False, *ends], [*ends, False], strict=bool(said))
    ]
    found += [
        DiscourseMention(
            name=one.words, entity_type=PET if one.animal else UNKNOWN_TYPE, start=one.start, unnamed=one, nameless=True
        )
        for one in nouns
        if not one.tells and one.start not in taken
    ]
    found.sort(key=lambda one: one.start)
    sentences = [list(group) for _, group in groupby(found, key=lambda one: bisect_right(starts, one.start))]
    return sentences[::-1]


def _named(
    text: str, one: NameMention, noun: Description | None, starts: Sequence[int], *, joined: bool
) -> DiscourseMention:
    animal = noun is not None and noun.animal and one.entity_type in {UNKNOWN_TYPE, "person"}
    return DiscourseMention(
        name=one.name,
        entity_type=PET if animal else one.entity_type,
        gender=None if noun is None else noun.gender,
        start=one.start,
        joined=joined,
        leads=one.start in starts or bool(_MEETING.search(text, max(0, one.start - 12), one.start)),
    )


def _noun_of(text: str, one: NameMention, nouns: Sequence[Description]) -> Description | None:
    """Return the noun that goes with a name, before it or after it."""
    place = bisect_right(nouns, one.start, key=lambda noun: noun.start)
    end = one.start + len(one.name)
    for noun in nouns[max(0, place - 1) : place + 1]:
        gender = None if noun.animal else gender_of(one.name)
        if noun.gender is not None and gender not in {None, noun.gender}:
            continue
        if noun.end <= one.start:
            goes = _introduces(text[noun.end : one.start], text[end : end + 1], one)
        else:
            goes = 0 <= noun.start - end <= _APART and _TOLD.fullmatch(text[end : noun.start]) is not None
        if goes:
            return noun
    return None


def _introduces(between: str, after: str, one: NameMention) -> bool:
    if len(between) > _APART:
        return False
    if between.strip() == ",":
        return after in {"", *",.;:!?)"}
    if between.strip() in {"is", "was"}:
        return is_given(one.name) or one.entity_type in {"person", PET}
    return _CALLED.fullmatch(between) is not None
