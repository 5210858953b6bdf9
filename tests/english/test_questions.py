"""Questions by rule: short, few, and put as people put them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.english import questions as english_questions
from app.memory.registry import discover
from app.memory.spec import Payload
from app.memory.vocabulary import INVERSES
from tests.english.hostile import HOSTILE_UNITS, LENGTH, QUADRATIC, growth

TYPES = discover()
EXAMPLES = [
    pytest.param(one.payload, payload, id=f"{one.name}-{place}")
    for one in TYPES
    for place, example in enumerate(one.examples)
    for payload in example.payloads
]


def questions(type_name: str, **payload: Any) -> tuple[str, ...]:
    return TYPES.get(type_name).payload.model_validate(payload).questions()


@pytest.mark.parametrize(("payload", "given"), EXAMPLES)
def test_every_type_has_up_to_three_questions(payload: type[Payload], given: Mapping[str, object]) -> None:
    asked = payload.model_validate(given).questions()
    assert 1 <= len(asked) <= english_questions.MOST
    assert len(set(asked)) == len(asked)
    assert all(one.endswith("?") and one[0] == one[0].upper() and "  " not in one for one in asked)


@pytest.mark.parametrize(
    ("predicate", "subject", "asked"),
    [
        ("works-at", "user", "Where do I work?"),
        ("works-at", "Priya", "Where does Priya work?"),
        ("has-role", "user", "What is my job title?"),
        ("lives-in", "Tom", "In which city, town or country is Tom's home?"),
        ("drives", "user", "What do I drive?"),
        ("teaches", "Elena", "What does Elena teach?"),
        ("studies", "Tom", "What does Tom study?"),
        ("uses-database", "billing", "What does billing use database?"),
        ("is-afraid-of", "user", "What am I afraid of?"),
        ("does-not-eat", "Tom", "Does Tom not eat it?"),
        ("afraid-of", "user", "Am I afraid of it?"),
        ("training-for", "Tom", "Who is training for it?"),
        ("has-pet", "user", "What is my pet?"),
        ("has-pet", "Ann", "What pet does Ann have?"),
        ("shoe-size", "user", "What is my shoe size?"),
        ("moved-to", "Ann", "What did Ann moved to?"),
    ],
)
def test_facts_are_asked_about_by_their_predicate(predicate: str, subject: str, asked: str) -> None:
    assert asked in questions("fact", subject=subject, predicate=predicate, object="it")


def test_preferences_are_asked_about_by_their_key() -> None:
    assert questions("preference", preference_key="programming.language", preference_value="TypeScript") == (
        "Which programming language do I prefer?",
        "What is my favourite language for programming?",
        "Should I choose TypeScript for my programming?",
    )
    assert questions("preference", preference_key="theme", preference_value="dark", subject="Ann") == (
        "Which theme does Ann prefer?",
        "What does Ann like best?",
        "Should I choose dark for Ann's theme?",
    )


def test_relations_are_asked_about_from_either_end() -> None:
    asked = questions("relation", from_entity="Sarah", relation_type="reports-to", to_entity="Priya")
    assert asked == ("Who does Sarah report to?", "Who is Sarah's manager or boss?", "Who reports to Priya?")


def test_every_relation_of_the_vocabulary_has_its_questions() -> None:
    assert set(english_questions.RELATIONS) == set(INVERSES)


def test_a_text_is_asked_about_by_its_most_telling_sentences() -> None:
    said = "Oh yes! We camped at the lake with the kids last July. It was so. The tent leaked, and Tom laughed."
    assert questions("episodic", content=said, session_id="s", speaker="Ann") == (
        "What was said about camped lake kids last July?",
        "What was said about tent leaked Tom laughed?",
        "What was said about Ann Oh yes?",
    )


def test_braces_are_words_like_others() -> None:
    asked = questions("fact", subject="{who}", predicate="uses-{value}", object="{does} {0} {{")
    assert "What does {who} use {value}?" in asked
    assert "Who uses {value} {does} {0} {{?" in asked


@given(st.text(min_size=1, max_size=60), st.text(min_size=1, max_size=60), st.text(min_size=1, max_size=60))
def test_any_words_make_questions(subject: str, predicate: str, value: str) -> None:
    asked = english_questions.about_fact(subject, predicate, value) if predicate.split() else ()
    assert len(asked) <= english_questions.MOST


@pytest.mark.parametrize("unit", [*HOSTILE_UNITS, ". ", "'", "a'-", "a. "])
def test_long_texts_take_linear_time_and_make_short_questions(unit: str) -> None:
    def asked(text: str) -> tuple[str, ...]:
        return (*english_questions.topic_question(text), *english_questions.about_fact("user", "likes", text))

    assert growth(asked, unit) < QUADRATIC
    assert all(len(one) < 400 for one in asked((unit * LENGTH)[:LENGTH]))


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("Where do you live?", 0.0),
        ("I live in Graz.", 1.0),
        ("My tram was late again. Do you cycle?", 5 / 8),
        ("Do you cycle? I do\nShall we?", 2 / 7),
        ("我住在格拉茨。你呢？", 0.5),  # noqa: RUF001 - full-width marks
        ("", 0.0),
    ],
)
def test_the_share_of_a_turn_that_tells_is_of_words_outside_its_questions(text: str, share: float) -> None:
    assert english_questions.told_share(text) == pytest.approx(share)


@given(st.text(alphabet="ab .?!\n"))
def test_a_turn_tells_between_nothing_and_everything(text: str) -> None:
    assert 0.0 <= english_questions.told_share(text) <= 1.0


@pytest.mark.parametrize(
    "text",
    [
        "Who came over on Sunday?",
        "What is the address of the cabin we rented in July?",
        "What have I paid for in March?",
        "What has my sister sent me in April?",
        "Can you tell me what the plumber said on Tuesday?",
        "Do you know which film they saw on the 9th?",
        "Didn't I lend somebody a drill in August?",
        "the scarf she gave me in October",
        "Which trip had I planned for June?",
    ],
)
def test_a_past_tense_anywhere_looks_back(text: str) -> None:
    assert english_questions.direction(text) == "past"


@pytest.mark.parametrize(
    "text",
    [
        "Where am I on the 9th?",
        "Who's coming to the barbecue on Sunday?",
        "What have I got on Tuesday?",
        "Do we have anything arranged for July?",
        "Which rooms are reserved for the 9th?",
        "Is the plumber paid on Tuesday?",
        "What have I booked for August?",
        "Tell me what I need on Sunday",
        "Remind me what she teaches on Tuesday",
        "my appointments in March",
        "When do the holidays start in July?",
        "Which of the bills must be settled by Friday?",
        "May I leave early on Friday?",
    ],
)
def test_the_present_and_words_for_plans_look_ahead(text: str) -> None:
    assert english_questions.direction(text) == "ahead"


@pytest.mark.parametrize("text", ["cabin in July", "Ola's recital in May", "notes of Tuesday", "In March?"])
def test_a_phrase_without_a_verb_may_look_either_way(text: str) -> None:
    assert english_questions.direction(text) == "either"


@pytest.mark.parametrize("unit", ["I booked ", "is ", "paid ", "who's ", "have I ", "May "])
def test_the_direction_of_a_long_text_takes_linear_time(unit: str) -> None:
    assert growth(english_questions.direction, unit) < QUADRATIC


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("wats my berth", "what's my berth"),
        ("where do u think i moor rn", "where do you think i moor right now"),
        ("whos the skipper lol", "who's the skipper"),
        ("wat is mijn ligplaats", "wat is mijn ligplaats"),
        ("What does Pete do for a living?", "What does Pete do as a job?"),
    ],
)
def test_short_spellings_of_chats_are_written_out_in_english(text: str, spelled: str) -> None:
    assert english_questions.spelled_out(text) == spelled


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("what was the knot you showed", True),
        ("Which rope did you reckon would do?", True),
        ("what did we name the dinghy", True),
        ("the name we settled on?", True),
        ("¿qué cuerda aconsejaste?", True),
        ("Wie ging noch mal der Knoten?", True),
        ("which rope do you use", False),
        ("Is the chiste about herrings?", False),
        ("Where did I moor?", False),
    ],
)
def test_what_the_assistant_said_is_asked_back_in_the_past(text: str, *, back: bool) -> None:
    assert english_questions.asks_back(text) is back
