"""Emoji and other signs beside a statement, or inside it."""

from __future__ import annotations

import pytest

from tests.english.rules.said import sentences

SIGNS = (
    "\U0001f600",
    "\u2728\u2728",
    "\U0001f44d\U0001f3fd",
    "\u2764\ufe0f",
    "\U0001f468\u200d\U0001f373",
    "\U0001f1e9\U0001f1ea",
    "\u2b50",
    ":)",
    "<3",
)
STATEMENTS = (
    "I'm allergic to shellfish",
    "I live in Ghent",
    "I must not eat gluten for health reasons",
    "i cant stand cilantro",
    "My sister works at Volvo",
    "I prefer window seats",
)


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_sign_before_or_after_a_statement_changes_nothing(statement: str, sign: str) -> None:
    plain = sentences(statement)
    assert plain
    for text in (
        f"{statement} {sign}",
        f"{statement}{sign}",
        f"{sign} {statement}",
        f"{statement}. {sign}",
        f"{statement} {sign}!",
    ):
        assert sentences(text) == plain, text


@pytest.mark.parametrize("sign", SIGNS[:-2])
def test_a_sign_inside_a_statement_changes_nothing(sign: str) -> None:
    assert sentences(f"I'm allergic {sign} to shellfish") == sentences("I'm allergic to shellfish")
    assert sentences(f"I love {sign} spicy food") == sentences("I love spicy food")


def test_a_sign_ends_a_sentence() -> None:
    assert sentences("I live in Ghent \U0001f600 I work at Volvo") == sentences("I live in Ghent. I work at Volvo.")
    assert sentences("I love tea \U0001f375 My dog is called Rex") == sentences("I love tea. My dog is called Rex.")
