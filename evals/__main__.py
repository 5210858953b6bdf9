"""`make eval`: what the service recalls of real conversations, against single arms and plain fusion."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import UUID

from rich.console import Console
from rich.progress import Progress

from evals import (
    conversed,
    extraction,
    follow_ups,
    hops,
    hype,
    languages,
    model,
    precision,
    reranked,
    rules,
    small_stores,
    temporal,
    unlike,
    writing,
)
from evals.datasets import (
    Conversation,
    data_dir,
    load_locomo,
    load_longmemeval_oracle,
    load_longmemeval_s,
    load_realmem,
)
from evals.report import Results, results, scorable, show
from evals.service import Asked, Bench, data_folder, opened

Loader = Callable[[Path], tuple[Conversation, ...]]

SETS: dict[str, tuple[str, str, Loader]] = {
    "locomo": ("LoCoMo dev", "locomo/locomo_dev.json", load_locomo),
    "oracle": ("LongMemEval oracle dev", "longmemeval/longmemeval_oracle_dev.json", load_longmemeval_oracle),
    "s": ("LongMemEval S dev", "longmemeval/longmemeval_s_dev.json.gz", load_longmemeval_s),
    "realmem": ("RealMem dev", "realmem", load_realmem),
}

OTHERS = (
    "precision",
    "small",
    "languages",
    "hops",
    "unlike",
    "turns",
    "followups",
    "extraction",
    "rules",
    "writing",
    "temporal",
    "model",
    "hype",
    "reranked",
)
"""What is measured in other ways than by recall."""

ON_REQUEST = frozenset({"hype", "reranked"})
"""What is measured only when it is asked for."""

OWN_DATA = frozenset({"model", "small", "languages", "hops", "unlike"})
"""What is measured on data of this repository."""


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m evals", description=__doc__)
    parser.add_argument("--data", type=Path, default=None, help="folder of the sets (TM_EVAL_DATA, ../shared/data)")
    parser.add_argument("--set", action="append", choices=[*SETS, *OTHERS], help="only this set; repeatable")
    parser.add_argument("--conversations", type=int, default=None, help="only the first N conversations of a set")
    parser.add_argument("--read", action="store_true", help="with writing or rules: print what a reader has to judge")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a goal is missed")
    return parser.parse_args()


async def answered(bench: Bench, conversations: Sequence[Conversation], progress: Progress, name: str) -> list[Asked]:
    """Import each conversation for a user of its own and ask its questions, each when it was asked."""
    questions = [question for one in conversations for question in one.questions if scorable(question)]
    task = progress.add_task(name, total=len(questions))
    asked = []
    for number, conversation in enumerate(conversations):
        user = f"{name} {number}"
        known: dict[UUID, str] = {}
        texts = {turn.id: turn.text for turn in conversation.turns}
        for stage in conversation.stages():
            known |= await bench.learn(stage, user)
            for question in stage.questions:
                if scorable(question):
                    blocks = await bench.blocks(question, user, known, texts)
                    asked.append(replace(await bench.ask(question, user, known), blocks=blocks))
                    progress.advance(task)
    return asked


async def evaluated(root: Path, chosen: Sequence[str], limit: int | None, console: Console) -> list[Results]:
    """Evaluate the chosen sets that are there, print their tables, and return them."""
    found = []
    with data_folder() as folder, Progress(console=console) as progress:
        async with opened(folder) as bench:
            for key in chosen:
                name, _, load = SETS[key]
                conversations = load(root)[:limit]
                done = results(name, conversations, await answered(bench, conversations, progress, name))
                show(console, done)
                found.append(done)
    return found


async def compared(root: Path, limit: int | None, console: Console) -> None:
    """Measure what hypothetical questions are worth."""
    with data_folder() as folder:
        async with opened(folder) as bench:
            await hype.compare(bench, root, limit, console)


async def written(root: Path, limit: int | None, console: Console, *, read: bool) -> None:
    """Measure what the write side makes of conversations."""
    with data_folder() as folder:
        async with opened(folder) as bench:
            await writing.evaluate(bench, root, limit, console, read=read)


async def in_store(evaluate: Callable[[Bench], Awaitable[list[str]]]) -> list[str]:
    """Run an evaluation on a database of its own; return the goals that it missed."""
    with data_folder() as folder:
        async with opened(folder) as bench:
            return await evaluate(bench)


def _present(root: Path, chosen: Sequence[str], console: Console) -> list[str]:
    """Return the sets whose files are there, and say which are not."""
    absent = [key for key in chosen if key in SETS and not (root / SETS[key][1]).exists()]
    for key in absent:
        console.print(f"{SETS[key][0]}: skipped, {root / SETS[key][1]} is not there (see evals/README.md)")
    return [key for key in chosen if key in SETS and key not in absent]


def _others(chosen: Sequence[str], root: Path, given: argparse.Namespace, console: Console) -> list[str]:
    """Run what is measured in other ways than by recall; return the goals that were missed."""
    short: list[str] = []
    measured: dict[str, Callable[[Bench], Awaitable[list[str]]]] = {
        "precision": lambda bench: precision.evaluate(bench, root, console),
        "small": lambda bench: small_stores.evaluate(bench, console),
        "languages": lambda bench: languages.evaluate(bench, console),
        "hops": lambda bench: hops.evaluate(bench, console),
        "unlike": lambda bench: unlike.evaluate(bench, console),
        "turns": lambda bench: conversed.evaluate(bench, root, given.conversations, console),
        "followups": lambda bench: follow_ups.evaluate(bench, root, given.conversations, console),
        "reranked": lambda bench: reranked.evaluate(bench, root, given.conversations, console),
    }
    for name, evaluate in measured.items():
        if name in chosen:
            short += asyncio.run(in_store(evaluate))
    if "hype" in chosen:
        asyncio.run(compared(root, given.conversations, console))
    if "extraction" in chosen:
        extraction.main(["--data", str(root)])
    if "rules" in chosen:
        rules.evaluate(root, console, read=given.read)
    if "writing" in chosen:
        asyncio.run(written(root, given.conversations, console, read=given.read))
    if "temporal" in chosen:
        temporal.main(["--data", str(root)])
    return short


def main() -> int:
    """Run the evaluations; return the exit code."""
    given = arguments()
    console = Console()
    root = given.data or data_dir()
    chosen = given.set or [*SETS, *(one for one in OTHERS if one not in ON_REQUEST)]
    if "model" in chosen:
        asyncio.run(model.evaluate(console))
    if not root.is_dir() and not OWN_DATA.issuperset(chosen):
        console.print(f"Skipped: there are no evaluation sets at {root}; set TM_EVAL_DATA (see evals/README.md).")
        return 0
    present = _present(root, chosen, console)
    found = asyncio.run(evaluated(root, present, given.conversations, console)) if present else []
    short = _others(chosen, root, given, console)
    missed = [*(goal for one in found for goal in one.missed()), *short]
    for goal in missed:
        console.print(f"[bold red]missed[/] {goal}")
    if found and not missed:
        console.print("[bold green]every goal is met, and no arm alone beats the service[/]")
    return 1 if missed and given.strict else 0


if __name__ == "__main__":
    sys.exit(main())
