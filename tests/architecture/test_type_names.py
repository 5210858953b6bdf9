"""No code but a memory type's own file asks which type a memory has: policies are the type's, not the caller's."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from app.memory.registry import discover
from tests.architecture.source import Module, Violation, check, example, nodes

OTHER_WORDS = frozenset({"category", "lemma"})
"""What may be compared with a word that also names a type: a category of memories, a verb."""


@cache
def type_names() -> frozenset[str]:
    return frozenset(name for one in discover() for name in (one.name, *one.aliases))


def asks_for_a_type(module: Module) -> Iterator[Violation]:
    """Find comparisons with a type's name, and cases that match one."""
    if module.within("app/memory/types/"):
        return
    for node in nodes(module):
        match node:
            case ast.Compare(left=left, comparators=others):
                asks = any(map(_names_type, (left, *others))) and not any(map(_is_other, (left, *others)))
            case ast.match_case(pattern=pattern):
                asks = any(map(_names_type, ast.walk(pattern)))
            case _:
                asks = False
        if asks:
            line = node.pattern.lineno if isinstance(node, ast.match_case) else getattr(node, "lineno", 0)
            yield Violation(module.path, line, f"{ast.unparse(node)[:80]} asks for a memory type: ask the type instead")


def _names_type(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=str() as value):
            return value in type_names()
        case ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.List(elts=parts) | ast.Call(args=parts):
            return any(map(_names_type, parts))
        case ast.MatchValue(value=value):
            return _names_type(value)
        case _:
            return False


def _is_other(node: ast.expr) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in OTHER_WORDS
        case _:
            return False


def test_only_a_type_knows_its_name() -> None:
    # The reader of clauses is the rules' own table: what a row reads is of the row's type. The hook of
    # agents is a client, which knows types by the words of answers.
    check(asks_for_a_type, exceptions={"app/english/rules/table.py", "app/features/agent_hooks/hook.py"})


def test_it_bites() -> None:
    for source in (
        "if memory.type == 'fact': ...",
        "if 'preference' != kind: ...",
        "if line['record'] in ('entity', 'turn'): ...",
        "if kind in frozenset({'event'}): ...",
        "match type:\n    case 'plan' | 'other': ...",
        "x = a if record == 'procedure' else b",
    ):
        assert list(asks_for_a_type(example(source)))
        assert not list(asks_for_a_type(example(source, "app/memory/types/fact.py")))
    for source in (
        "if category == 'episodic': ...",
        "if verb.lemma == 'plan': ...",
        "if x == 'turn': ...",
        "f('fact')",
    ):
        assert not list(asks_for_a_type(example(source)))
