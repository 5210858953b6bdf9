"""Cases of the precision set are scored by what came back beside what is pinned."""

from __future__ import annotations

from typing import Any

import pytest

from evals.precision import score


def belief(name: str, **given: Any) -> dict[str, Any]:
    fields = {"user_id": "test-user", "scope": ["s"], "type": "preference", "superseded_by": None, "resolved_at": None}
    return {"_id": name, "pinned": False, **fields, **given}


BELIEFS = [belief("a"), belief("b"), belief("p", pinned=True)]


def case(**want: Any) -> dict[str, Any]:
    return {"caseId": "c", "scope": ["s"], "query": "?", "expect": {"relevantBeliefs": want}}


@pytest.mark.parametrize(
    ("want", "found", "faults"),
    [
        ({"shouldOnlyInclude": ["a"]}, ["a"], 0),
        ({"shouldOnlyInclude": ["a"]}, ["a", "b"], 1),
        ({"shouldOnlyInclude": ["a"]}, [], 1),
        ({"shouldOnlyInclude": ["a"]}, ["p", "a"], 0),
        ({"mustInclude": ["p"]}, [], 0),
        ({"mustExclude": ["b"]}, ["b"], 1),
        ({"orderedBefore": [["a", "b"]]}, ["b", "a"], 1),
        ({"maxCount": 1}, ["a", "b"], 1),
        ({"minCount": 1}, [], 1),
    ],
)
def test_a_case_has_a_fault_for_each_wish_that_is_not_met(want: dict[str, Any], found: list[str], faults: int) -> None:
    assert len(score(case(**want), BELIEFS, found).faults) == faults


def test_precision_and_recall_are_of_what_was_found() -> None:
    scored = score(case(shouldOnlyInclude=["a"]), BELIEFS, ["a", "b", "p"])
    assert (scored.precision, scored.recall) == (0.5, 1.0)
    nothing = score(case(shouldOnlyInclude=[]), BELIEFS, [])
    assert (nothing.precision, nothing.recall) == (None, None)
