"""Keys and predicates that say the same are one."""

from __future__ import annotations

import pytest

from app.memory.normalise import known_key


@pytest.mark.parametrize(
    ("key", "known", "expected"),
    [
        ("drinks.coffee", ["coffee.drink", "tea.drink"], "coffee.drink"),
        ("coffee.drink", ["drinks.coffee", "coffee.drink"], "coffee.drink"),
        ("editor.theme", ["editor.font"], "editor.theme"),
        ("has-favourite-team", ["favourite-teams"], "favourite-teams"),
        ("lives-with", ["lives-in"], "lives-with"),
        ("manages", ["managed-by"], "manages"),
        ("the database", ["database"], "database"),
        ("status", ["statu"], "status"),
        ("has", ["is"], "has"),
        ("anything", [], "anything"),
        ("editor_theme", ["editor.theme"], "editor.theme"),
        ("Editor Theme", ["editor.theme"], "editor.theme"),
    ],
)
def test_a_key_is_the_known_one_where_both_say_the_same(key: str, known: list[str], expected: str) -> None:
    assert known_key(key, known) == expected
