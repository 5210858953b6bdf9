"""`typed-memory query`: the context, and why."""

from __future__ import annotations

import json

import httpx

from tests.commands.program import Served
from tests.support.waiting import PATIENCE


def remember(service: Served, user: str, value: str) -> None:
    answer = httpx.post(
        f"{service.url}/memories/typed/preference",
        json={"preference_key": "editor.theme", "preference_value": value, "user_id": user},
        headers={"Authorization": f"Bearer {service.key}"},
        timeout=PATIENCE,
    )
    assert answer.status_code == 201, answer.text


def test_the_answer_comes_with_its_reasons(service: Served, user: str) -> None:
    remember(service, user, "dark")
    remember(service, user, "light")
    asked = service.command("query", "which editor theme does the user prefer?", "--user-id", user)
    assert asked.returncode == 0, asked.stderr
    assert "## Preferences" in asked.stdout
    assert "light" in asked.stdout
    assert "dark" not in asked.stdout
    assert "score = retrieval x confidence x freshness^" in asked.stdout
    assert "semantic 1" in asked.stdout
    assert "plan " in asked.stdout
    assert "weights" not in asked.stdout


def test_explain_shows_the_plan_and_what_each_arm_added(service: Served, user: str) -> None:
    remember(service, user, "dark")
    asked = service.command("query", "which theme?", "--user-id", user, "--explain")
    assert "weights: " in asked.stdout
    assert "adds" in asked.stdout


def test_json_is_what_the_service_answered(service: Served, user: str) -> None:
    remember(service, user, "dark")
    asked = service.command("query", "which theme?", "--user-id", user, "--json", "--type", "preference")
    answer = json.loads(asked.stdout)
    assert [hit["memory"]["preference_value"] for hit in answer["memories"]] == ["dark"]
    assert answer["plan"] is None


def test_history_is_shown_when_it_is_asked_for(service: Served, user: str) -> None:
    remember(service, user, "dark")
    remember(service, user, "light")
    asked = service.command("query", "editor theme", "--user-id", user, "--mode", "historical")
    assert "preference, superseded" in asked.stdout


def test_a_wrong_question_is_told_by_its_field(service: Served) -> None:
    asked = service.command("query", "what happened yesterday?", "--now", "yesterday")
    assert asked.returncode == 1
    assert "now: must be an ISO 8601 date and time" in asked.stderr
    asked = service.command("query", "what?", "--type", "wish")
    assert "unknown memory type" in asked.stderr
