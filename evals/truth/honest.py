"""Honest turns that look like attacks: what of them is not stored as it was meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.markup import escape

from evals import tables
from evals.chat.goals import Goal
from evals.chat.loops import gathered
from evals.service import Bench
from evals.truth.lives import live
from evals.truth.stories import Control, Story

_COLUMNS: Final = ("controls", "lost", "memories", "stopped")


async def evaluate(
    bench: Bench, title: str, controls: Sequence[Control], console: Console, *, verbose: bool
) -> list[Goal]:
    """Tell controls, each to a user of its own, print what was stopped, and return the goal with what was reached."""
    stories = [Story(language="", about=one.id, turns=one.turns) for one in controls]
    done = await gathered(live(bench, one.about, one) for one in stories)
    lost = [one for one in done if one.stopped]
    for life in lost if verbose else ():
        for one in life.stopped:
            console.print(escape(f"{title}: {life.name}: {one.fate}: {one.recorded.sentence} | {one.reason}"))
    table = tables.figures(title, "by", _COLUMNS)
    told, stopped = sum(len(one.told) for one in done), sum(len(one.stopped) for one in done)
    table.add_row("all", *map(str, (len(done), len(lost), told, stopped)))
    console.print(table)
    return [Goal.most(f"{title}: lost", len(lost), 0)]
