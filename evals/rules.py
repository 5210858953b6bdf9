"""`make eval ARGS="--set rules"`: what each rule of the embedded extractor yields on the development conversations.

Precision is what readers found of a rule's candidates, where they have read any (`labels/candidates.jsonl`), beside the
precision that the table of rules claims, which is the extractor's confidence. A rule that yields nothing is listed
too: it stays only where the specification's own sentences need it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console

from app.english.rules.table import RULES
from app.memory.extraction import Proposal
from app.memory.registry import Registry, discover
from app.model import Scope, ScopeKind
from app.providers.rule_extractor import ruled_proposals
from evals import tables
from evals.datasets import Conversation, load_locomo, load_longmemeval_oracle
from evals.guarded import spoken
from evals.sample import Sampled, every
from evals.verdicts import CANDIDATES, Verdict, Verdicts, digest, load_verdicts

FILES = (Path("locomo", "locomo_dev.json"), Path("longmemeval", "longmemeval_oracle_dev.json"))


@dataclass(slots=True)
class RuleYield:
    """How often one rule proposed something or an ending, and what readers found of its candidates."""

    proposed: int = 0
    ended: int = 0
    verdicts: Counter[Verdict] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledCandidate:
    """A proposal of a rule as the sentence of its type; `content` is empty for an ending."""

    turn: Sampled
    rule: str
    type: str
    content: str


def candidates(
    locomo: Sequence[Conversation], longmemeval: Sequence[Conversation], types: Registry
) -> Iterator[RuledCandidate]:
    """Yield what the rules propose of every turn, each with the turn before it as its context."""
    scope = Scope(kind=ScopeKind.USER, user_id="rules")
    for one in every(locomo, longmemeval):
        turn = spoken(one.turn, scope, one.id)
        context = [] if one.before is None else [spoken(one.before, scope, f"before {one.id}")]
        for rule, proposal in ruled_proposals(turn, context):
            yield RuledCandidate(turn=one, rule=rule, type=proposal.type, content=_rendered(proposal, types))


def yields(found: Sequence[RuledCandidate], known: Verdicts) -> Mapping[str, RuleYield]:
    """Return the figures of each rule."""
    figures: dict[str, RuleYield] = defaultdict(RuleYield)
    for one in found:
        figure = figures[one.rule]
        if not one.content:
            figure.ended += 1
            continue
        figure.proposed += 1
        verdict = known.get(digest(one.turn.id, one.type, one.content))
        if verdict is not None:
            figure.verdicts[verdict] += 1
    return figures


def evaluate(root: Path, console: Console, *, read: bool) -> None:
    """Print the table, or which file is absent; `read` prints what no reader has judged, with its turn."""
    absent = [path for path in FILES if not (root / path).exists()]
    if absent:
        console.print(f"rules: skipped, {root / absent[0]} is not there (see evals/README.md)")
        return
    known = load_verdicts(CANDIDATES)
    found = list(candidates(load_locomo(root), load_longmemeval_oracle(root), discover()))
    if read:
        _show_unread(console, found, known)
    _show(console, yields(found, known))


def _show(console: Console, figures: Mapping[str, RuleYield]) -> None:
    titles = ("proposed", "ended", "read", "right", "junk", "wrong", "precision", "claimed")
    table = tables.figures("what each rule yields", "rule", titles)
    claimed: dict[str, float] = {}
    for name, precision in RULES:
        claimed[name] = max(precision, claimed.get(name, 0))
    for name in sorted(claimed, key=lambda one: -figures[one].proposed if one in figures else 0):
        figure = figures.get(name, RuleYield())
        read = figure.verdicts.total()
        shares = [str(figure.verdicts[verdict]) for verdict in (Verdict.RIGHT, Verdict.JUNK, Verdict.WRONG)]
        share = tables.percent(figure.verdicts[Verdict.RIGHT], read)
        table.add_row(name, str(figure.proposed), str(figure.ended), str(read), *shares, share, f"{claimed[name]:.2f}")
    console.print(table)


def _show_unread(console: Console, found: Sequence[RuledCandidate], known: Verdicts) -> None:
    for one in found:
        key = digest(one.turn.id, one.type, one.content)
        if one.content and key not in known:
            console.print(f"{key} {one.rule}: {one.content}", markup=False)
            console.print(f"    {one.turn.id}: {one.turn.turn.text}", markup=False)


def _rendered(proposal: Proposal, types: Registry) -> str:
    if proposal.ends:
        return ""
    try:
        return types.get(proposal.type).payload.model_validate(dict(proposal.payload)).render()
    except ValidationError:
        return ""
