"""The OpenAPI document that clients are generated from."""

from __future__ import annotations

import json
import keyword
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from app.http.openapi import SCHEMA_TEXTS, rename
from app.main import create_app
from app.memory.registry import discover
from app.operations.commands import openapi
from app.operations.commands.openapi import check_openapi, rendered, write_openapi
from app.settings import Settings
from tests.support.openapi import document, text

DOCUMENT = document()
OPERATIONS = [
    (path, method, operation)
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
]

UNSAID = frozenset({"turns", "role", "content", "speaker", "occurred_at", "category", "evidence"})
"""Fields that say what they are by their names, or where they stand a second time."""


def _examples(part: object) -> Iterator[tuple[dict[str, Any], object]]:
    """Yield every schema that has examples, with each of them."""
    if isinstance(part, dict):
        if isinstance(part.get("examples"), list):
            yield from ((part, example) for example in part["examples"])
        for inner in part.values():
            yield from _examples(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _examples(inner)


def test_it_is_the_same_every_time_and_needs_no_database() -> None:
    assert rendered() == text()


def test_a_file_with_another_document_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openapi, "rendered", text)
    file = tmp_path / "openapi" / "openapi.json"
    assert not check_openapi(file)
    write_openapi(file)
    assert check_openapi(file)
    file.write_text(file.read_text().replace("Typed Memory", "Other"))
    assert not check_openapi(file)


def test_a_batch_is_told_apart_by_type() -> None:
    items, own = DOCUMENT["components"]["schemas"]["BatchWrite"]["properties"]["memories"]["items"]["oneOf"]
    assert own == {"$ref": "#/components/schemas/TenantTypeItem"}
    assert items["discriminator"]["propertyName"] == "type"
    names = {name for spec in discover() for name in (spec.name, *spec.aliases)}
    assert set(items["discriminator"]["mapping"]) == names
    for reference in items["discriminator"]["mapping"].values():
        schema = DOCUMENT["components"]["schemas"][reference.rpartition("/")[2]]
        assert "type" in schema["required"]


def test_memories_are_told_apart_by_type() -> None:
    memory, own = DOCUMENT["components"]["schemas"]["Memory"]["oneOf"]
    assert own == {"$ref": "#/components/schemas/TenantTypeMemory"}
    assert memory["discriminator"]["propertyName"] == "type"
    assert set(memory["discriminator"]["mapping"]) == set(discover().by_name)


def test_each_type_shows_its_own_body() -> None:
    for spec in discover():
        operation = DOCUMENT["paths"][f"/memories/typed/{spec.name}"]["post"]
        reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        schema = DOCUMENT["components"]["schemas"][reference.rpartition("/")[2]]
        for example in spec.examples:
            for payload in example.payloads:
                assert set(payload) <= set(schema["properties"])


def test_operations_have_names_fit_for_clients() -> None:
    names = [operation["operationId"] for _, _, operation in OPERATIONS]
    assert len(names) == len(set(names))
    assert all(name.isidentifier() for name in names)
    assert all(operation["tags"] for _, _, operation in OPERATIONS)


def test_every_reference_leads_somewhere() -> None:
    text = json.dumps(DOCUMENT)
    schemas = DOCUMENT["components"]["schemas"]
    for part in text.split('"#/components/schemas/')[1:]:
        assert part.split('"')[0] in schemas
    assert "HTTPValidationError" not in text


def test_a_key_is_asked_for_everywhere_but_where_none_is_needed() -> None:
    assert DOCUMENT["security"] == [{"bearer": []}]
    opened = {path for path, _, operation in OPERATIONS if operation.get("security") == []}
    assert opened == {"/", "/healthz", "/readyz", "/metrics"}
    for path, _, operation in OPERATIONS:
        assert path in opened or operation["responses"]["401"] == {"$ref": "#/components/responses/Problem401"}


def test_writes_take_an_idempotency_key() -> None:
    for path, method, operation in OPERATIONS:
        changes = method in {"post", "patch", "delete"} and path.startswith("/memories")
        if changes and not path.endswith("/query"):
            names = {one["name"] for one in operation["parameters"]}
            assert "Idempotency-Key" in names, path


