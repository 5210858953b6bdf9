"""Turns that only ask or give a task, and those that tell something."""

from __future__ import annotations

import pytest

from app.english.requests import makes, only_asks, only_greets, told_beside
from tests.english.hostile import QUADRATIC, growth


@pytest.mark.parametrize(
    "text",
    [
        "Which ferry goes to Runde?",
        "is my ferry late",
        "can you remind me what the harbour is called",
        "Do you remember that I sail?",
        "whats the tallest tree in europe",
        "Hello there! Could you check the tide table?",
        "Translate this into Danish.",
        "summarize the report in two lines",
        "Plan a day out: two castles, one lunch",
        'translate "the kettle is cold" into danish',
        "Explain: why is it dark",
        "please draft a letter to the council",
        "Wie hoch ist der Brocken",
        "combien coûte un billet pour Brest",
        "¿Cuántos días tiene febrero",
        "明天几点日出",
        "次の電車はいつ",
        "erklär mir die Photosynthese",
        "Übersetze „ich komme später“ ins Dänische",
        "traduis cette phrase en italien",
        "recomiéndame una serie corta",
        "você pode resumir isto",
        "帮我写一封感谢信",
        "この文を英語に訳して",
        "짧은 시 하나 써줘",
    ],
)
def test_questions_and_tasks_only_ask(text: str) -> None:
    assert only_asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "I row on the fjord every Sunday.",
        "Had the hull scraped, good as new!",
        "could you note that my ferry leaves at six",
        "Give your replies in Danish, please.",
        "When I was nine we moved to Runde.",
        "Keep replies to one line.",
        "Always answer in Danish.",
        "Remind me to water the ferns.",
        "Call me Bibbi.",
        "Is the ferry late? I have to be in Runde by six.",
        "Add my brother's number to the list.",
        "Sold the boat.",
        "Ring size of my sister: 54.",
        "Ring size for the wedding: 54",
        "Walk times on the ridge: 40 minutes up.",
        "Do not water the cactus in winter.",
        "Please do not forget that the gate sticks.",
        "Study groups meet on Mondays.",
        "Plan prices are up by a tenth.",
        "Was für ein Tag. Ich habe den Job.",
        "suche gerade eine Wohnung in Ulm",
        "schreib mir künftig nur auf Dänisch",
        "écris toujours en minuscules",
        "puede que me mude a Lima",
        "我给妹妹写了一封信",
        "今後は敬語で書いて",
        "Die Heizung macht wieder Geräusche.",
        "Rent was due on Monday.",
        "Work is at nine tomorrow.",
        "弟弟什么都吃。",
        "怎么劝他也不听。",
    ],
)
def test_statements_and_orders_that_stand_do_not(text: str) -> None:
    assert not only_asks(text)


def test_nothing_asks_nothing() -> None:
    assert not only_asks("")


@pytest.mark.parametrize(
    ("text", "greets"),
    [
        ("Good evening to you all", True),
        ("Thanks, that was everything for this week.", True),
        ("Tusen takk", True),
        ("takk, det var alt", True),
        ("Danke dir, bis nächste Woche", True),
        ("gracias, eres increíble", True),
        ("Thanks, which ferry do I take?", False),
        ("thanks, now translate it", False),
        ("Danke, wann fährt meine Fähre", False),
        ("hello who is she", False),
        ("okay packing list", False),
        ("Thanks, I sold the barge.", False),
    ],
)
def test_greetings_and_thanks_may_say_more_but_ask_and_tell_nothing(text: str, *, greets: bool) -> None:
    assert only_greets(text) is greets


@pytest.mark.parametrize(
    ("question", "beside"),
    [
        ("Which soap is mild, because wool grease makes me itch?", "because wool grease makes me itch?"),
        ("Can we fly on Friday, we're back by then?", ", we're back by then?"),
        ("Which way is shorter, since I've no car?", "since i've no car?"),
        ("Is it closed because of the snow?", ""),
        ("Is it open, or do we have to ring?", ""),
        ("Do I have a car?", ""),
    ],
)
def test_what_a_question_tells_is_a_reason_or_of_who_asks(question: str, beside: str) -> None:
    assert told_beside(question) == beside


@pytest.mark.parametrize(
    ("sentence", "made"),
    [
        ("Please write another verse for our anthem", True),
        ("Think of some names for my boat", True),
        ("Tell me what my boat is called", False),
        ("Miss my old boat", False),
        ("Always add a joke for my kids", False),
        ("My boat has a leak", False),
    ],
)
def test_a_task_to_make_something_may_be_for_its_speaker(sentence: str, *, made: bool) -> None:
    assert makes(sentence) is made


@pytest.mark.parametrize("unit", ["because ", "given that ", ", i ", "write me up ", "as i ", "since since "])
def test_what_is_told_beside_is_found_in_linear_time(unit: str) -> None:
    assert growth(told_beside, unit) < QUADRATIC
    assert growth(makes, unit) < QUADRATIC
