from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.db.entities.query_lookup import QueryLookup
from app.db.memories.ranking import RankingRow
from app.memory.drift import DEMOTION
from app.memory.registry import discover
from app.model import SpeechAct
from app.read import understand
from app.read.model_calls import rerank
from app.read.plan import OPEN
from app.read.plan import plan as plan_of
from app.read.rank import demotions, freshness_of, rank
from app.read.values import Fused, ParsedQuery, QueryRequest, worded
from tests.read.conftest import NOW

TYPES = discover()
NOTHING = QueryLookup(memories=0, contexts=0, documents=0, index_rows=0, frequencies={}, entities=())
PLAIN = replace(OPEN, confidence=1.0, freshness=1.0, neighbours=0.0, newest=0.0)
SCOPE = UUID(int=7)
TURNS = ("episodic",)


def parsed(text: str) -> ParsedQuery:
    reading = understand.parse_question(QueryRequest(query=text, now=NOW), types=TYPES, language="english")
    return understand.resolve_question(reading, NOTHING, types=TYPES)


def ranking_row(number: int, **given: Any) -> RankingRow:
    fields: dict[str, Any] = {
        "id": UUID(int=number),
        "scope_id": SCOPE,
        "type": "fact",
        "status": "active",
        "subject": "user",
        "slot": None,
        "slot_value": None,
        "contested": False,
        "confidence": 0.8,
        "session_id": None,
        "sequence_number": None,
        "stated_at": NOW,
        "last_accessed_at": None,
        "access_count": 0,
        "half_life_days": 180.0,
        "floor": 0.0,
        "speaker_id": None,
        "said": number,
        "words": 5,
        "asking": None,
        "elsewhen": False,
        "speech_act": SpeechAct.ASSERTION,
        "payload": {},
    }
    return RankingRow(**{**fields, **given})


def ranked(*rows: RankingRow, query: str = "Volkswagen", plan: object = PLAIN, retrieval: float = 0.5) -> Any:
    fused = [Fused(id=one.id, retrieval=retrieval, places={}) for one in rows]
    return rank(fused, {one.id: one for one in rows}, query=parsed(query), plan=plan, now=NOW, verbatim=TURNS)  # type: ignore[arg-type]


class AllAlike:
    """A reranking model that finds every text equally good."""

    async def score(self, _question: str, texts: Sequence[str]) -> list[float]:
        return [0.5] * len(texts)


async def test_a_reranker_does_not_undo_what_contradictions_and_volatile_slots_took() -> None:
    hits = ranked(
        ranking_row(1, slot="s", confidence=0.8),
        ranking_row(2, slot="s", confidence=0.6, contested=True),
        ranking_row(3, volatile=True),
        ranking_row(4),
    )
    memories: Any = {one.id: SimpleNamespace(content="the same") for one in hits if one.id.int != 4}
    asked = QueryRequest(query="Volkswagen", now=NOW, rerank=True)
    best = (await rerank(AllAlike(), asked, hits, memories, PLAIN)).ranked  # type: ignore[arg-type]
    scores = {one.id.int: one.score for one in best}
    assert scores == {1: 0.4, 2: pytest.approx(0.3 * 0.75), 3: pytest.approx(0.4 * DEMOTION)}, "and none that is gone"


def test_the_score_is_retrieval_times_confidence_times_freshness() -> None:
    [hit] = ranked(ranking_row(1, stated_at=NOW - timedelta(days=180)))
    assert hit.freshness == pytest.approx(0.5)
    assert hit.score == pytest.approx(0.5 * 0.8 * 0.5)


def test_an_exponent_of_nought_makes_age_no_fault() -> None:
    [hit] = ranked(ranking_row(1, stated_at=NOW - timedelta(days=999)), plan=replace(PLAIN, freshness=0.0))
    assert hit.score == pytest.approx(0.5 * 0.8)


def test_an_access_boost_keeps_alive_but_never_lifts_above_fresh() -> None:
    often = ranking_row(1, access_count=20)
    assert freshness_of(often, NOW) == 3.0
    [hit] = ranked(often)
    assert hit.freshness == 1.0
    assert hit.score == pytest.approx(0.5 * 0.8)


def test_freshness_counts_from_the_last_access() -> None:
    old = ranking_row(1, stated_at=NOW - timedelta(days=360), last_accessed_at=NOW - timedelta(days=180))
    assert freshness_of(old, NOW) == pytest.approx(0.5)


def test_the_weaker_side_of_a_contradiction_is_demoted_by_the_ratio() -> None:
    strong = ranking_row(1, slot="s", confidence=0.8)
    weak = ranking_row(2, slot="s", confidence=0.6, contested=True)
    other = ranking_row(3, slot="t", confidence=0.5)
    assert demotions([strong, weak, other]) == {weak.id: pytest.approx(0.75)}
    hits = ranked(strong, weak)
    assert hits[1].score == pytest.approx(0.5 * 0.6 * 0.75)
    assert "x0.75" in worded(hits[1].notes)[0]


