"""Names in running text, found by their capitals, and what the words around them make of them."""

from __future__ import annotations

import pytest

from app.english.names import Gender, gender_of, names_in, sentences_of
from app.english.word_lists import MEN, WOMEN

SAID = [
    ("Priya is the engineering manager. She manages the project.", [("Priya", "person")]),
    ("Met Sarah Lindqvist in Berlin yesterday.", [("Sarah Lindqvist", "person"), ("Berlin", "place")]),
    ("I joined Volkswagen on Monday.", [("Volkswagen", "organization")]),
    ("I work for Quux, near Paris.", [("Quux", "organization"), ("Paris", "place")]),
    ("We moved to New York.", [("New York", "place")]),
    ("University of Oxford called.", [("University of Oxford", "organization")]),
    ("Project Apollo is late; the Phoenix team helps.", [("Project Apollo", "project"), ("Phoenix", "team")]),
    ("Dr. Smith and P. Sharma met.", [("Dr. Smith", "person"), ("P. Sharma", "unknown")]),
    ("Tom's wife knows Anna\u2019s dog.", [("Tom", "person"), ("Anna", "person")]),
    ("Yesterday I was ill. Maybe it was the fish.", []),
    ("Who's there? Where's Clara? They're late.", [("Clara", "person")]),
    ("She's ill. It's Clara. What've we got?", [("Clara", "person")]),
    ("I waited at St Olaf's, then went home.", [("St Olaf", "place")]),
    ("i met priya sharma there", [("priya sharma", "person")]),
]


@pytest.mark.parametrize(("text", "names"), SAID)
def test_names_are_found_with_their_kinds(text: str, names: list[tuple[str, str]]) -> None:
    assert [(one.name, one.entity_type) for one in names_in(text, {"priya sharma": "person"})] == names


def test_what_is_known_of_a_name_goes_before_what_its_neighbours_suggest() -> None:
    [one] = names_in("I joined Apollo.", {"apollo": "project"})
    assert (one.name, one.entity_type, one.start) == ("Apollo", "project", 9)


def test_sentences_are_told_apart_and_initials_end_none() -> None:
    text = "Tom met A. Bell. Anna left!\nSarah came"
    assert [one.name for one in names_in(text, {})] == ["Tom", "A. Bell", "Anna", "Sarah"]
    assert [text[start:].split(maxsplit=1)[0] for start in sentences_of(text)] == ["Tom", "Anna", "Sarah"]


@pytest.mark.parametrize(
    ("name", "gender"),
    [
        ("Priya", Gender.FEMALE),
        ("Tom Berg", Gender.MALE),
        ("L\u00e9a", Gender.FEMALE),
        ("Mr. Sarah", Gender.MALE),
        ("Dr. Sarah Berg", Gender.FEMALE),
        ("Sam", None),
        ("Apollo", None),
        ("", None),
    ],
)
def test_titles_and_given_names_tell_who_is_a_he(name: str, gender: Gender | None) -> None:
    assert gender_of(name) is gender


def test_no_name_is_listed_twice() -> None:
    assert not MEN & WOMEN
    assert all(name.isascii() and name.islower() for name in MEN | WOMEN)
