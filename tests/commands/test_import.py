"""`typed-memory import` against a running service: what is stored, what is told, what is never stored twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.command_line.service_client import ServiceClient
from app.features.portability.commands import import_files
from app.features.portability.commands.import_sources import ImportItem
from tests.commands.program import Served, run
from tests.support.waiting import PATIENCE

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "name": "Ana", "content": "Where shall I move?", "timestamp": "2026-05-09T14:30:00Z"},
    {"role": "assistant", "content": "Lisbon is lovely.", "timestamp": 1778337010},
    {"role": "assistant", "content": None, "tool_calls": []},
]


def memories(service: Served, user: str, **more: str) -> list[dict[str, Any]]:
    """Every memory of a user, in the order they were written."""
    answer = httpx.get(
        f"{service.url}/memories",
        params={"user_id": user, "scope": "user", "limit": "200", **more},
        headers={"Authorization": f"Bearer {service.key}"},
        timeout=PATIENCE,
    )
    found: list[dict[str, Any]] = answer.json()["memories"]
    return found[::-1]


def written(path: Path, *values: object) -> str:
    path.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in values))
    return str(path)


def fact(number: int) -> dict[str, Any]:
    return {"type": "fact", "subject": f"robot {number}", "predicate": "has-number", "object": str(number)}


def test_bad_lines_are_told_by_file_and_line_and_the_others_stored(service: Served, user: str, tmp_path: Path) -> None:
    file = written(
        tmp_path / "mixed.ndjson",
        {"type": "preference", "preference_key": "editor.theme", "preference_value": "dark"},
        '{"type": "preference", "preference_key":',
        {"type": "preference", "preference_value": "light"},
        {"type": "wish", "content": "x"},
        "",
        [1],
        fact(1),
    )
    done = service.command("import", file, "--user-id", user)
    assert done.returncode == 1
    assert "added  2" in done.stdout
    told = [line for line in done.stderr.splitlines() if line.startswith(file)]
    assert [line.removeprefix(file).split()[0] for line in told] == [":2:", ":3:", ":4:", ":6:"]
    assert "not JSON" in told[0]
    assert "preference_key: is required" in told[1]
    assert "type: unknown memory type" in told[2]
    assert {memory["type"] for memory in memories(service, user)} == {"preference", "fact"}


def test_what_a_line_leaves_null_is_taken_from_the_options(service: Served, user: str, tmp_path: Path) -> None:
    one = {**fact(3), "user_id": None, "session_id": None}
    done = service.command("import", written(tmp_path / "m.ndjson", one), "--user-id", user, "--session-id", "s3")
    assert done.returncode == 0, done.stderr
    [memory] = memories(service, user)
    assert (memory["scope"], memory["user_id"], memory["session_id"]) == ("user", user, "s3")


def test_strict_stops_at_the_first_thing_wrong(service: Served, user: str, tmp_path: Path) -> None:
    file = written(tmp_path / "m.ndjson", fact(1), {"type": "fact"}, fact(2))
    done = service.command("import", file, "--user-id", user, "--strict")
    assert done.returncode == 1
    assert f"{file}:2" in done.stderr
    assert "mend that, and run the same command again" in done.stderr
    assert memories(service, user) == []
    both = written(tmp_path / "both.ndjson", {"type": "fact"}, "{", fact(2))
    told = service.command("import", both, "--user-id", user, "--strict").stderr
    assert f"{both}:1" in told
    assert f"{both}:2" not in told


def test_a_second_run_stores_nothing_twice(service: Served, user: str, tmp_path: Path) -> None:
    file = written(tmp_path / "m.ndjson", *(fact(number) for number in range(450)))
    assert service.command("import", file, "--user-id", user).returncode == 0
    again = service.command("import", file, "--user-id", user)
    assert again.returncode == 0
    assert "stored by an earlier run  450" in again.stdout
    found = memories(service, user, subject="robot 7")
    assert [memory["confidence_parts"]["mentions"] for memory in found] == [1]


def test_a_grown_file_stores_what_is_new(service: Served, user: str, tmp_path: Path) -> None:
    file = written(tmp_path / "m.ndjson", *(fact(number) for number in range(200)))
    service.command("import", file, "--user-id", user)
    written(tmp_path / "m.ndjson", *(fact(number) for number in range(201)))
    grown = service.command("import", file, "--user-id", user)
    assert "stored by an earlier run  200" in grown.stdout
    assert "added                               201" in grown.stdout


@pytest.mark.long
def test_lines_of_one_user_keep_their_order(service: Served, user: str, tmp_path: Path) -> None:
    values = [str(number) for number in range(401)]
    lines = [{"type": "preference", "preference_key": "count.value", "preference_value": one} for one in values]
    service.command("import", written(tmp_path / "m.ndjson", *lines), "--user-id", user)
    active = memories(service, user, status="active")
    assert [memory["preference_value"] for memory in active] == ["400"]


def test_a_conversation_becomes_episodes_that_know_what_came_before(service: Served, user: str, tmp_path: Path) -> None:
    done = service.command("import", written(tmp_path / "chat.json", CHAT), "--user-id", user)
    assert done.returncode == 0, done.stderr
    assert "left out: system prompt" in done.stdout
    question, answer = sorted(memories(service, user), key=lambda memory: memory["sequence_number"])
    assert question["type"] == answer["type"] == "episodic"
    assert (question["speaker"], answer["speaker"]) == ("Ana", "assistant")
    assert question["content"] == "Where shall I move?"
    assert question["session_id"] == answer["session_id"]
    assert question["session_id"].startswith("chat-")
    assert question["occurred_at"] == "2026-05-09T14:30:00Z"
    assert answer["occurred_at"] == "2026-05-09T14:30:10Z"
    assert [one["role"] for one in question["evidence"]] == ["user"]
    # "move" is said in the question alone, and the answer is found by it.
    asked = service.command("query", "What did you suggest when Ana wanted to move?", "--user-id", user)
    assert "Lisbon is lovely." in asked.stdout


def test_standard_input_is_read_as_well(service: Served, user: str) -> None:
    lines = "".join(f"{json.dumps(fact(number))}\n" for number in range(3))
    done = service.command("import", "-", "--user-id", user, given=lines)
    assert done.returncode == 0, done.stderr
    assert len(memories(service, user)) == 3


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("hello", "neither NDJSON nor a JSON conversation"),
        ('{"a": 1}', "not a conversation: give a list of messages"),
        ("[1, 2]", "message 1"),
    ],
)
def test_a_file_of_another_kind_is_told(service: Served, tmp_path: Path, content: str, told: str) -> None:
    done = service.command("import", written(tmp_path / "file.json", content))
    assert done.returncode == 1
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_is_no_export_is_named(service: Served, tmp_path: Path) -> None:
    done = service.command("import", "--format", "export", written(tmp_path / "notes.json", {"content": "x"}))
    assert done.returncode == 1
    assert "notes.json: not a JSON object with a" in done.stderr


def test_what_is_missing_is_named(service: Served, tmp_path: Path) -> None:
    file = written(tmp_path / "m.ndjson", fact(1))
    absent = service.command("import", str(tmp_path / "absent.json"))
    assert "absent.json: can't be read" in absent.stderr
    nobody = run("import", file, TM_URL="http://127.0.0.1:9", TM_API_KEY="tm_x")
    assert "no service answers at http://127.0.0.1:9" in nobody.stderr
    assert "typed-memory serve" in nobody.stderr
    stranger = run("import", file, TM_URL=service.url, TM_API_KEY="tm_wrong_key_0123456789")
    assert "does not accept this API key" in stranger.stderr
    keyless = run("import", file, TM_URL="http://192.0.2.1:8700", TM_DATA_DIR=str(tmp_path))
    assert "no API key for http://192.0.2.1:8700" in keyless.stderr
    nowhere = run("import", file, TM_URL="127.0.0.1:8700", TM_API_KEY="tm_x")
    assert "'127.0.0.1:8700' is no address of a service: write it as http://127.0.0.1:8700" in nowhere.stderr
    broken = run("import", file, TM_URL="http://[", TM_API_KEY="tm_x")
    assert "'http://[' is no address of a service" in broken.stderr
    for failed in (absent, nobody, stranger, keyless, nowhere, broken):
        assert failed.returncode == 1
        assert "Traceback" not in failed.stderr


def test_whose_a_conversation_is_must_be_said(service: Served, user: str, tmp_path: Path) -> None:
    mine = {"role": "user", "name": user, "content": f"I am {user}, and I keep bees."}
    chat = written(tmp_path / "chat.json", [mine])
    fine = written(tmp_path / "fine.ndjson", {**fact(7), "user_id": user})
    done = service.command("import", fine, chat)
    assert done.returncode == 1
    assert "--user-id" in done.stderr
    assert "--scope global" in done.stderr
    assert chat in done.stderr
    assert memories(service, user) == []
    assert service.command("import", fine).returncode == 0
    lines = written(tmp_path / "chats.ndjson", {"messages": [mine]}, {"messages": [mine]})
    assert "--user-id" in service.command("import", lines).stderr
    assert service.command("import", chat, "--scope", "global").returncode == 0
    everybodys = memories(service, user, scope="global")
    assert [one["scope"] for one in everybodys if user in one["content"]] == ["global"]
    private = service.command("import", chat, "--user-id", user, "--scope", "user")
    assert private.returncode == 0, private.stderr
    assert {one["scope"] for one in memories(service, user)} == {"user"}


@pytest.mark.parametrize("failures", [1, len(import_files.PAUSES) + 1])
async def test_items_that_could_not_be_stored_then_are_sent_again(
    failures: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second of three items fails so many times for a passing reason; it is told only where it does to the end."""
    monkeypatch.setattr(import_files, "PAUSES", (0.0,) * len(import_files.PAUSES))
    sent: list[list[str]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        names = [one["subject"] for one in json.loads(request.content)["memories"]]
        sent.append(names)
        late = {"status": 503, "problem": {"detail": "no database"}}
        results = [
            {"index": place, **(late if name == "robot 1" and len(sent) <= failures else {"decision": "added"})}
            for place, name in enumerate(names)
        ]
        return httpx.Response(201, json={"results": [{"status": 201, **one} for one in results]})

    client = ServiceClient("http://service", "tm_key", transport=httpx.MockTransport(answer))
    uploader = import_files.Uploader(client=client, defaults={}, strict=False, advance=lambda _count: None)
    async with client:
        await uploader.send(ImportItem(place=f"line {number}", body=fact(number)) for number in range(3))
    assert sent == [["robot 0", "robot 1", "robot 2"], *[["robot 1"]] * min(failures, len(import_files.PAUSES))]
    told = [(one.place, one.what) for one in uploader.report.bad]
    assert told == ([] if failures == 1 else [("line 1", "no database")])
    assert uploader.report.stored == 3 - len(told)
