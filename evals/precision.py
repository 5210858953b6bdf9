"""`make eval ARGS="--set precision"`: whether a question gets what it is about and nothing else, at the defaults.

Typed beliefs of a few users are stored; each case is a question with the beliefs that must, may not or alone may come
back. What is pinned, and questions that are open, come from the harness, as they do for every system in this benchmark.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from rich.console import Console
from rich.table import Table

from app.errors import TypedMemoryError
from app.memory.candidate import Candidate
from app.model import Scope, ScopeKind, Visibility
from app.read.values import Hit, QueryRequest
from evals.metrics import mean
from evals.service import Bench

FOLDER: Final = Path("precision")
BELIEFS, CASES = FOLDER / "beliefs.seed.json", FOLDER / "retrieval.cases_dev.json"
GOAL_RIGHT, GOAL_PRECISION, GOAL_RECALL = 34 / 42, 0.75, 0.90

_ASKED_AT: Final = datetime(2026, 11, 1, tzinfo=UTC)
_TYPES: Final = ("preference", "entity", "decision", "relation")
_MOST: Final = 20

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A case with what came back: its faults, and precision and recall where it has either."""

    case: str
    faults: tuple[str, ...]
    precision: float | None
    recall: float | None


async def evaluate(bench: Bench, root: Path, console: Console) -> list[str]:
    """Print the figures of the set, and return which goals were missed, in words; none where the set is absent."""
    if not (root / CASES).exists():
        console.print(f"precision: skipped, {root / CASES} is not there (see evals/README.md)")
        return []
    beliefs, cases = json.loads((root / BELIEFS).read_text()), json.loads((root / CASES).read_text())
    known = await _learn(bench, beliefs)
    done = [score(case, beliefs, await _ask(bench, case, known)) for case in cases]
    return show(console, done)


def score(case: Json, beliefs: Sequence[Json], found: Sequence[str]) -> Scored:
    """Score what came back for a case, best first; what is pinned counts as shown, not as found."""
    budget = _most(case)
    pinned = [one["_id"] for one in beliefs if _is_pinned(one, case)]
    shown = pinned[:budget]
    got = [one for one in found if one not in pinned][: max(0, budget - len(shown))]
    want: Json = case["expect"].get("relevantBeliefs", {})
    by_id = {one["_id"]: one for one in beliefs}
    only = want.get("shouldOnlyInclude")
    expected = set(only or [] if only is not None else _unpinned(want.get("mustInclude", []), by_id))
    right = len(expected.intersection(got))
    return Scored(
        case=case["caseId"],
        faults=tuple(_faults(want, got, {*got, *shown})),
        precision=(right / len(got) if got else 0.0) if got or expected else None,
        recall=right / len(expected) if expected else None,
    )


def show(console: Console, done: Sequence[Scored]) -> list[str]:
    """Print how many cases are right, mean precision and recall; return the goals that were missed."""
    right = sum(not one.faults for one in done)
    precision = mean(one.precision for one in done if one.precision is not None)
    recall = mean(one.recall for one in done if one.recall is not None)
    table = Table(title=f"precision: {len(done)} questions about typed beliefs, at the defaults", title_justify="left")
    for column in ("right", "mean precision", "recall"):
        table.add_column(column, justify="right")
    table.add_row(str(right), f"{precision:.3f}", f"{recall:.3f}")
    console.print(table)
    for one in done:
        if one.faults:
            console.print(f"  {one.case}: {', '.join(one.faults)}")
    figures = (
        ("right", right / max(1, len(done)), GOAL_RIGHT),
        ("mean precision", precision, GOAL_PRECISION),
        ("recall", recall, GOAL_RECALL),
    )
    return [
        f"precision: {name} is {value:.3f}, the goal is {goal:.2f}" for name, value, goal in figures if value < goal
    ]


async def _learn(bench: Bench, beliefs: Sequence[Json]) -> dict[UUID, str]:
    """Store the beliefs, replaced ones first; return which each memory is."""
    known: dict[UUID, str] = {}
    for place, one in enumerate(sorted(beliefs, key=lambda one: one["superseded_by"] is None)):
        candidate = _candidate(bench, one, beliefs, place)
        if candidate is None:
            continue
        [result] = await bench.runtime.memories.write_all(bench.actor, [candidate])
        if isinstance(result, TypedMemoryError):
            raise result
        if result.memory is not None:
            known[result.memory.id] = one["_id"]
    for user in {_user(one["user_id"]) for one in beliefs}:
        for scope in Visibility(user_id=user).scopes():
            await bench.upkeep.reweigh(bench.actor.tenant_id, scope.id(bench.actor.tenant_id))
    return known


