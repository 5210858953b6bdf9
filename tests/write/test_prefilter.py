from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from app.lexical.tokens import count_words
from app.memory.extraction import PrefilterPolicy, Role
from app.memory.registry import discover
from app.read.values import IdStyle
from app.write.prefilter import AcceptedTurn, Gate, RecentTurn, RejectedTurn, prefilter, question_before, strip_recalled
from tests.english.hostile import HOSTILE_UNITS, QUADRATIC, growth
from tests.read.test_assemble import block, hit
from tests.write.swaps import PAIRS
from tests.write.turns import NOW, turn

DEFAULT = PrefilterPolicy()


def gate(
    content: str, role: Role = Role.USER, policy: PrefilterPolicy = DEFAULT, recent: tuple[RecentTurn, ...] = ()
) -> Gate | None:
    verdict = prefilter(turn(content, role), recent, policy)
    return verdict.gate if isinstance(verdict, RejectedTurn) else None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("\U0001f44d \u2014 !!", 0),
        ("ok", 1),
        ("I'm a backend engineer", 5),
        ("I don\u2019t smoke", 4),
        ("No, I use pytest not unittest", 6),
        ("v1.2.3 is out", 3),
        ("我住在柏林", 3),
        ("我用 Python 3 写代码", 5),
    ],
)
def test_words_are_counted_in_scripts_with_and_without_spaces(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(
    "content",
    [
        "I always use dark mode",
        "I prefer dark mode",
        "I'm a backend engineer",
        "I chose PostgreSQL for this project",
        "No, I use pytest not unittest",
        "I have a peanut allergy",
        "I moved to Berlin",
        "I am vegan",
        "I don't smoke",
        "My name is Sam",
        "My dog died",
        "We use Postgres",
        "Call me Sam",
        "Never use emojis",
        "Please be brief",
        "Answer in Spanish, please",
        "Remember I'm vegan",
        "Sarah is vegan",
        "She is vegan",
        "It's Shia Labeouf!",
        "No, pytest",
        "Actually, Berlin",
        "I'm left-handed",
        "我住在柏林",
        "私はベジタリアンです",
        "Ich wohne seit Mai in Berlin",
        "Vivo en Madrid",
        "Je suis diabétique",
        "Lavoro a Milano",
        "Estoy casado",
        "ok, thanks! I live in Oslo now by the way",
        "I eat meat again.",
        "I smoke again.",
        "I'm single again.",
        "I use Emacs too.",
        "I speak Dutch as well!",
        "Passed the bar exam",
        "Sold our boat.",
        "Nora's pregnant",
        "Gran's house flooded",
        "Omar plays chess",
        "Release moved to May.",
        "We got engaged!",
        "Lieferungen gehen an Sunniva.",
        "Mi dentista es Aroa.",
        "Terrified of deep water.",
        "Shorten your replies.",
        "please format your responses",
    ],
)
def test_what_states_something_passes_however_short(content: str) -> None:
    assert prefilter(turn(content), (), DEFAULT) == AcceptedTurn(content=content)


@pytest.mark.parametrize("content", [example.utterance for one in discover() for example in one.examples])
def test_what_a_type_gives_as_its_example_passes(content: str) -> None:
    assert prefilter(turn(content), (), DEFAULT) == AcceptedTurn(content=content)


@pytest.mark.parametrize(
    "content",
    [
        "ok",
        "Thanks",
        "got it",
        "sounds good",
        "Thanks, that's helpful!",
        "ok thanks, sounds good!",
        "OK \u2014 got it, thank you so much for your help!!!",
        "hi there, how are you?",
        "haha lol",
        "\U0001f44d\U0001f44d",
        "...",
        "Alright, see you tomorrow! Take care",
        "no problem, you're welcome",
        "谢谢",
        "我知道了",
        "gracias",
        "brb",
        "How have you been?",
        "Merci beaucoup, au revoir !",
        "Привет, как дела?",
    ],
)
def test_chit_chat_is_dropped(content: str) -> None:
    assert gate(content) is Gate.CHIT_CHAT


@pytest.mark.parametrize("content", ["Berlin", "42", "Divorced.", "Vegan food only", "Yes, penicillin."])
def test_a_short_turn_is_dropped_for_what_it_is_and_kept_where_it_answers(content: str) -> None:
    verdict = prefilter(turn(content), (), DEFAULT)
    assert isinstance(verdict, RejectedTurn)
    assert verdict.gate is Gate.WORDS
    assert ("is a single word" in verdict.reason) == (count_words(content) == 1)
    assert "min_words is 5" in verdict.reason
    assert prefilter(turn(content), (), DEFAULT, asked="Anything I should know?") == AcceptedTurn(content=content)
    assert gate(content, policy=PrefilterPolicy(min_words=1)) is None


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Thanks!", "Do you live in Berlin?"),
        ("Sounds good", "Shall I book it?"),
        ("Yes please", "Would you like me to go on?"),
        ("No, thanks", "Do you need anything else?"),
        ("Why?", "Where do you live?"),
        ("Which one?", "Where do you live?"),
        ("\U0001f44d", "Do you smoke?"),
    ],
)
def test_what_tells_nothing_is_dropped_although_it_answers(said: str, asked: str) -> None:
    assert isinstance(prefilter(turn(said), (), DEFAULT, asked=asked), RejectedTurn)


