"""Every statement on tenants' tables compares each of them with the tenant itself, not with another table's column.

Row-level security is the second guard, not the first; and a cluster finds the node of a statement by that comparison.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from app.db.tables import metadata
from tests.architecture.source import HOLE, Module, Violation, check, constants, example, filled, strings

SHARED = frozenset({"tenants", "memory_types", "embedding_models", "alembic_version"})
"""Tables whose rows are not one tenant's."""

OWNED = "|".join(sorted({table.name for table in metadata.tables.values()} - SHARED))
AFTER_A_TABLE = (
    "CROSS|FOR|GROUP|INNER|JOIN|LEFT|LIMIT|ON|ORDER|RETURNING|SELECT|SET|TABLESAMPLE|UNION|USING|VALUES|WHERE"
)
USE = re.compile(rf"\b(FROM|JOIN|UPDATE|INTO|USING)\s+({OWNED})\b(?:\s+(?:AS\s+)?(?!(?:{AFTER_A_TABLE})\b)([a-z_]+))?")
NAMED = re.compile(r"(?:(?<![.\w])|\b([a-z_]+)\.)tenant_id = (?::tenant|\$1|tenant)\b")
WHOLE = re.compile(r"\s*\(?\s*(?:SELECT|WITH|UPDATE|DELETE|INSERT)\b")

OF_ALL_TENANTS = {
    "app/db/audit.py": frozenset({"audit_unsealed"}),
    "app/features/review/sql.py": frozenset({"review_counts"}),
    "app/features/webhooks/sql.py": frozenset({"webhook_deliveries"}),
}
"""Tables that modules read of all tenants at once, on purpose: for metrics, and to find tenants with work to do."""


def forgets_the_tenant(module: Module) -> Iterator[Violation]:
    """Find SQL that uses a tenant's table and does not say whose rows, unless a part that is put in may say so."""
    if not module.within("app/"):
        return
    known = constants(module)
    for node in strings(module):
        text = filled(node, known)
        forgotten = set(_forgotten(text)) - OF_ALL_TENANTS.get(module.path, frozenset())
        if forgotten:
            said = f"{', '.join(sorted(forgotten))} without `tenant_id = :tenant`: {' '.join(text.split())[:60]!r}"
            yield Violation(module.path, node.lineno, said)


def _forgotten(text: str) -> Iterator[str]:
    """Yield the tables of a statement whose tenant it does not say; a fragment's first may be said around it."""
    if HOLE in text or not WHOLE.match(text):
        return
    said = set(NAMED.findall(text))
    for verb, table, alias in USE.findall(text):
        named = "tenant_id" in text if verb == "INTO" else said & {alias or table, ""}
        if not named:
            yield table


def test_every_statement_names_the_tenant() -> None:
    check(forgets_the_tenant)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT id FROM turns",
        "SELECT tenant_id FROM turns WHERE id = :id",
        "UPDATE memories SET topic = 1",
        "DELETE FROM scopes s WHERE s.id = :id",
        "INSERT INTO turns (id) VALUES (:id)",
        "SELECT FROM memories m JOIN turns t ON t.tenant_id = m.tenant_id WHERE m.tenant_id = :tenant",
        "SELECT FROM tenants o LEFT JOIN scopes s ON s.tenant_id = o.id WHERE o.id = :tenant",
        "WITH a AS (SELECT FROM turns t WHERE t.tenant_id = :tenant) SELECT FROM scopes s WHERE s.id = 1",
    ],
)
def test_it_bites(text: str) -> None:
    assert list(forgets_the_tenant(example(f"A = '{text}'", "app/db/turns.py")))


def test_it_bites_where_a_constant_is_put_in() -> None:
    source = "WHO = 't.id = :id'\nA = f'SELECT FROM turns t WHERE {WHO}'"
    assert list(forgets_the_tenant(example(source, "app/db/turns.py")))
    assert not list(forgets_the_tenant(example(source.replace("t.id =", "t.tenant_id = :tenant AND t.id ="), "app/x")))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT id FROM turns WHERE tenant_id = :tenant",
        "SELECT FROM memories m JOIN turns t ON t.tenant_id = :tenant WHERE m.tenant_id = :tenant",
        "INSERT INTO turns (tenant_id, id) VALUES (:tenant, :id)",
        "SELECT id FROM tenants",
        "FROM memories m JOIN turns t ON t.tenant_id = :tenant",
    ],
)
def test_it_lets_pass(text: str) -> None:
    assert not list(forgets_the_tenant(example(f"A = '{text}'", "app/db/turns.py")))


COPIED = re.compile(rf"\bINSERT INTO (?:{OWNED})\b[^()]*(?:\([^()]*\))?\s*SELECT\b")
ANSWERS = re.compile(r"\b(?:RETURNING|ON CONFLICT)\b")


def is_sent_by_copy(module: Module) -> Iterator[Violation]:
    """Find a statement that inserts the rows of a query without an answer: a cluster would send them by COPY.

    Row-level security forbids that; as a clause of another statement such an insert is not sent by itself.
    """
    if not module.within("app/"):
        return
    known = constants(module)
    for node in strings(module):
        text = filled(node, known)
        for found in COPIED.finditer(text):
            before, after = text[: found.start()], text[found.start() :]
            alone = before.count("(") == before.count(")")
            if alone and HOLE not in after and not ANSWERS.search(after):
                said = f"end it with RETURNING or ON CONFLICT: {' '.join(after.split())[:60]!r}"
                yield Violation(module.path, node.lineno, said)


def test_no_rows_of_a_query_are_sent_by_copy() -> None:
    check(is_sent_by_copy)


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        ("INSERT INTO turns (id) SELECT id FROM scopes", True),
        ("WITH a AS (SELECT 1) INSERT INTO turns SELECT 1 FROM a", True),
        ("INSERT INTO turns (id) SELECT id FROM scopes RETURNING id", False),
        ("INSERT INTO turns (id) SELECT id FROM scopes ON CONFLICT DO NOTHING", False),
        ("WITH a AS (INSERT INTO turns (id) SELECT 1) SELECT 1", False),
        ("INSERT INTO turns (id) VALUES (1)", False),
    ],
)
def test_it_bites_where_rows_would_be_copied(text: str, *, copied: bool) -> None:
    assert bool(list(is_sent_by_copy(example(f"A = '{text}'", "app/db/turns.py")))) == copied
