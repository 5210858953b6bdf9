"""The public cases, where they are present."""

from __future__ import annotations

import pytest

from evals.datasets import data_dir
from evals.temporal import load, main, score

CASES = load(data_dir() / "temporal")


@pytest.mark.skipif(not CASES, reason="no evaluation data: set TM_EVAL_DATA to run this")
def test_public_cases_in_scope_are_read_right() -> None:
    table, _, _ = score(CASES)
    assert table["total"].share >= 0.7
    assert table["total"].accuracy >= 0.95


def test_without_data_the_evaluation_says_so_and_succeeds(tmp_path: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path)]) == 0
    assert "nothing to score" in capsys.readouterr().out
