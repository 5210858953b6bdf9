"""A module has at most 500 lines, and its docstrings are in plain words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.architecture.source import Module, Violation, check, example, nodes

MOST_LINES = 500

CLAUSE = re.compile(r"(?:What|How|Which|Whose|Whom?|When|Where|Why|Whether)\b")
"""Openings of a clause that stands for a noun: "How the tables hang together" for "Foreign keys of the tables"."""

RIDDLE = re.compile(
    r"\b(?:what(?:ever)?|whom?|whoever) (?:becomes?|became|comes?|came|stands?|stood) (?:of|to|by|before|beside|out)\b"
    r"|\b(?:came of|goes by|what there is|is told|are told|the mend)\b",
    re.IGNORECASE,
)
"""Phrases that stand for a noun: "what became of a turn" for "the report of a turn"."""


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


def describes_by_a_clause(module: Module) -> Iterator[Violation]:
    """Find docstrings of classes that open with a clause, and those of classes and functions with a riddle."""
    for node in nodes(module):
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        text = ast.get_docstring(node) or ""
        if isinstance(node, ast.ClassDef) and CLAUSE.match(text):
            yield Violation(module.path, node.lineno, f"{node.name}: {text.partition(chr(10))[0]!r}: name the thing")
        for found in RIDDLE.finditer(text):
            yield Violation(module.path, node.lineno, f"{node.name}: {found[0]!r}: use the noun")


def test_modules_are_short() -> None:
    check(too_long)


def test_modules_open_with_a_noun_or_a_sentence() -> None:
    check(opens_with_a_clause)


def test_classes_and_functions_are_described_by_nouns() -> None:
    check(describes_by_a_clause)


def test_length_bites() -> None:
    assert list(too_long(example("x = 1\n" * 501)))
    assert not list(too_long(example("x = 1\n" * 500)))


def test_openings_bite() -> None:
    for text in ("What becomes of memories.", "How slots change.", "Whether a name is one."):
        assert list(opens_with_a_clause(example(f'"""{text}"""')))
    for text in ("Whole rows.", "The erasure of users.", "Erases users."):
        assert not list(opens_with_a_clause(example(f'"""{text}"""\n"""How it works."""')))
    assert not list(opens_with_a_clause(example("x = 1")))


def test_descriptions_bite() -> None:
    for source in (
        'class A:\n    """What a run came to."""',
        'class A:\n    """Whose memories to list."""',
        'def f():\n    """Return what became of a turn."""',
        'async def f():\n    """Return the order.\n\n    It goes by time.\n    """',
    ):
        assert list(describes_by_a_clause(example(source)))
    for source in ('class A:\n    """The result of a run."""', 'def f():\n    """What is tested."""'):
        assert not list(describes_by_a_clause(example(source)))
