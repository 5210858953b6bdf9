"""Conversations through the whole write pipeline, and what their stores hold in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from time import perf_counter
from typing import Any
from uuid import uuid4

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.db.session import statement
from app.db.turns import StoredTurn
from app.memory.candidate import WriteDecision
from app.memory.extraction import TurnStatus
from app.model import MemoryStatus, Scope, ScopeKind
from app.write.extract import EPISODE
from evals import tables
from evals.datasets import Conversation
from evals.guarded import spoken
from evals.service import Bench
from evals.twins import Held, Superseded, Twins, duplicates, twins
from evals.verdicts import SUPERSESSIONS, Verdict, Verdicts, load_verdicts

_HELD = statement(
    """
    SELECT id, type, coalesce(CAST(subject_id AS text), subject, '') AS about, content, status, superseded_by
    FROM memories WHERE tenant_id = :tenant AND scope_id = :scope AND type <> :episode ORDER BY id
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What was decided about typed candidates, by kind, and how many proposals no decision was made about."""

    decisions: Counter[str]
    refused: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What came of one conversation of a set."""

    set: str
    turns: int
    skipped: int
    seconds: float
    told: Told
    active: int
    pairs: tuple[Twins, ...]
    superseded: tuple[Superseded, ...]


async def ingest(bench: Bench, name: str, conversation: Conversation) -> Written:
    """Take a conversation of the named set through the write pipeline, a session at a time, for a user of its own."""
    runtime = bench.runtime
    scope = Scope(kind=ScopeKind.USER, user_id=f"writing {uuid4()}")
    stored: list[StoredTurn] = []
    since = perf_counter()
    for _, group in groupby(conversation.turns, key=lambda turn: turn.session_id):
        turns = [spoken(one, scope, f"{scope.user_id}:{one.id}") for one in group]
        await runtime.turns.store(bench.actor, turns, [{} for _ in turns])
        stored += await runtime.turns.process(bench.actor, [one.id for one in turns])
    seconds = perf_counter() - since
    active, superseded = await _held(bench, scope, conversation.id)
    return Written(
        set=name,
        turns=len(stored),
        skipped=sum(one.status is TurnStatus.SKIPPED for one in stored),
        seconds=seconds,
        told=told([one.report for one in stored if one.report is not None]),
        active=len(active),
        pairs=tuple(twins(active, await runtime.embedder.embed([one.content for one in active]))),
        superseded=tuple(superseded),
    )


def told(reports: Sequence[Mapping[str, Any]]) -> Told:
    """Return what reports of turns say about typed candidates; a turn that is kept as such does not count."""
    every = [one for report in reports for one in report["candidates"] if one["type"] != EPISODE]
    refused = [one for one in every if one["decision"] == WriteDecision.REJECTED and one["confidence"] is None]
    decisions = Counter(str(one["decision"]) for one in every)
    decisions[WriteDecision.REJECTED] -= len(refused)
    return Told(decisions=+decisions, refused=len(refused))


async def _held(bench: Bench, scope: Scope, place: str) -> tuple[list[Held], list[Superseded]]:
    """Return the active typed memories of a scope, and those that gave way with their successors."""
    tenant = bench.actor.tenant_id
    async with bench.runtime.database.read(tenant) as session:
        rows = await session.fetch(_HELD, {"tenant": tenant, "scope": scope.id(tenant), "episode": EPISODE})
    held = {
        row["id"]: Held(id=row["id"], place=place, type=row["type"], about=row["about"], content=row["content"])
        for row in rows
    }
    active = [held[row["id"]] for row in rows if row["status"] == MemoryStatus.ACTIVE]
    pairs = [(held[row["id"]], held.get(row["superseded_by"])) for row in rows]
    return active, [Superseded(old=old, new=new) for old, new in pairs if new is not None]


def show(console: Console, done: Sequence[Written], *, read: bool) -> None:
    """Print decisions, duplicates and supersessions by set; `read`: the texts of both, too."""
    verdicts = load_verdicts(SUPERSESSIONS)
    console.print(_decisions(done))
    console.print(_beliefs(done, verdicts))
    if not read:
        return
    for pair in (pair for one in done for pair in one.pairs):
        console.print(escape(f"twice, {pair.one.type} {pair.likeness:.3f}: {pair.one.content} | {pair.other.content}"))
    for gone in (gone for one in done for gone in one.superseded):
        verdict = verdicts.get(gone.digest, "unread")
        console.print(escape(f"gave way, {gone.digest}, {verdict}: {gone.old.content} -> {gone.new.content}"))


def _decisions(done: Sequence[Written]) -> Table:
    kinds = [kind for kind in WriteDecision if any(one.told.decisions[kind] for one in done)]
    titles = ("turns", "skipped", "turns/s", "candidates", "a turn", "refused", *kinds)
    table = tables.figures("conversations ingested: what was decided about typed candidates", "set", titles)
    for name, part in _by_set(done):
        turns = sum(one.turns for one in part)
        decisions = sum((one.told.decisions for one in part), Counter[str]())
        cells = (
            str(turns),
            str(sum(one.skipped for one in part)),
            f"{turns / sum(one.seconds for one in part):.0f}",
            str(decisions.total()),
            f"{decisions.total() / turns:.2f}",
            str(sum(one.told.refused for one in part)),
            *(str(decisions[kind]) for kind in kinds),
        )
        table.add_row(name, *cells)
    return table


def _beliefs(done: Sequence[Written], verdicts: Verdicts) -> Table:
    titles = ("active", "stand twice", "rate", "word for word", "gave way", "falsely", "unread")
    table = tables.figures("conversations ingested: duplicates and supersessions", "set", titles)
    for name, part in _by_set(done):
        active, pairs = sum(one.active for one in part), [pair for one in part for pair in one.pairs]
        twice = len(duplicates(pairs))
        found = [verdicts.get(gone.digest) for one in part for gone in one.superseded]
        unread = found.count(None)
        cells = (
            str(active),
            str(twice),
            tables.percent(twice, active),
            str(len(duplicates(pair for pair in pairs if pair.same_words))),
            str(len(found)),
            str(len(found) - unread - found.count(Verdict.RIGHT)),
            str(unread),
        )
        table.add_row(name, *cells)
    return table


def _by_set(done: Sequence[Written]) -> list[tuple[str, list[Written]]]:
    return [(name, list(part)) for name, part in groupby(done, key=lambda one: one.set)]
