"""Words that decide keep two statements apart, and paraphrases without them say the same."""

from __future__ import annotations

from itertools import combinations, cycle, islice, product

import pytest

from app.english.decisive_words import differ_decisively
from app.english.word_lists import MEN, WOMEN, alternatives, entries

TEMPLATES = (
    "user planned it with the {} in mind",
    "The report about the {} was sent to the whole office",
    "we spoke of the {}, and wrote it down",
    "user was sure that {} is what the plan says",
    "My neighbour only cares for {} when he talks about the house",
)
COUNTED = (
    "user bought 5 {} of it in the old town",
    "The limit is 20 {} for the whole team",
    "we agreed on 3.5 {}, and wrote it down",
    "user takes 12 {} as the doctor said",
)
NUMBERED = ("user bought {} tickets", "The team needs {} approvals", "{} people came", "it broke on try {} out of many")
NAMED = (
    "user met {} after the class",
    "we talked about {}, who had called",
    "{} went to the dentist in the old town",
    "The letter from {} arrived",
)
NAMES = sorted(MEN)[::40] + sorted(WOMEN)[::40] + ["Zorblatt", "Qimura", "Telvix"]
PLACES = [*entries("countries")[::6], "Quantovia", "Umbrel"]


def classes() -> list[tuple[str, list[str]]]:
    """Return each class of alternatives by its first word, one form of each member."""
    return [(entry[0][0], [forms[0] for forms in entry]) for entry in alternatives("alternatives") if len(entry) > 1]


def swapped(templates: tuple[str, ...], words: list[str]) -> list[tuple[str, str]]:
    return [
        (template.format(first), template.format(second))
        for template, (first, second) in product(templates, combinations(words, 2))
    ]


