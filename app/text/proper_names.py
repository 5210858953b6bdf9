"""Names in running text, as far as capitals tell, with what the words around them say about what they name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from app.text.given_names import MEN, WOMEN
from app.text.stopwords import STOP_WORDS

UNKNOWN = "unknown"

LONGEST = 5
"""Words of a name that is found by its capitals."""


class Gender(StrEnum):
    """By which pronoun someone is spoken of."""

    MALE = "he"
    FEMALE = "she"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A name where it is said: its place in the text and the number of its sentence."""

    name: str
    entity_type: str
    start: int
    sentence: int


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int
    first: bool
    sentence: int

    @property
    def bare(self) -> str:
        """Return the word without a possessive ending."""
        return _POSSESSIVE.sub("", self.text)

    @property
    def low(self) -> str:
        return self.text.casefold()


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_WORD = re.compile(r"[^\W_][\w&'\u2019-]*")
_END = re.compile(r"[.!?\n]")
_POSSESSIVE = re.compile(r"['\u2019]s?$|-$")
_TITLES = {
    "mr": Gender.MALE,
    "mrs": Gender.FEMALE,
    "ms": Gender.FEMALE,
    "miss": Gender.FEMALE,
    "dr": None,
    "prof": None,
}
_PARTICLES = _set("de del della den der di du la le van von bin al of")
_SUFFIXES = {
    "organization": _set(
        "ag bank co college company corp corporation foundation gmbh group hospital inc institute labs llc ltd motors "
        "partners plc se studios systems technologies university"
    ),
    "team": frozenset({"team", "squad"}),
    "project": frozenset({"project"}),
}
_BEFORE = {
    "organization": _set("join joins joined joining quit leaving employer company startup founded"),
    "place": _set("in near"),
    "project": frozenset({"project"}),
    "product": _set("use uses used using install installed"),
}
_WORKING = _set("work works worked working employed job interned interviewed interviewing start started")
_MOVING = _set("move moves moved moving relocated flew travel traveled travelled went going trip")
_NEVER = _set(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december english german french spanish italian i i'm i\u2019m i'll i've i'd ok okay "
    "yes no hi hey hello thanks please sorry today yesterday tomorrow tonight christmas easter"
)
_OPENERS = _NEVER | _set(
    "actually after again also although another anyway apparently because before besides but can could did does "
    "during each even every everyone everything finally first for fun get given good got great had has have having "
    "hopefully how if in just last later let lets let's look looking lots luckily many maybe me met might more most "
    "my next nice not nothing now oh on once one only or our perhaps quick really remember right saw second see "
    "several should since so some somebody someone something sometimes soon still such sure take talked tell thank "
    "that the their then there these they this those though three told two unfortunately until update use used "
    "usually very want we well went what when where which while who why will with would you your"
)


def gender_of(name: str) -> Gender | None:
    """Return the pronoun that a title or a given name stands for; None for most names."""
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


def names_in(text: str, known: Mapping[str, str]) -> list[Said]:
    """Return the names in a text, in order; in time linear in it.

    `known` maps folded names that need no capitals to their entity types, `unknown` included.
    """
    words = _words(text)
    found: dict[int, Said] = {one.start: one for one in _known_in(text, words, known)}
    for first, last in _runs(words):
        run = _trimmed(words, first, last, known)
        if run is not None and words[run[0]].start not in found:
            name = _written(text, words, *run)
            found[words[run[0]].start] = _said(words, *run, name, known)
    return [found[start] for start in sorted(found)]


def sentences_of(text: str) -> list[int]:
    """Return where the first word of each sentence of a text stands."""
    return [one.start for one in _words(text) if one.first]


