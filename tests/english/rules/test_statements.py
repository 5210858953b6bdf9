"""What is read in plain statements, in the first person and in the third."""

from __future__ import annotations

import pytest

from tests.english.rules.said import (
    Expected,
    decision,
    event,
    fact,
    holds,
    preference,
    proposed,
    relation,
    rendered,
    sentences,
)

SAID: list[tuple[str, list[Expected]]] = [
    # work
    ("I live in Berlin and work at Volkswagen.", [fact("lives-in", "Berlin"), fact("works-at", "Volkswagen")]),
    ("i work at volkswagen", [fact("works-at", "volkswagen")]),
    ("My goal is to double my audience", [fact("has-goal", "to double their audience")]),
    ("My goal is to save 3,500 euros by May", [fact("has-goal", "to save 3,500 euros by May")]),
    ("I love using fountain pens", [preference("likes.fountain-pens", "likes")]),
    ("My neighbour Ilse is a nurse", [fact("has-neighbour", "Ilse"), fact("has-role", "nurse", "Ilse")]),
    ("My flatmate Ugo moved out", [fact("lives-with", "Ugo")]),
    ("I found a Col. Mustard figure yesterday", [event("user found a Col. Mustard figure", "2026-05-19", "day")]),
    (
        "I painted a portrait of Ada yesterday, especially for my aunt",
        [event("user painted a portrait of Ada", "2026-05-19", "day")],
    ),
    ("My cousins are flying to Ghent tomorrow", [event("user's cousins are flying to Ghent", "2026-05-21", "day")]),
    ("My boss is flying to Ghent tomorrow", [event("user's boss is flying to Ghent", "2026-05-21", "day")]),
    ("I did visit Ghent yesterday", [event("user did visit Ghent", "2026-05-19", "day")]),
    ("I go swimming every week or so", [fact("goes", "swimming every week")]),
    ("I prefer to dine outside", [preference("likes.dining-outside", "likes")]),
    ("I really can't stand noisy cafes", [preference("likes.noisy-cafes", "dislikes")]),
    ("Mia cannot stand aniseed", [preference("likes.aniseed", "dislikes")]),
    (
        "My housemates are Otto and Ines.",
        [fact("lives-with", "Otto"), fact("lives-with", "Ines")],
    ),
    ("My brothers are called Jon, Ed and Sam", [fact("has-sibling", one) for one in ("Jon", "Ed", "Sam")]),
    (
        "We have a parrot called Coco and two cats named Ash and Ivy.",
        [fact("has-pet", one) for one in ("Coco", "Ash", "Ivy")],
    ),
    ("I have a brother and two sisters", [fact("has", "a brother"), fact("has", "two sisters")]),
    (
        "I have psoriasis, asthma and hay fever",
        [fact("has-condition", one) for one in ("psoriasis", "asthma", "hay fever")],
    ),
    (
        "My uncle suffers from gout and tinnitus",
        [fact("has-condition", one, "user's uncle") for one in ("gout", "tinnitus")],
    ),
    ("I work with Noor and Abel", [relation("user", "works-with", "Noor"), relation("user", "works-with", "Abel")]),
    ("I use Figma and Notion every day", [fact("uses", "Figma"), fact("uses", "Notion")]),
    ("I take ramipril 5 mg and sertraline", [fact("takes", "ramipril 5 mg"), fact("takes", "sertraline")]),
    ("I use Notion to track my habits", [fact("uses", "Notion")]),
    ("I work for Priya", [relation("user", "reports-to", "Priya")]),
    ("I work for Google", [fact("works-at", "Google")]),
    ("I work as a nurse at Charité", [fact("has-role", "nurse"), fact("works-at", "Charité")]),
    ("I'm working as a piano tuner these days", [fact("has-role", "piano tuner")]),
    ("I work as an ostler at Acme", [fact("has-role", "ostler"), fact("works-at", "Acme")]),
    ("I'm the CTO of Acme", [fact("has-role", "CTO"), fact("works-at", "Acme")]),
    ("She's the head of marketing at Acme", [fact("has-role", "head of marketing", "she")]),
    ("Our company uses Slack", [fact("uses", "Slack", "user's company")]),
    ("Emma works as a lawyer", [fact("has-role", "lawyer", "Emma")]),
    ("I manage a team of five engineers", [fact("manages", "a team of five engineers")]),
    ("I report to Sarah", [relation("user", "reports-to", "Sarah")]),
    ("My manager is Sarah", [relation("user", "reports-to", "Sarah")]),
    ("My manager is Annika now.", [relation("user", "reports-to", "Annika")]),
    ("My boss is Peter these days.", [relation("user", "reports-to", "Peter")]),
    ("Sarah is my manager", [relation("user", "reports-to", "Sarah")]),
    ("We met my manager Sarah", [relation("user", "reports-to", "Sarah")]),
    ("Carol started working at Acme", [fact("works-at", "Acme", "Carol"), event("Carol started working at Acme")]),
    ("I used to be a teacher", [event("user used to be a teacher", None, "approximate")]),
    ("Sarah mentioned she works at Acme", [fact("works-at", "Acme", "Sarah")]),
    # who people are
    ("My name is Alex", [fact("has-name", "Alex")]),
    ("Hi, I'm Maria!", [fact("has-name", "Maria")]),
    ("I am 32 years old", [fact("has-age", "32")]),
    ("My birthday is May 9", [fact("born-on", "May 9")]),
    ("I was born on 12 June 1985 in Porto", [fact("born-on", "12 June 1985"), fact("born-in", "Porto")]),
    ("My birthday is on May 4th, 1990.", [fact("born-on", "May 4th, 1990")]),
    ("My sister's birthday is May 4th.", [fact("born-on", "May 4th", "user's sister")]),
    ("Our anniversary is on June 3rd, 2015.", [event("user's anniversary", "2015-06-03", "day")]),
    ("My exam is on June 3rd, in Rome", [event("user's exam", "2026-06-03", "day")]),
    ("I'm from Sweden", [fact("comes-from", "Sweden")]),
    ("my sister lives in Paris", [fact("lives-in", "Paris", "user's sister")]),
    ("My wife Anna works at Google", [fact("married-to", "Anna"), fact("works-at", "Google", "Anna")]),
    ("My dog Rex loves the beach", [fact("has-pet", "Rex")]),
    ("my dog is called Rex", [fact("has-pet", "Rex")]),
    ("We have two kids, Tom and Lily", [fact("has-child", "Tom"), fact("has-child", "Lily")]),
    ("He has three children.", [fact("has-children", "three", "he")]),
    ("I have two sons", [fact("has", "two sons")]),
    ("John is my brother", [fact("has-sibling", "John")]),
    ("I'm married to Anna", [fact("married-to", "Anna")]),
    ("I have asthma", [fact("has-condition", "asthma")]),
    ("I was diagnosed with ADHD", [fact("has-condition", "ADHD")]),
    ("I was diagnosed with a mild one", []),
    ("I bought Letters to My Daughter yesterday", [event("user bought Letters to My Daughter", "2026-05-19", "day")]),
    ("My doctor told me that I have high blood pressure", [fact("has-condition", "high blood pressure")]),
    ("I take metformin 500mg twice a day", [fact("takes", "metformin 500mg twice a day")]),
    ("I take ibuprofen for my headaches", [fact("takes", "ibuprofen for their headaches")]),
    ("I'm lactose intolerant", [fact("has-condition", "lactose intolerant")]),
    ("She is allergic to cats", [fact("allergic-to", "cats", "she")]),
    ("Grandpa has asthma", [fact("has-condition", "asthma", "user's grandpa")]),
    (
        "Mommy's a surgeon, and Dad works at Acme",
        [fact("has-role", "surgeon", "user's mommy"), fact("works-at", "Acme", "user's dad")],
    ),
    ("Papa Roach works at Acme", [fact("works-at", "Acme", "Papa Roach")]),
    ("I speak English, French and German", [fact("speaks", "French"), fact("speaks", "German")]),
    ("I own a Tesla", [fact("owns", "a Tesla")]),
    ("As a nurse, I see this a lot", [fact("has-role", "nurse")]),
    # rules
    ("We are required to encrypt all backups.", [fact("required-to-encrypt", "all backups")]),
    (
        "Our team is prohibited from sharing customer data",
        [fact("prohibited-from-sharing", "customer data", "user's team")],
    ),
    ("We are not allowed to store card numbers", [fact("not-allowed-to-store", "card numbers")]),
    ("We cannot use external APIs", [fact("cannot-use", "external APIs")]),
    # choices
    ("I don't eat meat", [preference("habits.eating-meat", "does not eat meat")]),
    ("I can't eat gluten", [fact("cannot-eat", "gluten")]),
    ("I must not eat gluten", [fact("must-not-eat", "gluten")]),
    ("I must always wear my splint at night", [fact("must-wear", "their splint at night")]),
    ("Our lab must not discard samples", [fact("must-not-discard", "samples", "user's lab")]),
    ("My nephew can't eat peanuts", [fact("cannot-eat", "peanuts", "user's nephew")]),
    ("I can't take aspirin because of my stomach", [fact("cannot-take", "aspirin")]),
    (
        "I must not use external APIs due to compliance requirements",
        [fact("must-not-use", "external APIs due to compliance requirements")],
    ),
    ("I like Wendy's", [preference("likes.wendys", "likes")]),
    ("my favourite colour is blue", [preference("favourite.colour", "blue")]),
    ("My favorite color is blue", [preference("favourite.colour", "blue")]),
    ("Harry Potter is my favourite book", [preference("favourite.book", "Harry Potter")]),
    ("I'm not a fan of sushi", [preference("likes.sushi", "dislikes")]),
    ("Please always answer in German", [preference("language.replies", "German")]),
    ("From now on, use tabs instead of spaces", [preference("indentation.style", "tabs")]),
    ("Call me Al", [preference("name.preferred", "Al")]),
    ("I go to the gym three times a week", [fact("goes", "to the gym three times a week")]),
    (
        "We chose React over Vue for the dashboard because the team knows it",
        [decision("frontend framework for dashboard", "React")],
    ),
]


