"""Joins of a lead and a text, and articles."""

from __future__ import annotations

import pytest

from app.english.joins import join, unfinished, with_article


@pytest.mark.parametrize(
    ("lead", "text", "expected"),
    [
        ("because", "because it is cheap", "because it is cheap"),
        ("Olu lives in", "in Porto", "Olu lives in Porto"),
        ("Olu plans to", "to move", "Olu plans to move"),
        ("Olu plans to", "plans to move", "Olu plans to move"),
        ("Olu prefers", "prefers tea", "Olu prefers tea"),
        ("decided:", "decided: Postgres", "decided: Postgres"),
        ("Olu has role", "has role cook", "Olu has role cook"),
        ("Olu sings in", "In Flames", "Olu sings in In Flames"),
        ("the band of Olu is", "The The", "the band of Olu is The The"),
        ("Olu likes tea", "tea", "Olu likes tea tea"),
        ("Olu is", "is", "Olu is"),
    ],
)
def test_a_text_does_not_repeat_the_end_of_its_lead(lead: str, text: str, expected: str) -> None:
    assert join(lead, text) == expected


@pytest.mark.parametrize(
    ("noun", "expected"),
    [
        ("organization", "an organization"),
        ("company", "a company"),
        ("university", "a university"),
        ("one-off", "a one-off"),
        ("hour", "an hour"),
        ("NGO", "an NGO"),
        ("UN body", "a UN body"),
        ("IT firm", "an IT firm"),
    ],
)
def test_an_article_goes_by_the_sound(noun: str, expected: str) -> None:
    assert with_article(noun) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Olu met Ann.", "Olu met Ann"),
        ("Olu joined Brightwater Inc.", "Olu joined Brightwater Inc."),
        ("Olu flew to Washington, D.C.", "Olu flew to Washington, D.C."),
        ("Olu got up at 5 a.m.", "Olu got up at 5 a.m."),
        ("Olu met Ann", "Olu met Ann"),
        ("and so on...", "and so on"),
    ],
)
def test_a_final_stop_goes_where_the_sentence_goes_on(text: str, expected: str) -> None:
    assert unfinished(text) == expected
