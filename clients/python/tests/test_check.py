"""What `make clients` makes of a registry that does not answer, and of a failure of ours."""

from __future__ import annotations

import os
import sys

import pytest

from check import CLIENTS, Step, main, run


def npm(output: str, *arguments: str, code: int = 1) -> Step:
    return Step(CLIENTS, (sys.executable, "-c", f"print({output!r}); raise SystemExit({code})", *arguments))


@pytest.mark.parametrize("code", ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "FETCH_ERROR", "E503"])
def test_what_needs_npm_is_left_out_without_a_registry(code: str) -> None:
    found = run([npm("", code=0), npm(f"npm error code {code}", "ci"), npm("never run")], os.environ)
    assert found is not None
    assert found.startswith("LEFT OUT")
    assert code in found
    assert "never run" in found


@pytest.mark.parametrize("step", [npm("npm error code E404", "ci"), npm("npm error code ECONNREFUSED", "test")])
def test_a_failure_of_ours_stays_a_failure(step: Step) -> None:
    found = run([step], os.environ)
    assert found is not None
    assert found.startswith("FAILED")


def test_the_exit_code_tells_a_failure_from_what_was_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TM_TEST_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("TM_TEST_API_KEY", "tm_unused")
    monkeypatch.setattr("check.TYPESCRIPT", CLIENTS)
    monkeypatch.setattr("check.steps", lambda _: [npm("npm error code ENOTFOUND", "ci")])
    assert main(["typescript"]) == 0
    monkeypatch.setattr("check.steps", lambda _: [npm("npm error code EUSAGE", "ci")])
    assert main(["typescript"]) == 1
