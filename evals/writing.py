"""`make eval ARGS="--set writing"`: what the write side makes of conversations without a model.

Three parts: the labelled turns through the rules and all guards, judged by type; what comes of these and of other
turns, judged by reading; and whole conversations through the write pipeline, with what their stores hold in the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from app.memory.registry import discover
from app.providers.rule_extractor import RuleExtractor
from evals import ingested, junk, tables
from evals.datasets import Conversation, load_locomo, load_longmemeval_oracle
from evals.guarded import Guarded, baselines, guarded
from evals.ingested import ingest
from evals.junk import Candidate, Figures, Label, load_labels, score, stale, strict, verdicts
from evals.sample import Sampled, others, sample
from evals.service import Bench
from evals.verdicts import CANDIDATES, Verdict, Verdicts, digest, load_verdicts

FILES = (Path("locomo", "locomo_dev.json"), Path("longmemeval", "longmemeval_oracle_dev.json"))

OTHERS = 1_000
"""Turns outside the labelled sample whose candidates were read one by one, as the sample's were."""

REASONS = 5
"""Reasons of refusal that are printed, the commonest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A candidate of a turn with what a reader found of it, None when none has read it."""

    turn: str
    type: str
    content: str
    verdict: Verdict | None


async def evaluate(bench: Bench, root: Path, limit: int | None, console: Console, *, read: bool = False) -> None:
    """Print all three parts, or which file they lack; `limit` ingests only the first conversations of a set.

    `read` prints the texts that the figures are about, too: they are not part of this repository.
    """
    absent = [path for path in FILES if not (root / path).exists()]
    if absent:
        console.print(f"writing: skipped, {root / absent[0]} is not there (see evals/README.md)")
        return
    locomo, longmemeval = load_locomo(root), load_longmemeval_oracle(root)
    drawn = sample(locomo, longmemeval)
    await _labelled(drawn, console, read=read)
    await _by_reading("the labelled turns", drawn, console, read=read)
    await _by_reading(f"{OTHERS:,} other turns", others(locomo, longmemeval, OTHERS), console, read=read)
    every = [(name, one) for name, set_ in _sets(locomo, longmemeval) for one in set_[:limit]]
    with Progress(console=console) as progress:
        steps = progress.track(every, description="ingested")
        done = [await ingest(bench, name, conversation) for name, conversation in steps]
    ingested.show(console, done, read=read)


def judged(found: Guarded, known: Verdicts) -> tuple[Judged, ...]:
    """Return each candidate with its verdict."""
    return tuple(
        Judged(turn=turn, type=kind, content=content, verdict=known.get(digest(turn, kind, content)))
        for turn, candidates in found.kept.items()
        for kind, content in candidates
    )


def _sets(
    locomo: Sequence[Conversation], longmemeval: Sequence[Conversation]
) -> tuple[tuple[str, Sequence[Conversation]], ...]:
    return ("LoCoMo", locomo), ("LongMemEval", longmemeval)


async def _labelled(drawn: Sequence[Sampled], console: Console, *, read: bool) -> None:
    labels = load_labels()
    changed = stale(labels, drawn)
    if changed:
        console.print(f"writing: the labels are of other texts, and are left out: {', '.join(changed[:REASONS])}")
        return
    found = await guarded(drawn, RuleExtractor(), discover())
    if read:
        _show_junk(console, labels, found, {one.id: one.turn.text for one in drawn})
    console.print(_against(labels, found))
    junk.show(console, verdicts(labels, found.kept), "rules, guarded")


async def _by_reading(name: str, drawn: Sequence[Sampled], console: Console, *, read: bool) -> None:
    found = judged(await guarded(drawn, RuleExtractor(), discover()), load_verdicts(CANDIDATES))
    if read:
        texts = {one.id: one.turn.text for one in drawn}
        for one in found:
            if one.verdict is not Verdict.RIGHT:
                console.print(escape(f"{one.turn}: {texts[one.turn]}"))
                key = digest(one.turn, one.type, one.content)
                console.print(escape(f"    {one.verdict or 'unread'}, {key}, {one.type}: {one.content}"))
    console.print(_as_read(name, found))


def _as_read(name: str, found: Sequence[Judged]) -> Table:
    titles = ("candidates", "unread", "read", *Verdict, "not right")
    table = tables.figures(f"{name}: what comes of them, as a reader found it", "type", titles)
    for kind in ("all", *sorted({one.type for one in found})):
        part = [one for one in found if kind in {"all", one.type}]
        counts = Counter(one.verdict for one in part)
        read = len(part) - counts[None]
        cells = (len(part), counts[None], read, *(counts[verdict] for verdict in Verdict))
        rate = tables.percent(read - counts[Verdict.RIGHT], read)
        table.add_row(kind, *map(str, cells), rate, style="bold" if kind == "all" else None)
    return table


def _against(labels: Sequence[Label], found: Guarded) -> Table:
    titles = ("candidates", "a turn", "junk rate", "strict", "stray", "covered", "strict")
    title = f"{len(labels)} labelled turns: the rules beside extractors that read nothing"
    table = tables.figures(title, "extractor", titles)
    produced: dict[str, Mapping[str, Sequence[Candidate]]] = {
        "rules, guarded": found.kept,
        "rules alone": found.proposed,
        **baselines(labels),
    }
    for name, candidates in produced.items():
        wide, narrow = score(labels, candidates), score(strict(labels), candidates)
        table.add_row(name, *_row(wide, narrow), style="bold" if candidates is found.kept else None)
    refused = Counter(found.reasons).most_common(REASONS)
    told = "; ".join(f"{count} {reason}" for reason, count in refused) or "nothing"
    table.caption = escape(f"dropped by the prefilter: {found.dropped} turns; refused by guards: {told}")
    return table


def _row(wide: Figures, narrow: Figures) -> tuple[str, ...]:
    return (
        str(wide.candidates),
        f"{wide.per_turn:.2f}",
        f"{wide.junk_rate:.1%}",
        f"{narrow.junk_rate:.1%}",
        str(wide.stray),
        f"{wide.coverage:.1%}",
        f"{narrow.coverage:.1%}",
    )


def _show_junk(console: Console, labels: Sequence[Label], found: Guarded, texts: Mapping[str, str]) -> None:
    for verdict in verdicts(labels, found.kept):
        if verdict.junk or (verdict.label.worthy and not verdict.right):
            said = "; ".join(f"{one.type}: {one.gist}" for one in verdict.label.statements) or "nothing"
            console.print(escape(f"{verdict.label.id}: {texts[verdict.label.id]}"))
            console.print(escape(f"    junk {list(verdict.junk)}; right {list(verdict.right)}; labelled {said}"))
