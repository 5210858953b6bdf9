"""What in a text is a name, and of what."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from app.memory import normalise
from app.providers.rules.words import word_set
from app.providers.rules.words.organisations import GROUPS, ORGANISATIONS, SUFFIXES
from app.providers.rules.words.people import ALSO_GIVEN
from app.providers.rules.words.places import CITIES, COUNTRIES, LANGUAGES, NATIONALITIES, PLACE_PHRASES
from app.text.proper_names import is_given
from app.text.stopwords import STOP_WORDS

PERSON: Final = "person"
ORGANIZATION: Final = "organization"
PLACE: Final = "place"

_WORD: Final = re.compile(r"[^\s,;:!?()\[\]{}\"\u2026\u2014\u2013\ufffc*`]+")
_JOINING: Final = frozenset({"of", "de", "del", "la", "van", "von", "der", "den", "&", "al", "bin"})
_MOST_WORDS: Final = 6
_LONGEST_NAME: Final = 3
_DIRECTIONS: Final = frozenset({"north", "south", "east", "west", "upper", "lower", "downtown", "central", "greater"})

COMMON: Final = STOP_WORDS["english"] | word_set(
    """
    absolutely ah aha animals another anyone anything anyway art as at aww awesome basically basketball because
    being bless book books both bummer business but bye cat change charity check checking coffee community congrats
    congratulations cool cooking correction count could country creativity currently cute dance dancing day days
    deal decided decision definitely did dinner does dog dogs done double dreams each education either else enjoy
    even evening event every everybody everyone everything exactly experience fair faith fall family fantastic
    finally fine finding first fitness following food for forget fortunately free friend friends from fun fyi games
    gaming gardening general getting girl give glad go going good gosh great guess guys half hang happy hard hard
    health heard hello help helping here hey hi hiking history hmm hobbies home honestly hope hopefully how however
    huh hurray i'd i'll i'm i've ideally imagine inspiration instead interesting is it it's its job journey joy just
    keep kids kind kindness last lately later learning let let's life like listen little local lol long look looking
    looks lots love loving lucky lunch luckily make making man many maybe me meanwhile meditation men mental might
    mine moreover morning most much music my nah nature nearly need needless network networking never new next nice
    no nobody none nope not note nothing now obviously of oh ok okay omg on one only or other otherwise our ours out
    over overall painting part peace people perfect personally plants please plus practice probably programming
    proud quick quite reading real really recently regarding regular relaxing right root running sadly same school
    seeing self setbacks several she should since so some somebody someone something sometimes soon sorry sound
    sounds speaking sports stay staying still storytelling students success such summer super sure take taking talk
    talking team teamwork technically tell thank thanks that that's the their them then there there's therefore
    these they things think this those though thought thoughts three time times to today together tomorrow tonight
    too training traveling true trust try trying two typically ugh under understood unfortunately until up usually
    very volunteering wait walking want was way we wedding weekend weekends well what what's when where which while
    who why will winter wish with women wonderful words work working works world would wow writing yay yea yeah year
    years yep yes yesterday yet yoga you your yours promised committing confirmed adopting updating coordinating
    adding recommended sketched traced sent spoke notified updated drafted evening afternoon root compromise phone
    migration filed afternoons mornings honestly lately using never always sometimes often apparently unfortunately
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december christmas easter thanksgiving halloween
    """
) - {"may", "april", "june", "august"}
"""Words that begin a sentence with a capital and name nobody."""

_VIRTUES: Final = frozenset({"hope", "faith", "joy"})
_NO_NAME: Final = (COMMON - _VIRTUES) | word_set(
    """
    stuck late lost sick ill sad busy bored tired ready back asap crazy amazing mad old-fashioned picky boring weird
    anytime soon exhausted pregnant engaged single
    """
)
"""Words that some write with a capital where a name may stand: `Call me Back`, `Hi, I'm Stuck`."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text and where it stands; punctuation around it is left out."""

    text: str
    start: int
    end: int

    @property
    def lower(self) -> str:
        """Return it in lower case."""
        return self.text.lower()

    @property
    def capital(self) -> bool:
        """Tell whether it begins with a capital letter."""
        return self.text[0].isupper()


