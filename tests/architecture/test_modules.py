"""A module has at most 500 lines, and says in plain words what it is about."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.architecture.source import Module, Violation, check, example

MOST_LINES = 500

CLAUSE = re.compile(r"(?:What|How|Which|Whose|Who|When|Where|Whether|Why)\b")
"""Openings of a clause that stands for a noun: "How the tables hang together" for "Foreign keys of the tables"."""

STILL_CLAUSES = frozenset(
    {
        "app/api/activity.py",
        "app/api/mcp/tools.py",
        "app/english/grounding_terms.py",
        "app/english/quotations.py",
        "app/english/rules/clause.py",
        "app/english/rules/event_time.py",
        "app/english/rules/relationships.py",
        "app/english/spelling.py",
        "app/memory/slots.py",
        "app/read/access.py",
        "app/read/retrieve/search.py",
        "app/read/understand/parse.py",
        "app/write/backfill/classify.py",
        "app/write/backfill/simulate.py",
        "app/write/trace.py",
    }
)
"""Modules that still open so: none may be added."""


def too_long(module: Module) -> Iterator[Violation]:
    """Find modules that hold more than one idea, told by their length."""
    lines = len(module.source.splitlines())
    if lines > MOST_LINES:
        yield Violation(module.path, lines, f"has {lines} lines of {MOST_LINES}: split it by ideas")


def opens_with_a_clause(module: Module) -> Iterator[Violation]:
    """Find docstrings of modules whose first line is neither a noun phrase nor a sentence."""
    first = (ast.get_docstring(module.tree) or "").partition("\n")[0]
    if CLAUSE.match(first):
        yield Violation(module.path, 1, f"{first!r}: name the thing, as in a table of contents")


def test_modules_are_short() -> None:
    check(too_long, exceptions={"app/english/screening.py"})


def test_modules_open_with_a_noun_or_a_sentence() -> None:
    check(opens_with_a_clause, exceptions=STILL_CLAUSES)


def test_length_bites() -> None:
    assert list(too_long(example("x = 1\n" * 501)))
    assert not list(too_long(example("x = 1\n" * 500)))


def test_openings_bite() -> None:
    for text in ("What becomes of memories.", "How slots change.", "Whether a name is one."):
        assert list(opens_with_a_clause(example(f'"""{text}"""')))
    for text in ("Whole rows.", "The erasure of users.", "Erases users."):
        assert not list(opens_with_a_clause(example(f'"""{text}"""\n"""How it works."""')))
    assert not list(opens_with_a_clause(example("x = 1")))
