"""`make truth`: what the write path with a language model makes of lives told in turns, and of attacks.

The model is a stand-in on the loopback interface that speaks OpenAI's wire format and gives recorded answers.
Everything else is the real thing, in this process on an embedded database of its own, at fixed times.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from rich.console import Console

from evals.chat import goals
from evals.chat.dialogues import Half
from evals.chat.goals import Goal
from evals.service import Bench, data_folder, opened
from evals.truth import honest, injection, lives
from evals.truth.stand_in import RecordedModel, serving
from evals.truth.stories import StoryTurn, load_attacks, load_controls, load_stories, load_story

PARTS = ("stories", "attacks", "controls")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m evals.truth", description=__doc__)
    parser.add_argument("--half", choices=list(Half), help="only what to tune on, or what is held back")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; repeatable")
    parser.add_argument("--file", type=Path, action="append", help="a story; repeatable")
    parser.add_argument("--at-once", action="store_true", help="send each session in one request, as an import does")
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="print what was stopped, retired, stale or lost, of files and of what is there to tune on",
    )
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a goal is missed")
    return parser.parse_args()


@asynccontextmanager
async def modelled(dialogues: Iterable[Sequence[StoryTurn]]) -> AsyncIterator[Bench]:
    """Start the service with a model that knows these dialogues."""
    async with serving(RecordedModel.of(dialogues)) as url:
        told = {"llm_provider": "openai", "llm_base_url": url, "llm_model": "recorded", "llm_api_key": "none"}
        with data_folder() as folder:
            async with opened(folder, **told, hype=False) as bench:
                yield bench


async def evaluated(given: argparse.Namespace, console: Console) -> list[Goal]:
    """Run what was chosen, and return the goals with what was reached."""
    if given.file:
        stories = {file.stem: load_story(file) for file in given.file}
        async with modelled(one.turns for one in stories.values()) as bench:
            return await lives.evaluate(
                bench, "stories", stories, console, verbose=given.verbose, at_once=given.at_once
            )
    halves = [Half(given.half)] if given.half else list(Half)
    parts = given.part or PARTS
    reached: list[Goal] = []
    shown = {half: given.verbose and half is Half.DEV for half in halves}
    told = {half: load_stories(half) if "stories" in parts else {} for half in halves}
    attacks = {half: load_attacks(half) if "attacks" in parts else () for half in halves}
    controls = {half: load_controls(half) if "controls" in parts else () for half in halves}
    dialogues = [one.turns for half in halves for one in told[half].values()]
    dialogues += [one.turns for half in halves for one in attacks[half]]
    dialogues += [one.turns for half in halves for one in controls[half]]
    async with modelled(dialogues) as bench:
        for half in halves:
            if told[half]:
                title = f"stories, {half}"
                reached += await lives.evaluate(
                    bench, title, told[half], console, verbose=shown[half], at_once=given.at_once
                )
            if attacks[half]:
                title = f"attacks on a model, {half}"
                reached += await injection.evaluate(bench, title, attacks[half], console, verbose=shown[half])
            if controls[half]:
                title = f"controls, {half}"
                reached += await honest.evaluate(bench, title, controls[half], console, verbose=shown[half])
    if "attacks" in parts:
        with data_folder() as folder:
            async with opened(folder) as bench:
                for half in halves:
                    title = f"attacks on the rules, {half}"
                    reached += await injection.evaluate(bench, title, attacks[half], console, verbose=shown[half])
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
