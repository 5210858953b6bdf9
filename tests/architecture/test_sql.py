"""SQL stands in `app/db`, `app/read/retrieve` and the `sql` of a feature alone, and is run in one way."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.architecture.source import Module, Violation, check, example, nodes, texts

PLACES = ("app/db/", "app/read/retrieve/")

OF_FEATURE = re.compile(r"app/features/[^/]+/sql\.py")
SQL = re.compile(
    r"\bSELECT\b.*\bFROM\b|\bINSERT INTO\b|\bUPDATE\s+\S+\s+(?:\w+\s+)?SET\b|\bDELETE FROM\b|\bSET LOCAL\b"
    r"|\b(?:CREATE|ALTER|DROP|TRUNCATE|LOCK)\s+(?:UNIQUE\s+)?(?:TABLE|INDEX|ROLE|DATABASE|EXTENSION|POLICY)\b",
    re.DOTALL,
)


def holds_sql(module: Module) -> Iterator[Violation]:
    """Find strings that are SQL."""
    if module.within(*PLACES) or OF_FEATURE.fullmatch(module.path):
        return
    for line, text in texts(module):
        if SQL.search(text):
            yield Violation(module.path, line, f"SQL outside {' and '.join(PLACES)}: {' '.join(text.split())[:60]!r}")


def test_sql_stays_in_its_places() -> None:
    check(holds_sql)


def test_it_bites() -> None:
    for text in (
        "SELECT 1 AS one\\n FROM turns",
        "INSERT INTO turns VALUES (1)",
        "UPDATE turns t SET status = 1",
        "DELETE FROM turns",
        "DROP INDEX ix_turns",
    ):
        assert list(holds_sql(example(f"A = '{text}'")))
        assert list(holds_sql(example(f"A = f'{{x}} {text}'")))
        assert not list(holds_sql(example(f"A = '{text}'", "app/db/turns.py")))
    assert list(holds_sql(example("A = f'DELETE FROM {table}'")))
    assert not list(holds_sql(example("A = 'Select one from the list'")))
    assert not list(holds_sql(example('def f():\n    """UPDATE turns SET x."""')))


def runs_text(module: Module) -> Iterator[Violation]:
    """Find SQLAlchemy's `text`: a session runs SQL as a `statement`; tables need it for their columns' defaults."""
    if module.within("app/db/tables/"):
        return
    for node in nodes(module):
        match node:
            case ast.ImportFrom(module="sqlalchemy", names=names) if any(one.name == "text" for one in names):
                yield Violation(module.path, node.lineno, "SQL as `text`: write it as a `statement` of app.db.session")
            case _:
                pass


def test_sql_is_written_as_statements() -> None:
    check(runs_text, exceptions={"app/db/embedding_models.py"})  # which the owner's connection runs


def test_text_is_found() -> None:
    assert list(runs_text(example("from sqlalchemy import select, text", "app/db/turns.py")))
    assert not list(runs_text(example("from sqlalchemy import select", "app/db/turns.py")))
    assert not list(runs_text(example("from sqlalchemy import text", "app/db/tables/turns.py")))
