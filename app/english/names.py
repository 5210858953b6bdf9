"""Recognition of proper names in text, mainly by capitals, with entity types from the names and the words around."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from app.english.word_lists import (
    CITIES,
    COUNTRIES,
    EITHER,
    GROUPS,
    LANGUAGES,
    MEN,
    NATIONALITIES,
    ORGANISATION_SUFFIXES,
    ORGANISATIONS,
    PLACE_PHRASES,
    WOMEN,
    pairs,
    section,
    words,
)
from app.lexical.bm25 import STOP_WORDS
from app.lexical.tokens import sentence_spans
from app.memory import normalise
from app.model import UNKNOWN_TYPE


class Gender(StrEnum):
    """The gender of a person, as the pronoun shows it."""

    MALE = "he"
    FEMALE = "she"


@dataclass(frozen=True, slots=True, kw_only=True)
class NameMention:
    """A name with its position in the text."""

    name: str
    entity_type: str
    start: int


_PROPER_WORD = re.compile(r"[^\W_][\w&'\u2019-]*")
_POSSESSIVE = re.compile(r"['\u2019]s?$|-$")
_CONTRACTED = re.compile(r"['\u2019](?:s|m|d|re|ve|ll)$")
_TITLES = {
    "mr": Gender.MALE,
    "mrs": Gender.FEMALE,
    "ms": Gender.FEMALE,
    "miss": Gender.FEMALE,
    "dr": None,
    "prof": None,
}
_SUFFIXES: Final = {kind: frozenset(ends.split()) for kind, ends in pairs("names", "ends").items()}
_BEFORE: Final = {kind: frozenset(before.split()) for kind, before in pairs("names", "before").items()}
_WORKING: Final = words("names", "working")
_MOVING: Final = words("names", "moving")
_NEVER = section("common_words", "calendar and greetings")
_OPENERS = _NEVER | section("common_words", "sentence openers")


def gender_of(name: str) -> Gender | None:
    """Return the gender of a title or a given name, None for most names."""
    first, _, rest = name.partition(" ")
    low = _plain(first)
    if rest and low in _TITLES:
        return _TITLES[low] or gender_of(rest)
    if low in MEN:
        return Gender.MALE
    return Gender.FEMALE if low in WOMEN else None


def _plain(word: str) -> str:
    """Return a word folded, without a final stop and without marks on its letters, as given names are listed."""
    letters = unicodedata.normalize("NFKD", word.rstrip(".").casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def is_given(name: str) -> bool:
    """Return whether a name begins as people's names do: with a title or a given name."""
    first, _, rest = name.partition(" ")
    return gender_of(name) is not None or (bool(rest) and first.rstrip(".").casefold() in _TITLES)


def names_in(text: str, known: Mapping[str, str]) -> list[NameMention]:
    """Return the names in a text, in order; in linear time.

    `known` maps folded names that need no capitals to their entity types, `unknown` included.
    """
    words, starts = words_of(text, most=len(text)), frozenset(sentences_of(text))
    found = {words[first].start: (first, last) for first, last in _known_in(text, words, known)}
    place = 0
    while place < len(words):
        length = name_at(text, words, place, never=_NEVER)
        run = _trim(words, place, place + length - 1, starts, known) if length else None
        if run is not None:
            found.setdefault(words[run[0]].start, run)
        place += max(1, length)
    return [_mention(text, words, *found[start], known) for start in sorted(found)]


def sentences_of(text: str) -> list[int]:
    """Return the position of the first word of each sentence."""
    firsts = (_PROPER_WORD.search(text, start, end) for start, end in sentence_spans(text))
    return [first.start() for first in firsts if first is not None]


def _written(text: str, words: Sequence[NameToken], first: int, last: int) -> str:
    return text[words[first].start : words[last].start + len(words[last].bare)]


def _known_in(text: str, words: Sequence[NameToken], known: Mapping[str, str]) -> Iterator[tuple[int, int]]:
    longest = max((name.count(" ") + 1 for name in known), default=0)
    place = 0
    while place < len(words):
        counts = range(min(longest, len(words) - place), 0, -1)
        fits = (one for one in counts if _written(text, words, place, place + one - 1).casefold() in known)
        count = next(fits, 0)
        if count:
            yield place, place + count - 1
        place += max(1, count)


