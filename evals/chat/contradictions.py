"""Contradicting statements by every door: whether what was said last stands before what it contradicts.

The statements are a minute apart. They are told as turns in one request, as typed facts, and as `semantic` texts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from rich.console import Console
from rich.markup import escape

from evals import tables
from evals.chat.dialogues import Half
from evals.chat.goals import Goal
from evals.chat.score import MARK
from evals.chat.statements import Slot, Statement, statements
from evals.chat.talk import ASKED_AT, Talk, told_at
from evals.metrics import mean
from evals.service import Bench

LEAST_NEWEST: Final = 0.97
"""Share of the questions whose newest statement stands before any stale one."""

_FIRST_TOLD: Final = ASKED_AT - timedelta(days=20)

Tell = Callable[[Talk, Sequence[Statement]], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotResult:
    """A question: whether its newest line stands first, and whether a stale one stands unmarked, with the block."""

    slot: Slot
    newest_first: bool
    stale_unmarked: bool
    lines: tuple[str, ...]


async def as_turns(talk: Talk, told: Sequence[Statement]) -> None:
    """Tell the statements as turns of one request."""
    await talk.tell("statements", [told_at("user", one.text, _at(place)) for place, one in enumerate(told)])


async def as_facts(talk: Talk, told: Sequence[Statement]) -> None:
    """Write the statements as typed facts."""
    await talk.write([_fact(one, _at(place)) for place, one in enumerate(told)])


async def as_texts(talk: Talk, told: Sequence[Statement]) -> None:
    """Write the statements as texts without any structure."""
    await talk.write(
        [
            {"type": "semantic", "content": one.text, "occurred_at": _at(place).isoformat()}
            for place, one in enumerate(told)
        ]
    )


DOORS: Final[dict[str, Tell]] = {"turns": as_turns, "facts": as_facts, "semantic texts": as_texts}


def judge_slot(slot: Slot, lines: Sequence[str]) -> SlotResult:
    """Return how a block has the values of a slot; only lines that name its subject count."""
    *older, newest = (value.lower() for value in slot.values)
    about = [line.lower() for line in lines if slot.subject.lower() in line.lower()]
    stale = [any(value in line for value in older) and newest not in line for line in about]
    first = next((place for place, line in enumerate(about) if newest in line), None)
    return SlotResult(
        slot=slot,
        newest_first=first is not None and not any(stale[:first]),
        stale_unmarked=any(one and not MARK.search(line) for one, line in zip(stale, about, strict=True)),
        lines=tuple(lines),
    )


async def evaluate(bench: Bench, half: Half, console: Console, *, verbose: bool) -> list[Goal]:
    """Tell the statements by each door, print the figures, and return the goals with what was reached."""
    told, slots = statements(half)
    title = f"contradictions, {half}"
    heading = f"{title}: {len(told)} statements, {len(slots)} slots told twice"
    table = tables.figures(heading, "told as", ("questions", "newest first", "a stale line unmarked"))
    reached = []
    for door, tell in DOORS.items():
        talk = Talk(bench=bench)
        await tell(talk, told)
        done = [judge_slot(slot, await talk.block(slot.question)) for slot in slots]
        share = mean(one.newest_first for one in done)
        unmarked = mean(one.stale_unmarked for one in done)
        table.add_row(door, str(len(done)), f"{share:.3f}", f"{unmarked:.3f}")
        reached.append(Goal.least(f"{title}, as {door}: newest first", share, LEAST_NEWEST))
        for one in done if verbose else ():
            verdict = "newest first" if one.newest_first else "not newest first"
            shown = f"{door}: {verdict:17} {one.slot.question} {one.slot.values} -> {' / '.join(one.lines)}"
            console.print(escape(shown), soft_wrap=True)
    console.print(table)
    return reached


def _fact(one: Statement, at: datetime) -> dict[str, Any]:
    said = {"subject": one.subject, "predicate": one.predicate, "object": one.value}
    return {"type": "fact", **said, "occurred_at": at.isoformat()}


def _at(place: int) -> datetime:
    return _FIRST_TOLD + timedelta(minutes=place)