@given(st.floats(0.3, 1), st.floats(0.3, 1), st.floats(0, 400), st.floats(0, 400))
def test_trust_and_freshness_never_lower_a_score(low: float, high: float, young: float, old: float) -> None:
    low, high = sorted((low, high))
    young, old = sorted((young, old))
    [worse] = ranked(ranking_row(1, confidence=low, stated_at=NOW - timedelta(days=old)))
    [better] = ranked(ranking_row(1, confidence=high, stated_at=NOW - timedelta(days=young)))
    assert better.score >= worse.score


def test_a_turn_takes_a_share_of_its_neighbours_the_more_the_less_it_says() -> None:
    def beside(words: int) -> dict[int, float]:
        turns = [ranking_row(n, type="episodic", session_id="s", sequence_number=n, words=words) for n in (1, 2, 4, 9)]
        plan = replace(PLAIN, neighbours=0.5, farther=0.4, brevity=60)
        return {hit.id.int: hit.retrieval for hit in ranked(*turns, plan=plan)}

    short, long = beside(20), beside(180)
    assert short[2] == pytest.approx(0.5 + 0.75 * 0.5 * (0.5 + 0.4 * 0.5))
    assert short[4] == pytest.approx(0.5 + 0.75 * 0.5 * 0.4 * 0.5)
    assert short[9] == pytest.approx(0.5)
    assert 0.5 < long[2] < short[2]


def test_a_belief_neither_gains_from_the_turns_beside_its_own_nor_lends_to_them() -> None:
    plan = replace(PLAIN, neighbours=0.5, farther=0.4, brevity=60)
    belief = ranking_row(1, session_id="s", sequence_number=1)
    turn = ranking_row(2, type="episodic", session_id="s", sequence_number=2)
    assert [hit.retrieval for hit in ranked(belief, turn, plan=plan)] == [pytest.approx(0.5)] * 2


def test_a_turn_that_asks_counts_the_more_the_more_of_it_tells() -> None:
    [asks] = ranked(ranking_row(1, asking="Any ideas for dinner?"))
    [half] = ranked(ranking_row(1, asking="I set 40 euros aside. Any good places?"))
    [most] = ranked(
        ranking_row(1, asking="I set 40 euros aside for dinner with my sister, who comes on Friday. Ideas?")
    )
    assert asks.score == pytest.approx(0.5 * 0.8 * PLAIN.question)
    assert asks.score < half.score < most.score < 0.5 * 0.8 * PLAIN.told_in_question


def said(number: int, retrieval: float, **given: Any) -> tuple[Fused, RankingRow]:
    """Return a turn at this place of one session."""
    row = ranking_row(number, **{"type": "episodic", "session_id": "s", "sequence_number": number, **given})
    return Fused(id=row.id, retrieval=retrieval, places={}), row


def scores(*turns: tuple[Fused, RankingRow], **known: Any) -> dict[int, float]:
    query = replace(parsed("Volkswagen"), **known)
    rows = {row.id: row for _, row in turns}
    hits = rank([one for one, _ in turns], rows, query=query, plan=PLAIN, now=NOW, verbatim=TURNS)
    return {hit.id.int: hit.score / 0.8 for hit in hits}


def test_an_answer_has_a_share_of_what_the_turn_that_asks_has_without_its_factor() -> None:
    asks = said(1, 0.9, asking="Which car is it?")
    best = said(5, 1.0)
    assert scores(asks, said(2, 0.1), best)[2] == pytest.approx(PLAIN.answer * 0.9)
    assert scores(asks, said(2, 0.8), best)[2] == pytest.approx(0.8)
    assert scores(asks, said(3, 0.1), best)[3] == pytest.approx(0.1)
    assert scores(asks, said(2, 0.1, session_id="t"), best)[2] == pytest.approx(0.1)
    assert scores(asks, said(2, 0.1, asking="Which one?"), best)[2] == pytest.approx(0.1 * PLAIN.question)


def test_the_answer_of_an_assistant_stands_by_itself() -> None:
    assistant = UUID(int=99)
    turns = said(1, 0.9, asking="Which car is it?"), said(2, 0.1, speaker_id=assistant), said(5, 1.0)
    assert scores(*turns, assistants=frozenset({assistant}))[2] == pytest.approx(0.1 * PLAIN.assistant)


def test_the_best_turn_of_a_session_loses_nothing_for_asking() -> None:
    asks, other = said(1, 0.9, asking="Which car is it?"), said(9, 0.3)
    assert scores(asks, other)[1] == pytest.approx(0.9)
    assert scores(asks, said(9, 0.5))[1] == pytest.approx(0.9 * PLAIN.question)
    assert scores(asks, said(9, 0.5, session_id="t"))[1] == pytest.approx(0.9)


