"""Comparison of two texts by the words that decide, however similar the vectors of the texts are.

Embeddings don't tell `two tickets` from `four tickets` and `before lunch` from `after lunch`, because the rest of the
words are the same. So the words that differ decide:

- numbers in figures and words, with their signs;
- members of a class in which each rules the others out: weekdays, months, ordinals, units (`alternatives.txt`);
- words that deny (`negations.txt`), and negating prefixes (`safe`, `unsafe`);
- opposites: one text alone has one side, the other text alone another (`opposites.txt`);
- names: what is capitalised within a sentence, and given names, countries and cities in any case.

Reads English; figures and capitals are read in any language.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Final

import Stemmer

from app.english.word_lists import MEN, NUMBERS, WOMEN, alternatives, entries
from app.lexical.bm25 import STOP_WORDS
from app.lexical.tokens import fold_accents, normalise

JOINERS: Final = frozenset({"and", "or", ","})
NEGATIONS: Final = frozenset(entries("negations"))

_TOKEN: Final = re.compile(
    r"""(?:(?<!\S)[-\u2212])?\d+(?:[.,:/]\d+)*(?:(?:st|nd|rd|th)\b)?  # a figure, an ordinal
        |[^\W\d_]+(?:['\u2019][^\W\d_]+)*  # a word
        |[$\u20ac\u00a3\u00a5%\u2030,.!?\n]""",
    re.VERBOSE,
)
_HALF_OF_DAY: Final = re.compile(r"\b([ap])\.\s?m\b\.?", re.IGNORECASE)
_POSSESSIVE: Final = re.compile(r"'s?$")
_THOUSANDS: Final = re.compile(r",(?=\d{3}(?!\d))")
_FIGURE: Final = re.compile(r"[-\u2212]?\d+(?:\.\d+)?")
_ENDS: Final = frozenset(".!?\n")
_DETERMINERS: Final = frozenset({"a", "an", "the", "this", "that", "these", "those", "some", "any"}) | {
    "my", "your", "his", "her", "its", "our", "their"
}  # fmt: skip
_TITLES: Final = frozenset({"dr", "mr", "mrs", "ms", "prof", "st"})
_NOT_NAMES: Final = frozenset({"i", "i'm", "i've", "i'll", "i'd", "user", "users"})
_PREFIXES: Final = ("un", "in", "im", "il", "ir", "dis", "non", "mis")
_SHORT: Final = 2
"""Most letters of a form that counts only after a number: `m`, `am`."""

_LONGEST: Final = 25
"""Most characters of a figure that is read as a number; longer ones are compared as text."""

_SCALE: Final = 100
"""From here on a number word multiplies the number before it: `two hundred`."""


def _placed(name: str) -> list[tuple[str, tuple[int, int]]]:
    """Return each form of a list with the numbers of its entry and its alternative."""
    return [
        (form, (number, side))
        for number, entry in enumerate(alternatives(name))
        for side, forms in enumerate(entry)
        for form in forms
    ]


def _stems(words: Iterable[str]) -> list[str]:
    found: list[str] = Stemmer.Stemmer("english").stemWords(list(words))
    return found


def _opposites() -> Mapping[str, frozenset[tuple[int, int]]]:
    """Return the axes and sides of opposites by the stems of their words."""
    sides: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for word, place in _placed("opposites"):
        sides[_stems([word])[0]].add(place)
    return {stem: frozenset(places) for stem, places in sides.items()}


_MEMBERS: Final[Mapping[str, tuple[int, int]]] = dict(reversed(_placed("alternatives")))
"""Class and member by word."""

_SIDES: Final = _opposites()
_NAMES: Final = MEN | WOMEN | {place.casefold() for name in ("countries", "cities") for place in entries(name)}


def differ_decisively(first: str, second: str) -> bool:
    """Return whether the words in which two texts differ keep them apart, however similar their vectors are."""
    one, other = DecisiveWords(first), DecisiveWords(second)
    return one.members != other.members or _differ(one, other)


def exclude_one_another(first: str, second: str) -> bool:
    """Return whether two texts differ decisively in what both say; a day that only one of them names is no difference.

    So they may tell of two times of the same thing, if not.
    """
    one, other = DecisiveWords(first), DecisiveWords(second)
    both = one.members.keys() & other.members.keys()
    return any(one.members[kind] != other.members[kind] for kind in both) or _differ(one, other)


def _differ(one: DecisiveWords, other: DecisiveWords) -> bool:
    """Return whether two texts differ in numbers, denials, names, sides of opposites or negating prefixes."""
    names = one.names | other.names
    alone, beside = one.stems - other.stems, other.stems - one.stems
    return (
        one.numbers != other.numbers
        or one.denied != other.denied
        or one.said(names) != other.said(names)
        or _opposed(alone, beside)
        or _prefixed(set(one.words) - set(other.words), set(other.words) - set(one.words))
        or _opened_by_others(one, other)
    )


def decisive_key(text: str) -> str:
    """Return the names, numbers and denials of a text, as a key for those that agree in them.

    Texts of one key may still exclude one another.
    """
    read = DecisiveWords(text)
    return repr((read.said(read.names), read.numbers, read.denied))


class DecisiveWords:
    """The decisive words of a text, and its names, in their order.

    `classed` are the places of the words that are numbers or members of a class.
    """

    def __init__(self, text: str) -> None:
        self.tokens = _TOKEN.findall(_HALF_OF_DAY.sub(r"\1m", text))
        self.words = [_POSSESSIVE.sub("", fold_accents(normalise(token))) for token in self.tokens]
        values = [_value(word) for word in self.words]
        numbers, members = _composed(self.words, values), self._members(values)
        self.numbers = _groups(self.words, numbers)
        self.members = {kind: _groups(self.words, places) for kind, places in members.items()}
        valued = {place for place, value in enumerate(values) if value is not None}
        self.classed = valued.union(numbers, *members.values())
        self.denied = sum(word in NEGATIONS or word.endswith("n't") for word in self.words)
        self.stems = Counter(_stems(word for word in self.words if word[0].isalpha()))
        self.names = {word for place, word in enumerate(self.words) if self._names(place)}

    def said(self, names: Collection[str]) -> Sequence[object]:
        """Return the names in the text, in order; those that are joined by `and` are one unordered group."""
        return _groups(self.words, {place: word for place, word in enumerate(self.words) if word in names})

    def openers(self) -> set[str]:
        """Return the capitalised words that open a sentence and may be names: no article comes after them."""
        stop = STOP_WORDS["english"] | _NOT_NAMES
        return {
            word
            for place, (word, after) in enumerate(zip(self.words, [*self.words[1:], ""], strict=False))
            if self.tokens[place][0].isupper() and self._opens(place) and word not in stop and after not in _DETERMINERS
        }

    def _members(self, values: Sequence[Decimal | None]) -> Mapping[int, Mapping[int, int]]:
        found: dict[int, dict[int, int]] = defaultdict(dict)
        for place, word in enumerate(self.words):
            kind, member = _MEMBERS.get(word, (None, 0))
            counted = place > 0 and values[place - 1] is not None
            if kind is not None and (counted or len(word) > _SHORT or not word.isalpha()):
                found[kind][place] = member
        return found

    def _names(self, place: int) -> bool:
        token, word = self.tokens[place], self.words[place]
        if not word[0].isalpha() or word in _NOT_NAMES or word in _MEMBERS or word in NUMBERS:
            return False
        inner = any(letter.isupper() for letter in token[1:])
        return word in _NAMES or inner or (token[0].isupper() and not self._opens(place))

    def _opens(self, place: int) -> bool:
        """Return whether a sentence begins here; the full stop after a title or an initial ends none."""
        if place == 0 or self.tokens[place - 1] not in _ENDS:
            return place == 0
        before = self.words[place - 2] if place > 1 else ""
        return self.tokens[place - 1] != "." or not (len(before) == 1 or before in _TITLES)


def _value(word: str) -> Decimal | None:
    plain = _THOUSANDS.sub("", word)
    exact = len(plain) < _LONGEST and _FIGURE.fullmatch(plain)
    return Decimal(plain.replace("\u2212", "-")) if exact else NUMBERS.get(word)


def _composed(words: Sequence[str], values: Sequence[Decimal | None]) -> dict[int, str]:
    """Return the numbers by their last position: `twenty five` is one, and so is `two hundred`."""
    found: dict[int, Decimal | str] = {}
    for place, (word, value) in enumerate(zip(words, values, strict=True)):
        before = found.get(place - 1)
        if value is None:
            if any(map(str.isdigit, word)) and word not in _MEMBERS:
                found[place] = word
        elif isinstance(before, Decimal) and word.isalpha() and value >= _SCALE:
            found[place] = found.pop(place - 1) and before * value
        elif isinstance(before, Decimal) and word.isalpha() and 0 < value < 10 <= before < _SCALE:  # noqa: PLR2004
            found[place] = found.pop(place - 1) and before + value
        else:
            found[place] = value
    return {place: f"{one.normalize():f}" if isinstance(one, Decimal) else one for place, one in found.items()}


def _groups(words: Sequence[str], members: Mapping[int, object]) -> Sequence[object]:
    """Return the members in order, those that are joined by `and`, `or` or a comma as one group in any order."""
    groups: list[list[object]] = []
    last = -1
    for place, member in members.items():
        joined = bool(groups) and place - last == 2 and words[place - 1] in JOINERS  # noqa: PLR2004
        if joined:
            groups[-1].append(member)
        else:
            groups.append([member])
        last = place
    return [sorted(group, key=str) for group in groups]


def _opposed(alone: Iterable[str], beside: Iterable[str]) -> bool:
    """Return whether the words of one text alone are opposites of words of the other alone."""
    mine, theirs = _sides(alone), _sides(beside)
    return any(sides - theirs[axis] and theirs[axis] - sides for axis, sides in mine.items() if axis in theirs)


def _sides(stems: Iterable[str]) -> Mapping[int, set[int]]:
    found: dict[int, set[int]] = defaultdict(set)
    for stem in stems:
        for axis, side in _SIDES.get(stem, ()):
            found[axis].add(side)
    return found


def _prefixed(alone: Collection[str], beside: Collection[str]) -> bool:
    """Return whether one text alone has a word, and the other alone has it with a prefix that negates it."""
    return any(
        prefix + word in theirs
        for mine, theirs in ((alone, beside), (beside, alone))
        for word in mine
        for prefix in _PREFIXES
    )


def _opened_by_others(one: DecisiveWords, other: DecisiveWords) -> bool:
    """Return whether both texts open sentences with words of their own that may be names."""
    mine = {stem for stem in _stems(one.openers()) if stem not in other.stems}
    theirs = {stem for stem in _stems(other.openers()) if stem not in one.stems}
    return bool(mine and theirs)
