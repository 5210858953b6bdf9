"""`make eval ARGS="--set hops"`: questions whose answer is the end of a chain of two to four facts.

Typed facts: `user drives Tavo`, `Tavo manufactured-by Belin`, `Belin based-in Korda`; the question names the ends.
Chains of the same predicates about others surround them, and other facts about everything that they lead over. Half of
the domains were used to choose numbers; the other half judges them.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from app.errors import TypedMemoryError
from app.memory import vocabulary
from app.memory.candidate import Candidate
from app.model import Scope, ScopeKind, Visibility
from app.read.values import QueryRequest
from evals.metrics import mean
from evals.service import BATCH, Bench

CHAINS: Final = Path(__file__).parent / "labels" / "hops.jsonl"

NOW: Final = datetime(2026, 5, 20, 12, tzinfo=UTC)

SIZES: Final = (110, 2_300)
"""Facts in the small store, and in the large one."""

GOAL_WHOLE: Final = 0.7
"""Share of the held chains of which every fact stands in the block, in stores of either size."""

Fact = tuple[str, str, str]

_PLACE: Final = re.compile(r"\{(?:[a-z]+)\d?\}")
_FIRST: Final = ("Ba", "Do", "Fen", "Gri", "Hal", "Jo", "Ke", "Lu", "Mor", "Ni", "Or", "Pel", "Ros", "Sti", "Tam", "Ve")
_LAST: Final = ("bin", "dor", "fal", "gan", "kess", "lin", "mar", "nor", "rak", "sund", "tov", "vik", "wen", "zell")


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain about one root: its facts in order, other facts about what it leads over, and its questions.

    `single` is answered by the first fact alone; `far` asks in words that few of the predicates have.
    """

    facts: tuple[Fact, ...]
    beside: tuple[Fact, ...]
    questions: tuple[str, ...]
    single: str
    far: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What came back for a question: whether every fact stood in the block, the last one, and how many lines."""

    whole: bool
    answer: bool
    lines: int


def templates(half: str) -> list[Mapping[str, Any]]:
    """Return the chains of a half as they are written, with places for names."""
    lines = CHAINS.read_text(encoding="utf-8").splitlines()
    return [one for one in map(json.loads, lines) if one["half"] == half]


def store(half: str, size: int) -> tuple[list[Fact], list[Chain]]:
    """Return the facts of a store of about this size in a mixed order, and the chains about its user and one other."""
    chosen = random.Random(f"{half} {size}")  # noqa: S311 - a repeatable choice
    names = _names(chosen)
    forms = templates(half)
    user = [_filled(one, "user", names) for one in forms]
    other = [_filled(one, next(names), names) for one in forms]
    facts = [fact for one in user for fact in (*one.facts, *one.beside)]
    facts += [fact for one in other for fact in one.facts]
    while len(facts) < size:
        for form in forms:
            filled = _filled(form, next(names), names)
            facts += (*filled.facts, *filled.beside)
    facts = facts[: max(size, len(facts) if size == SIZES[0] else size)]
    chosen.shuffle(facts)
    asked = [
        Chain(mine.facts, mine.beside, tuple(q for q in mine.questions if "{root}" not in q), mine.single, mine.far)
        for mine in user
    ]
    for one, form in zip(other, forms, strict=True):
        named = tuple(text.replace("{root}", one.facts[0][0]) for text in form["questions"] if "{root}" in text)
        asked.append(Chain(one.facts, (), named, "", ""))
    return facts, asked


async def evaluate(bench: Bench, console: Console, *, halves: Sequence[str] = ("dev", "held")) -> list[str]:
    """Print how many chains stood whole in the block; return the goals that were missed."""
    table = Table(title="many hops: chains of typed facts, asked by their ends", title_justify="left")
    columns = ("facts", "half", "asked", "all hops", "answer", "in far words", "lines, median", "lines for one hop")
    for column in columns:
        table.add_column(column, justify="left" if column == "half" else "right")
    missed = []
    for size in SIZES:
        for half in halves:
            facts, chains = store(half, size)
            user = f"hops {half} {size}"
            await _learn(bench, facts, user)
            done = [await ask(bench, text, one, user) for one in chains for text in one.questions]
            single = [await ask(bench, one.single, one, user) for one in chains if one.single]
            far = [await ask(bench, one.far, one, user) for one in chains if one.far]
            whole = mean(one.whole for one in done)
            table.add_row(
                f"{len(facts):,}",
                half,
                str(len(done)),
                f"{whole:.2f}",
                f"{mean(one.answer for one in done):.2f}",
                f"{mean(one.whole for one in far):.2f}",
                f"{median(one.lines for one in done):g}",
                f"{mean(one.lines for one in single):.2f}",
            )
            if half == "held" and whole < GOAL_WHOLE:
                missed.append(f"many hops: {whole:.2f} of chains among {len(facts):,} facts, the goal is {GOAL_WHOLE}")
    console.print(table)
    return missed


async def ask(bench: Bench, text: str, chain: Chain, user: str) -> Asked:
    """Ask at the defaults, and look for the facts of the chain in the block."""
    request = QueryRequest(query=text, now=NOW, visibility=Visibility(user_id=user))
    answer = await bench.runtime.queries.pipeline.answer(bench.actor.tenant_id, request)
    shown = [hit.memory for hit in answer.result.hits if hit.memory.content in answer.result.context.text]
    said = {
        (str(one.payload.get("subject")), str(one.payload.get("predicate")), str(one.payload.get("object")))
        for one in shown
    }
    told = [(subject, vocabulary.predicate(predicate), value) for subject, predicate, value in chain.facts]
    return Asked(
        whole=said.issuperset(told),
        answer=told[-1] in said,
        lines=sum(line.startswith("- ") for line in answer.result.context.text.splitlines()),
    )


def _names(chosen: random.Random) -> Iterator[str]:
    """Yield invented names, each once."""
    seen: set[str] = set()
    while True:
        name = chosen.choice(_FIRST) + chosen.choice(_LAST)
        for more in range(3):
            if name not in seen:
                break
            name = f"{name} {chosen.choice(_FIRST)}{chosen.choice(_LAST)}" if more else name + chosen.choice(_LAST)
        if name not in seen:
            seen.add(name)
            yield name


def _filled(form: Mapping[str, Any], root: str, names: Iterator[str]) -> Chain:
    text = json.dumps([form["facts"], form["beside"]])
    for place in dict.fromkeys(_PLACE.findall(text)):
        text = text.replace(place, next(names))
    facts, beside = json.loads(text)
    return Chain(
        facts=tuple((root if subject == "root" else subject, predicate, value) for subject, predicate, value in facts),
        beside=tuple((subject, predicate, value) for subject, predicate, value in beside),
        questions=tuple(form["questions"]),
        single=form["single"],
        far=form["far"],
    )


async def _learn(bench: Bench, facts: Sequence[Fact], user: str) -> None:
    kind = bench.runtime.types.get("fact")
    scope = Scope(kind=ScopeKind.USER, user_id=user)
    candidates = [
        Candidate(
            type=kind,
            payload=kind.payload.model_validate(dict(zip(("subject", "predicate", "object"), fact, strict=True))),
            scope=scope,
            stated_at=NOW,
        )
        for fact in facts
    ]
    for start in range(0, len(candidates), BATCH):
        for result in await bench.runtime.memories.write_all(bench.actor, candidates[start : start + BATCH]):
            if isinstance(result, TypedMemoryError):
                raise result
    await bench.upkeep.reweigh(bench.actor.tenant_id, scope.id(bench.actor.tenant_id))
