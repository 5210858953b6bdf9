"""`make eval ARGS="--set small"`: questions in other words to stores of three turns, at the defaults.

With so little to compare, one vector tells poorly whether a turn is what a question is about. Counted are the
questions whose turn, or a belief that rests on it, is among the first three lines; and how often something comes back
for a question that no store answers, half of them about the user and half about the world.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import UUID, uuid4

from rich.console import Console
from rich.table import Table

from app import ids
from app.memory.extraction import Role, Turn
from app.model import Scope, ScopeKind, Visibility
from app.read.values import Hit, QueryRequest
from evals.metrics import mean
from evals.service import Bench

STORES: Final = Path(__file__).parent / "labels" / "small_stores.jsonl"

NOW: Final = datetime(2026, 5, 20, 12, tzinfo=UTC)

FIRST: Final = 3
"""Lines among which an answer counts as found."""

GOAL_FOUND: Final = 0.8
GOAL_SILENT: Final = 0.75


async def evaluate(bench: Bench, console: Console) -> list[str]:
    """Print how many questions found their turn, and how many that none answers got nothing; return missed goals."""
    lines = [json.loads(line) for line in STORES.read_text(encoding="utf-8").splitlines()]
    unanswered = next(line["unanswered"] for line in lines if "unanswered" in line)
    found, empty, silent = [], [], []
    for store in (line for line in lines if "turns" in line):
        scope, turns = await told_store(bench, store["turns"])
        for one in store["questions"]:
            hits = await ask_store(bench, scope, one["text"])
            found.append(turns[one["turn"]] in {told.turn_id for hit in hits[:FIRST] for told in hit.memory.evidence})
            empty.append(not hits)
        silent += [not await ask_store(bench, scope, text) for text in unanswered]
    table = Table(title="stores of three turns, asked in other words", title_justify="left")
    for column in ("questions", "asked", f"found among {FIRST}", "nothing returned"):
        table.add_column(column, justify="left" if column == "questions" else "right")
    table.add_row("that a turn answers", str(len(found)), f"{mean(found):.2f}", f"{mean(empty):.2f}")
    table.add_row("that none answers", str(len(silent)), "", f"{mean(silent):.2f}")
    console.print(table)
    figures = (("questions found", mean(found), GOAL_FOUND), ("silence where none answers", mean(silent), GOAL_SILENT))
    return [
        f"small stores: {name} is {value:.2f}, the goal is {goal:.2f}" for name, value, goal in figures if value < goal
    ]


async def told_store(bench: Bench, texts: Sequence[str]) -> tuple[Scope, list[UUID]]:
    """Have a new user say these texts; return the user's scope and the turns."""
    scope = Scope(kind=ScopeKind.USER, user_id=f"small {uuid4()}")
    turns = [Turn(id=ids.new(), scope=scope, role=Role.USER, content=text, occurred_at=NOW) for text in texts]
    await bench.runtime.turns.store(bench.actor, turns, [{} for _ in turns])
    await bench.runtime.turns.process(bench.actor, [one.id for one in turns])
    return scope, [one.id for one in turns]


async def ask_store(bench: Bench, scope: Scope, text: str, *, least: float | None = None) -> Sequence[Hit]:
    """Return what a user's question gets, at the defaults unless `least` says how relevant it must be."""
    request = QueryRequest(query=text, now=NOW, visibility=Visibility(user_id=scope.user_id), min_relevance=least)
    return (await bench.runtime.queries.pipeline.answer(bench.actor.tenant_id, request)).result.hits
