"""A test that `make test` leaves out is in a file that `make test-long` names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from tests.architecture.source import ROOT, Module, example, nodes


def marked(modules: Iterable[Module]) -> set[str]:
    """The files in which something is marked as long."""
    return {
        module.path
        for module in modules
        for node in nodes(module)
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "pytest.mark.long"
    }


def named() -> set[str]:
    """The files that the Makefile names."""
    [names] = re.findall(r"^LONG := ((?:.*\\\n)*.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return set(names.replace("\\\n", " ").split())


def test_the_long_tests_are_those_that_the_makefile_names() -> None:
    sources = {str(path.relative_to(ROOT)): path.read_text() for path in (ROOT / "tests").rglob("test_*.py")}
    parsed = (Module(path, source, ast.parse(source)) for path, source in sources.items() if "mark.long" in source)
    assert marked(parsed) == named()


def test_it_bites() -> None:
    for source in ("pytestmark = pytest.mark.long", "@pytest.mark.long\ndef test_it() -> None: ..."):
        assert marked([example(source, "tests/test_example.py")]) == {"tests/test_example.py"}
    assert not marked([example('told = "pytest.mark.long"')])