def _candidate(bench: Bench, belief: Json, beliefs: Sequence[Json], place: int) -> Candidate | None:
    fields = _fields(belief, beliefs)
    if fields is None:
        return None
    kind = bench.runtime.types.get(belief["type"])
    ended = belief["resolved_at"]
    return Candidate(
        type=kind,
        payload=kind.payload.model_validate(fields),
        scope=Scope(kind=ScopeKind.USER, user_id=_user(belief["user_id"])),
        topic=belief["scope"][0],
        source_strength=belief["confidence"],
        stated_at=datetime(2026, 6, 1 + place // 24, place % 24, tzinfo=UTC),
        valid_until=None if ended is None else datetime.fromisoformat(ended),
    )


def _fields(belief: Json, beliefs: Sequence[Json]) -> dict[str, object] | None:
    """Return a belief as the fields of its type; None for a question, which the harness keeps."""
    said = belief["content"].rstrip(".")
    also = f" (also: {', '.join(belief['aliases'])})" if belief["aliases"] else ""
    key = _slot(belief, beliefs).replace("_", " ")
    match belief["type"]:
        case "preference":
            return {"preference_key": key, "preference_value": said + also}
        case "decision":
            return {"subject": key, "decision": said + also, "rationale": belief["why_it_matters"]}
        case "entity":
            name = belief["canonical_name"].replace("_", " ")
            attributes = {"description": belief["content"]}
            return {
                "canonical_name": name,
                "entity_type": "thing",
                "aliases": belief["aliases"],
                "attributes": attributes,
            }
        case "relation":
            return {"from_entity": "auth service", "relation_type": "uses", "to_entity": "Redis"}
    return None


def _slot(belief: Json, beliefs: Sequence[Json]) -> str:
    """Return the name under which a belief stands: that of the one which replaced it in the end."""
    by_id = {one["_id"]: one for one in beliefs}
    while belief["superseded_by"] in by_id:
        belief = by_id[belief["superseded_by"]]
    name: str = belief["canonical_name"]
    return name


async def _ask(bench: Bench, case: Json, known: Mapping[UUID, str]) -> list[str]:
    """Return the beliefs that come back, best first; of a question with several topics, all asked one by one."""
    if not case["query"].strip() or not _most(case):
        return []
    hits: list[Hit] = []
    for topic in case["scope"]:
        request = QueryRequest(
            query=case["query"],
            now=_ASKED_AT,
            visibility=Visibility(user_id=_user(case.get("userId") or "test-user")),
            topic=topic,
            types=_TYPES,
            top_k=_most(case),
        )
        hits += (await bench.runtime.queries.pipeline.answer(bench.actor.tenant_id, request)).result.hits
    ordered = sorted(hits, key=lambda hit: hit.score, reverse=True)
    return [known[hit.memory.id] for hit in ordered if hit.memory.id in known]


def _faults(want: Json, got: Sequence[str], union: Collection[str]) -> list[str]:
    only = want.get("shouldOnlyInclude")
    faults = [f"missing {one}" for one in want.get("mustInclude", []) if one not in union]
    faults += [f"forbidden {one}" for one in want.get("mustExclude", []) if one in union]
    if only is not None:
        faults += [f"unexpected {one}" for one in got if one not in only]
        faults += [f"missing {one}" for one in only if one not in got]
    faults += [
        f"order of {first} and {second}"
        for first, second in want.get("orderedBefore", [])
        if not _before(got, first, second)
    ]
    if len(got) > want.get("maxCount", len(got)):
        faults.append("too many")
    if len(got) < want.get("minCount", 0):
        faults.append("too few")
    return faults


def _before(got: Sequence[str], first: str, second: str) -> bool:
    return first in got and second in got and got.index(first) < got.index(second)


def _is_pinned(belief: Json, case: Json) -> bool:
    own = belief["user_id"] == (case.get("userId") or "test-user") and set(belief["scope"]) & set(case["scope"])
    over = belief["superseded_by"] or belief["resolved_at"] or belief["type"] == "open_question"
    return bool(own and belief["pinned"] and not over)


def _unpinned(wanted: Collection[str], by_id: Mapping[str, Json]) -> list[str]:
    return [one for one in wanted if not by_id[one]["pinned"]]


def _most(case: Json) -> int:
    most: int = (case.get("budget") or {}).get("maxBeliefs", _MOST)
    return most


def _user(name: str) -> str:
    return f"precision {name}"
