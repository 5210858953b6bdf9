"""What answers, whether or not what was left out is to be explained, and turns beside the beliefs that rest on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from random import Random
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from app.db.memories.ranking import RankingRow, TurnBelief, TurnEvidence
from app.memory.extraction import Role
from app.model import SpeechAct
from app.read.choice import TURNS_CONSIDERED, TurnsInView, best_matches, said_once
from app.read.relevance import CALIBRATIONS, MatchEvidence, Relevance
from app.read.values import Arm, Cut, QueryRequest, Ranked
from tests.read.conftest import NOW
from tests.read.test_rank import parsed, ranking_row

MANY = TURNS_CONSIDERED + 30
TURN, BELIEF = "episodic", "fact"

ASKED = "spends-holidays-in"

TERMS = [f"{first}a{second}o" for first in "bdfgklmn" for second in "prstvzw"]

RESTING, OTHER, FIRST, SECOND = (UUID(int=number) for number in (1, 2, 3, 4))


@settings(deadline=None, max_examples=40)
@given(st.randoms(use_true_random=False), st.integers(1, 12), st.floats(0, 1))
def test_an_explanation_changes_no_answer(draw: Random, top_k: int, turns: float) -> None:
    rows = [
        ranking_row(
            number,
            type=TURN if draw.random() < turns else BELIEF,
            folded_into=UUID(int=draw.randrange(MANY)) if draw.random() < 0.1 else None,
            said=draw.randrange(12),
        )
        for number in range(MANY)
    ]
    ranked = [
        Ranked(row.id, MANY - place, 0.5, 0.8, 1.0, {Arm.SEMANTIC: (1, draw.uniform(-0.2, 0.5), 0.5, 0.1)})
        for place, row in enumerate(rows)
    ]
    beliefs = [row.id for row in rows if row.type == BELIEF]
    found = {
        row.id: TurnEvidence(
            role="user",
            beliefs=tuple(
                TurnBelief(
                    id=draw.choice(beliefs),
                    speech_act=SpeechAct.ASSERTION,
                    quote="so",
                    over_at=NOW if draw.random() < 0.3 else None,
                    replaced_by=draw.choice(beliefs),
                )
                for _ in range(draw.randrange(3) if beliefs else 0)
            ),
        )
        for row in rows[:TURNS_CONSIDERED]
        if row.type == TURN
    }
    judged = Relevance(
        query=parsed("where is the boat?"), calibration=CALIBRATIONS["wordllama-256"], whole=1.0, verbatim=(TURN,)
    )
    by_id = {row.id: row for row in rows}
    brief, whole = (
        best_matches(judged, found, ranked, by_id, QueryRequest(query="", now=NOW, top_k=top_k, explain=explain))
        for explain in (False, True)
    )
    assert brief[0] == whole[0]


def test_a_turn_repeated_word_for_word_is_given_once_with_how_often_it_was_said() -> None:
    days = (NOW, NOW - timedelta(days=40), NOW - timedelta(days=9))
    rows = [ranking_row(place, type=TURN, said=7, stated_at=day) for place, day in enumerate(days)]
    rows += [ranking_row(3, type=TURN, said=8), ranking_row(4, type=BELIEF, said=7)]
    ranked = [Ranked(row.id, 5.0 - place, 0.5, 0.8, 1.0, {}) for place, row in enumerate(rows)]
    kept, cut = said_once(ranked, {row.id: row for row in rows}, (TURN,), NOW.tzinfo)
    assert [(one.id.int, one.marks) for one in kept] == [(0, ("said 3 times since 2026-04-04",)), (3, ()), (4, ())]
    assert [(one.id.int, one.why) for one in cut] == [(1, "said by a better match"), (2, "said by a better match")]


def test_a_turn_is_said_as_often_without_an_explanation() -> None:
    rows = [ranking_row(place, type=TURN, said=7 if place in {0, MANY - 1} else 100 + place) for place in range(MANY)]
    ranked = [Ranked(row.id, MANY - row.id.int, 0.5, 0.8, 1.0, {Arm.SEMANTIC: (1, 0.5, 0.5, 0.1)}) for row in rows]
    judged = Relevance(
        query=parsed("where is the boat?"), calibration=CALIBRATIONS["wordllama-256"], whole=1.0, verbatim=(TURN,)
    )
    for explain in (False, True):
        request = QueryRequest(query="", now=NOW, top_k=1, explain=explain)
        [best], _ = best_matches(judged, {}, ranked, {row.id: row for row in rows}, request)
        assert best.marks[0].startswith("said 2 times")


def test_a_turn_that_holds_is_not_taken_for_the_same_words_that_were_replaced() -> None:
    rows = [ranking_row(place, type=TURN, said=7) for place in range(2)]
    ranked = [Ranked(row.id, 1.0, 0.5, 0.8, 1.0, {}) for row in rows]
    ranked[1] = ranked[1]._replace(marks=("replaced 2026-05-01",))
    kept, _ = said_once(ranked, {row.id: row for row in rows}, (TURN,), NOW.tzinfo)
    assert kept == tuple(ranked)


def said(number: int, terms: int, **given: object) -> RankingRow:
    """What says the first so many of the same terms."""
    return ranking_row(number, opening=" ".join(TERMS[:terms]), words=terms, **given)


def view(
    turns: Mapping[UUID, tuple[TurnBelief, ...]],
    *,
    wording: dict[UUID, float],
    whole: dict[UUID, float] | None = None,
) -> TurnsInView:
    spoken = {one: said(one.int, 50, type=TURN) for one in turns}
    believed = {one.id: said(one.id.int, 3, predicate=ASKED) for beliefs in turns.values() for one in beliefs}
    return TurnsInView(
        turns={one: TurnEvidence(role=Role.USER, beliefs=beliefs) for one, beliefs in turns.items()},
        rows=spoken | believed,
        evidence=MatchEvidence(whole=whole or wording, wording=wording),
        query=parsed("Where do we spend our holidays?"),
        verbatim=(TURN,),
        zone=NOW.tzinfo,
    )


def matches(*ids: UUID) -> list[Ranked]:
    return [Ranked(one, 1.0 - at / 10, 0.5, 0.8, 1.0, {}) for at, one in enumerate(ids)]


def believed(memory: UUID, **given: object) -> TurnBelief:
    return TurnBelief(id=memory, speech_act=SpeechAct.ASSERTION, quote="we", **given)  # type: ignore[arg-type]


def test_a_turn_that_says_more_than_its_belief_takes_its_place_whatever_name_is_in_both() -> None:
    found = view({FIRST: (believed(RESTING),)}, wording={RESTING: 0.3, FIRST: 0.6}, whole={RESTING: 0.8, FIRST: 0.6})
    once, cut = found.once(matches(RESTING, FIRST))
    assert [one.id for one in once] == [FIRST]
    assert [one.why for one in cut] == ["said by the turn that it rests on"]


def test_a_belief_that_says_as_much_takes_the_place_of_its_turn() -> None:
    found = view({FIRST: (believed(RESTING),)}, wording={RESTING: 0.6, FIRST: 0.6})
    once, _ = found.once(matches(FIRST, RESTING))
    assert [(one.id, one.score) for one in once] == [(RESTING, 1.0)]


def test_a_belief_that_is_not_what_is_asked_for_leaves_its_turn_which_may_say_it() -> None:
    found = view({FIRST: (believed(RESTING),)}, wording={RESTING: 0.9, FIRST: 0.6})
    hinting = replace(found.query, reading=replace(found.query.reading, hinted=("event",)))
    knowing = replace(found.query, predicates=("owns",))
    for query, row, kept in (
        (found.query, said(RESTING.int, 3, predicate="bought"), FIRST),
        (found.query, said(RESTING.int, 3, type="event"), FIRST),
        (hinting, said(RESTING.int, 3, type="event"), RESTING),
        (knowing, said(RESTING.int, 3, predicate="owns"), RESTING),
        (found.query, said(RESTING.int, 3, predicate="spent-time-at"), FIRST),
        (found.query, said(RESTING.int, 3, predicate="spends-time-at"), FIRST),
        (found.query, said(RESTING.int, 3, predicate="spends-holidays-at"), RESTING),
    ):
        seen = replace(found, query=query, rows={**found.rows, RESTING: row})
        once, _ = seen.once(matches(RESTING, FIRST))
        assert [one.id for one in once] == [kept]


def test_a_belief_of_several_turns_stands_for_the_best_placed_alone() -> None:
    turns = {FIRST: (believed(RESTING),), SECOND: (believed(RESTING),)}
    found = view(turns, wording={RESTING: 0.6, FIRST: 0.6, SECOND: 0.6})
    once, _ = found.once(matches(SECOND, RESTING, FIRST))
    assert [one.id for one in once] == [RESTING, FIRST]


def test_a_belief_whose_turn_says_more_takes_no_other_turn_with_it() -> None:
    turns = {FIRST: (believed(RESTING),), SECOND: (believed(RESTING),)}
    found = view(turns, wording={RESTING: 0.3, FIRST: 0.6, SECOND: 0.2})
    once, _ = found.once(matches(FIRST, RESTING, SECOND))
    assert [one.id for one in once] == [FIRST, SECOND]


def test_a_turn_stays_where_part_of_it_is_over_and_nothing_that_was_found_replaced_that() -> None:
    over = believed(OTHER, over_at=NOW - timedelta(days=3))
    found = view({FIRST: (believed(RESTING), over)}, wording={RESTING: -0.05, OTHER: -0.1, FIRST: 0.6})
    current, cut = found.current(matches(FIRST, RESTING))
    assert [one.id for one in current] == [FIRST, RESTING]
    assert not cut


def replaced(words: int, *, instead: float) -> tuple[tuple[Ranked, ...], tuple[Cut, ...]]:
    """What is current of a turn of 50 words with a belief of so many, which was replaced by what fits so well."""
    over = believed(OTHER, over_at=NOW - timedelta(days=3), replaced_by=RESTING, words=words)
    found = view({FIRST: (over,)}, wording={RESTING: instead, OTHER: 0.1, FIRST: 0.4})
    return found.current(matches(FIRST, RESTING) if instead else matches(FIRST))


def test_a_turn_stays_where_the_question_is_about_the_rest_of_what_it_says() -> None:
    for instead in (0.0, 0.3):
        [kept, *_], cut = replaced(6, instead=instead)
        assert (kept.id, kept.marks) == (FIRST, ("replaced 2026-05-11",))
        assert not cut


def test_a_turn_goes_where_what_replaced_it_fits_better_or_it_says_little_else() -> None:
    for words, instead in ((6, 0.6), (30, 0.0), (30, 0.3)):
        _, [cut] = replaced(words, instead=instead)
        assert cut.id == FIRST


def test_a_belief_that_leaves_out_a_sentence_does_not_take_its_turns_place() -> None:
    found = view({FIRST: (believed(RESTING),)}, wording={RESTING: 0.3, FIRST: 0.6})
    for turn, kept in ((said(3, 11, type=TURN), RESTING), (said(3, 16, type=TURN), FIRST)):
        sized = replace(found, rows={RESTING: said(RESTING.int, 9), FIRST: turn})
        once, _ = sized.once(matches(FIRST, RESTING))
        assert [one.id for one in once] == [kept]


def test_beliefs_that_repeat_each_other_do_not_say_more_of_their_turn() -> None:
    both = (believed(RESTING), believed(OTHER))
    found = view({FIRST: both}, wording={RESTING: 0.5, OTHER: 0.5, FIRST: 0.6})
    for other, kept in ((said(OTHER.int, 6), FIRST), (said(OTHER.int, 8), RESTING)):
        rows = {RESTING: said(RESTING.int, 6), OTHER: other, FIRST: said(FIRST.int, 10, type=TURN)}
        once, _ = replace(found, rows=rows).once(matches(FIRST, RESTING, OTHER))
        assert once[0].id == kept


def test_a_turn_stays_where_it_has_a_word_of_the_question_that_its_beliefs_lack() -> None:
    found = view({FIRST: (believed(RESTING),)}, wording={RESTING: 0.5, FIRST: 0.6})
    rows = {RESTING: said(RESTING.int, 9), FIRST: said(FIRST.int, 10, type=TURN)}
    for asked, kept in ((TERMS[3], RESTING), (TERMS[9], FIRST)):
        seen = replace(found, rows=rows, query=parsed(f"What about the {asked}?"))
        once, _ = seen.once(matches(FIRST, RESTING))
        assert [one.id for one in once] == [kept]


def test_a_belief_is_as_relevant_as_its_turn_only_where_it_is_most_of_what_that_says() -> None:
    found = view({FIRST: (believed(RESTING),)}, wording={RESTING: 0.1, FIRST: 0.7})
    for words, shared in ((5, 0.7), (20, 0.1)):
        turn = said(FIRST.int, words, type=TURN)
        sized = replace(found, rows={RESTING: said(RESTING.int, 3), FIRST: turn})
        assert sized.with_shared_evidence()[RESTING] == shared


def test_a_belief_pushes_no_turn_out_of_the_first_ten_unless_its_own_turn_is_among_the_best() -> None:
    turns = [UUID(int=number) for number in range(100, 112)]
    near, far, typed = UUID(int=1), UUID(int=2), UUID(int=3)
    beliefs = {turns[4]: (believed(near),), turns[11]: (believed(far),)}
    wording = {**dict.fromkeys(turns, 0.4), near: 0.5, far: 0.5, typed: 0.5}
    found = view({turn: beliefs.get(turn, ()) for turn in turns}, wording=wording)
    stated = {one: said(one.int, 3, session_id="s", sequence_number=one.int, predicate=ASKED) for one in (near, far)}
    found = replace(found, rows={**found.rows, **stated, typed: said(typed.int, 3)})
    once, _ = found.once(matches(far, near, typed, *turns))
    order = [one.id for one in once]
    assert order[:2] == [near, typed]
    assert order[2:10] == [*turns[:4], *turns[5:9]]
    assert order[10:] == [far, *turns[9:11]]


def test_a_belief_stays_where_there_are_no_ten_others() -> None:
    far, turn = UUID(int=2), UUID(int=100)
    found = view({turn: ()}, wording={turn: 0.4, far: 0.5})
    found = replace(found, rows={**found.rows, far: said(2, 3, session_id="s", sequence_number=2)})
    once, _ = found.once(matches(far, turn))
    assert [one.id for one in once] == [far, turn]
