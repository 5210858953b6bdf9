"""Files that are wrong, cut off, or made to harm: told by their lines, and nothing half-written."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from app.features.portability.routes import numbered
from tests.api.conftest import Tenant
from tests.erasure.test_users import written
from tests.portability.files import exported, imported


@pytest.fixture
async def lines(client: httpx.AsyncClient) -> list[str]:
    theme = {"preference_key": "editor.theme", "user_id": "ana"}
    await written(client, "preference", preference_value="dark", occurred_at="2026-01-01T00:00:00Z", **theme)
    await written(client, "preference", preference_value="light", occurred_at="2026-02-01T00:00:00Z", **theme)
    await written(client, "event", event_description="Ana swam", user_id="ana")
    return await exported(client)


def changed(lines: list[str], record: str, change: Callable[[dict[str, Any]], object], *, place: int = 0) -> list[str]:
    """Return the lines with one of a kind changed."""
    found = [number for number, line in enumerate(lines) if json.loads(line)["record"] == record]
    one = json.loads(lines[found[place]])
    change(one)
    return [json.dumps(one) if number == found[place] else line for number, line in enumerate(lines)]


PAST: dict[str, Any] = {
    "believed_until": "2026-02-02T00:00:00Z", "type": "preference", "topic": None, "status": "active",
    "confidence": 0.5, "stated_at": "2026-01-01T00:00:00Z", "valid_from": "2026-01-01T00:00:00Z",
    "valid_until": None, "ended_at": None,
}  # fmt: skip

WRONG: dict[str, Callable[[dict[str, Any]], object]] = {
    "content: Input should be a valid string": lambda one: one.update(content=7),
    "confidence": lambda one: one.update(confidence=3.5),
    "unknown memory type": lambda one: one.update(type="wish"),
    "id: Value error, must be an id like mem_": lambda one: one.update(id="ent_" + "0" * 32),
    "NUL": lambda one: one.update(content="a\x00b"),
    "surprise: Extra inputs are not permitted": lambda one: one.update(surprise=1),
    "scope": lambda one: one["scope"].update(agent_id=None, kind="agent"),
    "is not in its scope": lambda one: one["scope"].update(user_id="someone else"),
    "status": lambda one: one.update(status="eternal"),
    "payload": lambda one: one.update(payload={"nonsense": True}),
    "valid_from": lambda one: one.update(valid_from="infinity"),
    "superseded_by: its chain of versions runs in a circle": lambda one: one.update(superseded_by=one["id"]),
    "mentions: Input should be less than": lambda one: one.update(mentions=2**40),
    "Input should have timezone info": lambda one: one.update(stated_at="2026-01-01T00:00:00"),
    "half_life_days: Input should be greater than": lambda one: one.update(half_life_days=0),
    "half_life_days: Input should be less than": lambda one: one.update(half_life_days=1e300),
    "floor: Input should be less than or equal to 1": lambda one: one.update(floor=99),
    "mentions: Input should be greater than or equal to 1": lambda one: one.update(mentions=-3),
    "source_strength: Input should be less than": lambda one: one.update(source_strength=9),
    "stated_at: Value error, must lie between the years": lambda one: one.update(stated_at="9999-01-01T00:00:00Z"),
    "recorded_at: Value error, lies in the future": lambda one: one.update(recorded_at="2150-01-01T00:00:00Z"),
    "valid_until: Input should be a valid datetime": lambda one: one.update(valid_until="infinity"),
    "content: String should have at least 1 character": lambda one: one.update(content=""),
    "content: String should have at most 32000 characters": lambda one: one.update(content="z" * 200_000),
    "metadata: Input should be an object": lambda one: one.update(metadata="x"),
    "metadata: Value error, must not be larger": lambda one: one.update(metadata={"a": "x" * 100_000}),
    "metadata: Value error, must not be nested": lambda one: one.update(
        metadata=json.loads('{"a":' * 9 + "1" + "}" * 9)
    ),
    "provenance: Input should be an object": lambda one: one.update(provenance=[]),
    "valid_until: must come after valid_from": lambda one: one.update(valid_until="1990-01-01T00:00:00Z"),
    "memory_index: has a part twice": lambda one: one.update(memory_index=one["memory_index"] * 2),
    "memory_past.0.was: Value error, half_life_days": lambda one: one.update(
        memory_past=[{**PAST, "was": {"half_life_days": 0}}]
    ),
    "memory_past.0.was: Value error, status": lambda one: one.update(
        memory_past=[{**PAST, "was": {"status": "eternal"}}]
    ),
}

WRONG_ELSEWHERE: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    "timezone: Value error, must be an IANA time zone": ("turn", lambda one: one.update(timezone="Mars")),
    "metadata: Input should be an object": ("turn", lambda one: one.update(metadata="x")),
    "report: Input should be an object": ("turn", lambda one: one.update(report="x")),
    "report: ": ("turn", lambda one: one.update(report={"candidates": [5], "trace": []})),
    "occurred_at: Input should be a valid datetime": ("audit_event", lambda one: one.update(occurred_at="infinity")),
    "detail: Input should be an object": ("audit_event", lambda one: one.update(detail="str")),
    "detail: is not the detail of an event": (
        "audit_event",
        lambda one: one.update(action="memory.changed", detail={"values": 5}),
    ),
    "detail: ": ("audit_event", lambda one: one.update(detail={"confidence": ["high", None]})),
    "attributes: Input should be an object": ("entity", lambda one: one.update(attributes="x")),
    "merged_into: an entity can't be merged into itself": ("entity", lambda one: one.update(merged_into=one["id"])),
}


async def healthy(client: httpx.AsyncClient) -> None:
    """Whatever was imported, every way of reading answers."""
    memories = (await client.get("/memories", params={"all": True, "limit": 200})).json()["memories"]
    paths = ["/turns", "/admin/audit", "/admin/audit/verify?memories=true", "/admin/stats", "/admin/review", "/export"]
    for path in (*paths, "/entities?user_id=ana", *(f"/memories/{one['id']}/history" for one in memories)):
        answer = await client.get(path)
        assert answer.status_code == 200, (path, answer.text)


@pytest.mark.parametrize("message", WRONG)
async def test_a_wrong_line_is_told_and_the_others_stored(
    message: str, lines: list[str], other_client: httpx.AsyncClient
) -> None:
    file = changed(lines, "memory", WRONG[message], place=1)
    wrong = next(number for number, line in enumerate(file, 1) if line not in lines)
    done = await imported(other_client, file)
    told = {one["line"]: one["message"] for one in done["errors"]}
    assert message in told[wrong], told
    assert done["imported"]["memory"] == 2
    stored = (await other_client.get("/memories", params={"all": True, "limit": 50})).json()["memories"]
    assert len(stored) == 2
    refused = await other_client.post("/import?strict=true", content="\n".join(file).encode())
    if "circle" not in message:
        assert refused.status_code == 422, refused.text
        assert f"line {wrong}" in refused.json()["detail"]


@pytest.mark.parametrize("message", WRONG_ELSEWHERE)
async def test_a_wrong_turn_entity_or_event_is_told(
    message: str, client: httpx.AsyncClient, other_client: httpx.AsyncClient
) -> None:
    await client.post("/turns?mode=sync", json={"content": "I moved to Lisbon.", "user_id": "ana"})
    lines = await exported(client)
    record, change = WRONG_ELSEWHERE[message]
    file = changed(lines, record, change)
    wrong = next(number for number, line in enumerate(file, 1) if line not in lines)
    done = await imported(other_client, file)
    told = {one["line"]: one["message"] for one in done["errors"]}
    assert message in told[wrong], told
    await healthy(other_client)


async def test_entities_merged_into_one_another_are_refused(lines: list[str], other_client: httpx.AsyncClient) -> None:
    known = [json.loads(line) for line in lines if json.loads(line)["record"] == "entity"]
    first, second = known[0], {**known[0], "id": "ent_" + "f" * 32}
    first |= {"merged_into": second["id"]}
    second |= {"merged_into": first["id"]}
    done = await imported(other_client, [lines[0], json.dumps(first), json.dumps(second)])
    assert done["imported"] == {}
    assert any("names an entity that was merged itself" in one["message"] for one in done["errors"])


async def test_two_active_in_one_slot_are_refused(lines: list[str], other_client: httpx.AsyncClient) -> None:
    def revive(one: dict[str, Any]) -> None:
        one.update(status="active", superseded_by=None, ended_at=None, retired_at=None)

    place = next(
        number for number, line in enumerate(one for one in lines if json.loads(one)["record"] == "memory")
        if json.loads(line)["status"] == "superseded"
    )  # fmt: skip
    done = await imported(other_client, changed(lines, "memory", revive, place=place))
    assert "slot: another active memory holds it" in {one["message"] for one in done["errors"]}
    assert done["imported"]["memory"] == 2


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"{}",
        b"[1]",
        b'{"record": "memory"}',
        b"\xff\xfe",
        b'{"record": "header", "format": "other"}',
        b'{"record": "header", "format": "typed-memory", "version": true}',
    ],
)
async def test_what_is_no_export_is_refused(content: bytes, other_client: httpx.AsyncClient) -> None:
    answer = await other_client.post("/import", content=content)
    assert answer.status_code == 422, answer.text
    assert answer.json()["type"].endswith("invalid-input")


async def test_a_newer_format_is_refused(lines: list[str], other_client: httpx.AsyncClient) -> None:
    newer = changed(lines, "header", lambda one: one.update(version=99))
    answer = await other_client.post("/import", content="\n".join(newer).encode())
    assert answer.status_code == 422
    assert "format 99" in answer.json()["detail"]


async def test_odd_lines_do_not_stop_the_others(lines: list[str], other_client: httpx.AsyncClient) -> None:
    odd = ["nonsense", '{"record": "spell"}', "[" * 100_000, '{"record": "memory", "id": 1}', '{"record": "end"}'[:-4]]
    done = await imported(other_client, [lines[0], *odd, *lines[1:]])
    assert [one["line"] for one in done["errors"]] == [2, 3, 4, 5, 6]
    assert done["imported"]["memory"] == 3
    assert done["complete"]


async def test_a_first_line_that_is_too_long_is_told(other_client: httpx.AsyncClient) -> None:
    answer = await other_client.post("/import", content=b"x" * 9_000_000)
    assert answer.status_code == 422
    assert "line 1: is too long" in answer.json()["detail"]


async def test_a_byte_order_mark_is_passed_over(lines: list[str], other_client: httpx.AsyncClient) -> None:
    done = await imported(other_client, ["\ufeff" + lines[0], *lines[1:]])
    assert done["imported"]["memory"] == 3
    assert done["notices"] == {}


async def test_a_line_is_of_its_own_kind_whatever_kinds_its_values_name(
    lines: list[str], other_client: httpx.AsyncClient
) -> None:
    def named(one: dict[str, Any]) -> None:
        values = one.pop("provenance") | {"record": "entity"}
        inner = dict(one)
        one.clear()
        one.update(provenance=values, **inner)
        one["metadata"] = {"record": "turn", "said": '"record": "scope"'}

    file = changed(lines, "memory", named)
    done = await imported(other_client, file)
    assert (done["failed"], done["imported"]["memory"]) == (0, 3)
    kept = [json.loads(line) for line in await exported(other_client)]
    metadata = [one["metadata"] for one in kept if one["record"] == "memory"]
    assert {"record": "turn", "said": '"record": "scope"'} in metadata


async def test_where_a_line_is_no_json_is_told_within_the_line(
    lines: list[str], other_client: httpx.AsyncClient
) -> None:
    done = await imported(other_client, [lines[0], '{"record": oops}'])
    [told] = done["errors"]
    assert told["line"] == 2
    assert told["message"].endswith("at column 12")


async def test_a_file_that_was_cut_off_says_so(lines: list[str], other_client: httpx.AsyncClient) -> None:
    done = await imported(other_client, lines[:-1])
    assert (done["complete"], done["as_exported"]) == (False, False)
    assert "the file ends before its last line: it was cut off" in done["notices"]
    whole = await imported(other_client, lines)
    assert whole["complete"]
    assert whole["imported"] == {}


async def test_a_file_that_was_changed_says_so(lines: list[str], other_client: httpx.AsyncClient) -> None:
    file = [line for line in lines if json.loads(line)["record"] != "audit_event"]
    content = "\n".join(file).encode()
    refused = await other_client.post("/import?strict=true", content=content)
    assert refused.status_code == 422
    assert f"line {len(file)}: this is not the file that was exported" in refused.json()["detail"]
    done = await imported(other_client, file)
    assert (done["complete"], done["as_exported"], done["failed"]) == (True, False, 0)
    [told] = done["notices"]
    assert told == "this is not the file that was exported: its digest is another; what was there is stored"


async def test_what_refers_to_a_line_that_failed_says_so(lines: list[str], other_client: httpx.AsyncClient) -> None:
    broken = lines
    for place in range(2):
        broken = changed(broken, "memory", lambda one: one.update(confidence=3.5), place=place)
    done = await imported(other_client, broken)
    [link] = [number for number, line in enumerate(broken, 1) if json.loads(line)["record"] == "memory_links"]
    [told] = [one["message"] for one in done["errors"] if one["line"] == link]
    assert "its line failed" in told


async def test_another_tenants_things_are_not_referred_to(
    tenant: Tenant, lines: list[str], other_client: httpx.AsyncClient
) -> None:
    memories = [line for line in lines if json.loads(line)["record"] in {"header", "memory"}]
    done = await imported(other_client, memories)
    assert done["failed"] == 2
    assert all("is not in its scope" in one["message"] for one in done["errors"])
    stored = (await other_client.get("/memories?all=true")).json()["memories"]
    assert [one["content"] for one in stored] == ["Ana swam"]  # which mentions nobody
    assert len((await tenant.client.get("/memories?all=true")).json()["memories"]) == 3


async def test_a_line_that_is_too_long_is_passed_over_without_being_held() -> None:
    async def stream() -> AsyncIterator[bytes]:
        yield b"first\r\nsec"
        yield b"ond\n"
        for _ in range(100):
            yield b"x" * 10
        yield b"\nlast"

    found = [one async for one in numbered(stream(), longest=20)]
    assert found == [(1, b"first"), (2, b"second"), (3, None), (4, b"last")]


@pytest.fixture
async def two_users(client: httpx.AsyncClient) -> list[str]:
    for user, name in (("ana", "Petra Lund"), ("ben", "Ivo Marsh")):
        fields = {"from_entity": "Sanna", "relation_type": "works-with", "to_entity": name}
        await written(client, "relation", **fields, user_id=user)
    return await exported(client)


def of_user(lines: list[str], record: str, user: str) -> list[dict[str, Any]]:
    """Return the lines of a kind in a user's scope."""
    found = [one for line in lines if (one := json.loads(line))["record"] == record]
    return [one for one in found if one["scope"]["user_id"] == user]