@pytest.mark.parametrize(
    "asked", ["Do you smoke?", "Right. Are you married, by the way? \U0001f642", "Is your son at school?"]
)
def test_a_yes_or_no_is_kept_where_the_question_is_about_the_speaker(asked: str) -> None:
    for said in ("Yes.", "no", "Nope, not really"):
        assert prefilter(turn(said), (), DEFAULT, asked=asked) == AcceptedTurn(content=said)
        assert gate(said) is Gate.CHIT_CHAT


def test_no_words_at_all_are_called_that() -> None:
    verdict = prefilter(turn("..."), (), DEFAULT)
    assert isinstance(verdict, RejectedTurn)
    assert verdict.reason == "it has no words"


@pytest.mark.parametrize("earlier", ["Where do you live?", None])
def test_the_same_answer_to_the_same_question_is_a_repetition(earlier: str | None) -> None:
    known = RecentTurn(content="Berlin.", occurred_at=NOW, asked=earlier)
    verdict = prefilter(turn("Berlin."), (known,), DEFAULT, asked="Where do you live?")
    assert isinstance(verdict, RejectedTurn)
    assert verdict.gate is Gate.REPEAT


def test_the_same_answer_to_another_question_is_no_repetition() -> None:
    known = RecentTurn(content="Berlin.", occurred_at=NOW, asked="Where were you born?")
    assert prefilter(turn("Berlin."), (known,), DEFAULT, asked="Where do you live?") == AcceptedTurn(content="Berlin.")


def test_a_turn_answers_what_someone_else_asked_right_before_it_in_its_session() -> None:
    question = turn("Where do you live? \U0001f642", Role.ASSISTANT, session_id="s")
    answer = turn("Berlin.", session_id="s", seconds=5)
    remark = turn("Let me think.", session_id="s", seconds=3)
    elsewhere = turn("Nice place?", Role.ASSISTANT, session_id="t", seconds=4)
    assert question_before(answer, [question]) == question
    assert question_before(answer, [question, elsewhere]) == question
    assert question_before(answer, [question, remark]) is None
    assert question_before(answer, []) is None
    assert question_before(turn("Oslo?", Role.ASSISTANT, session_id="s"), [question]) is None
    assert question_before(turn("Oslo."), [turn("Where to?", Role.ASSISTANT)]) is not None
    task = turn("name a fjord with seals", session_id="s")
    assert question_before(turn("Trollfjord, perhaps.", Role.ASSISTANT, session_id="s"), [task]) == task
    assert question_before(turn("Trollfjord.", speaker="Ana", session_id="s"), [task]) is None
    ben, ana = turn("Where to?", speaker="Ben", session_id="s"), turn("Oslo.", speaker="Ana", session_id="s")
    assert question_before(ana, [ben]) == ben


@pytest.mark.parametrize(
    "content",
    [
        "I'm tired today",
        "run the tests",
        "what is that?",
        "I love that one",
        "I want that again!",
        "I was there too",
        "I have too",
        "I need help",
        "Is my name Sam?",
        "is it done",
        "explain what happens",
        "make it shorter",
        "That's better",
        "Great, that worked!",
        "Yeah it was fine",
    ],
)
def test_short_turns_that_state_nothing_lasting_are_dropped(content: str) -> None:
    assert gate(content) is Gate.WORDS


def test_nothing_is_chit_chat_where_the_tenant_turned_that_off() -> None:
    said = "ok thanks, that sounds good!"
    assert gate(said) is Gate.CHIT_CHAT
    assert gate(said, policy=PrefilterPolicy(chit_chat=False)) is None


def test_the_word_gate_follows_the_tenant() -> None:
    long = "word " * 10_001
    assert gate(long) is Gate.WORDS
    assert gate(long, policy=PrefilterPolicy(max_words=20_000)) is None
    assert gate("fix the failing build", policy=PrefilterPolicy(min_words=4)) is None


def test_a_policy_refuses_what_it_does_not_know() -> None:
    with pytest.raises(ValidationError):
        PrefilterPolicy.model_validate({"min_word": 3})
    with pytest.raises(ValidationError):
        PrefilterPolicy(repeat_similarity=1.5)


