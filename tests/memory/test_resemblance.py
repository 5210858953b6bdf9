"""Questions whether two names are of one entity, taken out of the texts that put them."""

from __future__ import annotations

import pytest

from app.memory.resemblance import question, without_questions

ASKED = question("Zephyrina", "Zephyrine")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (ASKED, ""),
        (f"nothing like it was known; {ASKED}", "nothing like it was known"),
        (f"{ASKED}; {question('Bo', 'Boo')}", question("Bo", "Boo")),
        (f"{question('Bo', 'Boo')}; {ASKED}", question("Bo", "Boo")),
        (f"{ASKED}; {question('Bo', 'zephyrine')}", ""),
        (question("A;B\nC", "Zephyrine"), ""),
        (question("Zephyrine", "Bo"), question("Zephyrine", "Bo")),
        (question("Bo", "Zephyrine Vexillum"), question("Bo", "Zephyrine Vexillum")),
        ("Zephyrine sails", "Zephyrine sails"),
    ],
)
def test_only_questions_about_the_name_go(text: str, left: str) -> None:
    assert without_questions(text, ["Zephyrine"]) == left


def test_a_name_may_hold_what_parts_questions_or_means_something_to_a_pattern() -> None:
    for name in ("Vex; Illum", "Mr. (X)*", "\\d"):
        assert without_questions(f"it is new; {question('Bo', name)}; so it is", [name]) == "it is new; so it is"
    assert without_questions(ASKED, []) == ASKED
