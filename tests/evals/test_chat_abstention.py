"""Blocks of long conversations: emptiness, evidence turns, and the words of the answer that the evidence has."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from app import ids
from app.read.assemble import estimate_tokens
from app.read.values import QueryResult
from evals.chat.abstention import AskedAtLength, cells, judge_answer
from evals.datasets import Question

FIRST, SECOND = UUID(int=1), UUID(int=2)
KNOWN = {FIRST: "s:0", SECOND: "s:1"}
TEXTS = {"s:0": "We adopted a kitten in Lisbon.", "s:1": "She is called Pixel."}


def question(**given: Any) -> Question:
    fields: dict[str, Any] = {"category": "multi-hop", "evidence_turns": ("s:0", "s:1"), "evidence_sessions": ("s",)}
    fields |= {"answer": "Pixel, a kitten, in March"}
    return Question(id="q", text="Which pet?", asked_at=datetime(2026, 1, 1, tzinfo=UTC), **(fields | given))


def result(*shown: UUID, beside: UUID | None = None) -> QueryResult:
    """Return hits that each rest on the turn of their id; one `beside` the block is not in its text."""
    lines = [f"- [{ids.public(ids.MEMORY, one)}] (2026-01-01) {TEXTS[KNOWN[one]]}" for one in shown]
    hits = [
        SimpleNamespace(memory=SimpleNamespace(id=one, evidence=[SimpleNamespace(turn_id=one)]))
        for one in (*shown, *([] if beside is None else [beside]))
    ]
    text = "\n".join(["## Recent", *lines]) if lines else ""
    return cast("QueryResult", SimpleNamespace(hits=hits, context=SimpleNamespace(text=text)))


def judged(found: QueryResult, **given: Any) -> AskedAtLength:
    return judge_answer(question(**given), found, KNOWN, TEXTS)


@pytest.mark.parametrize(
    ("found", "evidence", "worded"),
    [
        (result(FIRST, SECOND), 1.0, True),
        (result(FIRST), 0.5, False),
        (result(FIRST, beside=SECOND), 0.5, False),
        (result(), 0.0, False),
    ],
)
def test_what_the_block_shows_counts_alone(found: QueryResult, evidence: float, *, worded: bool) -> None:
    one = judged(found)
    assert (one.evidence, one.worded) == (evidence, worded)
    assert one.empty is (not found.context.text)


def test_a_question_without_evidence_or_answer_has_no_share() -> None:
    one = judged(result(FIRST), evidence_turns=(), answer="")
    assert (one.evidence, one.worded) == (None, None)


def test_ids_cost_no_tokens() -> None:
    plain = f"## Recent\n- (2026-01-01) {TEXTS['s:0']}"
    assert judged(result(FIRST)).tokens == estimate_tokens(plain)


def test_shares_are_of_the_questions_that_have_one() -> None:
    done = [judged(result(FIRST, SECOND)), judged(result()), judged(result(FIRST), evidence_turns=(), answer="")]
    assert cells(done)[:5] == ["3", "0.333", "0.500", "0.500", "0.500"]
    assert cells([])[:2] == ["0", ""]


def test_adversarial_questions_and_abstentions_are_not_answerable() -> None:
    assert question().answerable
    assert not question(category="adversarial").answerable
    assert not Question(
        id="x_abs",
        text="?",
        category="multi-session",
        asked_at=datetime(2026, 1, 1, tzinfo=UTC),
        evidence_turns=(),
        evidence_sessions=(),
    ).answerable