@pytest.mark.parametrize(("utterance", "expected"), SAID, ids=[one for one, _ in SAID])
def test_a_plain_statement_is_read(utterance: str, expected: list[Expected]) -> None:
    found = proposed(utterance)
    missing = [one for one in expected if not holds(found, one)]
    assert not missing, [rendered(one) for one in found]


@pytest.mark.parametrize("said", ["now", "too", "these days", "again", "at the moment, though"])
@pytest.mark.parametrize(
    ("habit", "read"),
    [
        ("I take metformin 1000 mg twice a day", "user takes metformin 1000 mg twice a day"),
        ("I run every morning", "user runs every morning"),
    ],
)
def test_a_habit_is_the_same_however_it_is_told(habit: str, read: str, said: str) -> None:
    assert [rendered(one) for one in proposed(f"{habit} {said}.")] == [read]


def test_how_many_children_reads_well() -> None:
    assert [rendered(one) for one in proposed("Tom has three children.")] == ["Tom has three children"]


def test_i_is_the_speaker_where_the_conversation_has_names() -> None:
    found = proposed("I work at Acme and my sister lives in Paris", speaker="Caroline")
    assert holds(found, fact("works-at", "Acme", "Caroline"))
    assert holds(found, fact("lives-in", "Paris", "Caroline's sister"))