def replaced(lines: list[str], one: dict[str, Any]) -> list[str]:
    """Return the lines with that of the same id changed to this one."""
    return [json.dumps(one) if json.loads(line).get("id") == one["id"] else line for line in lines]


async def assert_both_can_be_erased(client: httpx.AsyncClient) -> None:
    for user in ("ana", "ben"):
        answer = await client.delete(f"/users/{user}", params={"mode": "sync"})
        assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("through", ["relations", "subject_id", "speaker_id"])
async def test_a_memory_names_nobody_of_another_scope(
    through: str, two_users: list[str], other_client: httpx.AsyncClient
) -> None:
    theirs = [one["id"] for one in of_user(two_users, "entity", "ana")]
    [relation] = of_user(two_users, "memory", "ben")
    match through:
        case "relations":
            ends = dict(zip(("from_entity", "to_entity"), theirs, strict=True))
            relation |= {"memory_entities": [], "relations": [{**one, **ends} for one in relation["relations"]]}
        case "subject_id":
            relation["subject_id"] = theirs[0]
        case _:
            relation["memory_index"] = [{**one, "speaker_id": theirs[0]} for one in relation["memory_index"]]
    done = await imported(other_client, replaced(two_users, relation))
    assert "is not in its scope" in done["errors"][0]["message"]
    assert done["imported"]["memory"] == 1
    await assert_both_can_be_erased(other_client)


