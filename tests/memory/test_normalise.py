"""Keys and predicates that say the same are one."""

from __future__ import annotations

import pytest

from app.memory.normalise import codes, known_key, normalise_key, normalise_name
from tests.english.hostile import QUADRATIC, growth


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


@pytest.mark.parametrize("unseen", ["\u200b", "\ufeff", "\u00ad", "\u2060", "\u200e", "\u200f"])
def test_characters_that_show_nothing_make_no_other_name(unseen: str) -> None:
    assert normalise_name(f"{unseen}Marie Cu{unseen}rie{unseen}") == "marie curie"
    assert normalise_key(f"works{unseen} at{unseen}") == "works-at"


def test_joiners_that_change_how_letters_look_stay() -> None:
    assert normalise_name("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645") != normalise_name(
        "\u0645\u06cc\u062e\u0648\u0627\u0647\u0645"
    )


@pytest.mark.parametrize("unit", ["q@r.", "z9", "x-", "Aa", "w+v "])
def test_codes_are_found_in_linear_time(unit: str) -> None:
    assert growth(codes, unit) < QUADRATIC


@pytest.mark.parametrize(
    ("token", "code"), [("x7Kp", True), ("7xK", True), ("K7x", False), ("x7k", False), ("7K", False)]
)
def test_letters_in_both_cases_among_figures_are_a_code(token: str, *, code: bool) -> None:
    assert bool(codes(f"it is {token} now")) is code
