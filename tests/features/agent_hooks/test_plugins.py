"""The plugins: well formed, of few lines, and with hooks that the command understands."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from app.features.agent_hooks import hook

FOLDER = Path(__file__).parents[3] / "examples" / "plugins"
NAMES = ("claude-code", "codex", "hermes")


def read(path: str) -> Any:
    return json.loads((FOLDER / path).read_text(encoding="utf-8"))


def commands(hooks: dict[str, Any]) -> dict[str, str]:
    return {event: one["hooks"][0]["command"] for event, [one] in hooks.items()}


@pytest.mark.parametrize("path", ["claude-code/hooks/hooks.json", "codex/hooks/hooks.json"])
def test_each_event_of_the_host_runs_the_hook_for_it(path: str) -> None:
    events = ("SessionStart", "UserPromptSubmit", "Stop")
    assert commands(read(path)["hooks"]) == {event: f"typed-memory hook {hook.EVENTS[event]}" for event in events}


def test_the_tables_for_codex_are_the_hooks_of_its_plugin() -> None:
    tables = tomllib.loads((FOLDER / "codex" / "config.toml").read_text(encoding="utf-8"))
    assert tables == read("codex/hooks/hooks.json")


def test_hermes_runs_the_hook_before_and_after_the_model() -> None:
    lines = (FOLDER / "hermes" / "config.yaml").read_text(encoding="utf-8").splitlines()
    events = [one.strip(" :") for one in lines if one.startswith("  ") and one.endswith(":") and one[2] != " "]
    runs = [shlex.split(one.partition(":")[2])[0] for one in lines if "command" in one]
    assert runs == [f"typed-memory hook {hook.EVENTS[event]}" for event in events]
    assert events == ["pre_llm_call", "post_llm_call"]


@pytest.mark.parametrize(
    ("market", "plugin"),
    [
        (".claude-plugin/marketplace.json", "claude-code/.claude-plugin/plugin.json"),
        (".agents/plugins/marketplace.json", "codex/.codex-plugin/plugin.json"),
    ],
)
def test_a_marketplace_leads_to_its_plugin(market: str, plugin: str) -> None:
    [entry] = read(market)["plugins"]
    source = entry["source"] if isinstance(entry["source"], str) else entry["source"]["path"]
    assert (FOLDER / source).resolve() == (FOLDER / plugin).parents[1]
    assert read(plugin)["name"] == entry["name"]


@pytest.mark.parametrize("name", NAMES)
def test_a_readme_fits_on_a_screen(name: str) -> None:
    assert len((FOLDER / name / "README.md").read_text(encoding="utf-8").splitlines()) <= 20