async def test_an_entity_is_not_merged_into_one_of_another_scope(
    two_users: list[str], other_client: httpx.AsyncClient
) -> None:
    entity = of_user(two_users, "entity", "ben")[0]
    entity["merged_into"] = of_user(two_users, "entity", "ana")[0]["id"]
    others = [line for line in two_users if json.loads(line).get("id") != entity["id"]]
    last = max(number for number, line in enumerate(others, 1) if json.loads(line)["record"] == "entity")
    done = await imported(other_client, [*others[:last], json.dumps(entity), *others[last:]])
    assert done["errors"][0]["message"] == "merged_into: is an entity of another scope"
    await assert_both_can_be_erased(other_client)


async def test_a_line_given_again_while_it_waits_is_stored_once(
    lines: list[str], other_client: httpx.AsyncClient
) -> None:
    """The memory is given three times before the one that replaced it, or where that one is missing."""
    memories = [line for line in lines if json.loads(line)["record"] == "memory"]
    [older] = [line for line in memories if json.loads(line)["superseded_by"]]
    [newer] = [line for line in memories if json.loads(line)["id"] == json.loads(older)["superseded_by"]]
    start, end = lines[: lines.index(memories[0])], lines[-1]
    alone = await imported(other_client, [*start, older, older, older, end])
    assert (alone["imported"]["memory"], alone["already_there"]["memory"]) == (1, 2)
    assert alone["notices"]["the one that replaced a memory is not there"] == 1
    again = await imported(other_client, [*start, older, older, newer, end])
    assert (again["imported"]["memory"], again["already_there"]["memory"]) == (1, 2)
    assert "the one that replaced a memory is not there" not in again["notices"]
    assert (await other_client.get("/admin/stats")).json()["memories"]["total"] == 2


