"""What answers is the same whether or not what was left out is to be explained."""

from __future__ import annotations

from random import Random
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from app.db.memories.turn_evidence import TurnBelief, TurnEvidence
from app.model import SpeechAct
from app.read.choice import TURNS_CONSIDERED, best_matches
from app.read.relevance import CALIBRATIONS, Relevance
from app.read.values import Arm, QueryRequest, Ranked
from tests.read.conftest import NOW
from tests.read.test_rank import parsed, sketch

MANY = TURNS_CONSIDERED + 30
TURN, BELIEF = "episodic", "fact"


@settings(deadline=None, max_examples=40)
@given(st.randoms(use_true_random=False), st.integers(1, 12), st.floats(0, 1))
def test_an_explanation_changes_no_answer(draw: Random, top_k: int, turns: float) -> None:
    rows = [
        sketch(
            number,
            type=TURN if draw.random() < turns else BELIEF,
            folded_into=UUID(int=draw.randrange(MANY)) if draw.random() < 0.1 else None,
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
    sketches = {row.id: row for row in rows}
    brief, whole = (
        best_matches(judged, found, ranked, sketches, QueryRequest(query="", now=NOW, top_k=top_k, explain=explain))
        for explain in (False, True)
    )
    assert brief[0] == whole[0]
