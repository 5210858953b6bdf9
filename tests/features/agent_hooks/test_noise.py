"""The labelled prompts: mostly nothing is added to them, and hardly ever what answers nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.features.agent_hooks.hosts import ClaudeCode, Served, lines_of, read_prompts

pytestmark = pytest.mark.long

HERE = Path(__file__).parent


@pytest.mark.parametrize("folder", ["backend", "teacher"])
async def test_few_prompts_get_a_line_that_answers_nothing(served: Served, folder: str) -> None:
    await served.say(*(HERE / folder / "said.txt").read_text(encoding="utf-8").splitlines())
    prompts = read_prompts((HERE / folder / "prompts.txt").read_text(encoding="utf-8"))
    host, noisy, answered = ClaudeCode(), [], 0
    for number, one in enumerate(prompts):
        lines = lines_of(await served.fire(host.prompt(f"s{number}", 1, one.text)))
        answered += any(one.answer in line for line in lines) if one.answer else 0
        wrong = [line for line in lines if not one.answer or one.answer not in line]
        if wrong:
            noisy.append((one.text, one.answer, wrong))
    told = "\n".join(map(str, noisy))
    asked = sum(bool(one.answer) for one in prompts)
    assert len(noisy) <= 0.05 * len(prompts), told
    assert answered >= 0.6 * asked
