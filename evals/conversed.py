"""`make eval ARGS="--set turns"`: recall of conversations that are ingested turn by turn, with extraction and without.

A turn counts as found where it, or a belief that rests on it, is among the answers; one turn an answer. Extraction must
not crowd out what was said: recall with it is at least recall without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Final
from uuid import UUID, uuid4

from rich.console import Console
from rich.table import Table

from app.memory.extraction import Extraction, Turn
from app.model import Scope, ScopeKind, Visibility
from app.read.values import Hit, QueryRequest
from app.services.turns import Turns
from evals.datasets import Conversation, Question, load_locomo, load_longmemeval_oracle
from evals.guarded import spoken
from evals.metrics import mean, recall_at
from evals.report import scorable
from evals.service import SHOWN, Bench

FILES: Final = {
    "LoCoMo dev": (Path("locomo", "locomo_dev.json"), load_locomo),
    "LongMemEval oracle dev": (Path("longmemeval", "longmemeval_oracle_dev.json"), load_longmemeval_oracle),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A question: recall among the first five and ten, and of what the defaults return, with the context's tokens."""

    recall_5: float
    recall_10: float
    returned: float
    tokens: int


class NoExtraction:
    """An extractor that proposes nothing: only the turns themselves are kept."""

    name = "nothing"
    reads_known = False
    reads_instructions = False
    window = 1

    async def extract(
        self,
        turns: Sequence[Turn],
        context: Sequence[Turn] = (),  # noqa: ARG002
        **_: object,
    ) -> Sequence[Extraction]:
        """Return no proposals for any of the turns."""
        return [Extraction(proposals=()) for _ in turns]

    async def aclose(self) -> None:
        """Do nothing."""


async def evaluate(bench: Bench, root: Path, limit: int | None, console: Console) -> list[str]:
    """Print recall with extraction and without, by set; return where extraction lowers it, in words."""
    table = Table(title="conversations ingested as turns", title_justify="left")
    for column in ("set", "extraction", "R@5", "R@10", "returned", "median tokens"):
        table.add_column(column, justify="left" if column in {"set", "extraction"} else "right")
    missed = []
    turns = bench.runtime.turns
    without = replace(turns, pipeline=replace(turns.pipeline, extractor=NoExtraction()))
    for name, (path, load) in FILES.items():
        if not (root / path).exists():
            console.print(f"turns: {name} skipped, {root / path} is not there (see evals/README.md)")
            continue
        conversations = load(root)[:limit]
        found = {}
        for title, service in (("rules", turns), ("none", without)):
            answers = [one for given in conversations for one in await _answers(bench, service, given)]
            found[title] = {
                "R@5": mean(one.recall_5 for one in answers),
                "R@10": mean(one.recall_10 for one in answers),
            }
            figures = (*found[title].values(), mean(one.returned for one in answers))
            tokens = f"{median(one.tokens for one in answers):.0f}" if answers else ""
            table.add_row(name, title, *(f"{figure:.3f}" for figure in figures), tokens)
        missed += [
            f"{name}: {metric} is {value:.3f} with extraction, {found['none'][metric]:.3f} without"
            for metric, value in found["rules"].items()
            if value < found["none"][metric]
        ]
    console.print(table)
    return missed


async def told(bench: Bench, service: Turns, conversation: Conversation) -> tuple[Scope, dict[UUID, str]]:
    """Ingest a conversation for a user of its own, a session at a time; return their scope, and which turn each is."""
    scope = Scope(kind=ScopeKind.USER, user_id=f"turns {uuid4()}")
    known: dict[UUID, str] = {}
    for _, group in groupby(conversation.turns, key=lambda turn: turn.session_id):
        said = {one.id: spoken(one, scope, f"{scope.user_id}:{one.id}") for one in group}
        known |= {turn.id: name for name, turn in said.items()}
        await service.store(bench.actor, [*said.values()], [{} for _ in said])
        await service.process(bench.actor, [one.id for one in said.values()])
    await bench.upkeep.reweigh(bench.actor.tenant_id, scope.id(bench.actor.tenant_id))
    return scope, known


async def _answers(bench: Bench, service: Turns, conversation: Conversation) -> list[Answered]:
    """Ingest a conversation and ask its questions."""
    scope, known = await told(bench, service, conversation)
    return [await _ask(bench, one, scope, known) for one in conversation.questions if scorable(one)]


async def _ask(bench: Bench, question: Question, scope: Scope, known: dict[UUID, str]) -> Answered:
    request = QueryRequest(
        query=question.text,
        now=question.asked_at.astimezone(UTC),
        visibility=Visibility(user_id=scope.user_id),
    )
    tenant, pipeline = bench.actor.tenant_id, bench.runtime.queries.pipeline
    filled = (await pipeline.answer(tenant, replace(request, top_k=SHOWN, min_relevance=0.0))).result
    lean = (await pipeline.answer(tenant, request)).result
    ranking, wanted = tuple(_turns_of(filled.hits, known)), question.evidence_turns
    returned = tuple(_turns_of(lean.hits, known))
    return Answered(
        recall_5=recall_at(ranking, wanted, 5),
        recall_10=recall_at(ranking, wanted, 10),
        returned=recall_at(returned, wanted, len(returned)),
        tokens=lean.context.tokens,
    )


def _turns_of(hits: Sequence[Hit], known: dict[UUID, str]) -> Iterator[str]:
    """Yield a turn for each answer, the latest that it rests on and that no better answer has; else the answer's id."""
    seen: set[str] = set()
    for hit in hits:
        rests_on = [known[one.turn_id] for one in reversed(hit.memory.evidence) if one.turn_id in known]
        turn = next((one for one in rests_on if one not in seen), str(hit.memory.id))
        seen.add(turn)
        yield turn
