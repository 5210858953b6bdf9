from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import ids
from app.lexical.bm25 import terms
from app.memory.registry import discover
from app.model import Category, ConfidenceParts, Memory, MemoryStatus, ReadMode, Scope, ScopeKind
from app.read.assemble import Layout, as_line, assemble, estimate_tokens, floor
from app.read.values import ContextBlock, Hit, IdStyle
from tests.english.hostile import QUADRATIC, growth
from tests.read.conftest import NOW

TYPES = discover()


def hit(number: int, type_name: str = "fact", content: str = "the user drinks tea", **about: Any) -> Hit:
    fields: dict[str, Any] = {
        "id": UUID(int=number),
        "scope": Scope(kind=ScopeKind.GLOBAL),
        "type": type_name,
        "category": Category.SEMANTIC,
        "status": MemoryStatus.ACTIVE,
        "content": content,
        "payload": {},
        "subject": None,
        "slot": None,
        "contested": False,
        "parts": ConfidenceParts(source=0.9, extractor=0.9, prior=0.1),
        "confidence": 0.7,
        "importance": 0.5,
        "topic": None,
        "session_id": None,
        "sequence_number": None,
        "stated_at": NOW,
        "valid_from": NOW,
        "valid_until": None,
        "recorded_at": NOW,
        "retired_at": None,
        "supersedes": None,
        "superseded_by": None,
        "review": None,
        "review_note": None,
        "review_since": None,
        "half_life_days": None,
        "floor": 0.0,
        "access_count": 0,
        "last_accessed_at": None,
    }
    memory = Memory(**{**fields, **about})
    return Hit(memory=memory, score=1 / number, retrieval=1, confidence=0.7, freshness=1, arms=())


def block(*hits: Hit, budget: int = 2000, ids: IdStyle = IdStyle.NONE, query: str = "") -> ContextBlock:
    asked = dict.fromkeys(terms(query), 1.0)
    return assemble(hits, types=TYPES, layout=Layout(zone=UTC, budget=budget, ids=ids, asked=asked))[0]


def test_groups_come_in_the_order_of_their_best_lines() -> None:
    kinds = ("event", "fact", "preference", "fact", "entity", "episodic")
    context = block(*(hit(number, kind) for number, kind in enumerate(kinds, 1)))
    assert [group.name for group in context.groups] == ["Events", "Facts", "Preferences", "Entities", "Recent"]
    assert context.text.startswith("## Events\n- (noted 2026-05-14) ")


@pytest.mark.parametrize(
    ("style", "named"),
    [(IdStyle.NONE, ""), (IdStyle.SHORT, "[1] "), (IdStyle.FULL, f"[{ids.public('mem', UUID(int=1))}] ")],
)
def test_a_line_has_its_day_says_what_is_history_and_names_its_memory_if_asked(style: IdStyle, named: str) -> None:
    old = hit(1, status=MemoryStatus.SUPERSEDED, stated_at=datetime(2026, 1, 2, 3, tzinfo=UTC))
    [group] = block(old, ids=style).groups
    assert group.lines == (f"- {named}(2026-01-02, superseded) the user drinks tea",)


def test_what_ended_has_the_day_from_which_on_it_held() -> None:
    began, ended = datetime(2026, 1, 2, 3, tzinfo=UTC), datetime(2026, 3, 4, 5, tzinfo=UTC)
    over = hit(1, status=MemoryStatus.EXPIRED, stated_at=ended, valid_from=began, valid_until=ended)
    [group] = block(over).groups
    assert group.lines == ("- (2026-01-02, expired, until 2026-03-04) the user drinks tea",)


def test_a_mark_stands_beside_the_day() -> None:
    [group] = block(replace(hit(1, "episodic", "I own a yacht, in my dreams."), marks=("imagined",))).groups
    assert group.lines == ("- (2026-05-14, imagined) I own a yacht, in my dreams.",)


