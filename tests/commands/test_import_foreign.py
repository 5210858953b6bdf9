"""`typed-memory import --from`: exports of other stores, carried over with their ids, times and owners."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.commands.program import Served
from tests.commands.test_import import memories, written

MEM0 = {
    "results": [
        {
            "id": "b1d5f7c2",
            "memory": "Plays the cello in a quartet",
            "hash": "9f2c",
            "metadata": {"channel": "phone"},
            "categories": ["music"],
            "created_at": "2026-02-01T10:00:00-07:00",
            "updated_at": None,
            "run_id": "call-7",
            "score": 0.41,
        },
        {"id": "c7", "memory": "Rehearses on Thursdays", "created_at": "2026-01-05T10:00:00Z"},
    ],
    "relations": [{"source": "user", "relationship": "plays_in", "target": "harbour_quartet"}],
}

ZEP = {
    "nodes": [
        {"uuid": "n1", "name": "Ines Duarte", "labels": ["Entity", "User"], "created_at": "2026-01-01T00:00:00Z"},
        {
            "uuid": "n2",
            "name": "Maré Labs",
            "labels": ["Entity", "Organization"],
            "summary": "Maré Labs builds tide sensors.",
            "attributes": {"city": "Porto"},
            "created_at": "2026-01-01T00:00:00Z",
        },
        {"uuid": "n3", "name": "rowing", "labels": ["Entity"], "created_at": "2026-01-01T00:00:00Z"},
    ],
    "edges": [
        {
            "uuid": "e1",
            "name": "WORKS_AT",
            "fact": "Ines Duarte works at Maré Labs",
            "source_node_uuid": "n1",
            "target_node_uuid": "n2",
            "created_at": "2026-01-02T00:00:00Z",
            "valid_at": "2025-06-01T00:00:00Z",
            "invalid_at": "2026-03-01T00:00:00Z",
            "episodes": ["x"],
        },
        {"uuid": "e2", "name": "LIKES", "fact": "Ines likes rowing", "created_at": "2026-01-03T00:00:00Z"},
    ],
}

LANGMEM: list[dict[str, Any]] = [
    {
        "namespace": ["memories", "someone"],
        "key": "k1",
        "value": {"kind": "Memory", "content": {"content": "Is learning Welsh"}},
        "created_at": "2026-04-01T00:00:00+00:00",
        "updated_at": "2026-04-02T00:00:00+00:00",
    },
    {"namespace": "memories.someone", "key": "k2", "value": {"content": "Has two nieces"}},
    {
        "namespace": ["memories", "someone"],
        "key": "k3",
        "value": {"kind": "Profile", "content": {"home_town": "Bangor", "languages": ["Welsh", "French"], "age": None}},
    },
    {"namespace": ["memories", "someone"], "key": "k4", "value": {"kind": "Profile", "content": {}}},
]

RECORDS: list[dict[str, Any]] = [
    {
        "id": "mem_2",
        "type": "Preference",
        "preference_key": "units.temperature",
        "preference_value": "kelvin",
        "confidence": 0.93,
        "created_at": "2026-03-01T10:00:00Z",
        "updated_at": "2026-04-15T09:00:00Z",
        "status": "active",
        "supersedes": "mem_1",
        "predicate_is_stateful": True,
    },
    {
        "id": "mem_1",
        "type": "Preference",
        "preference_key": "units.temperature",
        "preference_value": "celsius",
        "created_at": "2026-02-01T10:00:00Z",
        "status": "superseded",
        "superseded_by": "mem_2",
    },
    {
        "id": "e_observatory",
        "type": "Entity",
        "entity_type": "organization",
        "canonical_name": "Calar Observatory",
        "aliases": ["the dome"],
        "created_at": "2026-01-15T09:00:00Z",
        "mention_count": 4,
        "status": "active",
    },
    {
        "id": "mem_3",
        "type": "Fact",
        "subject": "user",
        "predicate": "works-at",
        "object": "e_observatory",
        "source_confidence": 0.9,
        "repetition_count": 3,
        "type_prior": 0.15,
        "created_at": "2026-01-16T09:00:00Z",
        "access_count": 12,
        "evidence_turn_id": "turn_xyz",
    },
    {
        "id": "rel_1",
        "type": "Relation",
        "from_entity": "e_user",
        "relation_type": "member-of",
        "to_entity": "e_observatory",
        "created_at": "2026-01-17T09:00:00Z",
    },
]


def test_mem0_comes_with_its_times_and_metadata(service: Served, user: str, tmp_path: Path) -> None:
    done = service.command("import", written(tmp_path / "a.json", MEM0), "--from", "mem0", "--user-id", user)
    assert done.returncode == 0, done.stderr
    assert "added                    3" in done.stdout
    assert "not carried over: hash" in done.stdout
    assert "not carried over: score" in done.stdout
    fact, late, early = sorted(memories(service, user), key=lambda one: one["type"])[:1] + sorted(
        memories(service, user, type="semantic"), key=lambda one: one["occurred_at"], reverse=True
    )
    assert (fact["subject"], fact["predicate"], fact["object"]) == ("user", "plays-in", "harbour quartet")
    assert early["content"] == "Rehearses on Thursdays"
    assert late["occurred_at"] == "2026-02-01T17:00:00Z"
    assert late["session_id"] == "call-7"
    assert late["metadata"] == {"channel": "phone", "categories": ["music"]}
    assert late["provenance"] == {"imported_from": "mem0", "external_id": "b1d5f7c2"}


def test_zep_comes_with_entities_and_validity(service: Served, user: str, tmp_path: Path) -> None:
    done = service.command("import", written(tmp_path / "a.json", ZEP), "--from", "zep", "--user-id", user)
    assert done.returncode == 0, done.stderr
    found = {one["content"]: one for one in memories(service, user, validity="any")}
    job = found["Ines Duarte works at Maré Labs"]
    assert (job["subject"], job["predicate"], job["object"]) == ("user", "works-at", "Maré Labs")
    assert (job["valid_from"], job["valid_until"]) == ("2025-06-01T00:00:00Z", "2026-03-01T00:00:00Z")
    assert found["Ines likes rowing"]["type"] == "semantic"
    assert found["Maré Labs builds tide sensors."]["entity_id"] == "Maré Labs"
    assert any(one["type"] == "entity" and one["attributes"] == {"city": "Porto"} for one in found.values())
    assert "not carried over: episodes" in done.stdout
    assert "node without a label  1" in done.stdout


def test_langmem_names_its_own_users(service: Served, user: str, tmp_path: Path) -> None:
    of = [{**one, "namespace": _renamed(one["namespace"], user)} for one in LANGMEM]
    done = service.command("import", written(tmp_path / "a.json", of), "--from", "langmem")
    assert done.returncode == 1
    assert "item 4: has no text to remember" in done.stderr
    contents = [one["content"] for one in memories(service, user)]
    assert sorted(contents) == [
        "Has two nieces",
        "Is learning Welsh",
        "Profile: home town: Bangor; languages: Welsh, French",
    ]


def test_a_user_named_twice_is_the_same_request(service: Served, user: str, tmp_path: Path) -> None:
    items = [{"namespace": ["memories", user], "key": "k1", "value": {"content": "Has two nieces"}}]
    file = written(tmp_path / "a.json", items)
    service.command("import", file, "--from", "langmem")
    done = service.command("import", file, "--from", "langmem", "--user-id", user)
    assert done.returncode == 0, done.stderr
    assert "stored by an earlier run" in done.stdout


def test_relations_of_one_name_stand_side_by_side(service: Served, user: str, tmp_path: Path) -> None:
    related = [{"source": "user", "relationship": "collects", "target": one} for one in ("stamps", "old maps")]
    file = written(tmp_path / "a.json", {"results": [], "relations": related})
    assert service.command("import", file, "--from", "mem0", "--user-id", user).returncode == 0
    found = {(one["object"], one["status"]) for one in memories(service, user)}
    assert found == {("stamps", "active"), ("old maps", "active")}


def test_a_broken_item_does_not_keep_the_others_out(service: Served, user: str, tmp_path: Path) -> None:
    broken = {"results": [7, {"id": "c7", "memory": "Rehearses on Thursdays"}], "relations": ["x"]}
    done = service.command("import", written(tmp_path / "a.json", broken), "--from", "mem0", "--user-id", user)
    assert done.returncode == 1
    assert "memory 1: has no text to remember" in done.stderr
    assert "relation 1: object: is required" in done.stderr
    assert [one["content"] for one in memories(service, user)] == ["Rehearses on Thursdays"]


def test_a_file_of_another_store_without_its_name_is_told_the_option(
    service: Served, user: str, tmp_path: Path
) -> None:
    done = service.command("import", written(tmp_path / "a.json", RECORDS), "--user-id", user)
    assert done.returncode == 1
    assert "--from mem0, zep, langmem, chatgpt, records" in done.stderr


def _renamed(namespace: Any, user: str) -> Any:
    return namespace.replace("someone", user) if isinstance(namespace, str) else [namespace[0], user]


def test_full_records_are_taken_in_the_order_of_their_times(service: Served, user: str, tmp_path: Path) -> None:
    done = service.command("import", written(tmp_path / "a.json", RECORDS), "--from", "records", "--user-id", user)
    assert done.returncode == 0, done.stderr
    found = {one["provenance"]["external_id"]: one for one in memories(service, user)}
    assert found["mem_1"]["superseded_by"] == found["mem_2"]["id"]
    assert found["mem_2"]["status"] == "active"
    assert found["mem_3"]["object"] == "Calar Observatory"
    assert found["mem_3"]["provenance"]["evidence_turn_id"] == "turn_xyz"
    assert (found["rel_1"]["from_entity"], found["rel_1"]["to_entity"]) == ("user", "Calar Observatory")
    for name in ("confidence", "repetition_count", "access_count", "mention_count"):
        assert f"not carried over: {name}" in done.stdout


@pytest.mark.parametrize(
    ("origin", "document", "told"),
    [
        ("zep", [], "give an object with `edges`"),
        ("mem0", 7, "give a list"),
        ("langmem", [1], "item 1: has no text to remember"),
        ("records", [{"id": "x"}], "no record has a `type`"),
    ],
)
def test_another_shape_is_told(
    service: Served, user: str, tmp_path: Path, origin: str, document: object, told: str
) -> None:
    done = service.command("import", written(tmp_path / "a.json", document), "--from", origin, "--user-id", user)
    assert done.returncode == 1
    assert told in done.stderr


def test_nothing_of_nobody_becomes_everybodys(service: Served, tmp_path: Path) -> None:
    done = service.command("import", written(tmp_path / "a.json", MEM0), "--from", "mem0")
    assert done.returncode == 1
    assert "whose is this?" in done.stderr
