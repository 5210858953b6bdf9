"""A scope's version is moved by the SQL of `db/apply/memories.py`, which says whether the write is stamped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.architecture.source import Module, Violation, check, example, texts

MOVE = re.compile(r"\bversion = (?:\w+\.)?version \+ 1")


def moves_a_version(module: Module) -> Iterator[Violation]:
    """Find SQL that moves a version by itself."""
    if not module.within("app/") or module.path == "app/db/apply/memories.py":
        return
    for line, text in texts(module):
        if MOVE.search(text):
            yield Violation(module.path, line, "take `written` or `REREAD` of app/db/apply/memories.py")


def test_versions_are_moved_in_one_place() -> None:
    check(moves_a_version)


def test_it_bites() -> None:
    for text in ("UPDATE scopes SET version = version + 1", "UPDATE scopes s SET ann = true, version = s.version + 1"):
        assert list(moves_a_version(example(f"A = '{text}'", "app/db/example.py")))
        assert not list(moves_a_version(example(f"A = '{text}'", "app/db/apply/memories.py")))
