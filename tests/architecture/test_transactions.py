"""Transactions begin and end in `db/session.py` alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.architecture.source import Module, Violation, check, example, nodes, texts

CALLS = frozenset({"begin", "begin_nested", "commit", "rollback", "transaction"})
STATEMENT = re.compile(r"\s*(?:BEGIN|START TRANSACTION|COMMIT|ROLLBACK|SAVEPOINT)\b(?!-)")


def steers_transactions(module: Module) -> Iterator[Violation]:
    """Find calls and statements that begin or end a transaction."""
    if module.within("app/db/session.py"):
        return
    for node in nodes(module):
        match node:
            # `runs.begin(session, ...)` is a function of ours: a driver's `begin()` is given nothing.
            case ast.Call(func=ast.Attribute(attr=name), args=[]) if name in CALLS:
                yield Violation(module.path, node.lineno, f"{ast.unparse(node)} belongs into db/session.py")
            case _:
                pass
    for line, text in texts(module):
        if STATEMENT.match(text):
            yield Violation(module.path, line, f"{text[:40]!r} belongs into db/session.py")


def test_only_the_session_begins_and_commits() -> None:
    check(steers_transactions)


def test_it_bites() -> None:
    for source in ("await session.commit()", "engine.begin()", "f('BEGIN')", "f('  ROLLBACK TO here')"):
        assert list(steers_transactions(example(source)))
        assert not list(steers_transactions(example(source, "app/db/session.py")))
    for source in ("runs.begin(session, tenant)", "beginning()", "f('begin with this')"):
        assert not list(steers_transactions(example(source)))
