"""`make eval ARGS="--set unlike"`: preferences and constraints, asked for by questions that share no words with them.

A user is told 20 of 100; each is wanted by two questions (`Which bakeries near the office would suit me?` for somebody
without gluten). What each mechanism adds: turns as they were said, typed beliefs, hypothetical questions by rules, and
the group of what answers must heed. Counted is whether the statement stands anywhere in the block.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from rich.console import Console
from rich.table import Table

from app import ids
from app.errors import TypedMemoryError
from app.lexical.bm25 import terms
from app.memory.candidate import Candidate
from app.memory.extraction import Role, Turn
from app.model import Scope, ScopeKind, Visibility
from app.providers.protocols import RuleQuestions
from app.read.values import HeedMode, QueryRequest
from app.write.hype import Hype
from evals.metrics import mean
from evals.service import Bench

STATEMENTS: Final = Path(__file__).parent / "labels" / "unlike.jsonl"

NOW: Final = datetime(2026, 5, 20, 12, tzinfo=UTC)

STORES: Final = 5
"""Users among whom the statements are shared out."""

SHARED: Final = 2
"""Terms that a heeded belief shares with the turn that it was read from."""

Statement = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether the statement stood in the block, and how many lines that had."""

    found: bool
    lines: int


async def evaluate(bench: Bench, console: Console) -> list[str]:
    """Print the share of questions whose statement stands in the block, and its lines, by mechanism; no goals."""
    told = [json.loads(line) for line in STATEMENTS.read_text(encoding="utf-8").splitlines()]
    done: dict[str, list[Answer]] = defaultdict(list)
    for number in range(STORES):
        for name, answers in (await _measured(bench, told[number::STORES], f"unlike {number}")).items():
            done[name] += answers
    table = Table(title="statements that share no word with the question", title_justify="left")
    for column in ("what is stored, and what finds it", "asked", "in the block", "lines", "empty"):
        table.add_column(column, justify="left" if "stored" in column else "right")
    for name, answers in done.items():
        figures = (mean(one.found for one in answers), mean(one.lines for one in answers))
        empty = mean(one.lines == 0 for one in answers)
        table.add_row(name, str(len(answers)), *(f"{one:.2f}" for one in figures), f"{empty:.2f}")
    console.print(table)
    return []


async def _measured(bench: Bench, told: Sequence[Statement], name: str) -> dict[str, list[Answer]]:
    said = await _said(bench, told, f"{name} said")
    typed = await _typed(bench, told, f"{name} typed")
    found = {
        "turns": await _asked(bench, told, f"{name} said", said, HeedMode.NONE),
        "turns, heeded": await _asked(bench, told, f"{name} said", said, HeedMode.AUTO),
        "typed": await _asked(bench, told, f"{name} typed", typed, HeedMode.NONE),
        "typed, heeded": await _asked(bench, told, f"{name} typed", typed, HeedMode.AUTO),
    }
    await _give_questions(bench, typed)
    found["typed, questions"] = await _asked(bench, told, f"{name} typed", typed, HeedMode.NONE)
    found["typed, questions, heeded"] = await _asked(bench, told, f"{name} typed", typed, HeedMode.AUTO)
    return found


async def _asked(
    bench: Bench, told: Sequence[Statement], user: str, stored: Sequence[UUID], heed: HeedMode
) -> list[Answer]:
    """Ask the questions of each statement, and look for the memory or the turn that holds it among what is shown."""
    done = []
    for one, memory in zip(told, stored, strict=True):
        for question in one["ask"]:
            request = QueryRequest(query=question, now=NOW, visibility=Visibility(user_id=user), heed=heed)
            result = (await bench.runtime.queries.pipeline.answer(bench.actor.tenant_id, request)).result
            shown = {hit.memory.id for hit in result.hits} | {line.memory for line in result.context.heeded}
            shown |= {each.turn_id for hit in result.hits for each in hit.memory.evidence if each.turn_id is not None}
            heeded = any(_holds(line.content, one) for line in result.context.heeded)
            lines = sum(line.startswith("- ") for line in result.context.text.splitlines())
            done.append(Answer(found=memory in shown or heeded, lines=lines))
    return done


def _holds(content: str, told: Statement) -> bool:
    """Tell whether a heeded line is the turn, or has words of it: the id of a belief read from it is not known."""
    return content == told["say"] or len(set(terms(content)) & set(terms(told["say"]))) >= SHARED


async def _said(bench: Bench, told: Sequence[Statement], user: str) -> list[UUID]:
    """Tell a user's statements as turns; return the turns."""
    scope = Scope(kind=ScopeKind.USER, user_id=user)
    turns = [
        Turn(
            id=ids.new(), scope=scope, role=Role.USER, content=one["say"], occurred_at=NOW, session_id=f"{user} {place}"
        )
        for place, one in enumerate(told)
    ]
    await bench.runtime.turns.store(bench.actor, turns, [{} for _ in turns])
    await bench.runtime.turns.process(bench.actor, [one.id for one in turns])
    return [one.id for one in turns]


async def _typed(bench: Bench, told: Sequence[Statement], user: str) -> list[UUID]:
    """Store a user's statements as typed beliefs; return the memories."""
    runtime, tenant = bench.runtime, bench.actor.tenant_id
    scope = Scope(kind=ScopeKind.USER, user_id=user)
    stored = []
    for one in told:
        fields = dict(one["typed"])
        kind = runtime.types.get(fields.pop("type"))
        candidate = Candidate(type=kind, payload=kind.payload.model_validate(fields), scope=scope, stated_at=NOW)
        [result] = await runtime.memories.write_all(bench.actor, [candidate])
        if isinstance(result, TypedMemoryError):
            raise result
        if result.memory is None:
            raise AssertionError(f"not stored: {one['say']}: {result.reason}")
        stored.append(result.memory.id)
    await bench.upkeep.reweigh(tenant, scope.id(tenant))
    return stored


async def _give_questions(bench: Bench, memories: Sequence[UUID]) -> None:
    """Give memories their hypothetical questions by rules."""
    runtime = bench.runtime
    hype = Hype(
        database=runtime.database,
        embedder=runtime.embedder,
        model_id=runtime.model_id,
        writer=RuleQuestions(language="english"),
        types=runtime.types,
    )
    async for _ in hype.ask(bench.actor.tenant_id, memories):
        pass
