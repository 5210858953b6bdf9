from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.db.entities.query_lookup import KnownEntity, QueryLookup
from app.memory.registry import Registry, discover
from app.model import ReadMode
from app.read import understand
from app.read.plan import plan
from app.read.understand.parse import hint_words
from app.read.values import ParsedQuery, QueryRequest
from tests.read.conftest import NOW

TYPES = discover()


def entity(alias: str, number: int, mentions: int = 3, kind: str = "person") -> KnownEntity:
    return KnownEntity(alias=alias, name=alias.title(), entity_type=kind, mentions=mentions, ids=(UUID(int=number),))


SARAH, PRIYA, USER = entity("sarah", 1), entity("p. sharma", 2), entity("user", 3, mentions=900)


def parse(text: str, *entities: KnownEntity, **request: Any) -> ParsedQuery:
    reading = understand.parse_question(QueryRequest(query=text, now=NOW, **request), types=TYPES, language="english")
    names = understand.names_of(reading)
    known = QueryLookup(
        memories=1000,
        contexts=0,
        documents=1000,
        index_rows=1000,
        frequencies={},
        entities=tuple(one for one in entities if one.alias in names),
    )
    return understand.resolve_question(reading, known, types=TYPES)


def named(query: ParsedQuery) -> list[str]:
    return [mentioned.text for mentioned in query.mentioned]


def test_names_are_found_by_their_longest_run_and_stay_out_of_the_embedded_text() -> None:
    query = parse("Does Sarah's team know P. Sharma?", SARAH, PRIYA, entity("sharma", 9))
    assert named(query) == ["Sarah's", "P. Sharma"]
    assert query.dense_text == "Does team know?"
    assert "sharma" in query.terms


@pytest.mark.parametrize(
    "name",
    [
        "Guild of Bakers and Millers in Old Tarn",
        "The Trust for the Care of Wild Horses",
        "society for the study of lost northern tongues",
    ],
)
def test_names_of_up_to_eight_words_are_found(name: str) -> None:
    query = parse(f"Whom did I meet at {name} in spring?", entity(name.casefold(), 7))
    assert named(query) == [name]


def test_few_long_runs_of_words_are_looked_up() -> None:
    text = "What was it that I was told by the one of us who was at the old inn on the hill?"
    grams = understand.parse_question(QueryRequest(query=text, now=NOW), types=TYPES, language="english").grams
    assert [one.name for one in grams if one.words > 5] == ["one of us who was at the old"]


def test_a_question_of_nothing_but_names_is_embedded_whole() -> None:
    assert parse("Who is Sarah?", SARAH).dense_text == "Who is Sarah?"


def test_a_rare_entity_narrows_more_than_a_common_one() -> None:
    [common] = parse("What does Sarah bake?", entity("sarah", 1, mentions=1000)).mentioned
    [rare] = parse("What does Sarah bake?", entity("sarah", 1, mentions=1)).mentioned
    assert common.entities[0].rarity < 0.05
    assert rare.entities[0].rarity == pytest.approx(1.0)
    [everything] = parse("Tell me about Sarah", entity("sarah", 1, mentions=900)).mentioned
    assert everything.entities[0].rarity == pytest.approx(0.05), "all that mentions her is asked for"


def test_the_asker_is_the_user_when_they_ask_for_a_relation_of_theirs() -> None:
    assert named(parse("Who do I report to?", USER)) == ["I"]
    assert named(parse("Which car do I like?", USER)) == []


@pytest.mark.parametrize(
    ("text", "lower", "upper"),
    [
        ("What happened on Tuesday?", datetime(2026, 5, 12, tzinfo=UTC), datetime(2026, 5, 13, tzinfo=UTC)),
        ("What has changed since March?", datetime(2026, 3, 1, tzinfo=UTC), None),
        ("Where did I live before 2019?", None, datetime(2019, 1, 1, tzinfo=UTC)),
    ],
)
def test_windows(text: str, lower: datetime | None, upper: datetime | None) -> None:
    [window] = parse(text).reading.windows
    assert (window.lower, window.upper) == (lower, upper)


