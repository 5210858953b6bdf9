"""The service's modules as syntax trees, and the check that a rule holds for them."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

HOLE = "{}"
"""Stands for an expression inside an f-string."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module: its path from the repository's root, its source and its tree."""

    path: str
    source: str
    tree: ast.Module

    def within(self, *places: str) -> bool:
        """Whether the module is one of these files, or in one of these folders (which end in a slash)."""
        return any(self.path == place or (place.endswith("/") and self.path.startswith(place)) for place in places)


@dataclass(frozen=True, slots=True)
class Violation:
    """A place where a rule is broken."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


Rule = Callable[[Module], Iterator[Violation]]


def example(source: str, path: str = "app/services/example.py") -> Module:
    """A module that a test makes up."""
    source = textwrap.dedent(source)
    return Module(path, source, ast.parse(source))


@cache
def app_modules() -> tuple[Module, ...]:
    """Every module of the service."""
    sources = {str(path.relative_to(ROOT)): path.read_text() for path in sorted((ROOT / "app").rglob("*.py"))}
    return tuple(Module(path, source, ast.parse(source)) for path, source in sources.items())


def texts(module: Module) -> Iterator[tuple[int, str]]:
    """The strings of a module with their lines, f-strings with holes, without docstrings."""
    for node in strings(module):
        yield node.lineno, filled(node, {})


@cache
def nodes(module: Module) -> tuple[ast.AST, ...]:
    """Every node of a module's tree; most rules look at all of them."""
    return tuple(ast.walk(module.tree))


@cache
def strings(module: Module) -> tuple[ast.Constant | ast.JoinedStr, ...]:
    """The strings of a module, without docstrings and without the parts of f-strings."""
    joined = [node for node in nodes(module) if isinstance(node, ast.JoinedStr)]
    left_out = {id(piece) for node in joined for piece in ast.walk(node) if piece is not node}
    left_out |= {id(node.value) for node in nodes(module) if isinstance(node, ast.Expr)}
    return tuple(
        node
        for node in nodes(module)
        if isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out)
    )


def constants(module: Module) -> dict[str, str]:
    """The strings that a module gives names to, at its top; f-strings with what their own holes stand for."""
    found: dict[str, str] = {}
    for node in module.tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() | ast.JoinedStr() as value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant() | ast.JoinedStr() as value)
            ):
                found[name] = filled(value, found)
            case _:
                pass
    return found


def filled(node: ast.AST, known: Mapping[str, str]) -> str:
    """A string in which names of known ones stand for these; what else is put in stays a hole."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=values):
            return "".join(filled(one, known) for one in values)
        case ast.FormattedValue(value=ast.Name(id=name)):
            return known.get(name, HOLE)
        case _:
            return HOLE


def names_in(node: ast.AST) -> set[str]:
    """The names and attributes that an expression mentions, those inside quoted annotations too."""
    found: set[str] = set()
    for one in ast.walk(node):
        match one:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                found.add(name)
            case ast.Constant(value=str() as quoted) if quoted.isidentifier():
                found.add(quoted)
            case _:
                pass
    return found


def check(rule: Rule, *, exceptions: Collection[str] = ()) -> None:
    """Assert that the service keeps a rule, but for these files; a file that keeps it must leave the exceptions."""
    found = [one for module in app_modules() for one in rule(module)]
    if broken := [str(one) for one in found if one.path not in exceptions]:
        raise AssertionError("\n".join(broken))
    if kept := sorted(set(exceptions) - {one.path for one in found}):
        raise AssertionError(f"these keep the rule now, remove them from the exceptions: {', '.join(kept)}")
