"""What changes: doses, medicines stopped, tastes, jobs, homes, pets lost, decisions taken back; and what falls due."""

from __future__ import annotations

import pytest

from tests.english.rules.said import proposed, rendered, sentences
from tests.english.rules.test_endings import ends

READ: list[tuple[str, str]] = [
    ("My cardiologist raised my bisoprolol from 2.5 mg to 5 mg.", "fact: user takes bisoprolol 5 mg"),
    ("My GP has put the sertraline up to 100 mg a day", "fact: user takes sertraline 100 mg a day"),
    ("I've cut my prednisone down to 5 mg", "fact: user takes prednisone 5 mg"),
    ("I upped my Ozempic to 1 mg", "fact: user takes Ozempic 1 mg"),
    ("The cardiologist has put me on ramipril instead of metoprolol", "fact: user takes ramipril"),
    ("They increased the enalapril to 10 mg", "fact: user takes enalapril 10 mg"),
    ("They doubled my enalapril to 20 mg", "fact: user takes enalapril 20 mg"),
    ("My bisoprolol is 5 mg now", "fact: user takes bisoprolol 5 mg"),
    ("Ramipril is back up to 10 mg.", "fact: user takes Ramipril 10 mg"),
    ("I take candesartan", "fact: user takes candesartan"),
    ("I take diclofenac in the morning", "fact: user takes diclofenac in the morning"),
    ("I take tramadol for my arthritis.", "fact: user takes tramadol for their arthritis"),
    ("I take propranolol and magnesium at night.", "fact: user takes propranolol"),
    ("I take propranolol and magnesium at night.", "fact: user takes magnesium at night"),
    ("At night I take clopidogrel.", "fact: user takes clopidogrel"),
    ("My aunt takes furosemide after breakfast", "fact: user's aunt takes furosemide after breakfast"),
    ("I take my celecoxib with food", "fact: user takes celecoxib with food"),
    ("I like olives now", "preference: user likes olives"),
    ("I got a new job at Equinor", "fact: user works at Equinor"),
    ("I've accepted a position with Siemens", "fact: user works at Siemens"),
    ("We moved into a bigger flat in Bergen", "fact: user lives in Bergen"),
    ("I live in a tiny cottage in Wales", "fact: user lives in Wales"),
    ("I prefer cycling to school in summer", "preference: user likes cycling to school in summer"),
    ("Oddly enough, I like opera now", "preference: user likes opera"),
    ("I speak Danish, grew up in Odense.", "fact: user grew up in Odense"),
    ("My cousin is a vet, lives in Leeds", "fact: user's cousin lives in Leeds"),
    ("My canoe is called Otter", "fact: user's canoe has name Otter"),
    ("My nanny's name is Ines", "fact: user has nanny Ines"),
]


@pytest.mark.parametrize(("content", "read"), READ, ids=[one for one, _ in READ])
def test_a_change_is_read(content: str, read: str) -> None:
    assert any(one.startswith(read) for one in sentences(content)), sentences(content)


@pytest.mark.parametrize(
    "content",
    [
        "I take the tram in the morning.",
        "I take photos in the evening.",
        "I take care of it at night.",
        "I take lunch at noon.",
        "I take part in the evening choir.",
        "I take work home in the evening.",
        "Should I take diclofenac in the morning?",
        "I don't take diclofenac in the morning.",
    ],
)
def test_what_is_taken_at_a_time_of_the_day_is_not_all_medicine(content: str) -> None:
    assert sentences(content) == []


@pytest.mark.parametrize(
    ("content", "over"),
    [
        ("I'm no longer on enalapril.", ("user", "takes", "enalapril")),
        ("I'm off enalapril now.", ("user", "takes", "enalapril")),
        ("The GP took me off enalapril on Monday.", ("user", "takes", "enalapril")),
        ("I've stopped taking Quviviq.", ("user", "takes", "Quviviq")),
        ("I no longer sing in the choir.", ("user", "sings", "in the choir")),
        ("I've given up coaching the juniors", ("user", "coaches", "the juniors")),
    ],
)
def test_what_one_no_longer_has_or_takes_has_ended(content: str, over: tuple[str, str, str | None]) -> None:
    assert over in ends(content)
    assert [rendered(one) for one in proposed(content) if not one.ends and one.type == "fact"] == []


def test_a_medicine_in_whose_place_another_is_taken_ends() -> None:
    assert ends("The cardiologist has put me on ramipril in place of metoprolol") == [("user", "takes", "metoprolol")]


@pytest.mark.parametrize(
    "content",
    [
        "We lost Momo in the woods.",
        "I lost my keys in May.",
        "I stopped the car.",
        "We stopped the enalapril trial at work.",
        "I finished the aspirin bottle yesterday.",
        "We got off the bus.",
        "I'm off work.",
        "I put the kettle on.",
    ],
)
def test_what_is_lost_or_stopped_otherwise_ends_nothing(content: str) -> None:
    assert ends(content) == []


@pytest.mark.parametrize(
    "content",
    [
        "I raised the font size to 12 pt",
        "My dad's enalapril was reduced to 5 mg",
        "We lowered the price to 10 g",
        "I changed the dose to 10 mg",
        "My vet raised the prednisone to 10 mg",
        "She increased the enalapril to 10 mg",
        "If the audit papers are due on Friday I am lost",
        "I doubt the essay is due on Friday",
        "I've gone off on holiday",
        "Don't call me on Friday",
        "Don't text me tomorrow at 8",
        "The party is in the garden",
        "Is the report due on Friday?",
        "My plan was called off",
        "I know Leo, works at Equinor",
        "I have a friend, lives in Bergen",
        "I moved from Aldi to Lidl",
    ],
)
def test_nothing_lasting_is_read(content: str) -> None:
    assert [rendered(one) for one in proposed(content) if one.type != "event"] == []
    assert not any("due" in one for one in sentences(content))


@pytest.mark.parametrize(
    "content", ["My son lowered the enalapril to 5 mg", "My dog's doctor raised the prednisone to 5 mg"]
)
def test_a_dose_that_others_change_is_not_the_speakers(content: str) -> None:
    assert not any("takes" in one for one in sentences(content))


@pytest.mark.parametrize(
    "content", ["If the kick-off is on Friday I am lost", "Whether the audit is on Friday is unclear"]
)
def test_what_may_fall_on_a_day_is_no_event(content: str) -> None:
    assert sentences(content) == []
