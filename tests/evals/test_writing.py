from __future__ import annotations

from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import cast

from rich.console import Console

from app.memory.extraction import Role
from app.memory.registry import discover
from app.model import Scope, ScopeKind
from app.providers.rule_extractor import RuleExtractor
from evals import writing
from evals.datasets import Turn
from evals.guarded import Guarded, baselines, guarded, spoken
from evals.ingested import told
from evals.junk import Label, score
from evals.sample import Sampled
from evals.service import Bench
from evals.verdicts import Verdict, digest

AT = datetime(2026, 5, 9, 12, tzinfo=UTC)
USER = Scope(kind=ScopeKind.USER, user_id="u1")


def said(text: str, *, speaker: str = "user", sequence: int = 0) -> Turn:
    return Turn(f"s:{sequence}", "s", sequence, speaker, text, AT)


def sampled(name: str, turn: Turn, before: Turn | None = None) -> Sampled:
    return Sampled(id=name, source="longmemeval", role="user", turn=turn, before=before)


def candidate(kind: str, decision: str, confidence: float | None = 0.8) -> dict[str, object]:
    return {"type": kind, "decision": decision, "confidence": confidence}


def test_a_role_is_no_speaker_and_a_name_is_one() -> None:
    by_role, by_name = spoken(said("Hi", speaker="assistant"), USER, "a"), spoken(said("Hi", speaker="Ada"), USER, "b")
    assert (by_role.role, by_role.speaker) == (Role.ASSISTANT, None)
    assert (by_name.role, by_name.speaker) == (Role.USER, "Ada")
    assert by_role.id != by_name.id
    assert (by_name.session_id, by_name.sequence_number, by_name.occurred_at) == ("s", 1, AT)


async def test_what_the_rules_find_goes_through_the_guards() -> None:
    drawn = [
        sampled("home", said("I live in Oslo with my sister.")),
        sampled("asked", said("Do you live in Oslo?")),
        sampled("thanks", said("Thanks!")),
    ]
    found = await guarded(drawn, RuleExtractor(), discover())
    assert ("fact", "user lives in Oslo") in found.kept["home"]
    assert found.kept["asked"] == ()
    assert "thanks" not in found.kept
    assert found.dropped == 1


async def test_a_turn_that_repeats_the_one_before_is_dropped() -> None:
    again = sampled("again", said("I live in Oslo now.", sequence=1), said("I live in Oslo now."))
    found = await guarded([again], RuleExtractor(), discover())
    assert (found.kept, found.dropped) == ({}, 1)


def test_baselines_read_nothing() -> None:
    labels = [
        Label(id=role, source="longmemeval", role=role, sha256="0", statements=()) for role in ("user", "assistant")
    ]
    every, people = baselines(labels).values()
    assert (score(labels, every).candidates, score(labels, people).candidates) == (2, 1)
    assert score(labels, every).junk_rate == 1.0


def test_candidates_have_the_verdict_of_their_words() -> None:
    found = Guarded(proposed={}, kept={"a": (("fact", "x"), ("fact", "y"))})
    read = writing.judged(found, {digest("a", "fact", "x"): Verdict.JUNK, digest("b", "fact", "y"): Verdict.RIGHT})
    assert [one.verdict for one in read] == [Verdict.JUNK, None]


def test_decisions_leave_out_turns_kept_as_such_and_what_a_guard_refused() -> None:
    report = {
        "candidates": [
            candidate("fact", "added"),
            candidate("episodic", "added"),
            candidate("event", "rejected", None),
            candidate("event", "rejected", 0.1),
        ]
    }
    found = told([report, {"candidates": []}])
    assert found.decisions == {"added": 1, "rejected": 1}
    assert found.refused == 1


async def test_absent_sets_are_named_and_skipped(tmp_path: Path) -> None:
    console = Console(record=True, width=200, file=StringIO())
    await writing.evaluate(cast("Bench", None), tmp_path, None, console)
    assert "writing: skipped" in console.export_text()
