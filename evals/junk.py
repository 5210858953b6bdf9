"""How much of what an extractor proposes is worth remembering: scored against labelled turns, without a model.

A label says which statements a careful person would keep of a turn, each with its type and with the types that would
be as right. A candidate is right when it can be paired with a statement of its own that allows its type; every other
candidate is junk. Wording is not judged: a right type with a wrong content passes, so read these figures beside the
grounding gate's. `labels/README.md` says how the turns were labelled.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from evals import tables
from evals.sample import ASSISTANT, Sampled

LABELS = Path(__file__).parent / "labels" / "turns.jsonl"

Candidate = tuple[str, str]
"""Type and content."""

GROUPS: Mapping[str, Callable[[Label], bool]] = {
    "all": lambda _: True,
    "LoCoMo": lambda label: label.source == "locomo",
    "LongMemEval, user": lambda label: label.source == "longmemeval" and label.role != ASSISTANT,
    "LongMemEval, assistant": lambda label: label.source == "longmemeval" and label.role == ASSISTANT,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Something a turn says that is worth remembering: of `type`, or as rightly of one of `alternatives`."""

    type: str
    about: str
    gist: str
    alternatives: tuple[str, ...] = ()

    def allows(self, memory_type: str) -> bool:
        """Return whether a memory of that type says this rightly."""
        return memory_type == self.type or memory_type in self.alternatives


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What is worth remembering of a sampled turn; no statements when nothing is."""

    id: str
    source: str
    role: str
    sha256: str
    statements: tuple[Statement, ...]

    @property
    def types(self) -> frozenset[str]:
        """Return the types of the statements."""
        return frozenset(statement.type for statement in self.statements)

    @property
    def worthy(self) -> bool:
        """Return whether the turn says anything worth remembering."""
        return bool(self.statements)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The candidates of one turn, divided; each part in the order they were proposed."""

    label: Label
    right: tuple[Candidate, ...]
    junk: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Counts over some turns.

    `stray` is the part of `junk` from turns that say nothing worth remembering; `covered` counts the worthy turns
    with at least one right candidate.
    """

    turns: int
    candidates: int
    junk: int
    stray: int
    worthy_turns: int
    covered: int

    @property
    def per_turn(self) -> float:
        """Return candidates a turn."""
        return _share(self.candidates, self.turns)

    @property
    def junk_rate(self) -> float:
        """Return the share of candidates that are junk, 0..1; 0 of no candidates."""
        return _share(self.junk, self.candidates)

    @property
    def coverage(self) -> float:
        """Return the share of worthy turns that are covered, 0..1; 0 of none."""
        return _share(self.covered, self.worthy_turns)

    @property
    def missed(self) -> int:
        """Return the worthy turns without a right candidate."""
        return self.worthy_turns - self.covered


def load_labels(path: Path = LABELS) -> tuple[Label, ...]:
    """Load labels, one JSON object a line; ValueError names the line that is not one."""
    labels = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            labels.append(_label(json.loads(line)))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path}, line {number}: not a label, see labels/README.md ({error!r})") from error
    return tuple(labels)


def strict(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Return the labels with each statement's best type only, for judging types as well as junk."""
    return tuple(
        replace(label, statements=tuple(replace(one, alternatives=()) for one in label.statements)) for label in labels
    )


def stale(labels: Iterable[Label], sample: Iterable[Sampled]) -> tuple[str, ...]:
    """Return the ids of labels whose turn is not in the sample, or reads otherwise than when it was labelled."""
    digests = {one.id: one.digest for one in sample}
    return tuple(label.id for label in labels if digests.get(label.id) != label.sha256)


def verdicts(labels: Sequence[Label], produced: Mapping[str, Sequence[Candidate]]) -> tuple[Verdict, ...]:
    """Return a verdict a label; `produced` maps a turn's id to its candidates, a turn it lacks has none.

    ValueError names produced turns that have no label: they can't be judged.
    """
    unknown = sorted(produced.keys() - {label.id for label in labels})
    if unknown:
        raise ValueError(f"no label for {', '.join(unknown)}: score sampled turns only")
    return tuple(_verdict(label, produced.get(label.id, ())) for label in labels)


