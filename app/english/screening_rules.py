"""Rules that look for suspicious text: patterns from data files, tried only where a text has their words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.english.word_lists import expanded, lines


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


def matches(rules: Sequence[ScreeningRule], text: str, folded: str) -> Iterator[tuple[ScreeningRule, re.Match[str]]]:
    """Yield the matches of rules, tested or not; `folded` is the text in lower case."""
    has = folded.__contains__
    for rule in rules:
        if all([any(map(has, group)) for group in rule.needs]):  # noqa: C419 - a generator takes as long as the group
            for found in rule.pattern.finditer(text):
                yield rule, found


def screening_rules(name: str, title: str) -> tuple[ScreeningRule, ...]:
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
    return tuple(
        ScreeningRule(
            why=one["why"],
            needs=tuple(groups),
            test=one.get("test", ""),
            pattern=re.compile(one["pattern"], re.MULTILINE),
        )
        for one, groups in zip(read, needs, strict=True)
    )
