"""Sentences made of predicates, by the form of their words."""

from __future__ import annotations

import pytest

from app.english.predicates import sentence


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        # What somebody has.
        ("shoe-size", "Olu's shoe size is X"),
        ("home-town", "Olu's home town is X"),
        ("date-of-birth", "Olu's date of birth is X"),
        ("preferred-airline", "Olu's preferred airline is X"),
        ("drink-order", "Olu's drink order is X"),
        ("cooking-style", "Olu's cooking style is X"),
        ("hobbies", "Olu's hobbies are X"),
        ("parents", "Olu's parents are X"),
        ("visa-status", "Olu's visa status is X"),
        ("postal-address", "Olu's postal address is X"),
        # What follows a form of `be`.
        ("afraid-of", "Olu is afraid of X"),
        ("capital-of", "Olu is capital of X"),
        ("related-to", "Olu is related to X"),
        ("painted-by", "Olu is painted by X"),
        ("learning", "Olu is learning X"),
        ("working-on", "Olu is working on X"),
        ("known-for", "Olu is known for X"),
        ("located-in", "Olu is located in X"),
        ("good-at", "Olu is good at X"),
        ("born-in", "Olu was born in X"),
        ("member-of", "Olu is member of X"),
        # A verb.
        ("works-at", "Olu works at X"),
        ("collects", "Olu collects X"),
        ("specializes-in", "Olu specializes in X"),
        ("memorizes", "Olu memorizes X"),
        ("moved-to", "Olu moved to X"),
        ("wrote", "Olu wrote X"),
        ("visited", "Olu visited X"),
        ("currently-lives-in", "Olu currently lives in X"),
        ("is", "Olu is X"),
        ("has-role", "Olu has role X"),
        ("may-not-use", "Olu may not use X"),
        ("used-to-own", "Olu used to own X"),
        ("never-eats", "Olu never eats X"),
        # What is not certainly English stays.
        ("wohnt-in", "Olu wohnt in X"),
        ("vive-en", "Olu vive en X"),
        ("préfère", "Olu préfère X"),
    ],
)
def test_a_predicate_is_joined_by_its_form(predicate: str, expected: str) -> None:
    assert sentence("Olu", predicate, "X") == expected
