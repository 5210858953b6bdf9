"""Of whom a question speaks: of nobody, of others than who asks, of what the assistant said."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from app.db.entities.query_lookup import KnownEntity
from app.read import understand
from app.read.asked_of import has_half, is_general, is_of_asker_alone
from app.read.relevance import MatchEvidence
from app.read.values import Arm
from tests.read.test_block import ASTRID, asking, by_assistant, match, named, reasons, relevance, turn
from tests.read.test_rank import NOTHING, TYPES, parsed


@pytest.mark.parametrize(
    ("question", "general"),
    [
        ("Who wrote Peer Gynt?", True),
        ("how many rods are in a furlong", True),
        ("What's eleven cubed?", True),
        ("When does my ferry leave?", False),
        ("Which cabin is theirs?", False),
        ("What did you say about barnacles?", False),
        ("Draft a note about barnacles", False),
        ("Wer schrieb Peer Gynt?", False),
        ("誰がペール・ギュントを書いたか", False),
    ],
)
def test_an_english_question_without_a_person_may_ask_what_everybody_knows(question: str, *, general: bool) -> None:
    assert is_general(asking(question)) is general


def test_where_no_assistant_has_spoken_no_question_is_about_what_everybody_knows() -> None:
    assert not is_general(parsed("Who wrote Peer Gynt?"))


@pytest.mark.parametrize(
    ("question", "said", "half"),
    [
        ("When's the regatta dinner?", "The regatta dinner is on 4 May.", True),
        ("when does the ferry go", "The ferry was late again.", True),
        ("how long does the ferry take", "The ferry was late again.", True),
        ("Who painted the harbour frescoes?", "The harbour was quiet.", False),
        ("Where is Solveig moored?", "Solveig got a new rudder.", True),
    ],
)
def test_half_of_the_words_or_a_name_speak_for_a_memory(question: str, said: str, *, half: bool) -> None:
    assert has_half(asking(question), turn(1, said)) is half


def test_the_assistant_speaks_for_a_memory_where_the_question_is_in_the_past() -> None:
    reply = by_assistant(1, "Knead the rye dough for ten minutes.")
    assert has_half(asking("how long was the rye dough kneaded"), reply)
    assert not has_half(asking("how long is rye dough kneaded"), reply)


def test_a_general_question_finds_nothing_that_lacks_half_of_its_words() -> None:
    near = turn(1, "Ten minutes to the harbour, the landlady waved.")
    kept, cut = relevance(asking("How many minutes has a lunar eclipse?")).cut(
        [match(near)], {near.id: near}, MatchEvidence(whole={near.id: 0.5}, wording={}), least=None
    )
    assert not kept
    assert [one.why.split(",")[0] for one in cut] == ["the question speaks of nobody"]


def test_what_a_user_says_of_themselves_tells_nothing_of_whom_the_question_names() -> None:
    known = KnownEntity(alias="solveig", name="Solveig", entity_type="person", mentions=3, ids=(UUID(int=9),))
    asked = understand.resolve_question(
        parsed("What is Solveig's job?").reading, replace(NOTHING, entities=(known,)), types=TYPES
    )
    query = replace(asked, assistants=asking("").assistants)
    assert is_of_asker_alone(query, turn(1, "I have a new job at the docks."))
    assert not is_of_asker_alone(query, turn(2, "I met Solveig at the docks."))
    assert not is_of_asker_alone(query, turn(3, "She pilots the mail boat."))


def test_what_somebody_does_is_told_by_a_turn_that_names_them_though_less_near() -> None:
    wife, pilot = turn(1, "My wife Astrid and I have a barge."), turn(2, "Astrid pilots the mail boat.")
    for question, left in (("What is Astrid's job?", set()), ("What is Astrid painting?", {2})):
        query = replace(named(question, ("Astrid", ASTRID)), assistants=asking("").assistants)
        assert set(reasons(query, [wife, pilot], {1: 1.0, 2: 0.0})) == left


def test_the_assistants_words_answer_by_a_quarter_of_the_questions_words() -> None:
    told = turn(1, "I need a rope for the dinghy.")
    reply = by_assistant(2, "A hemp rope of twelve millimetres, tarred twice, from the chandler behind the market.")
    question = "Which rope length colour maker suits the dinghy on the lake?"
    assert 2 in reasons(asking(question), [told, reply], {1: 0.3, 2: 0.6})
    assert 2 not in reasons(asking("Which rope suits the dinghy?"), [told, reply], {1: 0.3, 2: 0.6})


def test_of_replies_to_what_is_as_near_those_that_have_a_word_of_the_question_are_asked_back() -> None:
    rope, card = turn(1, "Suggest a rope."), turn(3, "Suggest a card.")
    hemp, tide = by_assistant(2, "Hemp, twelve millimetres."), by_assistant(4, "A tide table, laminated.")
    rows = {row.id: row for row in (rope, hemp, card, tide)}
    cosines = {rope.id: 0.2, hemp.id: 0.05, card.id: 0.2, tide.id: 0.05}
    ranked = [match(row)._replace(places={Arm.SEMANTIC: (1, cosines[row.id], 0.0, 0.0)}) for row in rows.values()]
    found = relevance(asking("What did you say for the rope?")).evidence(ranked, rows).whole
    assert found[hemp.id] == found[rope.id]
    assert found[tide.id] < found[card.id]
