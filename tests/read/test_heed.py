"""What users told in turns that answers must heed: allergies within questions, and orders that no rule reads."""

from __future__ import annotations

from uuid import UUID

import pytest

from app.db.memories.heeded import HeededMemory
from app.memory.spec import Heed
from app.read.heed import choose_heeded, subject_of, told_pattern
from app.read.values import HeedMode
from tests.read.conftest import NOW
from tests.read.test_block import WORDS
from tests.read.test_rank import TYPES, parsed


def heeded(question: str, told: str) -> list[str]:
    turn = HeededMemory(id=UUID(int=1), type="episodic", content=told, stated_at=NOW)
    subject = subject_of(parsed(question).reading, WORDS)
    found = choose_heeded([], subject, types=TYPES, mode=HeedMode.AUTO, told=[turn], shown={}, words=WORDS)
    return [one.content.removeprefix("user: ") for one in found]


@pytest.mark.parametrize(
    ("told", "heard"),
    [
        ("Und Gluten vertrage ich keins, geht die Suppe trotzdem?", True),
        ("Soy celíaca, ¿me vale la masa?", True),
        ("Czy orzechy szkodzą? Mam na nie uczulenie.", True),
        ("Is gluten in rye bread?", False),
        ("Which biscuits can I bring, seeing that sesame makes my throat swell?", True),
        ("Are waffles fine given I'm coeliac?", True),
        ("Any pudding left, my brother is lactose intolerant?", True),
        ("Are the rolls vegan, or are there eggs in them?", False),
        ("Does dough rise because gluten holds the gas?", False),
    ],
)
def test_what_must_not_be_eaten_is_heard_also_before_a_question(told: str, *, heard: bool) -> None:
    assert bool(heeded("Suggest a recipe for dinner", told)) is heard


@pytest.mark.parametrize(
    "told",
    [
        "Could you keep your answers to five lines max?",
        "Every weight is in stone unless I say otherwise.",
        "Spare me those emojis.",
        "Antworte mir immer auf Deutsch.",
    ],
)
@pytest.mark.parametrize("question", ["Draft a limerick on herrings.", "Who wrote Peer Gynt?"])
def test_an_order_for_all_answers_is_heeded_by_tasks_and_by_what_everybody_knows(question: str, told: str) -> None:
    assert heeded(question, told) == [told]
    assert heeded("Where do I live?", told) == []


def test_an_order_for_all_answers_is_heeded_by_tasks_for_their_speaker() -> None:
    told = "Could you keep your answers to five lines max?"
    assert heeded("Draft a toast for my sister's wedding", told) == [told]
    assert heeded("Tell me where my sister lives", told) == []


def test_a_reaction_told_in_a_question_is_heeded_by_medicine() -> None:
    told = "Which cream can I use, considering that lanolin gives me hives?"
    assert heeded("What helps against a headache?", told) == [told]


def test_an_order_with_a_condition_is_heeded_by_tasks_alone() -> None:
    told = "If I ask for a chart then use ASCII please."
    assert heeded("Plan a day in Molde", told) == [told]
    assert heeded("Who wrote Peer Gynt?", told) == []


def test_orders_are_not_looked_for_where_pronouns_may_be_left_out() -> None:
    english, polish = (subject_of(parsed(one).reading, WORDS) for one in ("Who wrote Peer Gynt?", "Gdzie pracuję?"))
    assert told_pattern(english, HeedMode.AUTO)
    assert not told_pattern(polish, HeedMode.AUTO)


@pytest.mark.parametrize(
    ("question", "touched"),
    [
        ("Who discovered penicillin?", False),
        ("What is the boiling point of milk?", False),
        ("How many ounces are in a cup?", False),
        ("What's a good dessert for Sunday?", True),
        ("Which restaurant is open?", True),
        ("How much of it may I eat for dinner?", True),
    ],
)
def test_what_everybody_knows_of_food_and_medicine_touches_nothing(question: str, *, touched: bool) -> None:
    touches = subject_of(parsed(question).reading, WORDS).touches
    assert bool(touches & {Heed.FOOD, Heed.MEDICINE}) is touched


@pytest.mark.parametrize("word", ["post office", "retry with backoff"])
def test_no_word_is_near_to_food_by_a_word_of_another_language(word: str) -> None:
    assert not subject_of(parsed(f"Explain the {word}").reading, WORDS).touches & {Heed.FOOD}
