"""Only the database's clock orders what is written: nothing asks this machine for the time of day."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.source import Module, Violation, check, example, nodes

ASKS = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time", "now"}

EXCEPTIONS = {
    "app/bootstrap.py": "the machine's clock, to be compared with the database's",
    "app/providers/retries.py": "a provider's date in Retry-After, which is compared at once",
    "app/services/limits.py": "the end of a window of requests, which the library takes from this machine's clock",
    "app/features/agent_hooks/spool.py": "when a person typed a prompt, on their own machine",
    "app/operations/commands/keys.py": "a span that a person types, and what is shown to them",
}


def asks_the_machine(module: Module) -> Iterator[Violation]:
    for node in nodes(module):
        if isinstance(node, ast.Call) and (called := ast.unparse(node.func)) in ASKS:
            yield Violation(module.path, node.lineno, f"{called}() asks this machine: take a clock")


def test_nothing_goes_by_the_machines_clock() -> None:
    check(asks_the_machine, exceptions=EXCEPTIONS)


def test_the_rule_bites() -> None:
    [found] = asks_the_machine(example("at = datetime.now(UTC)"))
    assert found.line == 1
