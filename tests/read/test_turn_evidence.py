from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID

from app.db.memories.ranking import TurnBelief, TurnEvidence
from app.memory.extraction import Role
from app.model import SpeechAct
from app.read.relevance import MatchEvidence
from app.read.turn_evidence import TurnsInView
from app.read.values import Ranked
from tests.read.conftest import NOW
from tests.read.test_rank import parsed, sketch

BELIEF, OTHER, FIRST, SECOND = (UUID(int=number) for number in (1, 2, 3, 4))


def view(
    turns: Mapping[UUID, tuple[TurnBelief, ...]],
    *,
    wording: dict[UUID, float],
    whole: dict[UUID, float] | None = None,
) -> TurnsInView:
    spoken = {one: sketch(one.int, type="episodic", words=50) for one in turns}
    believed = {one.id: sketch(one.id.int, words=3) for beliefs in turns.values() for one in beliefs}
    return TurnsInView(
        turns={one: TurnEvidence(role=Role.USER, beliefs=beliefs) for one, beliefs in turns.items()},
        sketches=spoken | believed,
        evidence=MatchEvidence(whole=whole or wording, wording=wording),
        query=parsed("Where do we spend our holidays?"),
        zone=NOW.tzinfo,
    )


def matches(*ids: UUID) -> list[Ranked]:
    return [Ranked(one, 1.0 - at / 10, 0.5, 0.8, 1.0, {}) for at, one in enumerate(ids)]


def believed(memory: UUID, **given: object) -> TurnBelief:
    return TurnBelief(id=memory, speech_act=SpeechAct.ASSERTION, quote="we", **given)  # type: ignore[arg-type]


def test_a_turn_that_says_more_than_its_belief_takes_its_place_whatever_name_is_in_both() -> None:
    found = view({FIRST: (believed(BELIEF),)}, wording={BELIEF: 0.3, FIRST: 0.6}, whole={BELIEF: 0.8, FIRST: 0.6})
    once, cut = found.once(matches(BELIEF, FIRST))
    assert [one.id for one in once] == [FIRST]
    assert [one.why for one in cut] == ["said by the turn that it rests on"]


def test_a_belief_that_says_as_much_takes_the_place_of_its_turn() -> None:
    found = view({FIRST: (believed(BELIEF),)}, wording={BELIEF: 0.6, FIRST: 0.6})
    once, _ = found.once(matches(FIRST, BELIEF))
    assert [(one.id, one.score) for one in once] == [(BELIEF, 1.0)]


def test_a_belief_of_several_turns_stands_for_the_best_placed_alone() -> None:
    turns = {FIRST: (believed(BELIEF),), SECOND: (believed(BELIEF),)}
    found = view(turns, wording={BELIEF: 0.6, FIRST: 0.6, SECOND: 0.6})
    once, _ = found.once(matches(SECOND, BELIEF, FIRST))
    assert [one.id for one in once] == [BELIEF, FIRST]


def test_a_belief_whose_turn_says_more_takes_no_other_turn_with_it() -> None:
    turns = {FIRST: (believed(BELIEF),), SECOND: (believed(BELIEF),)}
    found = view(turns, wording={BELIEF: 0.3, FIRST: 0.6, SECOND: 0.2})
    once, _ = found.once(matches(FIRST, BELIEF, SECOND))
    assert [one.id for one in once] == [FIRST, SECOND]


def test_a_turn_stays_where_part_of_it_is_over_and_nothing_that_was_found_replaced_that() -> None:
    over = believed(OTHER, over_at=NOW - timedelta(days=3))
    found = view({FIRST: (believed(BELIEF), over)}, wording={BELIEF: -0.05, OTHER: -0.1, FIRST: 0.6})
    current, cut = found.current(matches(FIRST, BELIEF))
    assert [one.id for one in current] == [FIRST, BELIEF]
    assert not cut
