"""Write what the clients generate from the contract, or with `--check` say what is out of date.

Run it in the folder `clients`: `python -m codegen [--check]`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from codegen import python_bodies, python_models, python_sync
from codegen.contract import load

CLIENTS: Final = Path(__file__).resolve().parents[1]
CONTRACT: Final = CLIENTS.parent / "openapi" / "openapi.json"
PACKAGE: Final = CLIENTS / "python" / "typed_memory_client"
BUILD: Final = CLIENTS / "build"


def files() -> Iterator[tuple[Path, str]]:
    """Yield every generated file of the Python client with its text."""
    contract = load(CONTRACT)
    texts = {
        "models": python_models.generate(contract),
        "bodies": python_bodies.generate(contract),
        "_async_writes": python_bodies.generate_writes(contract),
    }
    for source, target in python_sync.MODULES.items():
        text = texts.get(source) or (PACKAGE / f"{source}.py").read_text()
        texts[target] = python_sync.derive(source, text)
    for name, text in texts.items():
        yield PACKAGE / f"{name}.py", text


def write_part_for_typescript() -> None:
    """Write the part of the contract that the clients use, for the generator of the TypeScript types."""
    BUILD.mkdir(exist_ok=True)
    (BUILD / "contract.json").write_text(json.dumps(load(CONTRACT)))


def main() -> int:
    """Write the files, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is out of date")
    check = parser.parse_args().check
    write_part_for_typescript()
    stale = [path for path, text in files() if not path.exists() or path.read_text() != text]
    if check:
        for path in stale:
            sys.stderr.write(f"{path.relative_to(CLIENTS)} is out of date: run `make clients-generate`\n")
        return 1 if stale else 0
    for path, text in files():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
