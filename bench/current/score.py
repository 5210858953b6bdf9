"""The score of answers, without a model: whether the words of the right value stand in what came back, and where.

A line is what a system gives to a prompt, best first; `over` says that the system itself marks it as no longer so. A
line that says a wrong value and no right one, and is not marked, is stale.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from bench.current.items import Item

TOP: Final = 10
"""Lines of an answer that count."""

FOUND_IS_RIGHT: Final = frozenset({"history", "hops"})
"""Kinds where it is enough that all that is asked for stands there: a former value, or each step of a chain."""

KINDS: Final = ("update", "twice", "false", "history", "end", "hops")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an answer."""

    text: str
    over: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an answer is worth: `right`, and `clean` where besides nothing stale stands in it; `found` at all."""

    right: bool
    clean: bool
    found: bool


def judge(item: Item, answer: Sequence[Line]) -> Verdict:
    """Return the verdict on an answer.

    Right is a former value, or a chain, that stands there whole; of what ended, that nothing stale stands before what
    says so; else that the right value stands there and nothing stale before it.
    """
    lines = answer[:TOP]
    firsts = [_first(lines, partial(_has, group)) for group in item.right]
    found = all(one is not None for one in firsts)
    stale = _first(lines, lambda one: _is_stale(one, item))
    if item.kind in FOUND_IS_RIGHT:
        return Verdict(found, found, found)
    leads = found and (stale is None or all(one is not None and one < stale for one in firsts))
    silent = item.kind == "end" and stale is None
    return Verdict(leads or silent, (found or silent) and stale is None, found)


def table(items: Sequence[Item], answers: Mapping[str, Mapping[str, Sequence[Line]]]) -> str:
    """Return the scores of each system, by its name and each item's id, as a table in Markdown; in percent."""
    languages = sorted({one.language for one in items})
    columns = ["system", *KINDS, *languages, "by hand", "all", "clean", "found"]
    rows = [columns, ["---", *["---:"] * (len(columns) - 1)]]
    for system, given in answers.items():
        verdicts = {one.id: judge(one, given.get(one.id, ())) for one in items}
        groups: dict[str, list[bool]] = defaultdict(list)
        for one in items:
            right = verdicts[one.id].right
            for name in (one.kind, one.language, "all", *(["by hand"] if one.source == "hand" else [])):
                groups[name].append(right)
        groups["clean"] = [one.clean for one in verdicts.values()]
        groups["found"] = [one.found for one in verdicts.values()]
        rows.append([system, *(_percent(groups[name]) for name in columns[1:])])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def shares(items: Sequence[Item], answers: Mapping[str, Mapping[str, Sequence[Line]]]) -> dict[str, dict[str, float]]:
    """Return the share of right answers of each system, by kind and `all`."""
    found: dict[str, dict[str, float]] = {}
    for system, given in answers.items():
        right = {one.id: judge(one, given.get(one.id, ())).right for one in items}
        found[system] = {
            kind: _mean([right[one.id] for one in items if kind in {one.kind, "all"}]) for kind in (*KINDS, "all")
        }
    return found


def _is_stale(line: Line, item: Item) -> bool:
    said = any(_says(line.text, [one]) for one in item.wrong)
    return said and not line.over and not any(_says(line.text, group) for group in item.right)


def _has(alternatives: Sequence[str], line: Line) -> bool:
    return _says(line.text, alternatives)


def _says(text: str, alternatives: Sequence[str]) -> bool:
    return any(_folded(one) in _folded(text) for one in alternatives)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _first(lines: Sequence[Line], fits: Callable[[Line], bool]) -> int | None:
    return next((place for place, one in enumerate(lines) if fits(one)), None)


def _mean(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0


def _percent(values: Sequence[bool]) -> str:
    return f"{100 * _mean(values):.0f}" if values else ""
