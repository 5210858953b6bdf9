"""Tagged pieces of a text, and patterns over their tags.

A text becomes a list of nodes; each tag has one character, so a list of nodes is also a string, and a rule's
pattern is a plain regular expression over that string. Rules replace what they match with one larger node.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from app.english.dates.days import Amount
from app.english.dates.lexicon import CLASSES, FUNCTION_WORDS
from app.english.dates.periods import Clock, Period, ReferenceTime

UNKNOWN = "."


@dataclass(slots=True, eq=False)
class Node:
    """A piece of the text with its tag and its meaning. Not frozen, for speed, but never changed."""

    tag: str
    start: int
    end: int
    num: float = 0
    word: str = ""
    glued: bool = False
    nums: tuple[int, ...] = ()
    period: Period | None = None
    amount: Amount | None = None
    clock: Clock | None = None

    @property
    def value(self) -> int:
        """The number as a whole one."""
        return int(self.num)

    @property
    def when(self) -> Period:
        """The period; a node without one does not fit the rule that asked."""
        if self.period is None:
            raise ValueError("not a period")
        return self.period

    @property
    def long(self) -> Amount:
        """The amount; a node without one does not fit the rule that asked."""
        if self.amount is None:
            raise ValueError("not an amount")
        return self.amount

    @property
    def hour(self) -> Clock:
        """The time of day; a bare number is an hour, 8.30 a time."""
        if self.tag == "DOTTED":
            return Clock(hour=self.nums[0], minute=self.nums[1])
        return self.clock or Clock(hour=self.value, minute=0)


@cache
def tag_char(name: str) -> str:
    """Return the character that stands for a tag."""
    return chr(0x100 + _ORDER.setdefault(name, len(_ORDER)))


_ORDER: dict[str, int] = {}


def _char_class(name: str) -> str:
    return "[" + "".join(tag_char(tag) for tag in CLASSES.get(name, name).split()) + "]"


def compile_pattern(source: str) -> re.Pattern[str]:
    """Compile "day:DAYNO OF? mon:ANYMONTH" to a regular expression over tag characters.

    Words are tags or classes, `name:` makes a group, `|`, `?`, brackets and `{1,4}` are as in re.
    """
    names: Counter[str] = Counter()

    def replace(match: re.Match[str]) -> str:
        name, tags = match["group"], match["name"]
        opened = "(?:"
        if name:
            opened = f"(?P<{name}__{names[name]}>"
            names[name] += 1
        return opened if tags is None else f"{opened}{_char_class(tags)})"

    text = re.sub(r"(?:(?P<group>[a-z_0-9]+):)?(?:\(|(?P<name>[A-Z][A-Z_0-9]*))", replace, source)
    return re.compile(text.replace(" ", ""))


def group_numbers(pattern: re.Pattern[str]) -> dict[str, tuple[int, ...]]:
    """Return the groups of each name, which may be in several branches of a pattern."""
    numbers: dict[str, tuple[int, ...]] = {}
    for name, number in pattern.groupindex.items():
        base = name.partition("__")[0]
        numbers[base] = (*numbers.get(base, ()), number)
    return numbers


@dataclass(frozen=True, slots=True)
class Match:
    """A rule's pattern found in a list of nodes."""

    nodes: list[Node]
    found: re.Match[str]
    groups: dict[str, tuple[int, ...]]
    ctx: ReferenceTime

    def __getitem__(self, name: str) -> Node:
        node = self.get(name)
        if node is None:
            raise ValueError(name)
        return node

    def get(self, name: str) -> Node | None:
        """Return the node of a group, None when the group did not match or the pattern has no such group."""
        for number in self.groups.get(name, ()):
            index = self.found.start(number)
            if index >= 0:
                return self.nodes[index]
        return None

    def tag(self, name: str) -> str:
        """Return the tag of a group's node, or "" when the group is absent."""
        node = self.get(name)
        return node.tag if node else ""

    @property
    def before(self) -> Node | None:
        """The node before the match."""
        index = self.found.start()
        return self.nodes[index - 1] if index else None

    @property
    def after(self) -> Node | None:
        """The node after the match."""
        index = self.found.end()
        return self.nodes[index] if index < len(self.nodes) else None

    @property
    def inside(self) -> list[Node]:
        """All nodes that matched."""
        return self.nodes[self.found.start() : self.found.end()]


def ends(node: Node | None) -> bool:
    """Return whether a clause ends at this node: at no node, or at a punctuation mark."""
    return node is None or node.tag in _STOPS or (node.tag == UNKNOWN and not node.word[:1].isalnum())


def names(node: Node | None) -> bool:
    """Return whether a node is a plain word that makes the expression before it part of a name."""
    return node is not None and node.tag == UNKNOWN and node.word.isalpha() and node.word.lower() not in FUNCTION_WORDS


_STOPS = frozenset({"DOT", "COMMA", "CLOSE"})

Build = Callable[[Match], Node | None]


@dataclass(frozen=True, slots=True)
class GrammarRule:
    """A pattern and the builder of its replacement, which returns None, or raises, when the match does not fit."""

    pattern: re.Pattern[str]
    groups: dict[str, tuple[int, ...]]
    build: Build


class RuleList(list[GrammarRule]):
    """Rules in the order in which they are applied: that of their definitions."""

    def rule(self, *sources: str) -> Callable[[Build], Build]:
        """Return a decorator that adds a rule for each pattern with the decorated builder, in order."""

        def decorate(build: Build) -> Build:
            patterns = [compile_pattern(source) for source in sources]
            self.extend(GrammarRule(pattern, group_numbers(pattern), build) for pattern in patterns)
            return build

        return decorate


def make_node(match: Match, tag: str, *, amount: Amount | None = None, clock: Clock | None = None) -> Node:
    """Return a node over the whole match."""
    inside = match.inside
    return Node(tag, inside[0].start, inside[-1].end, amount=amount, clock=clock, glued=inside[0].glued)


def time_node(match: Match, period: Period | None) -> Node | None:
    """Return a node with a period over the whole match, None without a period."""
    if period is None:
        return None
    inside = match.inside
    return Node(period.tag, inside[0].start, inside[-1].end, period=period, glued=inside[0].glued)


def apply_rules(nodes: list[Node], rules: Sequence[GrammarRule], ctx: ReferenceTime) -> list[Node]:
    """Apply each rule once, from left to right, to the result of the rules before it."""
    tags = "".join([tag_char(node.tag) for node in nodes])
    for entry in rules:
        found = entry.pattern.search(tags)
        if found is None:
            continue
        out: list[Node] = []
        chars: list[str] = []
        done = 0
        while found is not None:
            start, end = found.span()
            built = _try(entry, Match(nodes, found, entry.groups, ctx))
            if built is None:
                found = entry.pattern.search(tags, start + 1)
                continue
            out += nodes[done:start]
            out.append(built)
            chars += (tags[done:start], tag_char(built.tag))
            done = end
            found = entry.pattern.search(tags, done)
        if done:
            nodes = out + nodes[done:]
            tags = "".join(chars) + tags[done:]
    return nodes


def _try(entry: GrammarRule, match: Match) -> Node | None:
    try:
        return entry.build(match)
    except (ValueError, OverflowError, LookupError):  # a date that does not exist, or a year outside 1..9999
        return None