def test_system_turns_are_excluded_and_a_tenant_may_exclude_others() -> None:
    said = "You are the assistant of Acme and you answer in English."
    assert gate(said, Role.SYSTEM) is Gate.ROLE
    assert [gate(said, role) for role in (Role.USER, Role.ASSISTANT, Role.TOOL)] == [None, None, None]
    only_users = PrefilterPolicy(excluded_roles=frozenset({Role.ASSISTANT, Role.TOOL, Role.SYSTEM}))
    assert gate(said, Role.TOOL, only_users) is Gate.ROLE
    assert gate(said, Role.SYSTEM, PrefilterPolicy(excluded_roles=frozenset())) is None


def before(content: str, seconds: float = 10.0, role: Role = Role.USER, speaker: str | None = None) -> RecentTurn:
    return RecentTurn(content=content, occurred_at=turn("", seconds=-seconds).occurred_at, role=role, speaker=speaker)


SAID = "I moved from Boston to Berlin last month to work at Volkswagen, and I like it a lot."


@pytest.mark.parametrize(
    "again", [SAID, SAID.upper(), "  " + SAID.replace(",", " --"), SAID.removesuffix(" a lot.") + " lot"]
)
def test_saying_the_same_within_a_minute_is_a_repetition(again: str) -> None:
    assert gate(again, recent=(before(SAID),)) is Gate.REPEAT


@pytest.mark.parametrize(
    "news",
    [
        SAID.replace("Berlin", "Munich"),
        SAID + " My desk is on floor 3.",
        SAID.replace("I like", "I don't like"),
        "I work at Volkswagen",
    ],
)
def test_a_correction_or_an_addition_is_no_repetition(news: str) -> None:
    assert gate(news, recent=(before(SAID),)) is None


def test_another_number_or_a_lost_negation_is_no_repetition() -> None:
    many = "I have 2 dogs and 3 cats and they all live with me in the old house by the lake in Lucerne"
    assert gate(many.replace("2", "4"), recent=(before(many),)) is None
    assert gate(many.replace(" 2 dogs and", ""), recent=(before(many),)) is None
    denied = "I do not want any of the weekly summaries of the platform team in my inbox on Mondays or on Fridays"
    assert gate(denied.replace(" not", ""), recent=(before(denied),)) is None


def test_swapped_names_are_no_repetition() -> None:
    assert gate("Priya manages Sarah at work", recent=(before("Sarah manages Priya at work"),)) is None


def test_a_repetition_after_a_minute_counts_again() -> None:
    assert gate(SAID, recent=(before(SAID, 61),)) is None
    assert gate(SAID, recent=(before(SAID, 60),)) is Gate.REPEAT
    assert gate(SAID, policy=PrefilterPolicy(repeat_seconds=5), recent=(before(SAID, 6),)) is None


def test_two_people_who_say_the_same_are_both_heard() -> None:
    assert gate(SAID, recent=(before(SAID, role=Role.ASSISTANT), before(SAID, speaker="Tom"))) is None


BLOCK = block(
    hit(1, content="user works-at Volkswagen"),
    hit(2, "preference", content="user prefers dark for editor theme"),
    hit(3, "event", content="joined the platform team, on 2026-05-09"),
    ids=IdStyle.FULL,
).text

PLAIN_BLOCKS = [
    block(
        hit(1, content="user works-at Volkswagen"),
        hit(3, "event", content="joined the platform team, on 2026-05-09"),
        ids=style,
    ).text
    for style in (IdStyle.NONE, IdStyle.SHORT)
]


@pytest.mark.parametrize("plain", PLAIN_BLOCKS)
def test_a_block_without_ids_pasted_back_is_known_by_its_headings_and_days(plain: str) -> None:
    assert strip_recalled(plain) == ""
    assert strip_recalled(f"I moved to Porto. {' '.join(plain.split())}") == "I moved to Porto."
    assert strip_recalled(f"You know this:\n\n{plain}\n\nI moved to Porto.").split() == [
        *("You", "know", "this:"),
        *("I", "moved", "to", "Porto."),
    ]


def test_a_list_of_days_of_the_users_own_stays() -> None:
    text = "My week:\n- (2026-05-09) the dentist\n- (2026-05-10) the opera"
    assert strip_recalled(text) == text


def test_a_context_block_pasted_back_holds_nothing_new() -> None:
    assert BLOCK.count("[mem_") == 3
    assert strip_recalled(BLOCK) == ""
    assert gate(BLOCK) is Gate.RECALLED
    assert gate(BLOCK, Role.ASSISTANT) is Gate.RECALLED


