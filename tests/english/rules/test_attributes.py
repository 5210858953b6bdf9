"""Attributes by their names, and states without a subject."""

from __future__ import annotations

import pytest

from app.english.chitchat import states_something
from tests.english.rules.said import sentences


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ("My home town is Aarhus.", "fact: user comes from Aarhus"),
        ("My blood group is AB positive", "fact: user's blood type is AB positive"),
        ("My workplace is the Rigshospitalet and I like it.", "fact: user works at Rigshospitalet"),
        ("My residence is Odense now.", "fact: user lives in Odense"),
        ("My e-mail address is mette@example.dk.", "fact: user's email is mette@example.dk"),
        ("My postal address is Havnegade 4, 8000 Aarhus", "fact: user's address is Havnegade 4, 8000 Aarhus"),
        ("My profession is baker.", "fact: user has role baker"),
        ("My citizenship is Danish.", "fact: user has nationality Danish"),
        ("My shoe size is 39.", "fact: user's shoe size is 39"),
        ("My diet is pescatarian.", "fact: user has diet pescatarian"),
        ("My age is 51.", "fact: user has age 51"),
    ],
)
def test_an_attribute_is_read_by_its_name(content: str, read: str) -> None:
    assert sentences(content) == [read]


@pytest.mark.parametrize(
    "content",
    [
        "My job is exhausting.",
        "My workplace is noisy.",
        "My home town is lovely in spring.",
        "My address is wrong.",
        "My height is average.",
        "My religion is a private matter.",
        "Is my time zone Europe/Oslo?",
    ],
)
def test_what_is_thought_of_an_attribute_is_no_value(content: str) -> None:
    assert sentences(content) == []


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ("Allergic to latex.", "fact: user is allergic to latex"),
        ("Also allergic to pollen!", "fact: user is allergic to pollen"),
        ("Pescatarian now.", "fact: user has diet pescatarian"),
        ("Gluten intolerant too.", "fact: user has condition gluten intolerant"),
        ("Detest marzipan.", "preference: user dislikes marzipan"),
        ("Can't stand raisins.", "preference: user dislikes raisins"),
    ],
)
def test_a_state_or_a_taste_in_a_few_words_says_who_speaks(content: str, read: str) -> None:
    assert states_something(content)
    assert read in sentences(content)


@pytest.mark.parametrize(
    "content", ["Vegan options, please", "Allergic to latex?", "Love that", "Love your style", "Sober thoughts"]
)
def test_a_few_words_of_something_else_state_nothing(content: str) -> None:
    assert not states_something(content)
    assert sentences(content) == []


@pytest.mark.parametrize(
    "content", ["My girls are 11, 7 and 3.", "My nephews are 6 and 4 now", "Our cats are 2 or 3 years old"]
)
def test_ages_of_several_are_no_age_of_one(content: str) -> None:
    assert not any("has age" in one for one in sentences(content))


def test_an_age_before_another_number_is_one() -> None:
    assert "fact: user has age 41" in sentences("I'm 41, 3 kids, two dogs.")
