"""`make chat`: what reaches a prompt in ordinary chat loops, at the defaults.

Everything runs in this process on an embedded database of its own, at fixed times. Without --file, the dialogues of
this repository are run.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from evals.chat import abstention, contradictions, goals, loops
from evals.chat.dialogues import Change, Chat, Half, load_changes, load_chats, load_file, load_unchanged
from evals.chat.goals import Goal
from evals.datasets import data_dir
from evals.service import Bench, data_folder, opened

PARTS = ("chats", "updates", "contradictions", "abstention")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m evals.chat", description=__doc__)
    parser.add_argument("--half", choices=list(Half), help="only the dialogues to tune on, or those that are held back")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; repeatable")
    parser.add_argument("--file", type=Path, action="append", help="a chat or a list of changes; repeatable")
    parser.add_argument("--data", type=Path, default=None, help="folder of the sets (TM_EVAL_DATA, ../shared/data)")
    parser.add_argument("--conversations", type=int, default=None, help="only the first N conversations of a set")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the blocks, with a verdict on each line")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a goal is missed")
    return parser.parse_args()


async def evaluated(given: argparse.Namespace, console: Console) -> list[Goal]:
    """Run what was chosen on a database of its own, and return the goals with what was reached."""
    with data_folder() as folder:
        async with opened(folder) as bench:
            if given.file:
                return await _files(bench, given.file, console, verbose=given.verbose)
            return await _own(bench, given, console)


async def _files(bench: Bench, files: Sequence[Path], console: Console, *, verbose: bool) -> list[Goal]:
    reached: list[Goal] = []
    for file in files:
        loaded = load_file(file)
        if isinstance(loaded, Chat):
            reached += await loops.evaluate_chats(bench, file.name, {file.stem: loaded}, console, verbose=verbose)
        else:
            reached += await loops.evaluate_changes(bench, file.name, loaded, console, verbose=verbose)
    return reached


async def _own(bench: Bench, given: argparse.Namespace, console: Console) -> list[Goal]:
    reached: list[Goal] = []
    parts = given.part or PARTS
    for half in [Half(given.half)] if given.half else Half:
        if "chats" in parts:
            chats: Mapping[str, Chat] = load_chats(half)
            reached += await loops.evaluate_chats(bench, f"chats, {half}", chats, console, verbose=given.verbose)
        if "updates" in parts:
            changes: Sequence[Change] = load_changes(half)
            reached += await loops.evaluate_changes(bench, f"updates, {half}", changes, console, verbose=given.verbose)
            if unchanged := load_unchanged(half):
                title = f"updates, {half}"
                reached += await loops.evaluate_unchanged(bench, title, unchanged, console, verbose=given.verbose)
        if "contradictions" in parts:
            reached += await contradictions.evaluate(bench, half, console, verbose=given.verbose)
    if "abstention" in parts:
        reached += await abstention.evaluate(bench, given.data or data_dir(), given.conversations, console)
    return reached


def main() -> int:
    """Run the evaluation; return the exit code."""
    given = arguments()
    console = Console()
    reached = asyncio.run(evaluated(given, console))
    goals.show(console, reached)
    return 1 if given.strict and not all(one.met for one in reached) else 0


if __name__ == "__main__":
    sys.exit(main())
