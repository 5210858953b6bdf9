"""Word lists and patterns from the text files under `data`.

A section of a file may be one pattern, an alternative a line; `<<NAME>>` stands for a line of its section `fragments`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from app.section_files import read_lines, read_sections

_PACKAGE: Final = "app.english"


def entries(name: str) -> tuple[str, ...]:
    """Return the entries of a list without sections, in their order."""
    return read_lines(_PACKAGE, name)


def section(name: str, title: str) -> frozenset[str]:
    """Return the entries of one section of a list."""
    return frozenset(_sections(name)[title])


def listed(name: str, title: str) -> tuple[str, ...]:
    """Return the entries of one section of a list, in their order."""
    return _sections(name)[title]


def words(name: str, title: str) -> frozenset[str]:
    """Return the words of one section of a list, several a line."""
    return frozenset(word for entry in _sections(name)[title] for word in entry.split())


def lines(name: str, title: str) -> tuple[tuple[str, str], ...]:
    """Return the lines `key = value` of a section in their order, keys that come again included."""
    return tuple(_pair(entry) for entry in _sections(name)[title])


def pairs(name: str, title: str) -> Mapping[str, str]:
    """Return the entries of a section of lines `word = value`."""
    return dict(lines(name, title))


def grouped(name: str, title: str) -> Mapping[str, tuple[str, ...]]:
    """Return the values of each key of a section of lines `key = value`, in their order."""
    found: dict[str, tuple[str, ...]] = {}
    for key, value in lines(name, title):
        found[key] = (*found.get(key, ()), value)
    return found


def alternatives(name: str) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Return each entry as its alternatives, separated by `|` in the file, and each alternative as its forms."""
    return tuple(tuple(tuple(side.split()) for side in entry.split("|")) for entry in entries(name))


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, as a set."""
    return frozenset(text.split())


def _sections(name: str) -> Mapping[str, tuple[str, ...]]:
    return read_sections(_PACKAGE, name)


def _pair(entry: str) -> tuple[str, str]:
    word, _, value = entry.partition(" =")
    return word, value.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolKind:
    """A kind of tools to choose from: its words, their preference key, and its name in a decision.

    Choices of one kind compete for one key: Go and TypeScript, pytest and unittest.
    """

    words: frozenset[str]
    domain: str
    attribute: str
    noun: str
    topic: str


def _tool_kind(title: str, words: tuple[str, ...]) -> ToolKind:
    key, noun, topic = (part.strip() for part in title.split("|"))
    domain, _, attribute = key.partition(".")
    return ToolKind(words=frozenset(words), domain=domain, attribute=attribute, noun=noun, topic=topic)


MEN: Final = section("given_names", "men")
WOMEN: Final = section("given_names", "women")
EITHER: Final = section("given_names", "either")
"""Given names of both women and men, or that are other words too."""

GIVEN_NAMES: Final = MEN | WOMEN | EITHER

NUMBERS: Final[Mapping[str, Decimal]] = {
    word: Decimal(value) for value, *forms in (line.split() for line in entries("numbers")) for word in forms
}
"""Number words with their values."""

CITIES: Final = frozenset(entries("cities"))
COUNTRIES: Final = section("places", "countries")
PLACE_PHRASES: Final = section("places", "phrases")
LANGUAGES: Final = section("places", "languages")
NATIONALITIES: Final = section("places", "nationalities")
ORGANISATIONS: Final = frozenset(entries("organisations"))
ORGANISATION_SUFFIXES: Final = section("organisation_words", "suffixes")
GROUPS: Final = section("organisation_words", "groups")
KINDS: Final[Mapping[str, frozenset[str]]] = {
    kind: section("organisation_words", kind) for kind in ("organization", "place", "project", "pet")
}
"""Entity type -> the nouns that declare it: `X is a car maker`."""

KIN: Final = pairs("people", "kin")
COLLEAGUES: Final = pairs("people", "colleagues")
PETS: Final = section("people", "pets")
DOCTORS: Final = section("people", "doctors")
_DOCTOR: Final = re.compile(r"\w+(?:ologist|iatrist|odontist|trician)s?")
FAITHS: Final = section("people", "faiths")
ROLE_HEADS: Final = section("occupations", "heads")
ROLE_OF: Final = section("occupations", "titles of")
NOT_TITLES: Final = section("occupations", "no titles")
CONDITIONS: Final = section("health", "conditions")
CONDITION_HEADS: Final = section("health", "condition heads")
STATES: Final = section("health", "states")
DIETS: Final = section("health", "diets")
FOODS: Final = section("health", "foods")
LEFT_OUT: Final = pairs("health", "left out")
"""Foods with the diets that leave them out, which who speaks of a food may mean."""
MEDICINES: Final = section("health", "medicines")
COUNTED: Final = pairs("health", "counted")
DOSE: Final = r"\d+(?:[.,]\d+)?\s?(?:mg|mcg|µg|g|ml|iu|units?|tablets?|pills?)\b"
TOOLS: Final[Mapping[str, ToolKind]] = {
    word: kind
    for kind in (_tool_kind(title, words) for title, words in _sections("tools").items())
    for word in kind.words
}
AMBIGUOUS: Final = section("choices", "ambiguous")
GENERAL: Final = section("choices", "general")
SIZES: Final = pairs("choices", "sizes")
REPLIES: Final = pairs("choices", "replies")


def is_doctor(noun: str) -> bool:
    """Tell whether the noun names people one goes to, by the list or by its form: `nephrologist`."""
    return noun in DOCTORS or (noun != "electrician" and _DOCTOR.fullmatch(noun) is not None)


_FRAGMENT: Final = re.compile(r"<<([A-Z_]+)>>")


def pattern(name: str, title: str, flags: int = 0) -> re.Pattern[str]:
    """Return the pattern of a section of a file."""
    return re.compile("|".join(expanded(name, line) for line in listed(name, title)), flags)


def expanded(name: str, text: str) -> str:
    """Return a line of a file with its fragments in place of their names."""
    fragments = pairs(name, "fragments")
    return _FRAGMENT.sub(lambda found: expanded(name, fragments[found[1]]), text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreeningRule:
    """A pattern, the reason of a suspicion, and the name of a test that a match must pass besides, empty for none.

    `needs` are groups of parts of words, in lower case: a text must have one of each, in any case. Without any it is
    always searched.
    """

    why: str
    needs: tuple[tuple[str, ...], ...]
    test: str
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class ScreeningRules:
    """Rules in their order. Those that a text lacks a part for are passed over without a look at each."""

    rules: tuple[ScreeningRule, ...]
    _begin: tuple[tuple[str, tuple[int, ...]], ...] = field(init=False, repr=False)
    """The parts of the rules' first groups, each with its rules' places; every text has the part of those without."""

    def __post_init__(self) -> None:
        """Gather the parts."""
        found: dict[str, tuple[int, ...]] = {}
        for place, rule in enumerate(self.rules):
            for part in rule.needs[0] if rule.needs else ("",):
                found[part] = (*found.get(part, ()), place)
        object.__setattr__(self, "_begin", tuple(found.items()))

    def __add__(self, other: ScreeningRules) -> ScreeningRules:
        """Return these rules, then others."""
        return ScreeningRules(self.rules + other.rules)

    def possible(self, folded: str) -> Iterator[ScreeningRule]:
        """Yield the rules that have all parts that they need in a text in lower case."""
        for place in sorted({place for part, places in self._begin if part in folded for place in places}):
            rule = self.rules[place]
            if all(any(map(folded.__contains__, group)) for group in rule.needs[1:]):
                yield rule


def matches(rules: ScreeningRules, text: str, folded: str) -> Iterator[tuple[ScreeningRule, re.Match[str]]]:
    """Yield the matches of rules, tested or not; `folded` is the text in lower case."""
    for rule in rules.possible(folded):
        for found in rule.pattern.finditer(text):
            yield rule, found


def screening_rules(name: str, title: str) -> ScreeningRules:
    """Return the rules of a section of a file: `why` begins one, `find` and `say` (any case) are its patterns.

    Each line of `needs` is a group.
    """
    read: list[dict[str, str]] = []
    needs: list[list[tuple[str, ...]]] = []
    for key, value in lines(name, title):
        if key == "why":
            read.append({"why": value})
            needs.append([])
        elif key == "needs":
            needs[-1].append(tuple(value.split()))
        elif key in {"find", "say"}:
            found = expanded(name, value)
            found = f"(?i:{found})" if key == "say" else found
            read[-1]["pattern"] = f"{read[-1]['pattern']}|{found}" if "pattern" in read[-1] else found
        else:
            read[-1][key] = value
    return ScreeningRules(
        tuple(
            ScreeningRule(
                why=one["why"],
                needs=tuple(groups),
                test=one.get("test", ""),
                pattern=re.compile(one["pattern"], re.MULTILINE),
            )
            for one, groups in zip(read, needs, strict=True)
        )
    )
