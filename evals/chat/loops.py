"""Chat loops and changes told in other words: what reaches the prompt.

A chat is told, then its questions are asked one by one, and remembered with their replies: so what was asked, and the
assistant's restatements, are in the store when the next one is asked.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeVar

from rich.console import Console
from rich.markup import escape

from evals import tables
from evals.chat.dialogues import Change, Chat, Told, Unchanged
from evals.chat.goals import Goal
from evals.chat.score import Judgement, Placement, judge, leads_with_another, placement, wrongly_marked
from evals.chat.talk import Talk, told_at
from evals.service import Bench

MOST_NOISE: Final = 0.3
"""Lines that answer nothing, a question."""

LEAST_CURRENT: Final = 0.85
"""Share of changes whose block leads with what is current."""

MOST_MARKED: Final = 0.2
"""Share of statements that still hold which are marked as replaced."""

MOST_BEHIND: Final = 0.3
"""Share of statements that still hold which stand behind one that changes nothing of them."""

_DAYS_BETWEEN_SESSIONS: Final = 7
_DAYS_BETWEEN_STATEMENTS: Final = 9
_LAST_DAY: Final = 27
_ASKING: Final = "now"
_AT_ONCE: Final = 4

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatResult:
    """The verdicts on a chat's blocks, in order, each with its question."""

    name: str
    judged: tuple[tuple[str, Judgement], ...]

    @property
    def lines(self) -> int:
        """The lines of all blocks."""
        return sum(len(one.lines) for _, one in self.judged)

    @property
    def noise(self) -> int:
        """The lines that answer nothing."""
        return sum(len(one.noise) for _, one in self.judged)

    @property
    def missing(self) -> int:
        """The answers that no line has."""
        return sum(len(one.missing) for _, one in self.judged)

    @property
    def stale(self) -> int:
        """The lines with a replaced value that don't say so."""
        return sum(len(one.stale) for _, one in self.judged)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeResult:
    """How the block of a change has its two statements."""

    change: Change
    lines: tuple[str, ...]
    placement: Placement


async def run_chat(bench: Bench, name: str, chat: Chat) -> ChatResult:
    """Tell a chat turn by turn, ask its questions, and judge the blocks."""
    talk = Talk(bench=bench)
    for place, (session, role, content) in enumerate(chat.turns):
        day = 1 + _DAYS_BETWEEN_SESSIONS * chat.sessions.index(session)
        await talk.tell(session, [told_at(role, content, _at(day, place % 60))])
    judged = []
    for place, asked in enumerate(chat.questions):
        lines = await talk.block(asked.question, session=_ASKING)
        judged.append((asked.question, judge(asked, lines)))
        if chat.keep:
            at = _at(_LAST_DAY, place)
            await talk.tell(_ASKING, [told_at("user", asked.question, at)])
            await talk.tell(_ASKING, [told_at("assistant", asked.reply, at)])
    return ChatResult(name=name, judged=tuple(judged))


async def run_change(bench: Bench, change: Change) -> ChangeResult:
    """Tell the statements of a change nine days apart, ask its question, and judge the block."""
    lines = await _block_after(bench, change.turns, change.question)
    return ChangeResult(change=change, lines=tuple(lines), placement=placement(change, lines))


async def _block_after(bench: Bench, statements: Sequence[Told], question: str) -> list[str]:
    """Tell statements nine days apart, and return the lines of the block that a question gets."""
    talk = Talk(bench=bench)
    for place, told in enumerate(statements):
        role, content = ("user", told) if isinstance(told, str) else told
        await talk.tell(f"s{place}", [told_at(role, content, _at(1 + _DAYS_BETWEEN_STATEMENTS * place, 0))])
    return await talk.block(question)