async def test_errors_come_in_the_order_of_the_lines(lines: list[str], other_client: httpx.AsyncClient) -> None:
    refused = changed(lines, "memory", lambda one: one.update(valid_until="1990-01-01T00:00:00Z"))
    wrong = next(number for number, line in enumerate(refused, 1) if line not in lines)
    file = [*refused[:wrong], *["{"] * 1_100, *refused[wrong:]]
    done = await imported(other_client, file)
    told = [one["line"] for one in done["errors"]]
    assert told == list(range(wrong, wrong + 1_000))
    assert done["failed"] >= 1_101


@pytest.mark.parametrize("fault", [{"payload": {}}, {"valid_until": "1990-01-01T00:00:00Z"}], ids=["read", "stored"])
async def test_a_strict_import_stops_at_the_first_wrong_line(
    fault: dict[str, Any], lines: list[str], other_client: httpx.AsyncClient
) -> None:
    file = changed(lines, "memory", lambda one: one.update(fault), place=1)
    file = changed(file, "memory", lambda one: one.update(payload={"nonsense": True}), place=2)
    wrong = next(number for number, line in enumerate(file, 1) if line not in lines)
    answer = await other_client.post("/import?strict=true", content="\n".join([*file[: wrong + 1], "{bad"]).encode())
    assert answer.status_code == 422
    assert f"line {wrong}: " in answer.json()["detail"]
