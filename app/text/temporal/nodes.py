"""Tagged pieces of a text, and patterns over their tags.

A text becomes a list of nodes; each tag has one character, so a list of nodes is also a string, and a rule's
pattern is a plain regular expression over that string. Rules replace what they match with one larger node.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from app.text.temporal.days import Amount
from app.text.temporal.periods import Clock, Context, Period

UNKNOWN = "."

CLASSES: dict[str, str] = {
    "DAYNO": "N12 N24 N31",
    "HOURNO": "N0 N12 N24",
    "COUNT": "N12 N24 N31 N59 N99 N3",
    "TWO": "N12 N24 N31 N59 N99",
    "ANYNO": "N0 N12 N24 N31 N59 N99 N3",
    "ORDINAL": "ORD SECOND",
    "YEARNO": "Y4 YWORDS",
    "ANYMONTH": "MONTH MONTH_LIKE",
    "ANYWEEKDAY": "WEEKDAY WEEKDAY_LIKE",
    "ANYUNIT": "UNIT QUARTER SECOND",
    "MOD": "LAST PAST NEXT COMING THIS",
    "SHIFTMOD": "LAST PAST NEXT COMING",
    "TIME": "CLOCK TIMEWORDS",
    "YEARLY": "DATE_Y PERIOD_Y",
    "DATES": "DATE DATE_Y DATE_W DATE_M",
    "PERIODS": "PERIOD PERIOD_Y",
    "ALLDATES": "DATE DATE_Y DATE_W DATE_M PERIOD PERIOD_Y",
    "ANYTIME": "DATE DATE_Y DATE_W DATE_M PERIOD PERIOD_Y MOMENT SPELL EDGE NOW",
    "UPTO": "TO UNTIL THROUGH DASH",
    "JOIN": "TO UNTIL THROUGH DASH AND",
    "SEP": "DASH SLASH DOT",
    "STOP": "DOT COMMA CLOSE",
}
"""Names for sets of tags."""


@dataclass(frozen=True, slots=True)
class Node:
    """A piece of the text with its tag and what it means."""

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
        return int(self.num)

    @property
    def when(self) -> Period:
        """The period; a node without one does not fit the rule that asked."""
        if self.period is None:
            raise ValueError("not a period")
        return self.period

    @property
    def long(self) -> Amount:
        if self.amount is None:
            raise ValueError("not an amount")
        return self.amount

    @property
    def hour(self) -> Clock:
        """The time of day; a bare number is an hour."""
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

    def replace(match: re.Match[str]) -> str:
        group, name = match["group"], match["name"]
        return f"(?P<{group}>{_char_class(name)})" if group else _char_class(name)

    text = re.sub(r"\((?!\?)", "(?:", source)
    text = re.sub(r"(?:(?P<group>[a-z_0-9]+):)?(?P<name>[A-Z][A-Z_0-9]*)", replace, text)
    return re.compile(text.replace(" ", ""))


@dataclass(frozen=True, slots=True)
class Match:
    """A rule's pattern found in a list of nodes."""

    nodes: list[Node]
    found: re.Match[str]
    ctx: Context

    def __getitem__(self, name: str) -> Node:
        return self.nodes[self.found.start(name)]

    def get(self, name: str) -> Node | None:
        """Return the node of an optional group."""
        index = self.found.start(name)
        return self.nodes[index] if index >= 0 else None

    def tag(self, name: str) -> str:
        """Return the tag of a group's node, or "" when the group is absent."""
        node = self.get(name)
        return node.tag if node else ""

    @property
    def before(self) -> Node | None:
        index = self.found.start()
        return self.nodes[index - 1] if index else None

    @property
    def after(self) -> Node | None:
        index = self.found.end()
        return self.nodes[index] if index < len(self.nodes) else None

    @property
    def inside(self) -> list[Node]:
        return self.nodes[self.found.start() : self.found.end()]


Build = Callable[[Match], Node | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and what to put in its place; the builder returns None, or raises, when it does not fit."""

    pattern: re.Pattern[str]
    build: Build


def rule(*sources: str) -> Callable[[Build], list[Rule]]:
    """Make a rule of each pattern with one builder, in the given order."""

    def decorate(build: Build) -> list[Rule]:
        return [Rule(compile_pattern(source), build) for source in sources]

    return decorate


def made(
    match: Match, tag: str, *, num: float = 0, amount: Amount | None = None, clock: Clock | None = None
) -> Node:
    """Return a node over everything that matched."""
    inside = match.inside
    return Node(
        tag, inside[0].start, inside[-1].end, num=num, amount=amount, clock=clock, glued=inside[0].glued
    )


def timed(match: Match, period: Period | None, *, skip: int = 0) -> Node | None:
    """Return a node over everything that matched, `skip` nodes at the front left out, holding a period."""
    if period is None:
        return None
    inside = match.inside[skip:]
    return Node(period.tag, inside[0].start, inside[-1].end, period=period, glued=inside[0].glued)


def apply_rules(nodes: list[Node], rules: list[Rule], ctx: Context) -> list[Node]:
    """Apply each rule once, from left to right, each to what the rules before it left."""
    tags = "".join([tag_char(node.tag) for node in nodes])
    for entry in rules:
        found = entry.pattern.search(tags)
        if found is None:
            continue
        out: list[Node] = []
        done = 0
        while found is not None:
            built = _try(entry, Match(nodes, found, ctx))
            if built is None:
                found = entry.pattern.search(tags, found.start() + 1)
                continue
            out += nodes[done : found.start()]
            out.append(built)
            done = found.end()
            found = entry.pattern.search(tags, done)
        if done:
            nodes = out + nodes[done:]
            tags = "".join([tag_char(node.tag) for node in nodes])
    return nodes


def _try(entry: Rule, match: Match) -> Node | None:
    try:
        return entry.build(match)
    except (ValueError, OverflowError):  # a date that does not exist, or a year outside 1..9999
        return None
