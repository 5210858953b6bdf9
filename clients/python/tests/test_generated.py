"""What is generated is what the contract and the asynchronous modules give now."""

from __future__ import annotations

import inspect

from codegen.__main__ import files
from typed_memory_client import AsyncTypedMemory, TypedMemory


def test_generated_files_are_up_to_date() -> None:
    assert [path.name for path, text in files() if path.read_text() != text] == []


def test_both_clients_have_the_same_methods_and_parameters() -> None:
    def methods(client: type) -> dict[str, list[str]]:
        members = inspect.getmembers(client, inspect.isfunction)
        return {name: list(inspect.signature(one).parameters) for name, one in members if not name.startswith("_")}

    synchronous, asynchronous = methods(TypedMemory), methods(AsyncTypedMemory)
    asynchronous["close"] = asynchronous.pop("aclose")
    assert synchronous == asynchronous
