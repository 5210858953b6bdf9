"""Blocks of chats are judged line by line: noise, answers missing, replaced values; and which statement leads."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from evals.chat.dialogues import (
    Change,
    Chat,
    ChatQuestion,
    Half,
    Unchanged,
    load_changes,
    load_chats,
    load_file,
    load_unchanged,
)
from evals.chat.goals import Goal
from evals.chat.score import Placement, judge, leads_with_another, lines_of, placement, wrongly_marked

ASKED = ChatQuestion(question="Which town?", need=("york",), may=("flat",), replaced=("hull",))
CHANGE = Change(id="c", turns=("I row.", "I climb, no rowing."), question="Which sport?", new="climb", old="row")

CHATS = [pytest.param(chat, id=f"{half} {name}") for half in Half for name, chat in load_chats(half).items()]
CHANGES = [pytest.param(one, id=f"{half} {one.id}") for half in Half for one in load_changes(half)]


@pytest.mark.parametrize(
    ("lines", "noise", "missing", "stale"),
    [
        (["- user lives in York"], 0, 0, 0),
        (["- user lives in York", "- the flat is small"], 0, 0, 0),
        ([], 0, 1, 0),
        (["- the flat is small"], 0, 1, 0),
        (["- user lives in York", "- user likes tea", "- user has a cat"], 2, 0, 0),
        (["- user lives in York", "- the flat in Hull"], 0, 0, 1),
        (["- user lives in York", "- the flat in Hull (replaced 2026-08-02)"], 0, 0, 0),
        (["- user lives in York", "- user no longer has the flat in Hull"], 0, 0, 0),
        (["- user lives in York", "- the flat in Hull, until 2026"], 0, 0, 0),
        (["- user lives in Hull"], 1, 1, 1),
    ],
)
def test_a_figure_moves_with_each_line_of_a_block(lines: list[str], noise: int, missing: int, stale: int) -> None:
    judged = judge(ASKED, lines)
    assert (len(judged.noise), len(judged.missing), len(judged.stale)) == (noise, missing, stale)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["I climb"], Placement.ONLY_NEW),
        (["I climb, no rowing"], Placement.ONLY_NEW),
        (["I climb", "I row"], Placement.NEW_FIRST),
        (["I row", "I climb"], Placement.OLD_FIRST),
        (["I row"], Placement.ONLY_OLD),
        (["I swim"], Placement.NEITHER),
    ],
)
def test_a_change_is_placed_by_the_line_that_stands_first(lines: list[str], expected: Placement) -> None:
    assert placement(CHANGE, lines) is expected


def test_only_a_block_that_starts_with_the_new_statement_leads_with_it() -> None:
    assert {one for one in Placement if one.leads_with_new} == {Placement.ONLY_NEW, Placement.NEW_FIRST}


def test_headings_and_empty_lines_are_no_lines() -> None:
    assert lines_of("## Facts\n- one\n\n## Recent\n- two\n") == ["- one", "- two"]


def test_a_goal_is_met_within_its_bound() -> None:
    assert Goal.most("noise", 0.3, 0.3).met
    assert not Goal.most("noise", 0.31, 0.3).met
    assert Goal.least("current", 0.85, 0.85).met
    assert not Goal.least("current", 0.84, 0.85).met


def test_a_file_is_read_by_its_form(tmp_path: Path) -> None:
    chat, changes = tmp_path / "chat.json", tmp_path / "updates.json"
    chat.write_text(json.dumps({"sessions": ["s"], "turns": [["s", "user", "hi"]], "questions": []}))
    changes.write_text(json.dumps([CHANGE.model_dump()]))
    assert isinstance(load_file(chat), Chat)
    assert load_file(changes) == (CHANGE,)


@pytest.mark.parametrize("chat", CHATS)
def test_what_a_chat_asks_for_was_said_in_it(chat: Chat) -> None:
    texts = [text for _, _, text in chat.turns]
    assert {session for session, _, _ in chat.turns} == set(chat.sessions)
    for asked in chat.questions:
        for pattern in (*asked.need, *asked.replaced):
            assert any(re.search(pattern, text, re.IGNORECASE) for text in texts), (asked.question, pattern)


@pytest.mark.parametrize("one", load_unchanged(Half.DEV), ids=lambda one: one.id)
def test_the_first_statement_has_what_stays(one: Unchanged) -> None:
    assert one.stays in str(one.turns[0]).lower()


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        (["I row"], False),
        (["My aunt climbs", "I row (perhaps replaced 2026-08-10)"], True),
        (["I climb, until 2026"], False),
    ],
)
def test_what_still_holds_is_wrong_where_its_line_is_marked(lines: list[str], *, wrong: bool) -> None:
    unchanged = Unchanged(id="u", turns=("I row.", "My aunt climbs."), question="Which sport?", stays="row")
    assert wrongly_marked(unchanged, lines) is wrong


@pytest.mark.parametrize(
    ("lines", "behind"), [(["I row", "My aunt climbs"], False), (["My aunt climbs", "I row"], True), ([], False)]
)
def test_what_still_holds_is_behind_where_another_line_leads(lines: list[str], *, behind: bool) -> None:
    unchanged = Unchanged(id="u", turns=("I row.", "My aunt climbs."), question="Which sport?", stays="row")
    assert leads_with_another(unchanged, lines) is behind


@pytest.mark.parametrize("change", CHANGES)
def test_the_second_statement_of_a_change_alone_has_what_is_new(change: Change) -> None:
    first, second = (told.lower() for told in change.turns if isinstance(told, str))
    assert change.old in first
    assert change.new in second
    assert change.new not in first


def test_the_halves_are_as_large_as_their_figures_say() -> None:
    assert (len(load_chats(Half.DEV)), len(load_chats(Half.HELD))) == (46, 8)
    assert (len(load_unchanged(Half.DEV)), len(load_unchanged(Half.HELD))) == (115, 0)
    assert (len(load_changes(Half.DEV)), len(load_changes(Half.HELD))) == (293, 36)
