"""`make eval ARGS="--set reranked"`: what the reranker that TM_RERANK_* configure adds, and what it costs.

Each question is asked without it and with it, one right after the other, so that both have the machine as it is. What
is late is answered without it, and counted: its figures are what users get.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from time import perf_counter
from typing import Final
from uuid import UUID

from rich.console import Console

from app.model import Visibility
from app.read.values import IdStyle, QueryRequest
from evals import tables
from evals.answer_words import answer_words, share_of
from evals.datasets import Conversation, Question, load_locomo, load_longmemeval_oracle
from evals.metrics import mean, recall_at
from evals.report import scorable
from evals.service import Bench

SETS: Final = {"LoCoMo dev": load_locomo, "LongMemEval oracle dev": load_longmemeval_oracle}

WAYS: Final = ("without", "with the reranker")

FIRST: Final = (1, 5, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """An answer: how long it took, the evidence among its first matches, the answer's words in its block."""

    seconds: float
    recall: dict[int, float]
    words: float | None
    late: bool


async def evaluate(
    bench: Bench, root: Path, limit: int | None, console: Console, sets: Sequence[str] = (*SETS,)
) -> list[str]:
    """Print recall, the answer's words and times with and without the reranker, for each set; there are no goals."""
    if bench.runtime.queries.pipeline.reranker is None:
        console.print("reranked: skipped, no reranker is configured (TM_RERANK_PROVIDER)")
        return []
    for name in sets:
        found: dict[str, list[Reading]] = {way: [] for way in WAYS}
        for number, conversation in enumerate(SETS[name](root)[:limit]):
            await _conversation(bench, conversation, f"reranked {name} {number}", found)
        _show(console, name, found)
    return []


async def _conversation(bench: Bench, conversation: Conversation, user: str, found: dict[str, list[Reading]]) -> None:
    known = await bench.learn(conversation, user)
    texts = {turn.id: turn.text for turn in conversation.turns}
    for place, question in enumerate(one for one in conversation.questions if scorable(one)):
        for way in WAYS if place % 2 else reversed(WAYS):
            request = QueryRequest(
                query=question.text,
                now=question.asked_at,
                visibility=Visibility(user_id=user),
                widens=True,
                ids=IdStyle.NONE,
                rerank=way != WAYS[0],
            )
            found[way].append(await _read(bench, request, question, known, texts))


async def _read(
    bench: Bench, request: QueryRequest, question: Question, known: dict[UUID, str], texts: dict[str, str]
) -> Reading:
    """Ask at the defaults for the block and the time, and with everything let through for the ranking."""
    began = perf_counter()
    answer = await bench.runtime.queries.pipeline.answer(bench.actor.tenant_id, request)
    seconds = perf_counter() - began
    ranking = [known[hit.memory.id] for hit in answer.result.hits if hit.memory.id in known]
    return Reading(
        seconds=seconds,
        recall={k: recall_at(ranking, question.evidence_turns, k) for k in FIRST},
        words=share_of(answer_words(question, texts), answer.result.context.text),
        late=bool(answer.result.degraded),
    )


def _show(console: Console, name: str, found: dict[str, list[Reading]]) -> None:
    columns = (*(f"R@{k}" for k in FIRST), "words of the answer", "p50 ms", "p95 ms", "answered without it")
    table = tables.figures(f"{name}: {len(found[WAYS[0]])} questions", "asked", columns)
    for way, answers in found.items():
        if not answers:
            continue
        cuts = quantiles([one.seconds * 1000 for one in answers], n=20, method="inclusive")
        table.add_row(
            way,
            *(f"{mean(one.recall[k] for one in answers):.3f}" for k in FIRST),
            f"{mean(one.words for one in answers if one.words is not None):.3f}",
            f"{cuts[9]:.0f}",
            f"{cuts[18]:.0f}",
            tables.percent(sum(one.late for one in answers), len(answers)),
        )
    console.print(table)
