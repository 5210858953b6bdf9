"""`typed-memory remember`, `recall`, `query`, `forget`, `history`, `why`, `users` against a service in a process."""

from __future__ import annotations

import json
import math
import re

import httpx
import pytest

from tests.commands.program import Served
from tests.support.waiting import PATIENCE


def test_what_was_said_is_remembered_recalled_explained_and_forgotten(service: Served, user: str) -> None:
    told = service.command("remember", "I work at Siemens.", "--user-id", user)
    assert told.returncode == 0, told.stderr
    found = re.search(r"added (mem_\w+) \(fact\)", told.stdout)
    assert found, told.stdout
    assert "Siemens" in service.command("recall", "Where does the user work?", "--user", user).stdout

    why = service.command("why", found[1]).stdout
    assert '"I work at Siemens' in why
    assert "confidence: source strength" in why

    answer = service.command("why", "Where does the user work?", "--user-id", user).stdout
    assert found[1] in answer
    assert "score = retrieval x confidence" in answer
    assert "adds" in answer

    fields = json.dumps({"predicate": "works-at", "object": "Bosch"})
    newer = service.command("remember", "--type", "fact", "--fields", fields, "--user-id", user, "--json")
    newest = json.loads(newer.stdout)["memory"]["id"]
    versions = service.command("history", newest).stdout
    assert versions.index("Siemens") < versions.index("Bosch")

    listed = service.command("users", user).stdout
    assert user[:20] in listed

    erased = service.command("forget", newest)
    assert erased.returncode == 0, erased.stderr
    assert "1 memory," in erased.stdout
    gone = service.command("why", newest)
    assert gone.returncode == 1
    assert newest in gone.stderr


def test_forgetting_a_belief_shows_what_else_was_made_of_its_turn(service: Served, user: str) -> None:
    said = "My parrots sing all day."
    stored = service.command("remember", f"I live in Ghent. {said}", "--user-id", user).stdout
    [belief] = re.findall(r"(mem_\w+) \(fact\): user lives in Ghent", stored)
    forgotten = service.command("forget", belief)
    assert forgotten.returncode == 0, forgotten.stderr
    assert re.search(rf"kept\b.*\n(.*\n)* +mem_\w+ \(episodic, active, [^)]+\): {re.escape(said)}", forgotten.stdout)


def test_a_write_that_names_nobody_says_who_sees_it(service: Served, user: str) -> None:
    for named, told in (((), True), (("--user-id", user), False)):
        done = service.command("remember", "I play the bassoon in Ghent.", *named)
        assert done.returncode == 0, done.stderr
        assert ("the whole tenant sees it" in done.stderr) == told
        for memory in re.findall(r"mem_\w+", done.stdout):
            service.command("forget", memory)


def test_a_profile_is_printed_whichever_way_the_user_is_named(service: Served, user: str) -> None:
    service.command("remember", "I live in Ghent.", "--user-id", user)
    for named in ((user,), ("--user-id", user)):
        assert "lives in Ghent" in service.command("profile", *named).stdout


def test_a_turn_that_waits_for_the_language_model_says_so(fresh_database_url: str) -> None:
    away = {"TM_LLM_PROVIDER": "openai", "TM_LLM_MODEL": "none", "TM_LLM_BASE_URL": "http://127.0.0.1:9/v1"}
    with Served(TM_DATABASE_URL=fresh_database_url, **away) as service:
        done = service.command("remember", "I live in Ghent.", "--user-id", "ana")
    assert done.returncode == 0, done.stderr
    assert re.search(r"can't be reached .*the turn waits in job_\w+", done.stderr)


def test_an_ending_of_what_nobody_believes_says_so(service: Served, user: str) -> None:
    fields = json.dumps({"predicate": "works-at", "object": "Nobody Ltd", "ends": True})
    done = service.command("remember", "--type", "fact", "--fields", fields, "--user-id", user)
    assert done.returncode == 0, done.stderr
    assert "rejected: nothing that is believed ends with it" in done.stdout


