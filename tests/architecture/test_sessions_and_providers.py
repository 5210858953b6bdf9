"""No function takes both a session and a provider: nothing slow happens inside a transaction."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from functools import cache

from tests.architecture.source import Module, Rule, Violation, app_modules, check, example, names_in, nodes

SESSIONS = frozenset({"ReadSession", "WriteSession", "AsyncConnection"})


def provider_names(modules: Collection[Module]) -> frozenset[str]:
    """The classes of `app.providers` that do something that is waited for."""
    return frozenset(
        one.name
        for module in modules
        if module.within("app/providers/")
        for one in _classes(module)
        if any(isinstance(part, ast.AsyncFunctionDef) for part in one.body)
    )


def carrier_names(modules: Collection[Module], providers: frozenset[str]) -> frozenset[str]:
    """The classes that have a provider, or something that has one, in a field."""
    fields = {
        one.name: set().union(*(names_in(part.annotation) for part in one.body if isinstance(part, ast.AnnAssign)))
        for module in modules
        for one in _classes(module)
    }
    found = set(providers)
    while more := {name for name, used in fields.items() if used & found} - found:
        found |= more
    return frozenset(found)


def takes_both(carriers: frozenset[str]) -> Rule:
    """The rule against functions that take a session beside one of these classes."""

    def rule(module: Module) -> Iterator[Violation]:
        for node in nodes(module):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            named = set().union(*(names_in(one.annotation) for one in given if one.annotation is not None))
            if named & SESSIONS and (slow := named & carriers):
                yield Violation(module.path, node.lineno, f"{node.name} takes a session and {', '.join(sorted(slow))}")

    return rule


@cache
def carriers() -> frozenset[str]:
    modules = app_modules()
    return carrier_names(modules, provider_names(modules))


def _classes(module: Module) -> Iterator[ast.ClassDef]:
    return (node for node in nodes(module) if isinstance(node, ast.ClassDef))


def test_no_function_takes_a_session_and_a_provider() -> None:
    check(takes_both(carriers()))


def test_providers_and_what_holds_them_are_found() -> None:
    assert {"Embedder", "ChatModel", "Extractor", "Judge", "IngestPipeline", "Runtime"} <= carriers()
    assert not carriers() & {"Database", "Actor", "ProposalReader"}


def test_it_bites() -> None:
    modules = [
        example("class Model:\n    async def ask(self): ...", "app/providers/model.py"),
        example("class Stage:\n    model: Model | None\nclass Pipeline:\n    stages: list[Stage]"),
    ]
    rule = takes_both(carrier_names(modules, provider_names(modules)))
    for holder in ("Model", "Stage", "Pipeline", "Sequence[Model]", '"Model"'):
        assert list(rule(example(f"async def write(session: WriteSession, means: {holder}): ...")))
    assert not list(rule(example("async def write(session: WriteSession, values: list[str]): ...")))
    assert not list(rule(example("async def write(database: Database, model: Model): ...")))