def test_problems_are_declared_where_they_are_answered() -> None:
    for path, _, operation in OPERATIONS:
        if operation.get("security") == []:
            continue
        sent_twice = any(one["name"] == "Idempotency-Key" for one in operation.get("parameters", ()))
        assert ("410" in operation["responses"]) == sent_twice, path
        assert "504" in operation["responses"], path
    for status, answer in DOCUMENT["components"]["responses"].items():
        assert answer["content"]["application/problem+json"]["schema"]["$ref"].endswith("/Problem"), status
    for path in ("/admin/review/bulk", "/entities/merge", "/entities/unmerge"):
        assert "404" in DOCUMENT["paths"][path]["post"]["responses"]


def test_schemas_have_names_of_their_own_that_say_what_they_are() -> None:
    """Generators take two schemas of one title for one, and name classes after schemas."""
    schemas = DOCUMENT["components"]["schemas"]
    assert [name for name in schemas if "__" in name] == []
    assert {name: shown["title"] for name, shown in schemas.items() if shown.get("title", name) != name} == {}
    assert {"MemoryStatus", "QueryMode", "IngestMode", "ReviewAction"} <= set(schemas)


def test_a_list_of_names_that_is_out_of_date_is_told() -> None:
    with pytest.raises(KeyError):
        rename({"components": {"schemas": {}}, "paths": {}})


def test_no_name_is_a_word_of_a_language() -> None:
    for _, _, operation in OPERATIONS:
        assert not keyword.iskeyword(operation["operationId"])
        assert operation["operationId"] not in {"export", "import", "delete", "default", "function", "new"}


def test_bounds_are_those_of_json_schema() -> None:
    """Pydantic hands on what it can't translate, under its own names, which no generator knows."""
    text = json.dumps(DOCUMENT)
    assert [word for word in ("ge", "le", "gt", "lt", "min_length", "max_length") if f'"{word}":' in text] == []
    schemas = DOCUMENT["components"]["schemas"]
    [importance, _] = schemas["FactWrite"]["properties"]["importance"]["anyOf"]
    assert (importance["minimum"], importance["maximum"]) == (0, 1)
    [place, _] = schemas["TurnIn"]["properties"]["sequence_number"]["anyOf"]
    assert place["minimum"] == 0


def test_every_tag_is_described_and_every_operation_too() -> None:
    described = {one["name"] for one in DOCUMENT["tags"] if one["description"]}
    assert {tag for _, _, operation in OPERATIONS for tag in operation["tags"]} == described
    assert [name for _, _, one in OPERATIONS if not one.get("description") for name in [one["operationId"]]] == []


def test_requests_say_what_their_ids_and_pages_are() -> None:
    for path, method, operation in OPERATIONS:
        for parameter in operation.get("parameters", ()):
            if parameter["name"] in SCHEMA_TEXTS:
                assert parameter["description"], f"{method} {path}: {parameter['name']}"
    for body in ("QueryBody", "TurnsBody", "FactWrite", "PatchBody", "RecallBody"):
        for name, shown in DOCUMENT["components"]["schemas"][body]["properties"].items():
            assert shown.get("description") or name in UNSAID, f"{body}.{name}"


def test_every_example_is_one() -> None:
    found = list(_examples(DOCUMENT))
    assert len(found) > 300
    for shown, example in found:
        Draft202012Validator({**shown, "components": DOCUMENT["components"]}).validate(example)


async def test_the_example_of_every_write_is_stored(client: httpx.AsyncClient) -> None:
    schemas = DOCUMENT["components"]["schemas"]
    for spec in discover():
        [body] = schemas[f"{''.join(word.capitalize() for word in spec.name.split('_'))}Write"]["examples"]
        answer = await client.post(f"/memories/typed/{spec.name}", json={**body, "agent_id": "docs"})
        assert answer.status_code == 201, answer.text
    for path, name in (
        ("/memories/batch", "BatchWrite"),
        ("/query", "QueryBody"),
        ("/turns?dry_run=true", "TurnsBody"),
    ):
        [body] = schemas[name]["examples"]
        answer = await client.post(path, json=body)
        assert answer.is_success, answer.text


@pytest.mark.long
def test_the_document_is_made_once() -> None:
    app = create_app(Settings.model_construct())
    assert app.openapi() is app.openapi()
