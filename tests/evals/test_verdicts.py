from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.verdicts import CANDIDATES, SUPERSESSIONS, digest, load_verdicts


def test_verdicts_are_read_by_digest(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text(json.dumps({"id": "a", "type": "fact", "sha256": "0" * 16, "verdict": "junk"}) + "\n")
    assert load_verdicts(path) == {"0" * 16: "junk"}


@pytest.mark.parametrize("line", ['{"sha256": "0"}', '{"sha256": "0", "verdict": "fine"}', "[]", "no"])
def test_a_line_that_is_no_verdict_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text(f'{{"sha256": "1", "verdict": "right"}}\n{line}\n')
    with pytest.raises(ValueError, match="line 2"):
        load_verdicts(path)


def test_a_digest_tells_where_one_text_ends() -> None:
    assert digest("ab", "c") != digest("a", "bc")
    assert digest("ab", "c") == digest("ab", "c")


@pytest.mark.parametrize("path", [CANDIDATES, SUPERSESSIONS])
def test_the_shipped_verdicts_hold_no_texts(path: Path) -> None:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(load_verdicts(path)) == len(lines)
    for line in lines:
        assert line.keys() == {"id", "type", "sha256", "verdict"}
        assert len(line["sha256"]) == 16
