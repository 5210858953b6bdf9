"""Every change of a memory or an entity says when it was made, or its past would be rewritten."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

APP = Path(__file__).parents[2] / "app"
UPDATE = re.compile(r"\bUPDATE (memories|entities)\b(.*?)(?=\bWHERE\b|$)", re.DOTALL)


def unstamped(source: str) -> Iterator[str]:
    """Return the updates in a module's texts that set no `updated_at`."""
    tree = ast.parse(source)
    joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    pieces = {id(piece) for node in joined for piece in node.values}
    plain = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in pieces]
    texts = [
        "".join(str(one.value) if isinstance(one, ast.Constant) else "x" for one in node.values) for node in joined
    ]
    for text in (*texts, *(node.value for node in plain if isinstance(node.value, str))):
        for found in UPDATE.finditer(text):
            if "SET" in found[2] and "updated_at" not in text[found.start() :].partition("\n    )")[0]:
                yield " ".join(found[0].split())[:120]


def test_every_update_is_stamped() -> None:
    found = {str(path.relative_to(APP)): list(unstamped(path.read_text())) for path in sorted(APP.rglob("*.py"))}
    assert {path: updates for path, updates in found.items() if updates} == {}


def test_it_bites() -> None:
    assert list(unstamped("A = 'UPDATE memories m SET status = 1 WHERE true'"))
    assert list(unstamped("A = f'UPDATE entities SET {x} WHERE true'"))
    assert not list(unstamped("A = 'UPDATE memories SET a = 1, updated_at = :at WHERE true'"))
