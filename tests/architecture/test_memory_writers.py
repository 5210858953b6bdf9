"""Rows of `memories` are written by `db/apply` alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.architecture.source import Module, Violation, check, example, names_in, nodes, texts

STATEMENT = re.compile(r"\b(?:INSERT INTO|UPDATE|DELETE FROM)\s+(?:ONLY\s+)?(?:memories\b|\{\})")
"""A table whose name is put in when the code runs may be `memories`."""

CALLS = frozenset({"insert", "update", "delete"})

OTHER_TABLES = frozenset(
    {
        "app/db/sql.py",  # inserts the rows it is handed; those of memories come from `apply`
        "app/db/erasure/rows.py",  # deletes the rows of tables that refer to memories
        "app/features/portability/sql/imports.py",  # inserts the rows of a file, as they were decided elsewhere
        "app/db/reembedding.py",  # vectors, in the tables of `embedding_models.TABLES`
    }
)


def writes_memories(module: Module) -> Iterator[Violation]:
    """Find statements that write rows of `memories`."""
    if module.within("app/db/apply/"):
        return
    for line, text in texts(module):
        for found in STATEMENT.finditer(text):
            yield Violation(module.path, line, f"{' '.join(found[0].split())} belongs into db/apply")
    for node in nodes(module):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[table, *_]) if name in CALLS and "memories" in names_in(table):
                yield Violation(module.path, node.lineno, f"{ast.unparse(node)} belongs into db/apply")
            case _:
                pass


def test_only_the_applier_writes_memories() -> None:
    check(writes_memories, exceptions=OTHER_TABLES)


def test_it_bites() -> None:
    for source in (
        "A = 'UPDATE memories m SET status = 1'",
        "A = 'WITH x AS (DELETE FROM  memories WHERE true)'",
        "A = f'INSERT INTO {table} VALUES (1)'",
        "update(memories).values(status=1)",
        "delete(tables.memories)",
    ):
        assert list(writes_memories(example(source, "app/db/example.py")))
        assert not list(writes_memories(example(source, "app/db/apply/scope.py")))
    for source in ("A = 'UPDATE memories_past SET x = 1'", "select(memories)", "A = 'SELECT FROM memories FOR UPDATE'"):
        assert not list(writes_memories(example(source, "app/db/example.py")))