def _trim(
    words: Sequence[NameToken], first: int, last: int, starts: Collection[int], known: Mapping[str, str]
) -> tuple[int, int] | None:
    """Return the run without a first word that is capitalised only because it opens the sentence."""
    opener, low, bare = words[first], words[first].lower, words[first].bare
    if opener.start not in starts or bare.casefold() in known or is_given(bare) or low in _TITLES:
        return first, last
    plain = not {low, _CONTRACTED.sub("", low)}.isdisjoint(_OPENERS | STOP_WORDS["english"])
    if plain or (first < last and is_given(words[first + 1].bare)):
        return (first + 1, last) if first < last else None
    return first, last


def _mention(text: str, words: Sequence[NameToken], first: int, last: int, known: Mapping[str, str]) -> NameMention:
    name = _written(text, words, first, last)
    kind = known.get(name.casefold(), UNKNOWN_TYPE)
    return NameMention(
        name=name,
        entity_type=_guess_type(words, first, last, name) if kind == UNKNOWN_TYPE else kind,
        start=words[first].start,
    )


def _guess_type(words: Sequence[NameToken], first: int, last: int, name: str) -> str:
    """Return the entity type that a name's own words and its neighbours suggest."""
    if is_given(name):
        return "person"
    own = {words[first].lower, words[last].lower} if first < last else set()
    after = words[last + 1].lower if last + 1 < len(words) else ""
    for kind, suffixes in _SUFFIXES.items():
        if own & suffixes or (kind != "organization" and after in suffixes):
            return kind
    before, earlier = (words[first - back].lower if first >= back else "" for back in (1, 2))
    if (before in {"at", "for", "with"} and earlier in _WORKING) or before in _BEFORE["organization"]:
        return "organization"
    if before in _BEFORE["place"] or (before in {"to", "from"} and earlier in _MOVING):
        return "place"
    if before in {"at", "to", "from"} and words[last].text != words[last].bare and _ends_phrase(words, last):
        return "place"  # "at St Mary's"
    return next((kind for kind in ("project", "product") if before in _BEFORE[kind]), UNKNOWN_TYPE)


def _ends_phrase(words: Sequence[NameToken], place: int) -> bool:
    """Return whether more than a space comes after a word, or nothing."""
    return place + 1 == len(words) or words[place + 1].start > words[place].end + 1


PERSON: Final = "person"
ORGANIZATION: Final = "organization"
PLACE: Final = "place"
_WORD: Final = re.compile(r"[^\s,;:!?()\[\]{}\"\u2026\u2014\u2013\ufffc*`]+")
_JOINING: Final = frozenset({"of", "de", "del", "la", "van", "von", "der", "den", "&", "al", "bin"})
_SPEAKER: Final = frozenset({"i", "i'm", "i've", "i'd", "i'll"})
_MOST_WORDS: Final = 6
_LONGEST_NAME: Final = 3
_DIRECTIONS: Final = frozenset({"north", "south", "east", "west", "upper", "lower", "downtown", "central", "greater"})
COMMON: Final = (STOP_WORDS["english"] | section("common_words", "openers")) - {"may", "april", "june", "august"}
"""Words that are no names when they begin a sentence with a capital."""

_VIRTUES: Final = section("common_words", "virtues")
_NO_NAME: Final = (COMMON - _VIRTUES) | section("common_words", "complements")
"""Words that are no names although some people capitalise them: `Call me Back`, `Hi, I'm Stuck`."""


@dataclass(frozen=True, slots=True)
class NameToken:
    """A word of a text, without punctuation around it, and its position."""

    text: str
    start: int
    end: int

    @property
    def lower(self) -> str:
        """Return the word in lower case, with a straight apostrophe."""
        return self.text.lower().replace("\u2019", "'")

    @property
    def bare(self) -> str:
        """Return the word without a possessive ending."""
        return _POSSESSIVE.sub("", self.text)

    @property
    def capital(self) -> bool:
        """Return whether the word begins with a capital letter."""
        return self.text[0].isupper()


