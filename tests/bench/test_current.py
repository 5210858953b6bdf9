"""The benchmark of current values: what counts as right, and that its data is what its code makes."""

from __future__ import annotations

import pytest

from bench.current.bm25 import ranked
from bench.current.chart import chart
from bench.current.items import Item, Told, made, read, stores
from bench.current.score import Line, Verdict, judge, shares, table

RIGHT, WRONG, BOTH = Line("I live in Porto"), Line("I live in Ghent"), Line("I moved from Ghent to Porto")
OVER = Line("I live in Ghent", over=True)


def item(kind: str = "update", *, wrong: tuple[str, ...] = ("Ghent",)) -> Item:
    return Item(
        id="one",
        store="s",
        language="en",
        kind=kind,
        form="turns",
        source="hand",
        told=(Told(at="2026-01-01", form="turn", text="I live in Ghent"),),
        ask="Where do I live?",
        right=(("porto", "Oporto"),),
        wrong=wrong,
    )


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ([RIGHT], Verdict(right=True, clean=True, found=True)),
        ([RIGHT, WRONG], Verdict(right=True, clean=False, found=True)),
        ([WRONG, RIGHT], Verdict(right=False, clean=False, found=True)),
        ([OVER, RIGHT], Verdict(right=True, clean=True, found=True)),
        ([BOTH, WRONG], Verdict(right=True, clean=False, found=True)),
        ([], Verdict(right=False, clean=False, found=False)),
        ([Line("other")] * 10 + [RIGHT], Verdict(right=False, clean=False, found=False)),
    ],
)
def test_the_current_value_leads(answer: list[Line], verdict: Verdict) -> None:
    assert judge(item(), answer) == verdict


def test_a_former_value_may_stand_anywhere() -> None:
    assert judge(item("history"), [WRONG, RIGHT]).right


def test_what_ended_may_be_left_out_but_not_shown() -> None:
    assert judge(item("end"), []).right
    assert not judge(item("end"), [WRONG]).right


def test_the_data_is_what_the_code_makes() -> None:
    assert read() == made()


def test_items_are_distinct_and_told_in_time() -> None:
    items = read()
    assert len({one.id for one in items}) == len(items) == 1_000
    assert sum(one.source == "hand" for one in items) >= 150
    for told, _ in stores(items).values():
        assert [one.at for one in told] == sorted(one.at for one in told)


def test_bm25_finds_words_and_pairs_of_characters() -> None:
    told = [Told(at="2026-01-01", form="turn", text="我住在成都"), Told(at="2026-01-02", form="turn", text="天气很好")]
    assert [one.text for one in ranked(told, "我住在哪里", newest_first=False)] == ["我住在成都"]


def test_scores_are_a_table_and_a_chart() -> None:
    answers = {"mine": {"one": [RIGHT]}, "<other>": {}}
    assert "| mine | 100 |" in table([item()], answers)
    assert "&lt;other&gt;" in chart(shares([item()], answers))