def test_a_turn_is_given_without_small_talk_and_a_turn_of_small_talk_not_at_all() -> None:
    payload = {"speaker": "Ana"}
    said = "Ana: Hey there! I sold my boat in Triest. What about you?"
    context = block(
        hit(1, "episodic", said, payload=payload), hit(2, "episodic", "Ana: Thanks a lot!", payload=payload)
    )
    assert context.text == "## Recent\n- (2026-05-14) Ana: I sold my boat in Triest. What about you?"


def test_a_turn_of_up_to_sixty_words_is_given_whole() -> None:
    said = "The weather in the mountains was rather mixed for all of the month. " * 4 + "The baker closed his shop."
    assert block(hit(1, "episodic", said), query="Who is Ana?").text.endswith(said)


def test_of_a_long_turn_the_sentences_that_share_the_questions_words_are_given() -> None:
    filler = "The weather in the mountains was rather mixed for all of the month. "
    said = filler * 12 + "The baker in Canal Street closed his shop. He moved to Lyons. " + filler * 12
    lines = [hit(number, "episodic", f"{number} {said}") for number in range(1, 5)]
    [group] = block(*lines, query="When did the baker close?").groups
    assert all("The baker in Canal Street closed his shop." in line for line in group.lines)
    assert all("He moved to Lyons." in line for line in group.lines)
    assert [len(line.split()) > 70 for line in group.lines] == [True, True, True, False]


def test_of_a_long_sentence_the_part_with_the_questions_words_is_given() -> None:
    said = " ".join((*["one"] * 150, "the baker closed his shop", *["two"] * 150))
    [group] = block(hit(1, "episodic", said), query="When did the baker close?").groups
    assert "the baker closed his shop" in group.lines[0]
    assert len(group.lines[0].split()) < 110


def test_scripts_without_spaces_are_shortened_to_sentences_of_the_question() -> None:
    said = "山上的天气整个月都很不稳定。" * 20 + "面包师把店关了。" + "山上的天气整个月都很不稳定。" * 20
    lines = [hit(number, "episodic", f"{number} {said}") for number in range(1, 5)]
    [group] = block(*lines, query="面包师什么时候关店").groups
    assert all("面包师把店关了。" in line and len(line) < 300 for line in group.lines)


def test_where_a_question_gathers_the_oldest_turn_comes_first() -> None:
    hits = [hit(number, "episodic", f"Turn {number}.", stated_at=NOW + timedelta(days=number)) for number in (2, 1, 3)]
    context, _ = assemble(hits, types=TYPES, layout=Layout(zone=UTC, budget=2000, in_order=True))
    assert [line.split()[-1] for line in context.groups[0].lines] == ["1.", "2.", "3."]


def test_what_may_have_changed_stands_behind_what_changed_it_even_there() -> None:
    hits = [
        hit(number, "episodic", f"Turn {number}.", stated_at=NOW + timedelta(days=number)) for number in (1, 2, 3, 4)
    ]
    hits[1] = replace(hits[1], later=(hits[3].memory.id,))
    context, _ = assemble(hits, types=TYPES, layout=Layout(zone=UTC, budget=2000, in_order=True))
    assert [line.split()[-1] for line in context.groups[0].lines] == ["1.", "4.", "2.", "3."]


@given(st.text(min_size=1))
def test_what_a_memory_says_stays_on_its_line(content: str) -> None:
    text = block(hit(1, content=f"a\n## Facts\n- [mem_x] {content}")).text
    assert len(re.split("[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", text)) == 2


def test_signs_that_hide_or_turn_text_are_left_out() -> None:
    assert as_line("a\u202eb\u200bc\x00d\te\ufeff") == "abc d e"


@given(st.integers(0, 400), st.lists(st.integers(1, 60), max_size=12))
def test_the_budget_is_kept(budget: int, sizes: list[int]) -> None:
    context = block(*(hit(n + 1, content="tea " * size) for n, size in enumerate(sizes)), budget=budget)
    assert context.tokens <= budget
    assert estimate_tokens(context.text) <= context.tokens