def test_everything_of_a_user_is_forgotten_only_when_that_is_confirmed(service: Served, user: str) -> None:
    service.command("remember", "I live in Lisbon.", "--user-id", user)
    asked = service.command("forget", "--user-id", user, given="n\n")
    assert asked.returncode == 1
    assert "--yes" in service.command("forget", "--user-id", user).stderr
    assert "Lisbon" in service.command("recall", "Where do I live?", "--user-id", user).stdout
    assert service.command("forget", "--user-id", user, "--yes").returncode == 0
    assert "Lisbon" not in service.command("recall", "Where do I live?", "--user-id", user).stdout


@pytest.mark.long
def test_a_user_with_much_is_waited_for_until_all_is_erased(service: Served, user: str) -> None:
    one = {"type": "semantic", "user_id": user, "session_id": "s"}
    with httpx.Client(base_url=service.url, headers={"Authorization": f"Bearer {service.key}"}, timeout=60) as client:
        for start in range(0, 2_100, 700):
            batch = [{**one, "content": f"Ticket {start + number} is open"} for number in range(700)]
            assert client.post("/memories/batch", json={"memories": batch}).status_code == 201
        done = service.command("forget", "--user-id", user, "--yes")
        assert done.returncode == 0, done.stderr
        assert " finished: " in done.stdout
        assert "2100 memories" in done.stdout.replace(",", "")
        assert client.get("/memories", params={"user_id": user, "scope": "user"}).json()["memories"] == []


def test_a_command_without_what_it_needs_says_what_to_give(service: Served) -> None:
    for arguments, mend in (
        (("remember",), "--type with --fields"),
        (("remember", "words", "--type", "fact"), "--type with --fields"),
        (("remember", "--type", "fact", "--fields", "[1]"), "must be a JSON object"),
        (("remember", "--type", "fact", "--fields", "{"), "no JSON"),
        (("forget",), "a memory's id or --user-id"),
        (("profile",), "whose profile?"),
    ):
        refused = service.command(*arguments)
        assert refused.returncode == 1, arguments
        assert mend in refused.stderr, refused.stderr


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
    assert "score = retrieval x confidence^0.3 x freshness^0" in asked.stdout
    assert "semantic 1" in asked.stdout
    assert "plan " in asked.stdout
    assert "weights" not in asked.stdout


def test_the_score_is_what_its_formula_gives(service: Served, user: str) -> None:
    remember(service, user, "dark")
    asked = service.command("query", "which theme?", "--user-id", user, "--explain", "--json")
    answer = json.loads(asked.stdout)
    [hit], plan = answer["memories"], answer["plan"]
    score = hit["retrieval"] * hit["confidence"] ** plan["confidence"] * min(1, hit["freshness"]) ** plan["freshness"]
    noted = [float(one) for one in re.findall(r"x(\d+\.\d+)", " ".join(hit["notes"]))]
    added = [float(one) for one in re.findall(r"the words around it .*?\+(\d+\.\d+)", " ".join(hit["notes"]))]
    assert hit["score"] == pytest.approx(score * math.prod(noted) + sum(added), rel=0.01)


def test_every_wrong_field_is_told(service: Served, user: str) -> None:
    fields = json.dumps({"predicate": "works-at", "objekt": "Bosch"})
    told = service.command("remember", "--type", "fact", "--fields", fields, "--user-id", user)
    assert told.returncode == 1
    assert "object: is required" in told.stderr
    assert "did you mean `object`?" in told.stderr


def test_a_question_of_nobody_is_told_whom_it_asked(service: Served) -> None:
    asked = service.command("recall", "Which piano does Wilhelmina tune?")
    assert asked.stdout.strip() == "Nothing is known that answers this."
    assert "--user-id" in asked.stderr


def test_what_waits_for_a_reviewer_says_why(service: Served, user: str) -> None:
    told = service.command("remember", "The password of my safe is hT7-kk2!pQ9z.", "--user-id", user, "--json")
    [turn] = json.loads(told.stdout)["turns"]
    held = [one["reason"] for one in turn["candidates"] if one["decision"] == "review"]
    assert held
    told = service.command("remember", "The password of my safe is hT7-kk2!pQ9z.", "--user-id", f"{user}-2")
    assert held[0] in told.stdout


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