def _words(text: str) -> list[_Word]:
    words: list[_Word] = []
    sentence, end = 0, 0
    for match in _WORD.finditer(text):
        between = text[end : match.start()]
        abbreviated = bool(words) and between == ". " and _shortened(words[-1])
        breaks = bool(_END.search(between)) and not abbreviated
        sentence += breaks
        words.append(_Word(match.group(), match.start(), match.end(), breaks or not words, sentence))
        end = match.end()
    return words


def _written(text: str, words: list[_Word], first: int, last: int) -> str:
    return text[words[first].start : words[last].start + len(words[last].bare)]


def _known_in(text: str, words: list[_Word], known: Mapping[str, str]) -> list[Said]:
    longest = max((name.count(" ") + 1 for name in known), default=0)
    found = []
    place = 0
    while place < len(words):
        for count in range(min(longest, len(words) - place), 0, -1):
            name = _written(text, words, place, place + count - 1)
            if name.casefold() in known:
                found.append(_said(words, place, place + count - 1, name, known))
                place += count - 1
                break
        place += 1
    return found


def _runs(words: list[_Word]) -> list[tuple[int, int]]:
    """Return the first and last places of words with capitals in a row, particles between them included."""
    runs: list[tuple[int, int]] = []
    place = 0
    while place < len(words):
        if not _capital(words[place]):
            place += 1
            continue
        last = place
        ahead = place + 1
        while ahead < len(words) and ahead - place < LONGEST and _joined(words, ahead):
            if _capital(words[ahead]):
                last = ahead
            elif words[ahead].low not in _PARTICLES:
                break
            ahead += 1
        runs.append((place, last))
        place = last + 1
    return runs


def _joined(words: list[_Word], place: int) -> bool:
    """Return whether a word goes on where the one before it stopped, a space between them."""
    before, word = words[place - 1], words[place]
    space = 2 if _shortened(before) else 1
    return before.text == before.bare and before.end < word.start <= before.end + space and not word.first


def _shortened(word: _Word) -> bool:
    """Return whether a full stop after the word ends no sentence: a title or an initial."""
    return word.low in _TITLES or (len(word.text) == 1 and word.text.isupper())


def _capital(word: _Word) -> bool:
    return word.text[0].isupper() and word.low not in _NEVER


def _trimmed(words: list[_Word], first: int, last: int, known: Mapping[str, str]) -> tuple[int, int] | None:
    """Return the run without a first word that only has its capital from the sentence it opens."""
    if not words[first].first:
        return first, last
    opener = words[first]
    if opener.bare.casefold() in known or is_given(opener.bare) or opener.low.rstrip(".") in _TITLES:
        return first, last
    plain = opener.low in _OPENERS or opener.low in STOP_WORDS.get("english", frozenset())
    if plain or (first < last and is_given(words[first + 1].bare)):
        return (first + 1, last) if first < last else None
    return first, last


def _said(words: list[_Word], first: int, last: int, name: str, known: Mapping[str, str]) -> Said:
    kind = known.get(name.casefold(), UNKNOWN)
    return Said(
        name=name,
        entity_type=_guessed(words, first, last, name) if kind == UNKNOWN else kind,
        start=words[first].start,
        sentence=words[first].sentence,
    )


def _guessed(words: list[_Word], first: int, last: int, name: str) -> str:
    """Return the entity type that a name's own words and its neighbours suggest."""
    if is_given(name):
        return "person"
    own = {words[first].low, words[last].low} if first < last else set()
    after = words[last + 1].low if last + 1 < len(words) else ""
    for kind, suffixes in _SUFFIXES.items():
        if own & suffixes or (kind != "organization" and after in suffixes):
            return kind
    before, earlier = (words[first - back].low if first >= back else "" for back in (1, 2))
    if (before in {"at", "for", "with"} and earlier in _WORKING) or before in _BEFORE["organization"]:
        return "organization"
    if before in _BEFORE["place"] or (before in {"to", "from"} and earlier in _MOVING):
        return "place"
    return next((kind for kind in ("project", "product") if before in _BEFORE[kind]), UNKNOWN)
