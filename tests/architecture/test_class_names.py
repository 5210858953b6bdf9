"""The name of a class exists once in the service."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable

from tests.architecture.source import Module, app_modules, example, nodes


def repeated(modules: Iterable[Module]) -> dict[str, list[str]]:
    """The names that more than one class has, each with where."""
    places = defaultdict(list)
    for module in modules:
        for node in nodes(module):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{module.path}:{node.lineno}")
    return {name: found for name, found in places.items() if len(found) > 1}


def test_no_two_classes_share_a_name() -> None:
    assert not repeated(app_modules())


def test_it_bites() -> None:
    one, other = example("class Plan: ..."), example("def f():\n    class Plan: ...", "app/read/example.py")
    assert repeated([one, other]) == {"Plan": ["app/services/example.py:1", "app/read/example.py:2"]}
    assert not repeated([one, example("class Plans: ...")])
