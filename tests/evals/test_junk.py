from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from io import StringIO
from itertools import permutations
from pathlib import Path

import pytest
from rich.console import Console

from evals.datasets import Turn, data_dir, load_locomo, load_longmemeval_oracle
from evals.junk import Figures, Label, Statement, figures, load_labels, score, show, stale, strict, verdicts
from evals.sample import Sampled, sample

TYPES = {"fact", "preference", "event", "entity", "relation", "decision"}
SETS_ARE_THERE = (data_dir() / "locomo/locomo_dev.json").exists() and (
    data_dir() / "longmemeval/longmemeval_oracle_dev.json"
).exists()


def says(memory_type: str, *alternatives: str) -> Statement:
    return Statement(type=memory_type, about="user", gist="something", alternatives=alternatives)


def label(
    name: str, *statements: Statement, source: str = "longmemeval", role: str = "user", digest: str = "0" * 16
) -> Label:
    return Label(id=name, source=source, role=role, sha256=digest, statements=statements)


MOVED = label("moved", says("event"), says("fact"), says("entity"))
THANKS = label("thanks")
DARK_MODE = label("dark", says("preference"))
LABELS = (MOVED, THANKS, DARK_MODE)


def test_a_perfect_extractor_has_no_junk_and_misses_nothing() -> None:
    found = score(
        LABELS,
        {
            "moved": [("event", "moved to Oslo"), ("fact", "lives in Oslo"), ("entity", "Oslo is a city")],
            "dark": [("preference", "dark mode")],
        },
    )
    assert found == Figures(turns=3, candidates=4, junk=0, stray=0, worthy_turns=2, covered=2)
    assert found.per_turn == pytest.approx(4 / 3)
    assert (found.junk_rate, found.coverage, found.missed) == (0.0, 1.0, 0)


def test_a_type_the_turn_does_not_say_is_junk_and_covers_nothing() -> None:
    found = score(LABELS, {"dark": [("event", "switched to dark mode")]})
    assert (found.junk, found.stray, found.covered, found.missed) == (1, 0, 0, 2)
    assert found.junk_rate == 1.0


def test_more_of_a_type_than_the_turn_says_is_junk() -> None:
    proposed = [("fact", "lives in Oslo"), ("fact", "is in Oslo"), ("fact", "left Bergen")]
    (moved,) = verdicts([MOVED], {"moved": proposed})
    assert moved.right == (("fact", "lives in Oslo"),)
    assert moved.junk == (("fact", "is in Oslo"), ("fact", "left Bergen"))


def test_anything_from_a_turn_that_says_nothing_is_stray_junk() -> None:
    found = score(LABELS, {"thanks": [("preference", "likes the answer"), ("fact", "is grateful")]})
    assert (found.candidates, found.junk, found.stray, found.worthy_turns) == (2, 2, 2, 2)


def test_silence_is_no_junk_and_misses_every_worthy_turn() -> None:
    found = score(LABELS, {})
    assert (found.candidates, found.per_turn, found.junk_rate) == (0, 0.0, 0.0)
    assert (found.covered, found.missed, found.coverage) == (0, 2, 0.0)


def test_no_turns_have_no_figures() -> None:
    found = score([], {})
    assert (found.per_turn, found.junk_rate, found.coverage) == (0.0, 0.0, 0.0)


def test_a_statement_takes_any_of_its_types_but_one_candidate_only() -> None:
    married = label("married", says("fact", "relation"))
    assert score([married], {"married": [("relation", "married to Bo")]}).junk == 0
    assert score([married], {"married": [("relation", "married to Bo"), ("fact", "has a wife")]}).junk == 1


def test_strictly_only_the_best_type_is_right() -> None:
    married = label("married", says("fact", "relation"))
    assert score(strict([married]), {"married": [("relation", "married to Bo")]}).junk == 1
    assert score(strict([married]), {"married": [("fact", "is married")]}).junk == 0


@pytest.mark.parametrize("proposed", list(permutations(["fact", "event", "preference"])))
def test_candidates_are_paired_so_that_as_many_as_can_are_right(proposed: Sequence[str]) -> None:
    wide = label("wide", says("fact", "event", "preference"), says("fact", "event"), says("fact"))
    found = score([wide], {"wide": [(memory_type, "") for memory_type in proposed]})
    assert found.junk == 0