@pytest.mark.parametrize(
    "quoted", [BLOCK, BLOCK.replace("\n", "\r\n"), "\n".join("> " + one for one in BLOCK.split("\n"))]
)
def test_what_stands_around_a_block_is_kept(quoted: str) -> None:
    text = f"Here is what you know:\n\n{quoted}\n\nBy the way, I moved to Porto."
    assert " ".join(strip_recalled(text).split()) == "Here is what you know: By the way, I moved to Porto."
    verdict = prefilter(turn(text), (), DEFAULT)
    assert isinstance(verdict, AcceptedTurn)
    assert "Volkswagen" not in verdict.content


def test_a_block_that_lost_its_line_breaks_is_cut_off() -> None:
    flat = " ".join(BLOCK.split())
    assert strip_recalled(f"I moved to Porto. {flat}") == "I moved to Porto. ## Facts"


def test_a_memory_named_by_its_id_is_no_recalled_line() -> None:
    text = "Please forget [mem_00000000000000000000000000000001] because I moved to Porto."
    assert strip_recalled(text) == text


def test_headings_of_the_users_own_stay() -> None:
    text = "## Facts\n\nI moved to Porto."
    assert strip_recalled(text) == text
    assert strip_recalled(f"## Plans\n\nI move to Porto.\n\n{BLOCK}") == "## Plans\n\nI move to Porto."


def test_list_items_that_were_recalled_go_and_the_users_own_words_stay() -> None:
    recalled = ("user works-at Volkswagen", "I love hiking.")
    text = "I love hiking.\n- User works-at Volkswagen.\n* I love hiking\n- I love tea"
    assert strip_recalled(text, recalled) == "I love hiking.\n- I love tea"
    dropped = prefilter(turn("- user works-at Volkswagen"), (), DEFAULT, recalled)
    assert isinstance(dropped, RejectedTurn)
    assert dropped.gate is Gate.RECALLED


@given(st.text(max_size=300))
def test_stripping_twice_changes_nothing_more_and_adds_nothing(text: str) -> None:
    once = strip_recalled(f"{text}\n{BLOCK}\n{text}")
    assert strip_recalled(once) == once
    assert "Volkswagen" not in once


@given(st.text(max_size=200))
def test_a_reason_never_repeats_the_content(content: str) -> None:
    verdict = prefilter(turn(f"zebra {content}"), (before(f"zebra {content}"),), DEFAULT)
    assert isinstance(verdict, RejectedTurn | AcceptedTurn)
    assert isinstance(verdict, AcceptedTurn) or "zebra" not in verdict.reason


@pytest.mark.parametrize("unit", [*HOSTILE_UNITS, BLOCK[:60] + "\n", "- ", "## A\n\n"])
def test_hostile_text_takes_no_longer_than_its_length_explains(unit: str) -> None:
    def work(text: str) -> None:
        prefilter(turn(text), (RecentTurn(content=text[:-1] + "x", occurred_at=NOW),), DEFAULT, (text[:100],))

    assert growth(work, unit) < QUADRATIC


def test_short_statements_in_other_languages_are_kept() -> None:
    lines = (Path(__file__).parent / "short_foreign_turns.txt").read_text().splitlines()
    said = [line for line in lines if not line.startswith("#")]
    kept = [one for one in said if isinstance(prefilter(turn(one), [], PrefilterPolicy()), AcceptedTurn)]
    assert len(said) >= 60
    assert len(kept) >= 0.95 * len(said), set(said) - set(kept)


@pytest.mark.parametrize(
    "content", ["Tell me more.", "go on then", "Very cool stuff", "next please", "So true", "Another one please"]
)
def test_a_short_english_turn_is_not_taken_for_another_language(content: str) -> None:
    assert isinstance(prefilter(turn(content), [], PrefilterPolicy()), RejectedTurn)


@pytest.mark.parametrize("name", PAIRS)
def test_a_turn_that_differs_in_a_word_of_a_class_is_no_repetition(name: str) -> None:
    pairs = PAIRS[name] if name == "numbers" else PAIRS[name][::8]
    assert [other for first, other in pairs if gate(other, recent=(RecentTurn(content=first, occurred_at=NOW),))] == []


@pytest.mark.parametrize(
    ("said", "again", "is_repeated"),
    [
        ("The share is mounted at /mnt/Media.", "The share is mounted at /mnt/media.", False),
        ("Call the linter with -N please", "Call the linter with -n please", False),
        ("The token variable is api_Key", "The token variable is api_key", False),
        ("The share is mounted at /mnt/Media.", "the share is mounted at /mnt/Media", True),
        ("My cat is called Pixel.", "my cat is called pixel", True),
    ],
)
def test_a_code_in_another_case_is_news(said: str, again: str, *, is_repeated: bool) -> None:
    assert (gate(again, recent=(before(said),)) is Gate.REPEAT) is is_repeated