@pytest.mark.parametrize(
    ("text", "types", "soft"),
    [
        ("What happened last Tuesday?", ("event",), ()),
        ("What events happened in May?", ("event",), ()),
        ("What happened at the beach?", (), ("event",)),
        ("What do I prefer?", ("preference",), ()),
        ("List all my preferences", ("preference",), ()),
        ("Which editor theme do I prefer?", (), ("preference",)),
        ("Where is the office?", (), ()),
        ("What medical condition do I have?", (), ("medication", "transient_state")),
    ],
)
def test_a_type_hint_is_a_filter_only_when_nothing_else_is_asked(
    text: str, types: tuple[str, ...], soft: tuple[str, ...]
) -> None:
    query = parse(text)
    assert query.types.only == types
    assert query.types.preferred == soft
    assert query.types.inferred == bool(types)


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("How many sons has she got?", "has-child"),
        ("What career did they choose?", "has-role"),
        ("Which firm employs Tom?", "works-at"),
        ("Who is Ada's husband?", "married-to"),
        ("Which town is his birthplace?", "born-in"),
        ("Where was her upbringing?", "grew-up-in"),
        ("Are there animals at home?", "has-pet"),
        ("What is he fluent in?", "speaks"),
        ("Which ingredients must be left out?", "allergic-to"),
    ],
)
def test_a_predicate_is_asked_for_in_other_words(text: str, predicate: str) -> None:
    assert predicate in parse(text).predicates


def test_given_types_always_filter() -> None:
    query = parse("What happened at the beach?", types=("fact",))
    assert query.types.only == ("fact",)
    assert not query.types.inferred


def test_only_a_filter_on_things_that_happen_makes_a_window_a_filter() -> None:
    assert parse("What happened last Tuesday?").types.within
    assert not parse("What did I prefer last year?").types.within
    assert parse("the meeting last Tuesday", types=("event",)).types.within
    assert not parse("the meeting last Tuesday", types=("event", "fact")).types.within


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("What did I prefer before?", ReadMode.HISTORICAL),
        ("Where did I use to work?", ReadMode.HISTORICAL),
        ("Where I used to work", ReadMode.HISTORICAL),
        ("What did I prefer last year?", ReadMode.HISTORICAL),
        ("Who was my previous manager?", ReadMode.HISTORICAL),
        ("What happened last year?", ReadMode.DEFAULT),
        ("What do I prefer?", ReadMode.DEFAULT),
        ("Where did I live before 2019?", ReadMode.HISTORICAL),
    ],
)
def test_mode_follows_what_the_question_asks_about(text: str, mode: ReadMode) -> None:
    assert parse(text).mode is mode


def test_a_given_mode_wins() -> None:
    assert parse("What did I prefer before?", mode=ReadMode.AUDIT).mode is ReadMode.AUDIT


def test_whom_the_asker_excludes_is_neither_followed_nor_looked_for() -> None:
    query = parse("Who reports to P. Sharma, other than Sarah and Tom?", SARAH, PRIYA, entity("tom", 5))
    assert named(query) == ["P. Sharma"]
    assert query.excluded.entities == (UUID(int=1), UUID(int=5))
    assert "sarah" not in query.terms
    assert "tom" not in query.terms


def test_not_before_a_verb_excludes_nobody() -> None:
    query = parse("Why did Sarah not call P. Sharma?", SARAH, PRIYA)
    assert named(query) == ["Sarah", "P. Sharma"]
    assert query.reading.denied


def test_an_excluded_word_that_is_no_name_is_not_looked_for() -> None:
    query = parse("What food do I like other than pizza?")
    assert query.excluded.words == ("pizza",)
    assert "pizza" not in query.terms
    assert "pizza" not in query.dense_text


def test_relations_are_asked_for_in_both_directions() -> None:
    query = parse("Who does Sarah work for?", SARAH)
    assert {"reports-to", "manages"} <= set(query.relations)


@pytest.mark.parametrize(
    ("text", "name", "freshness"),
    [
        ("What happened last Tuesday?", "events-in-window", 0.0),
        ("What did I paint last Tuesday?", "window", 0.0),
        ("What did I prefer before?", "past", 0.0),
        ("What is my current job?", "now", 0.1),
        ("Tell me about the beach", "open", 0.03),
    ],
)
def test_the_plan_follows_the_kind_of_question(text: str, name: str, freshness: float) -> None:
    chosen = plan(parse(text))
    assert (chosen.name, chosen.freshness) == (name, freshness)


def test_specificity_grows_with_what_is_constrained() -> None:
    broad = parse("Tell me about Sarah", SARAH).specificity
    narrow = parse("What events happened at work with Sarah last Tuesday?", SARAH).specificity
    assert 0 < broad < 0.8 <= narrow <= 1


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    query = parse(text, SARAH, PRIYA)
    assert 0 <= query.specificity <= 1
    assert bool(query.dense_text) == bool(text)


def test_hints_are_known_in_any_form_of_their_word() -> None:
    types = Registry({"visit": replace(TYPES.get("event"), name="visit", hints=("inspection", "visit"))})
    said = {"inspections", "inspected", "respect", "visits"}
    assert hint_words(" ".join(said), types) == {"visit": said - {"respect"}}
