"""Lists of English words stand in `app/english` alone; a memory type has its own hint words.

`app/lexical/data` has the function words by which the languages of texts are recognised.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.architecture.source import ROOT, Module, Violation, check, example, texts

ALTERNATIVES = re.compile(r"\b[a-z]{2,}(?:\|[a-z]{2,}){5,}\b")

TO_MOVE = frozenset(
    {
        "app/memory/normalise.py",
        "app/read/understand/parse.py",
        "app/write/ground.py",
    }
)
"""Modules that still spell words out in patterns: none may be added."""


def lists_words(module: Module) -> Iterator[Violation]:
    """Find patterns of six words or more."""
    if module.within("app/english/", "app/memory/types/"):
        return
    for line, text in texts(module):
        if found := ALTERNATIVES.search(text):
            yield Violation(module.path, line, f"{found[0][:60]!r} belongs into app/english")


def test_patterns_of_words_are_in_english() -> None:
    check(lists_words, exceptions=TO_MOVE)


def test_files_of_words_stand_in_two_places() -> None:
    found = {path.relative_to(ROOT).parent.as_posix() for path in (ROOT / "app").rglob("*.txt")}
    assert found == {"app/english/data", "app/lexical/data", "app/console/vendor"}


def test_it_bites() -> None:
    words = "one|two|three|four|five|six"
    assert list(lists_words(example(f"A = re.compile(r'\\b(?:{words})s?\\b')")))
    assert list(lists_words(example(f"A = f'{{B}} (?:{words})'")))
    assert not list(lists_words(example(f"A = '{words}'", "app/english/numbers.py")))
    assert not list(lists_words(example("A = 'one|two|three|four|five'")))