def figures(judged: Sequence[Verdict]) -> Figures:
    """Return the counts of some verdicts."""
    worthy = [one for one in judged if one.label.worthy]
    return Figures(
        turns=len(judged),
        candidates=sum(len(one.right) + len(one.junk) for one in judged),
        junk=sum(len(one.junk) for one in judged),
        stray=sum(len(one.junk) for one in judged if not one.label.worthy),
        worthy_turns=len(worthy),
        covered=sum(bool(one.right) for one in worthy),
    )


def score(labels: Sequence[Label], produced: Mapping[str, Sequence[Candidate]]) -> Figures:
    """Return the figures of what an extractor produced for the labelled turns."""
    return figures(verdicts(labels, produced))


def show(console: Console, judged: Sequence[Verdict], name: str) -> None:
    """Print an extractor's figures: over all turns, by where they come from, and junk by type."""
    console.print(_by_source(judged, name))
    console.print(_by_type(judged))


def _by_source(judged: Sequence[Verdict], name: str) -> Table:
    titles = ("turns", "candidates", "a turn", "junk", "junk rate", "stray", "worthy", "covered", "missed")
    table = tables.figures(f"{name}: what is worth remembering", "turns of", titles)
    for group, belongs in GROUPS.items():
        found = figures([one for one in judged if belongs(one.label)])
        cells = (
            str(found.turns),
            str(found.candidates),
            f"{found.per_turn:.2f}",
            str(found.junk),
            f"{found.junk_rate:.1%}",
            str(found.stray),
            str(found.worthy_turns),
            f"{found.coverage:.1%}",
            str(found.missed),
        )
        table.add_row(group, *cells, style="bold" if group == "all" else None)
    return table


def _by_type(judged: Sequence[Verdict]) -> Table:
    table = tables.figures("by type", "type", ("candidates", "junk", "junk rate", "labelled"))
    junk = [memory_type for one in judged for memory_type, _ in one.junk]
    every = junk + [memory_type for one in judged for memory_type, _ in one.right]
    labelled = [statement.type for one in judged for statement in one.label.statements]
    for memory_type in sorted({*every, *labelled}):
        proposed, wrong = every.count(memory_type), junk.count(memory_type)
        rate = f"{_share(wrong, proposed):.1%}" if proposed else ""
        table.add_row(memory_type, str(proposed), str(wrong), rate, str(labelled.count(memory_type)))
    return table


def _verdict(label: Label, candidates: Sequence[Candidate]) -> Verdict:
    right = _paired([memory_type for memory_type, _ in candidates], label.statements)
    return Verdict(
        label=label,
        right=tuple(one for number, one in enumerate(candidates) if number in right),
        junk=tuple(one for number, one in enumerate(candidates) if number not in right),
    )


def _paired(types: Sequence[str], statements: Sequence[Statement]) -> frozenset[int]:
    """Return which candidates get a statement of their own, as many as can.

    A statement that allows two types is given to whichever candidate needs it, by augmenting paths, so the count
    does not depend on the order of the statements.
    """
    holders: dict[int, int] = {}

    def place(candidate: int, tried: set[int]) -> bool:
        for number, statement in enumerate(statements):
            if number in tried or not statement.allows(types[candidate]):
                continue
            tried.add(number)
            if number not in holders or place(holders[number], tried):
                holders[number] = candidate
                return True
        return False

    return frozenset(candidate for candidate in range(len(types)) if place(candidate, set()))


def _label(fields: Mapping[str, Any]) -> Label:
    return Label(
        id=fields["id"],
        source=fields["source"],
        role=fields["role"],
        sha256=fields["sha256"],
        statements=tuple(_statement(one) for one in fields["statements"]),
    )


def _statement(fields: Mapping[str, Any]) -> Statement:
    return Statement(
        type=fields["type"],
        about=fields["about"],
        gist=fields["gist"],
        alternatives=tuple(fields.get("or", ())),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