def words_of(text: str, at: int = 0, most: int = 80) -> list[Word]:
    """Return the words of a text from a place on, at most so many."""
    found = []
    for match in _WORD.finditer(text, at):
        word = match.group().strip("'._~")
        if word:
            start = match.start() + match.group().index(word)
            found.append(Word(word, start, start + len(word)))
            if len(found) == most:
                break
    return found


def adjoining(text: str, first: Word, second: Word) -> bool:
    """Tell whether nothing but spaces stands between two words (a full stop after an initial is nothing)."""
    between = text[first.end : second.start]
    return not between.strip() or (between == ". " and len(first.text) <= 2)  # noqa: PLR2004 - an initial, or Dr


def name_at(text: str, words: Sequence[Word], place: int) -> int:
    """Return how many words from the place on make one name; 0 when there is none."""
    if place >= len(words) or not words[place].capital or words[place].lower in {"i", "i'm", "i've", "i'd", "i'll"}:
        return 0
    length = 1
    while place + length < len(words) and length < _MOST_WORDS:
        previous, word = words[place + length - 1], words[place + length]
        if not adjoining(text, previous, word) or previous.text.endswith(("'s", "'")):
            break
        if word.capital and word.lower not in {"i", "i'm", "i've"}:
            length += 1
        elif word.lower in _JOINING and _capital_follows(text, words, place + length):
            length += 2
        else:
            break
    return length


def leading_name(text: str, most: int = 8) -> tuple[str, int] | None:
    """Return the name that the text begins with, and where it ends; None when it begins with another word."""
    words = words_of(text, most=most)
    length = name_at(text, words, 0)
    return (text[words[0].start : words[length - 1].end], words[length - 1].end) if length else None


def names_in(text: str) -> Iterator[str]:
    """Yield the names in a text, possessive endings left out, in order; what begins it must be no common word."""
    words = words_of(text)
    place = 0
    while place < len(words):
        length = name_at(text, words, place)
        if length:
            found = bare(text[words[place].start : words[place + length - 1].end])
            if not (length == 1 and (found.lower() in COMMON or len(found) == 1)):
                yield found
        place += max(1, length)


def bare(name: str) -> str:
    """Return the name without a possessive ending."""
    return name.removesuffix("'s").removesuffix("'")


def kind_of(name: str, people: Collection[str] = ()) -> str | None:
    """Return `person`, `organization` or `place`, as far as the name itself or those already met tell."""
    low = normalise.name(name)
    words = low.split()
    if not words:
        return None
    if is_place(low):
        return PLACE
    if low in people:
        return PERSON
    if low in ORGANISATIONS or words[0] in ORGANISATIONS or words[-1] in SUFFIXES or words[0] in {"university", "bank"}:
        return ORGANIZATION
    given = words[0] in ALSO_GIVEN or is_given(name)
    return PERSON if given and len(words) <= _LONGEST_NAME else None


def is_place(name: str) -> bool:
    """Tell whether the name, or the first part of `Portland, Oregon`, is a known place."""
    low = normalise.name(name.partition(",")[0]).removeprefix("the ")
    if low in CITIES or low in COUNTRIES or low in PLACE_PHRASES or f"the {low}" in PLACE_PHRASES:
        return True
    first, _, rest = low.partition(" ")
    return first in _DIRECTIONS and (rest in CITIES or rest in COUNTRIES)


def is_no_name(word: str) -> bool:
    """Tell whether a word with a capital names nobody: not `Back` in `call me Back`, but `Hope` and `Will`."""
    low = word.lower()
    return low in _NO_NAME and low not in ALSO_GIVEN and not is_given(word)


def is_group(name: str) -> bool:
    """Tell whether one is a member of it: `platform team`, `chess club`."""
    return not GROUPS.isdisjoint(normalise.name(name).split()[-1:])


def is_language(word: str) -> bool:
    """Tell whether it is a language people speak."""
    return word.lower() in LANGUAGES


def is_nationality(word: str) -> bool:
    """Tell whether it says of which people someone is."""
    return word.lower() in NATIONALITIES


def _capital_follows(text: str, words: Sequence[Word], place: int) -> bool:
    follows = place + 1 < len(words) and words[place + 1].capital
    return follows and adjoining(text, words[place], words[place + 1])
