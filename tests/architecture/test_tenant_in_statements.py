"""Every statement on a tenant's tables names the tenant: row-level security is the second guard, not the first."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.db.tables import metadata
from tests.architecture.source import HOLE, Module, Violation, check, example, texts

SHARED = frozenset({"tenants", "memory_types", "embedding_models", "alembic_version"})
"""Tables whose rows are not one tenant's."""

OWNED = "|".join(sorted({table.name for table in metadata.tables.values()} - SHARED))
USE = re.compile(rf"\b(?:FROM|JOIN|UPDATE|INTO)\s+({OWNED})\b")

OF_ALL_TENANTS = {"app/db/review.py": frozenset({"review_counts"})}
"""Tables that modules read of all tenants at once, on purpose: for metrics."""


def forgets_the_tenant(module: Module) -> Iterator[Violation]:
    """Find SQL that uses a tenant's table without `tenant_id`, unless a part that is put in may name it."""
    if not module.within("app/db/", "app/read/retrieve/"):
        return
    for line, text in texts(module):
        used = set(USE.findall(text)) - OF_ALL_TENANTS.get(module.path, frozenset())
        if used and "tenant_id" not in text and HOLE not in text:
            said = f"{', '.join(sorted(used))} without tenant_id: {' '.join(text.split())[:60]!r}"
            yield Violation(module.path, line, said)


def test_every_statement_names_the_tenant() -> None:
    check(forgets_the_tenant)


def test_it_bites() -> None:
    for text in ("SELECT id FROM turns", "UPDATE memories SET topic = 1", "DELETE FROM scopes s WHERE s.id = :id"):
        assert list(forgets_the_tenant(example(f"A = '{text}'", "app/db/turns.py")))
    named = "A = 'SELECT id FROM turns WHERE tenant_id = :tenant'"
    assert not list(forgets_the_tenant(example(named, "app/db/turns.py")))
    assert not list(forgets_the_tenant(example("A = 'SELECT id FROM tenants'", "app/db/tenants.py")))