def merged(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pairs that nothing keeps apart, whichever comes first."""
    return [
        (one, other) for one, other in pairs if not differ_decisively(one, other) or not differ_decisively(other, one)
    ]


@pytest.mark.parametrize(("name", "words"), [pytest.param(*one, id=one[0]) for one in classes()])
def test_members_of_a_class_rule_each_other_out(name: str, words: list[str]) -> None:
    assert merged(swapped(COUNTED, words)) == []
    long = [word for word in words if len(word) > 2 or not word.isalpha()]
    assert merged(swapped(TEMPLATES, long)) == []


def test_classes_together_make_hundreds_of_pairs() -> None:
    def pairs(first: str) -> int:
        found = next(words for name, words in classes() if name == first)
        return len(swapped(TEMPLATES, found)) + len(swapped(COUNTED, found))

    for first in ("first", "january"):
        assert pairs(first) >= 500
    units = ["second", "millimetre", "microgram", "millilitre", "watt", "byte", "dollar"]
    assert sum(len(swapped(COUNTED, words)) for name, words in classes() if name in {*units, "seconds"}) >= 500


def test_weekdays_rule_each_other_out_in_any_form() -> None:
    days = next(entry for entry in alternatives("alternatives") if entry[0][0] == "monday")
    pairs = [
        (template.format(first.capitalize()), template.format(second.capitalize()))
        for template, (one, other) in product(TEMPLATES, combinations(days[:7], 2))
        for first, second in product(one, other)
    ]
    assert len(pairs) >= 500
    assert merged(pairs) == []


def test_number_words_are_apart() -> None:
    words = [line.split()[1] for line in entries("numbers")]
    pairs = swapped(NUMBERED, [*words, "twenty-one", "thirty five", "two hundred"])
    assert len(pairs) >= 500
    assert merged(pairs) == []


def test_figures_are_apart() -> None:
    pairs = swapped(
        NUMBERED, ["2", "3", "12", "20", "1,500", "15,000", "2.5", "25", "-2", "10:30", "10:45", "2/3", "1.2.3"]
    )
    pairs += swapped(("the floor is the {}", "user came in {} there"), ["1st", "2nd", "3rd", "11th", "21st", "22nd"])
    assert merged(pairs) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("user has two cats", "user has 2 cats"),
        ("twenty-five people came", "25 people came"),
        ("the fee is 1,500 euros", "the fee is 1500 €"),
        ("two hundred people came", "200 people came"),
        ("user is on the 2nd floor", "user is on the second floor"),
        ("the train leaves at 5 p.m.", "the train leaves at 5 pm"),
        ("user runs 5 km a day", "user runs 5 kilometres a day"),
        ("user runs on Monday and Friday", "user runs on Friday and Monday"),
        ("user works with Tom, Anna and Zorblatt", "user works with Zorblatt, Tom and Anna"),
        ("user is the team lead", "user is the Team Lead"),
        ("Sarah's flat is in Zürich", "Sarah's flat is in Zurich"),
        ("the price rose", "the price increased"),
    ],
)
def test_one_meaning_in_two_forms_is_one(first: str, second: str) -> None:
    assert not differ_decisively(first, second)


def test_opposites_are_apart() -> None:
    pairs = [
        (template.format(first), template.format(second))
        for entry in alternatives("opposites")
        for one, other in combinations(entry, 2)
        for first, second in product(one, other)
        for template in TEMPLATES[:2]
    ]
    assert len(pairs) >= 500
    assert merged(pairs) == []


def test_negating_prefixes_and_words_are_apart() -> None:
    bases = ["happy", "safe", "likely", "fair", "paid", "known", "seen", "able", "ready", "locked"]
    pairs = [(template.format(word), template.format(f"un{word}")) for template in TEMPLATES for word in bases]
    verbs = ["likes", "wants", "needs", "owns", "keeps", "sells", "reads", "plays", "drives", "cooks"]
    things = ["tea", "cars", "music", "chess", "fish", "books", "wine", "boats", "bread", "games"]
    for verb, thing in product(verbs, things):
        said = f"user {verb} {thing} at home"
        stem = verb.removesuffix("s")
        denials = [f"user {how} {stem} {thing} at home" for how in ("does not", "doesn't", "used to", "cannot")]
        denials += [f"user {how} {verb} {thing} at home" for how in ("never", "no longer", "hardly")]
        pairs += [(said, denial) for denial in denials]
    assert len(pairs) >= 500
    assert merged(pairs) == []


@pytest.mark.long
@pytest.mark.parametrize("change", [str, str.capitalize, str.upper])
def test_names_are_apart(change: type[str]) -> None:
    known = [one for one in NAMES if one.islower()] if change is str else NAMES
    pairs = [
        (template.format(first), template.format(second))
        for template, (first, second) in zip(cycle(NAMED), combinations(map(change, known), 2), strict=False)
    ]
    assert len(pairs) >= 500
    assert merged(pairs) == []


def test_places_are_apart() -> None:
    pairs = swapped(("user lives in {} now", "The office in {} is closing"), list(PLACES))
    assert len(pairs) >= 500
    assert merged(pairs) == []


def test_the_order_of_names_and_numbers_decides() -> None:
    for first, second in islice(combinations(NAMES[-10:], 2), 20):
        one, other = first.capitalize(), second.capitalize()
        assert differ_decisively(f"in May {one} paid {other}", f"in May {other} paid {one}")
    assert differ_decisively("from Monday to Friday", "from Friday to Monday")
    assert differ_decisively("user moved up from 3 to 5", "user moved up from 5 to 3")


def test_a_detail_that_one_text_alone_has_decides() -> None:
    for detail in ("on Monday", "in March", "with Anna", "before the storm", "5 times", "in the morning"):
        assert differ_decisively("user went to the lake", f"user went to the lake {detail}")


@pytest.mark.parametrize("text", ["", "!", "... , .", "7", "\u4f60\u597d", "a" * 10_000, "1." * 5_000, "-" * 5_000])
def test_odd_texts_say_the_same_as_themselves(text: str) -> None:
    assert not differ_decisively(text, text)
