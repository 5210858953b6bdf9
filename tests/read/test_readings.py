"""Questions that people put in more than one way, read as they are meant."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from app.db.entities.query_lookup import QueryLookup
from app.memory.registry import discover
from app.model import ReadMode
from app.read.search import MOST_COMPARED, word_weights
from app.read.understand import names_of, parse_question, resolve_question
from app.read.understand.parse import MOST_NAMES, MOST_WINDOWS
from app.read.values import QueryRequest, QuestionReading, Window
from tests.english.hostile import QUADRATIC, growth

SATURDAY = datetime(2026, 11, 21, 12, tzinfo=UTC)
NOTHING_KNOWN = QueryLookup(memories=0, contexts=0, documents=0, index_rows=0, frequencies={}, entities=())


def reading(text: str) -> QuestionReading:
    return parse_question(QueryRequest(query=text, now=SATURDAY), types=discover(), language="english")


@pytest.mark.parametrize("unit", ["who does ", "who are ", "on Monday, ", "1999 ", "7 ", "how often in a ", "Who is\n"])
def test_the_time_of_reading_is_linear_in_the_length(unit: str) -> None:
    assert growth(reading, unit) < QUADRATIC


def test_blanks_in_a_question_take_no_time_and_tell_nothing() -> None:
    assert growth(lambda gap: reading(f"before{gap}until"), " ") < 2
    assert reading("what did   I buy\n\n in \t May?") == reading("what did I buy in May?")


def test_only_the_first_times_of_a_pasted_text_are_windows() -> None:
    years = range(1900, 2026)
    windows = reading(" and ".join(f"in {year}" for year in years)).windows
    assert [one.lower.year for one in windows if one.lower] == list(years[:MOST_WINDOWS])


def test_a_pasted_text_without_spaces_is_searched_for_few_names() -> None:
    lines = ["".join(chr(0x4E00 + 20 * line + place) for place in range(20)) for line in range(300)]
    asked = reading("\u3002".join(lines))
    assert len(asked.grams) <= MOST_NAMES
    assert {lines[0][:2], lines[1][-6:]} <= names_of(asked), "those of a question of two clauses are all looked up"


def test_only_the_first_words_of_a_pasted_text_are_weighed_one_by_one() -> None:
    words = [f"apple{number}" for number in range(3 * MOST_COMPARED)]
    query = resolve_question(reading(" ".join(words)), NOTHING_KNOWN, types=discover())
    assert list(word_weights(query.dense_text, {}, 10, "english")) == words[:MOST_COMPARED]


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("what is coming up in December?", 2026),
        ("what will happen in December?", 2026),
        ("plans for December", 2026),
        ("what am I doing on 3 December?", 2026),
        ("where is Tom flying in December?", 2026),
        ("what happened in December?", 2025),
        ("what did I plan in December?", 2025),
    ],
)
def test_a_month_lies_where_the_question_looks(text: str, year: int) -> None:
    [window] = reading(text).windows
    assert window.lower is not None
    assert (window.lower.year, window.lower.month) == (year, 12)


def test_last_tuesday_is_read_both_ways() -> None:
    window, other = reading("what happened last Tuesday?").windows
    assert window.lower == datetime(2026, 11, 10, tzinfo=UTC)
    assert other.lower == datetime(2026, 11, 17, tzinfo=UTC)
    assert len(reading("what happened in May?").windows) == 1


@pytest.mark.parametrize(
    "text",
    [
        "How is the Friday crew doing?",
        "What goes into the Q3 summary?",
        "Where do I keep my pre-1950 stamps?",
        "How many coffees do I drink in a day?",
    ],
)
def test_words_for_a_time_that_say_which_thing_are_no_window(text: str) -> None:
    assert reading(text).windows == ()


@pytest.mark.parametrize("text", ["What did I sell in June together with Tom?", "What did I do on Friday?"])
def test_a_time_that_is_meant_stays_a_window(text: str) -> None:
    assert len(reading(text).windows) == 1


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Which car does the user drive?", "Which car do I drive?"),
        ("What is the user's blood type?", "What is my blood type?"),
    ],
)
def test_a_question_about_the_user_looks_for_the_same_words_as_the_users_own(text: str, own: str) -> None:
    asked, wanted = (resolve_question(reading(one), NOTHING_KNOWN, types=discover()).terms for one in (text, own))
    assert asked == wanted


@pytest.mark.parametrize(
    ("text", "past"),
    [
        ("I can't eat bread anymore, so what do I have for breakfast?", False),
        ("Which gym do I no longer go to?", True),
        ("How many films have I seen in the past two months?", False),
        ("Where did I swim in the past?", True),
    ],
)
def test_the_past_is_asked_for_where_the_question_is_put(text: str, *, past: bool) -> None:
    assert reading(text).about_past is past


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("What would you suggest for lunch?", False),
        ("What did you suggest for lunch?", True),
        ("Which tent did you pick for us?", True),
        ("Did you know that herons nest in trees?", False),
        ("Welche Zelte hast du mir empfohlen?", True),
        ("Hast du gute Tipps zum Zelten?", False),
        ("Quelles tentes tu m'avais choisi ?", True),
        ("Tu as une tente ?", False),
        ("¿Qué tienda me aconsejaste?", True),
        ("¿Qué tienda me conviene?", False),
        ("你之前说的是哪家店", True),
        ("你说哪家店好", False),
    ],
)
def test_a_request_for_advice_does_not_ask_what_the_assistant_said(text: str, *, back: bool) -> None:
    assert reading(text).asks_back is back


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("where did I work before Volkswagen?", ReadMode.HISTORICAL),
        ("who did Tom report to before Sarah?", ReadMode.HISTORICAL),
        ("what happened before March?", ReadMode.DEFAULT),
        ("where do I work?", ReadMode.DEFAULT),
        ("what should I do before leaving?", ReadMode.DEFAULT),
    ],
)
def test_what_came_before_something_is_history(text: str, mode: ReadMode) -> None:
    assert reading(text).mode is mode


def days(windows: Sequence[Window]) -> list[str]:
    return [" ".join("open" if one is None else f"{one:%Y-%m-%d}" for one in (w.lower, w.upper)) for w in windows]


@pytest.mark.parametrize(
    ("text", "windows", "fallback"),
    [
        ("Where am I on 2 December?", ["2026-12-02 2026-12-03"], ["2025-12-02 2025-12-03"]),
        ("Where was I on 2 December?", ["2025-12-02 2025-12-03"], []),
        ("Who comes by on the 3rd?", ["2026-12-03 2026-12-04"], ["2026-11-03 2026-11-04"]),
        ("What is on in November?", ["2026-11-01 2026-12-01"], []),
        ("Am I busy on Saturday?", ["2026-11-21 2026-11-22"], []),
        ("Am I busy on Tuesday?", ["2026-11-24 2026-11-25"], ["2026-11-17 2026-11-18"]),
        ("What must be done until Tuesday?", ["2026-11-21 2026-11-25"], ["open 2026-11-18"]),
        ("What do I owe since August?", ["2026-08-01 open"], []),
        ("Which letters from July are unanswered?", ["2026-07-01 2026-08-01"], []),
        ("cabin in July", ["2027-07-01 2027-08-01", "2026-07-01 2026-08-01"], []),
        ("What is my address in March 2024?", ["2024-03-01 2024-04-01"], []),
        ("What is coming up?", ["2026-11-21 open"], []),
        ("Do I have any upcoming trips?", ["2026-11-21 open"], []),
        ("What is coming up in February?", ["2027-02-01 2027-03-01"], ["2026-02-01 2026-03-01"]),
        ("What was coming up?", [], []),
        ("Who lives next to me?", [], []),
    ],
)
def test_times_without_a_year_are_read_by_the_tense(text: str, windows: list[str], fallback: list[str]) -> None:
    asked = reading(text)
    assert (days(asked.windows), days(asked.fallback)) == (windows, fallback)
    assert not any(one.told for one in asked.fallback)


@pytest.mark.parametrize(
    ("text", "counting"),
    [
        ("Draft a menu for Saturday.", {False}),
        ("What do I need for Saturday?", {False}),
        ("dinner on Saturday", {True}),
        ("Summarise what I said on Saturday.", {True}),
        ("What did I say today?", {True}),
    ],
)
def test_what_was_only_told_then_counts_unless_the_time_is_to_come(text: str, counting: set[bool]) -> None:
    assert {one.told for one in reading(text).windows} == counting


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("What did we chat about on Friday?", True),
        ("Can you remember what I told you yesterday?", True),
        ("Which things have I mentioned so far today?", True),
        ("What did I tell you about the boat yesterday?", False),
        ("What did we talk about?", False),
        ("What did I eat yesterday?", False),
    ],
)
def test_whatever_was_told_at_a_time_is_asked_for(text: str, asks: bool) -> None:  # noqa: FBT001 - a parameter
    assert reading(text).asks_what_was_told is asks


@pytest.mark.parametrize(
    "text", ["Was steht im November an?", "Was ist am 3. September?", "Qu'est-ce que j'ai le 12/03 ?"]
)
def test_in_another_language_a_time_without_a_year_may_be_either(text: str) -> None:
    asked = parse_question(QueryRequest(query=text, now=SATURDAY), types=discover(), language="german")
    assert asked.windows
    assert not asked.fallback
    assert any(one.upper is not None and one.upper > SATURDAY for one in asked.windows)


@pytest.mark.parametrize(
    "text",
    [
        "How many doctors did I visit?",
        "In which order did I read the books?",
        "Summarise what we know about the garden.",
        "What hobbies does Ana have?",
        "Where has Bo camped?",
        "Wie viele Ärzte habe ich besucht?",
        "Quels livres ai-je lus ?",
        "我看过几个医生？",  # noqa: RUF001 - full-width mark
    ],
)
def test_what_asks_for_several_statements_gathers(text: str) -> None:
    assert reading(text).gathers


@pytest.mark.parametrize(
    "text", ["Where does Ana live?", "How many days ago did I run?", "What is my dog's name?", "25乘以8是多少"]
)
def test_what_one_statement_answers_does_not_gather(text: str) -> None:
    assert not reading(text).gathers


def test_a_message_of_several_sentences_goes_on() -> None:
    assert reading("That plan looks good. What is next?").goes_on
    assert not reading("What is next?").goes_on
