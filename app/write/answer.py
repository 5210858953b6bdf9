"""What a write answers: its new memories as reading them back would show them, without reading them back."""

from __future__ import annotations

from collections import defaultdict
from operator import itemgetter
from typing import Any
from uuid import UUID

from app.db.memories import whole
from app.model import Memory, Scope
from app.write.plan import Plan


def added(plan: Plan, scope: Scope) -> dict[UUID, Memory]:
    """Return the memories that the plan adds, by id."""
    links, evidence = _links(plan), _evidence(plan)
    common = {
        "scope_kind": scope.kind,
        "user_id": scope.user_id,
        "agent_id": scope.agent_id,
        "access_count": 0,
        "last_accessed_at": None,
        **dict.fromkeys(("stability", "sessions", "useful_count", "not_useful_count", "wrong_count"), 0),
    }
    memories = [
        whole({**row, **common, "links": links[row["id"]], "evidence": evidence[row["id"]]})
        for row in plan.rows["memories"]
    ]
    return {one.id: one for one in memories}


def _links(plan: Plan) -> dict[object, list[dict[str, str]]]:
    """Return the links of each memory, in the order of those that are written at once."""
    found: dict[object, list[dict[str, str]]] = defaultdict(list)
    for row in plan.rows["memory_links"]:
        link = {"kind": str(row["kind"]), "from": str(row["from_memory"]), "to": str(row["to_memory"])}
        found[row["from_memory"]].append(link)
        found[row["to_memory"]].append(link)
    for links in found.values():
        links.sort(key=itemgetter("to"))
    return found


def _evidence(plan: Plan) -> dict[object, list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = sorted(map(dict, plan.rows["evidence"]), key=itemgetter("stated_at", "id"))
    found: dict[object, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        turn = row["turn_id"]
        shown = {"stated_at": row["stated_at"].isoformat(), "turn_id": None if turn is None else str(turn)}
        found[row["memory_id"]].append({**row, **shown})
    return found