def test_first_person_is_surer_than_third_and_pronouns_are_least_sure() -> None:
    [first], [third], [pronoun] = (
        proposed(text) for text in ("I work at Acme", "Sarah works at Acme", "he works at Acme")
    )
    assert first.confidence > third.confidence > pronoun.confidence


def test_a_hedge_makes_a_statement_less_sure() -> None:
    [sure], [unsure] = proposed("I prefer tea"), proposed("I think I prefer tea")
    assert unsure.confidence < sure.confidence


def test_a_correction_matters_more() -> None:
    [plain], [corrected] = proposed("I live in Munich"), proposed("No, I live in Munich, not Berlin")
    assert corrected.payload == plain.payload
    assert corrected.importance is not None
    assert plain.importance is not None
    assert corrected.importance > plain.importance


def test_health_matters_most() -> None:
    for said in ("I'm allergic to nuts", "I have a severe penicillin allergy", "I take insulin", "I have epilepsy"):
        [one] = proposed(said)
        assert one.importance is not None
        assert one.importance >= 0.9
        assert one.topic == "health"


def test_what_is_stated_before_a_question_counts() -> None:
    [one] = proposed("I'm allergic to nuts, so what can I eat?")
    assert one.payload["object"] == "nuts"
    assert proposed("I live in Berlin, don't I?") == ()


def test_past_and_denied_states_are_no_facts_of_the_present() -> None:
    for said in ("I used to live in Rome", "I worked at Acme", "I don't live in Rome", "I have never lived in Rome"):
        assert not [one for one in proposed(said) if one.type != "event" and not one.ends], said


def test_a_quotation_of_others_is_not_the_speakers_own() -> None:
    assert proposed('My boss said "I live in Rome and I hate tea." in the meeting') == ()


def test_several_sentences_keep_their_own_quotes() -> None:
    content = "Hi! I work at Acme. I live in Dr. Smith's old house. By the way, I'm allergic to bees."
    found = {str(one.payload.get("object")): one.quote for one in proposed(content)}
    assert found["Acme"] == "I work at Acme"
    assert found["bees"] == "By the way, I'm allergic to bees"


def test_whose_relative_somebody_is_waits_for_whom_a_pronoun_means() -> None:
    assert "entity: Mr Holt is a person" in sentences("Her dentist is Mr Holt.")
    assert "entity: Mr Holt is a person; relationship: user's dentist" in sentences("My dentist is Mr Holt.")
