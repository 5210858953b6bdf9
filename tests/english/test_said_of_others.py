"""Clauses that no speaker says of themselves, suppositions that govern a quote, and what takes another's place."""

from __future__ import annotations

import pytest

from app.english.claims import is_exchanged, is_told_of_user, is_told_to_somebody
from app.english.speech_acts import is_supposed, is_taken_back


@pytest.mark.parametrize(
    ("clause", "of_user"),
    [
        ("this user prefers Norwegian", True),
        ("the account holder has agreed", True),
        ("der Nutzer mag Fisch", True),
        ("the user table has two columns", False),
        ("I am the main user of it", False),
    ],
)
def test_a_clause_of_the_user_is_told(clause: str, of_user: bool) -> None:  # noqa: FBT001 - a table of cases
    assert is_told_of_user(clause) is of_user


@pytest.mark.parametrize("clause", ["vous avez choisi le tarif", "usted ha elegido la tarifa", "you have chosen it"])
def test_a_clause_to_its_reader_is_told_in_other_languages(clause: str) -> None:
    assert is_told_to_somebody(clause)


@pytest.mark.parametrize(
    ("clause", "told"),
    [
        ("you want a long contract", True),
        ("as you want a contract, sign here", True),
        ("make the summaries as brief as you want", False),
        ("sort them however you please", False),
    ],
)
def test_what_is_left_to_its_reader_tells_nothing_of_them(clause: str, told: bool) -> None:  # noqa: FBT001 - a table of cases
    assert is_told_to_somebody(clause) is told


@pytest.mark.parametrize(
    ("text", "quote", "supposed"),
    [
        ("Suppose I retire. I live in Narvik. What do I pay?", "I live in Narvik", True),
        ("Angenommen, ich lebe in Narvik: was zahle ich?", "ich lebe in Narvik", True),
        ("Imaginemos que vivo en Narvik. \u00bfY luego?", "vivo en Narvik", True),
        ("Si j'\u00e9tais p\u00eacheur et vivais \u00e0 Narvik ?", "vivais \u00e0 Narvik", True),
        ("Suppose it rains, what then? I live in Narvik.", "I live in Narvik", False),
        ("I suppose I live in Narvik for good.", "I live in Narvik", False),
        ("Stell dir vor, ich lebe jetzt in Narvik!", "ich lebe jetzt in Narvik", False),
    ],
)
def test_a_supposition_governs_its_paragraph_up_to_a_question(
    text: str,
    quote: str,
    supposed: bool,  # noqa: FBT001 - a table of cases
) -> None:
    place = text.index(quote)
    start = max(text.rfind(". ", 0, place), text.rfind("? ", 0, place)) + 1
    end = min(found for mark in ".?!" if (found := text.find(mark, place)) >= 0) + 1
    assert is_supposed(text[start:end].strip(), quote, text, place) is supposed


@pytest.mark.parametrize(
    ("text", "exchanged"),
    [
        ("They moved me from enalapril to losartan", True),
        ("I take losartan instead of enalapril", True),
        ("Statt Enalapril nehme ich Losartan", True),
        ("Ho smesso enalapril, ora prendo losartan", True),
        ("I take enalapril and losartan", False),
        ("Je prends de l'enalapril et du losartan", False),
    ],
)
def test_a_value_is_exchanged_where_its_sentence_says_so(text: str, exchanged: bool) -> None:  # noqa: FBT001
    assert is_exchanged("enalapril", text) is exchanged


@pytest.mark.parametrize(
    ("after", "back"),
    [
        (". War bloß ein Scherz.", True),
        (" in Narvik, jk", True),
        (". Je plaisante !", True),
        ("\u3002\u5197\u8ac7\u3067\u3059", True),
        (". Das ist kein Scherz.", False),
        (". Not really my taste, though.", False),
        (". He told me a joke.", False),
    ],
)
def test_a_joke_is_taken_back_by_the_sentence_after_it(after: str, back: bool) -> None:  # noqa: FBT001
    assert is_taken_back(after) is back