def test_candidates_keep_their_order() -> None:
    proposed = [("event", "b"), ("decision", "x"), ("fact", "a"), ("decision", "y")]
    (moved,) = verdicts([MOVED], {"moved": proposed})
    assert moved.right == (("event", "b"), ("fact", "a"))
    assert moved.junk == (("decision", "x"), ("decision", "y"))


def test_a_turn_without_a_label_cannot_be_judged() -> None:
    with pytest.raises(ValueError, match="no label for elsewhere"):
        score(LABELS, {"elsewhere": [("fact", "x")]})


def test_figures_can_be_taken_of_a_part() -> None:
    judged = verdicts(LABELS, {"moved": [("fact", "x")], "thanks": [("fact", "y")]})
    assert figures([one for one in judged if not one.label.worthy]).junk_rate == 1.0
    assert figures([one for one in judged if one.label.worthy]).junk_rate == 0.0


def test_the_tables_name_each_source_and_each_type() -> None:
    labels = (*LABELS, label("Ada", says("event"), source="locomo"), label("help", role="assistant"))
    proposed = {"Ada": [("event", "won a race"), ("relation", "Ada won it")], "help": [("fact", "tea is hot")]}
    console = Console(record=True, width=160, file=StringIO())
    show(console, verdicts(labels, proposed), "embedded")
    lines = [" ".join(line.replace("│", " ").split()) for line in console.export_text().splitlines()]
    assert "embedded: what is worth remembering" in lines
    assert "all 5 3 0.60 2 66.7% 1 3 33.3% 2" in lines
    assert "LoCoMo 1 2 2.00 1 50.0% 0 1 100.0% 0" in lines
    assert "LongMemEval, user 3 0 0.00 0 0.0% 0 2 0.0% 2" in lines
    assert "LongMemEval, assistant 1 1 1.00 1 100.0% 1 0 0.0% 0" in lines
    assert "relation 1 1 100.0% 0" in lines
    assert "preference 0 0 1" in lines


def test_a_label_is_stale_when_its_turn_changed_or_went() -> None:
    turn = Turn("s:0", "s", 0, "user", "I moved to Oslo.", datetime(2026, 5, 9, tzinfo=UTC))
    one = Sampled(id="moved", source="longmemeval", role="user", turn=turn, before=None)
    assert stale([label("moved", digest=one.digest)], [one]) == ()
    assert stale([label("moved"), label("gone", digest=one.digest)], [one]) == ("moved", "gone")


def test_a_line_that_is_no_label_is_named(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    line = {"id": "a", "source": "locomo", "role": "user", "sha256": "0", "types": [], "statements": []}
    path.write_text(json.dumps(line) + '\n{"id": "b"}\n')
    with pytest.raises(ValueError, match="line 2"):
        load_labels(path)
    path.write_text(json.dumps(line))
    assert load_labels(path) == (label("a", source="locomo", digest="0"),)


def test_the_shipped_labels_are_complete_and_agree_with_themselves() -> None:
    labels = load_labels()
    assert len(labels) == len({one.id for one in labels}) == 200
    for one in labels:
        assert len(one.sha256) == 16
        for statement in one.statements:
            assert {statement.type, *statement.alternatives} <= TYPES, one.id
            assert statement.type not in statement.alternatives, one.id
            assert statement.about, one.id
            assert 1 <= len(statement.gist.split()) <= 12, one.id


def test_the_shipped_types_are_those_of_the_statements() -> None:
    path = Path(__file__).parents[2] / "evals/labels/turns.jsonl"
    written = {line["id"]: line["types"] for line in map(json.loads, path.read_text().splitlines())}
    assert written == {one.id: sorted(one.types) for one in load_labels()}


@pytest.mark.skipif(not SETS_ARE_THERE, reason="the public sets are not part of this repository")
def test_the_shipped_labels_are_of_the_sample_as_it_is_drawn() -> None:
    drawn = sample(load_locomo(), load_longmemeval_oracle())
    labels = load_labels()
    assert [(one.id, one.source, one.role) for one in drawn] == [(one.id, one.source, one.role) for one in labels]
    assert stale(labels, drawn) == ()