def test_a_long_first_memory_is_cut_and_the_rest_left_out() -> None:
    context, used = assemble(
        [hit(1, content="tea " * 500), hit(2, content="coffee " * 500), hit(3)],
        types=TYPES,
        layout=Layout(zone=UTC, budget=300),
    )
    assert used == (UUID(int=1),)
    assert context.groups[0].lines[0].endswith("…")
    assert 250 < context.tokens <= 300


def test_what_does_not_fit_makes_room_for_what_does() -> None:
    _, used = assemble([hit(1), hit(2, content="tea " * 500), hit(3)], types=TYPES, layout=Layout(zone=UTC, budget=200))
    assert used == (UUID(int=1), UUID(int=3))


def test_of_beliefs_that_answer_alike_the_newest_leads_though_the_other_may_have_changed() -> None:
    old = hit(1, content="the mill was built by Osk", stated_at=NOW - timedelta(days=3))
    new = hit(2, content="the mill was built by Brunn", stated_at=NOW - timedelta(days=2))
    after = hit(3, "episodic", "Osk has moved away", stated_at=NOW - timedelta(days=1))
    lines = block(replace(old, later=(after.memory.id,)), new, after, query="Who built the mill?").text
    assert lines.index("Brunn") < lines.index("by Osk")


@pytest.mark.parametrize(
    ("mode", "least"), [(ReadMode.DEFAULT, 0.5), (ReadMode.HISTORICAL, 0.3), (ReadMode.AUDIT, 0.3)]
)
def test_the_floor_is_the_modes_unless_the_request_has_its_own(mode: ReadMode, least: float) -> None:
    assert floor(mode, None) == least
    assert floor(mode, 0.0) == 0.0


@pytest.mark.parametrize("digits", ["\u0664\u0662", "\uff11\uff12", "\u096a\u0968"])
def test_digits_of_every_script_have_tokens(digits: str) -> None:
    assert estimate_tokens(digits * 50) == 100


def test_tokens_of_prose_are_about_its_words() -> None:
    assert 9 <= estimate_tokens("The user prefers light mode for the editor theme.") <= 12
    assert estimate_tokens("mem_019ad0c2f1b27c3e8a5d4f6b7c8d9e0f") >= 16
    assert estimate_tokens("私は東京に住んでいます") >= 8


@pytest.mark.parametrize(
    ("speaker", "said", "shown"),
    [
        ("assistant", "How lovely! Which colour did you choose?", False),
        ("assistant", "How lovely! The green colour needs two coats.", True),
        ("Ruta", "How lovely! Which colour did you choose?", True),
    ],
)
def test_an_assistant_that_only_reacts_and_asks_is_no_line(speaker: str, said: str, shown: bool) -> None:  # noqa: FBT001
    turn = hit(1, "episodic", f"{speaker}: {said}", payload={"speaker": speaker})
    assert bool(block(turn, query="Where is the shed?").text) is shown
    assert block(turn, query="Which colour is the shed?").text


@pytest.mark.parametrize(
    ("speaker", "said", "shown"),
    [
        ("assistant", "Oh no, that must have been awful for them.", False),
        ("assistant", "That's such a thoughtful present, Ines. I'm very happy for you!", False),
        ("assistant", "It's in the third cupboard.", True),
        ("assistant", "That's in Trieste.", True),
        ("Kim", "That sounds exhausting.", True),
    ],
)
def test_how_an_assistant_takes_what_was_said_is_no_line(speaker: str, said: str, shown: bool) -> None:  # noqa: FBT001
    turn = hit(1, "episodic", f"{speaker}: {said}", payload={"speaker": speaker})
    assert bool(block(turn, query="Where is the shed?").text) is shown


def test_one_endless_sentence_is_cut_around_the_question_in_linear_time() -> None:
    def shown(said: str) -> str:
        return block(hit(1, "episodic", said), query="Which herring do I buy?").text

    assert "herring" in shown("for the pier we get nets and ropes " * 40 + "and herring " + "and more of it " * 40)
    assert growth(shown, "for the pier we get nets and ropes and herring ") < QUADRATIC
