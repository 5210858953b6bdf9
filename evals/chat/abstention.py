"""Long conversations: blocks that stay empty where nothing answers, and what blocks hold of the evidence elsewhere.

LoCoMo's adversarial questions and LongMemEval's `_abs` ask for what nobody said. The conversations are ingested turn by
turn, and asked about at the defaults.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from statistics import median
from typing import Final
from uuid import UUID

from rich.console import Console

from app import ids
from app.read.assemble import estimate_tokens
from app.read.values import IdStyle, QueryResult
from evals import tables
from evals.answer_words import answer_words, share_of
from evals.chat.goals import Goal
from evals.chat.score import lines_of
from evals.chat.talk import Talk
from evals.conversed import FILES, told
from evals.datasets import Conversation, Question
from evals.metrics import mean, recall_at
from evals.service import Bench

LEAST_EMPTY: Final = 0.30
"""Share of the unanswerable questions whose block is empty."""

MOST_FALSELY_EMPTY: Final = 0.02
"""Share of the answerable questions whose block is empty."""

_ID: Final = re.compile(rf"\[({ids.MEMORY}_\w+)\] ")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAtLength:
    """A question: its tokens, the share of its evidence turns in the block, and whether their answer's words are.

    `evidence` and `worded` are None where a question has no evidence, or its evidence no word of the answer.
    """

    question: Question
    empty: bool
    tokens: int
    evidence: float | None
    worded: bool | None


async def evaluate(bench: Bench, root: Path, limit: int | None, console: Console) -> list[Goal]:
    """Print the figures of each set that is there, and return the goals with what was reached."""
    columns = ("questions", "empty", "any evidence", "all evidence", "words of the answer", "median tokens")
    reached = []
    for name, (path, load) in FILES.items():
        if not (root / path).exists():
            console.print(f"abstention: {name} skipped, {root / path} is not there (see evals/README.md)")
            continue
        done = [asked for one in load(root)[:limit] for asked in await _asked(bench, one)]
        unanswerable = [one for one in done if not one.question.answerable]
        answerable = [one for one in done if one.question.answerable and one.question.evidence_turns]
        table = tables.figures(f"{name}, ingested as turns", "questions that", columns)
        table.add_row("nothing answers", *cells(unanswerable))
        table.add_row("a turn answers", *cells(answerable), style="bold")
        for category in sorted({one.question.category for one in answerable}):
            table.add_row(category, *cells([one for one in answerable if one.question.category == category]))
        console.print(table)
        reached += [
            Goal.least(f"{name}: unanswerable, empty", mean(one.empty for one in unanswerable), LEAST_EMPTY),
            Goal.most(f"{name}: answerable, but empty", mean(one.empty for one in answerable), MOST_FALSELY_EMPTY),
        ]
    return reached


def cells(done: Sequence[AskedAtLength]) -> list[str]:
    """Return the figures of some questions: shares, and tokens."""
    evidence = [one.evidence for one in done if one.evidence is not None]
    worded = [one.worded for one in done if one.worded is not None]
    shares = (
        _share(one.empty for one in done),
        _share(one > 0 for one in evidence),
        _share(one == 1 for one in evidence),
        _share(worded),
    )
    return [str(len(done)), *shares, f"{median(one.tokens for one in done):.0f}" if done else ""]


def judge_answer(
    question: Question, result: QueryResult, known: Mapping[UUID, str], texts: Mapping[str, str]
) -> AskedAtLength:
    """Return what a block that names its memories has of a question's evidence.

    `known` is which turn of the set each turn of the service is, `texts` what those say.
    """
    block = result.context.text
    shown = {ids.parse(ids.MEMORY, one) for one in _ID.findall(block)}
    turns = {
        known[cited.turn_id]
        for hit in result.hits
        if hit.memory.id in shown
        for cited in hit.memory.evidence
        if cited.turn_id is not None and cited.turn_id in known
    }
    plain = _ID.sub("", block)
    worded = share_of(answer_words(question, texts), plain)
    return AskedAtLength(
        question=question,
        empty=not lines_of(block),
        tokens=estimate_tokens(plain),
        evidence=recall_at([*turns], question.evidence_turns, len(turns)) if question.evidence_turns else None,
        worded=None if worded is None else worded == 1,
    )


async def _asked(bench: Bench, conversation: Conversation) -> list[AskedAtLength]:
    scope, known = await told(bench, bench.runtime.turns, conversation)
    talk = Talk(bench=bench, user=scope.user_id or "")
    texts = {turn.id: turn.text for turn in conversation.turns}
    done = []
    for question in conversation.questions:
        result = await talk.ask(question.text, now=question.asked_at.astimezone(UTC), ids=IdStyle.FULL)
        done.append(judge_answer(question, result, known, texts))
    return done


def _share(values: Iterable[bool]) -> str:
    counted = [*values]
    return f"{mean(counted):.3f}" if counted else ""