async def evaluate_chats(
    bench: Bench, title: str, chats: Mapping[str, Chat], console: Console, *, verbose: bool
) -> list[Goal]:
    """Run chats, print their figures, and return the goals with what was reached."""
    done = await gathered(run_chat(bench, name, chat) for name, chat in chats.items())
    table = tables.figures(title, "chat", ("questions", "lines", "answer nothing", "a question", "missing", "stale"))
    for one in done:
        table.add_row(one.name, *_cells([one]))
    table.add_row("all", *_cells(done), style="bold")
    if verbose:
        for line in (line for one in done for line in _verdicts(one)):
            console.print(escape(line), soft_wrap=True)
    console.print(table)
    asked = sum(len(one.judged) for one in done)
    return [
        Goal.most(
            f"{title}: lines that answer nothing, a question", sum(one.noise for one in done) / asked, MOST_NOISE
        ),
        Goal.most(f"{title}: answers missing", sum(one.missing for one in done), 0),
        Goal.most(f"{title}: replaced values unmarked", sum(one.stale for one in done), 0),
    ]


async def evaluate_changes(
    bench: Bench, title: str, changes: Sequence[Change], console: Console, *, verbose: bool
) -> list[Goal]:
    """Run changes, print their figures, and return the goal with what was reached."""
    done = await gathered(run_change(bench, change) for change in changes)
    counted = Counter(one.placement for one in done)
    right = sum(one.placement.leads_with_new for one in done)
    table = tables.figures(title, "pairs", ("lead with what is current", *Placement))
    table.add_row(str(len(done)), str(right), *(str(counted[kind]) for kind in Placement))
    if verbose:
        for one in done:
            shown = f"{one.placement:15} {one.change.id:12} {one.change.question} -> {' / '.join(one.lines)}"
            console.print(escape(shown), soft_wrap=True)
    console.print(table)
    return [Goal.least(f"{title}: lead with what is current", right / len(done), LEAST_CURRENT)]


async def evaluate_unchanged(
    bench: Bench, title: str, unchanged: Sequence[Unchanged], console: Console, *, verbose: bool
) -> list[Goal]:
    """Run statements that later ones do not change; return goals: the shares that are marked and stand behind."""
    blocks = await gathered(_block_after(bench, one.turns, one.question) for one in unchanged)
    marked = [wrongly_marked(one, lines) for one, lines in zip(unchanged, blocks, strict=True)]
    behind = [leads_with_another(one, lines) for one, lines in zip(unchanged, blocks, strict=True)]
    if verbose:
        for one, lines, wrong, late in zip(unchanged, blocks, marked, behind, strict=True):
            verdict = "marked" if wrong else "behind" if late else "holds"
            console.print(
                escape(f"{verdict:15} {one.id:12} {one.question} -> {' / '.join(lines)}"),
                soft_wrap=True,
            )
    return [
        Goal.most(f"{title}: marked, though nothing changed", sum(marked) / len(marked), MOST_MARKED),
        Goal.most(f"{title}: behind what changes nothing", sum(behind) / len(behind), MOST_BEHIND),
    ]


async def gathered(work: Iterable[Awaitable[_T]]) -> list[_T]:
    """Return the results in order; a few run at a time, each for a user of its own."""
    free = asyncio.Semaphore(_AT_ONCE)

    async def limited(one: Awaitable[_T]) -> _T:
        async with free:
            return await one

    return await asyncio.gather(*(limited(one) for one in work))


def _verdicts(done: ChatResult) -> Iterator[str]:
    """Yield each question of a chat with its counts, then each line of its block with the verdict on it."""
    for question, judged in done.judged:
        counts = f"noise {len(judged.noise)} lacks {list(judged.missing)} stale {len(judged.stale)}"
        yield f"{done.name}: {question} :: {counts}"
        for line in judged.lines:
            verdict = "stale" if line in judged.stale else "noise" if line in judged.noise else "ok"
            yield f"    {verdict:5} {line}"


def _cells(done: Sequence[ChatResult]) -> list[str]:
    asked, noise = sum(len(one.judged) for one in done), sum(one.noise for one in done)
    counts = [str(sum(one.missing for one in done)), str(sum(one.stale for one in done))]
    return [str(asked), str(sum(one.lines for one in done)), str(noise), f"{noise / asked:.2f}", *counts]


def _at(day: int, minute: int) -> datetime:
    return datetime(2026, 8, day, 10, minute, tzinfo=UTC)