def test_what_alone_holds_its_slot_is_current_however_old_it_is() -> None:
    [hit] = ranked(ranking_row(1, slot="s", stated_at=NOW - timedelta(days=900)))
    assert hit.score == pytest.approx(0.5 * 0.8)
    [contested] = ranked(ranking_row(1, slot="s", contested=True, stated_at=NOW - timedelta(days=900)))
    assert contested.score < 0.5 * 0.8


@given(st.integers(1, 2000), st.sampled_from(["How do I get to work now?", "Where do I keep it?", "Volkswagen"]))
def test_age_never_drowns_a_clear_match(days: int, query: str) -> None:
    old, new = ranking_row(1, stated_at=NOW - timedelta(days=days)), ranking_row(2)
    fused = [Fused(id=old.id, retrieval=0.9, places={}), Fused(id=new.id, retrieval=0.35, places={})]
    hits = rank(
        fused, {old.id: old, new.id: new}, query=parsed(query), plan=plan_of(parsed(query)), now=NOW, verbatim=TURNS
    )
    assert hits[0].id == old.id


def test_of_the_first_ones_the_newest_gains_when_the_question_wants_it() -> None:
    def at(days: int) -> datetime:
        return NOW - timedelta(days=days)

    plan = replace(PLAIN, freshness=0.0, newest=0.5)
    old, new = ranking_row(1, stated_at=at(30), confidence=0.8), ranking_row(2, stated_at=at(1), confidence=0.7)
    assert [hit.id.int for hit in ranked(old, new, query="Where do I work now?", plan=plan)] == [2, 1]
    assert [hit.id.int for hit in ranked(old, new, query="What was my best time?", plan=plan)] == [2, 1]
    assert [hit.id.int for hit in ranked(old, new, query="Where did I work in 2019?", plan=plan)] == [1, 2]


def test_the_newest_gains_by_distance_in_time_not_by_its_place() -> None:
    plan = replace(PLAIN, freshness=0.0, newest=1.0)
    moment = ranking_row(1, stated_at=NOW - timedelta(seconds=5), confidence=0.8)
    best, newest = ranked(moment, ranking_row(2, confidence=0.75), query="Where do I work now?", plan=plan)
    assert (best.id.int, newest.id.int) == (1, 2)
    holder = ranking_row(3, slot="s", stated_at=NOW - timedelta(days=300), confidence=0.8)
    assert ranked(holder, ranking_row(2, confidence=0.75), query="Where do I work now?", plan=plan)[0].id == holder.id


@pytest.mark.parametrize("name", ["Brandt", "Ilse", "Brandd"])
def test_a_speaker_is_named_by_a_part_of_the_name_or_nearly(name: str) -> None:
    ilse, tom = UUID(int=50), UUID(int=51)
    turns = [ranking_row(1, speaker_id=tom), ranking_row(2, speaker_id=ilse)]
    fused = [Fused(id=one.id, retrieval=0.5, places={}) for one in turns]
    query = parsed(f"What does {name} sell?")
    speakers = {ilse: "Ilse Brandt", tom: "Tom Alder"}
    hits = rank(
        fused, {one.id: one for one in turns}, query=query, plan=PLAIN, now=NOW, verbatim=TURNS, speakers=speakers
    )
    assert hits[0].id.int == 2
    assert hits[0].score == pytest.approx(PLAIN.speaker * hits[1].score)


def test_equal_scores_are_ordered_newest_id_first() -> None:
    assert [hit.id.int for hit in ranked(ranking_row(1), ranking_row(3), ranking_row(2))] == [3, 2, 1]


def test_the_words_around_a_match_add_their_share_of_the_best_score() -> None:
    rows = {one.id: one for one in (ranking_row(1), ranking_row(2))}
    first, second = rows
    fused = [Fused(id=first, retrieval=0.5, places={}), Fused(id=second, retrieval=0.45, places={}, around=0.2)]
    hits = rank(fused, rows, query=parsed("piano?"), plan=PLAIN, now=NOW, verbatim=TURNS)
    assert [hit.id for hit in hits] == [second, first]
    assert hits[0].score - hits[1].score * 0.9 == pytest.approx(0.2 * hits[1].score)
    assert hits[0].retrieval == pytest.approx(0.45)


def test_a_question_that_gathers_from_several_sessions_prefers_none() -> None:
    assert plan_of(parsed("Which book did I read?")).around > 0
    assert plan_of(parsed("How many books did I read?")).around == 0
    task = "I want to go on with my plan for Sunday. Which books are left? I have an hour, and would like to be done."
    assert plan_of(parsed(task)).around > 0