def words_of(text: str, at: int = 0, most: int = 80) -> list[NameToken]:
    """Return at most `most` words of a text from a position on."""
    found = []
    for match in _WORD.finditer(text, at):
        word = match.group().strip("'._~")
        if word:
            start = match.start() + match.group().index(word)
            found.append(NameToken(word, start, start + len(word)))
            if len(found) == most:
                break
    return found


def adjoining(text: str, first: NameToken, second: NameToken) -> bool:
    """Return whether only spaces separate two words (a full stop after an initial or a title is ignored)."""
    between = text[first.end : second.start]
    short = len(first.text) == 1 or first.lower in _TITLES or first.text == "St"
    return not between.strip(" ") or (between == ". " and short)


def name_at(text: str, words: Sequence[NameToken], place: int, *, never: Collection[str] = ()) -> int:
    """Return the number of words of the name at a position, 0 when there is none; `never` are words of none."""
    if place >= len(words) or not words[place].capital or words[place].lower in _SPEAKER or words[place].lower in never:
        return 0
    length = 1
    while place + length < len(words) and length < _MOST_WORDS:
        previous, word = words[place + length - 1], words[place + length]
        if not adjoining(text, previous, word) or previous.text.endswith(("'s", "'")):
            break
        if word.capital and word.lower not in _SPEAKER and word.lower not in never:
            length += 1
        elif word.lower in _JOINING and _capital_follows(text, words, place + length):
            length += 2
        else:
            break
    return length


_LEADING_WORDS: Final = 8
"""Most words of a name that a text begins with."""


def leading_name(text: str) -> tuple[str, int] | None:
    """Return the name at the beginning of a text, and its end; None when the text begins with another word."""
    words = words_of(text, most=_LEADING_WORDS)
    length = name_at(text, words, 0)
    return (text[words[0].start : words[length - 1].end], words[length - 1].end) if length else None


def token_names(text: str) -> Iterator[str]:
    """Yield the names in a text, in order, without possessive endings; a first word must be no common word."""
    words = words_of(text)
    place = 0
    while place < len(words):
        length = name_at(text, words, place)
        if length:
            found = bare_name(text[words[place].start : words[place + length - 1].end])
            if not (length == 1 and (found.lower() in COMMON or len(found) == 1)):
                yield found
        place += max(1, length)


def bare_name(name: str) -> str:
    """Return the name without a possessive ending."""
    return name.removesuffix("'s").removesuffix("'")


def kind_of(name: str, people: Collection[str] = ()) -> str | None:
    """Return `person`, `organization` or `place` by the name itself or the known people, else None."""
    low = normalise.normalise_name(name)
    words = low.split()
    if not words:
        return None
    if is_place(low):
        return PLACE
    if low in people:
        return PERSON
    if low in ORGANISATIONS or words[0] in ORGANISATIONS or words[-1] in ORGANISATION_SUFFIXES:
        return ORGANIZATION
    given = words[0] in EITHER or is_given(name)
    return PERSON if given and len(words) <= _LONGEST_NAME else None


def is_place(name: str) -> bool:
    """Return whether the name, or the first part of `Portland, Oregon`, is a known place."""
    low = normalise.normalise_name(name.partition(",")[0]).removeprefix("the ")
    first, _, rest = low.partition(" ")
    known = rest if first in _DIRECTIONS else low
    return low in PLACE_PHRASES or known in CITIES or known in COUNTRIES


def is_no_name(word: str) -> bool:
    """Return whether a capitalised word is no name: `Back` in `call me Back`, but not `Hope` or `Will`."""
    low = word.lower()
    return low in _NO_NAME and low not in EITHER


def is_group(name: str) -> bool:
    """Return whether the name is of a group with members: `platform team`, `chess club`."""
    return not GROUPS.isdisjoint(normalise.normalise_name(name).split()[-1:])


def is_language(word: str) -> bool:
    """Return whether the word is a language."""
    return word.lower() in LANGUAGES


def is_nationality(word: str) -> bool:
    """Return whether the word is a nationality."""
    return word.lower() in NATIONALITIES


def _capital_follows(text: str, words: Sequence[NameToken], place: int) -> bool:
    follows = place + 1 < len(words) and words[place + 1].capital
    return follows and adjoining(text, words[place], words[place + 1])
