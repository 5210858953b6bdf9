"""What the embedded rules find in texts whose entities and memories are known.

`python -m evals.extraction --data DIR --misses` prints the figures and every miss; the texts are not part of this
repository. A name counts when a proposed payload would make it an entity; a memory when a proposal of its type
shares a quarter of its words. Two of the labelled types have no counterpart here: a commitment is scored against
events, an opinion is not scored.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from rich.console import Console
from rich.table import Table

from app.lexical.bm25 import terms
from app.memory import normalise, vocabulary
from app.memory.extraction import Proposal, Role, Turn
from app.memory.registry import Registry, discover
from app.model import Scope, ScopeKind
from app.providers.rule_extractor import propose
from evals.datasets import data_dir

ENTITIES = "entity_extraction"
MEMORIES = "memory_extraction"
MOMENT = datetime(2026, 3, 11, 12, tzinfo=UTC)
LEAST_OVERLAP = 0.25
COUNTED_AS: Mapping[str, frozenset[str]] = {
    "decision": frozenset({"decision"}),
    "preference": frozenset({"preference"}),
    "fact": frozenset({"fact", "relation", "entity", "event"}),
    "commitment": frozenset({"event"}),
}


@dataclass(slots=True)
class Count:
    """How many there are, were proposed, and match."""

    labelled: int = 0
    proposed: int = 0
    right: int = 0

    @property
    def precision(self) -> float:
        """Return the share of what was proposed that matches."""
        return self.right / self.proposed if self.proposed else 0.0

    @property
    def recall(self) -> float:
        """Return the share of what is labelled that was found."""
        return self.right / self.labelled if self.labelled else 0.0

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


@dataclass(slots=True)
class Found:
    """The figures, and every miss in words."""

    entities: Count = field(default_factory=Count)
    memories: dict[str, Count] = field(default_factory=dict)
    junk: Counter[str] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)


def evaluate(root: Path) -> Found | None:
    """Return the figures for the texts under a data folder; None when they are not there."""
    folder = root / "extraction"
    if not (folder / f"{ENTITIES}.dataset.jsonl").exists():
        return None
    types = discover()
    found = Found()
    for text, labels in _cases(folder, ENTITIES):
        _score_entities(found, text, {one["name"] for one in labels["entities"]}, types)
    for text, labels in _cases(folder, MEMORIES):
        _score_memories(found, text, labels["memories"], types)
    return found


def show(console: Console, found: Found) -> None:
    """Print the figures as a table."""
    table = Table(title="extraction by rules", title_justify="left")
    for column in ("what", "labelled", "proposed", "right", "precision", "recall", "F1"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for name, count in {"entities": found.entities, **found.memories}.items():
        shares = (f"{count.precision:.2f}", f"{count.recall:.2f}", f"{count.f1:.2f}")
        table.add_row(name, str(count.labelled), str(count.proposed), str(count.right), *shares)
    console.print(table)
    unasked = ", ".join(f"{count} {name}" for name, count in found.junk.most_common()) or "none"
    console.print(f"proposals that match no label: {unasked}")


def _cases(folder: Path, name: str) -> list[tuple[str, dict[str, list[dict[str, str]]]]]:
    texts = [json.loads(line) for line in (folder / f"{name}.dataset.jsonl").read_text("utf-8").splitlines()]
    lines = [json.loads(line) for line in (folder / f"{name}.labels.jsonl").read_text("utf-8").splitlines()]
    labels = {one["id"]: one for one in lines}
    return [(one["text"], labels[one["id"]]) for one in texts]


def _proposed(text: str) -> tuple[Proposal, ...]:
    turn = Turn(
        id=UUID(int=1),
        scope=Scope(kind=ScopeKind.USER, user_id="eval"),
        role=Role.USER,
        content=text,
        occurred_at=MOMENT,
    )
    return propose(turn)


def _score_entities(found: Found, text: str, labelled: set[str], types: Registry) -> None:
    names = {name for one in _proposed(text) for name in _names(one, types)}
    wanted = {normalise.normalise_name(name): name for name in labelled}
    given = {normalise.normalise_name(name): name for name in names}
    found.entities.labelled += len(wanted)
    found.entities.proposed += len(given)
    found.entities.right += len(wanted.keys() & given.keys())
    missed = sorted(wanted[key] for key in wanted.keys() - given.keys())
    extra = sorted(given[key] for key in given.keys() - wanted.keys())
    if missed or extra:
        found.misses.append(
            f"{text}\n    missed: {', '.join(missed) or 'nothing'}; not labelled: {', '.join(extra) or 'nothing'}"
        )


def _names(proposal: Proposal, types: Registry) -> set[str]:
    payload = types.get(proposal.type).payload.model_validate(dict(proposal.payload))
    return {one.name for one in payload.mentions() if one.creates and one.name != vocabulary.USER}


def _score_memories(found: Found, text: str, labelled: Sequence[Mapping[str, str]], types: Registry) -> None:
    left = [(one.type, _text_of(one, types)) for one in _proposed(text)]
    for label in labelled:
        allowed = COUNTED_AS.get(label["type"])
        if allowed is None:
            continue
        count = found.memories.setdefault(label["type"], Count())
        count.labelled += 1
        match = next((one for one in left if one[0] in allowed and _overlap(label["content"], one[1])), None)
        if match is None:
            found.misses.append(
                f"{text}\n    missed {label['type']}: {label['content']}; proposed: {left or 'nothing'}"
            )
        else:
            left.remove(match)
            count.right += 1
            count.proposed += 1
    for kind, _ in left:
        found.junk[kind] += 1
        name = next((label for label, allowed in COUNTED_AS.items() if kind in allowed), kind)
        found.memories.setdefault(name, Count()).proposed += 1


def _text_of(proposal: Proposal, types: Registry) -> str:
    rendered = types.get(proposal.type).payload.model_validate(dict(proposal.payload)).render()
    return f"{rendered} {proposal.quote}"


def _overlap(wanted: str, given: str) -> bool:
    words = set(terms(wanted, "english"))
    return len(words & set(terms(given, "english"))) >= LEAST_OVERLAP * len(words)


def main(arguments: list[str] | None = None) -> int:
    """Print the table; without data say so and succeed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder that holds extraction/*.jsonl (default: TM_EVAL_DATA)")
    parser.add_argument("--misses", action="store_true", help="print every miss")
    options = parser.parse_args(arguments)
    console = Console()
    root = options.data or data_dir()
    found = evaluate(root)
    if found is None:
        console.print(f"extraction: skipped, {root / 'extraction'} is not there (see evals/README.md)")
        return 0
    if options.misses:
        print("\n".join(found.misses))
    show(console, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
