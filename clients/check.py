"""Check the clients and the examples against a real service: generated files, types, tests.

python clients/check.py [python] [typescript] [examples]
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from service import ROOT, running_service

CLIENTS: Final = ROOT / "clients"
TYPESCRIPT: Final = CLIENTS / "typescript"
EXAMPLES: Final = ROOT / "examples"
VERCEL: Final = EXAMPLES / "vercel-ai"
BIN: Final = Path(sys.executable).parent
PARTS: Final = ("python", "typescript", "examples")

Step = tuple[Path, Sequence[str]]
"""A command, and the folder it runs in."""


def steps(part: str) -> list[Step]:
    """Return the commands that check a part."""
    python = [sys.executable, "-m"]
    npm = str(BIN / "npm")
    if part == "python":
        return [
            (CLIENTS, [*python, "codegen", "--check"]),
            (CLIENTS / "python", [*python, "mypy", "typed_memory_client", "tests", "../codegen"]),
            (CLIENTS / "python", [*python, "pytest", "tests"]),
        ]
    if part == "typescript":
        return [
            (CLIENTS, [*python, "codegen", "--check"]),
            (TYPESCRIPT, [npm, "ci", "--silent"]),
            (TYPESCRIPT, [npm, "run", "--silent", "generate", "--", "--check"]),
            (TYPESCRIPT, [npm, "run", "--silent", "typecheck"]),
            (TYPESCRIPT, [npm, "test", "--silent"]),
        ]
    return [
        (EXAMPLES, [*python, "mypy"]),
        (EXAMPLES, [*python, "pytest", "tests"]),
        (TYPESCRIPT, [npm, "ci", "--silent"]),
        (TYPESCRIPT, [npm, "run", "--silent", "build"]),
        (VERCEL, [npm, "ci", "--silent"]),
        (VERCEL, [npm, "run", "--silent", "typecheck"]),
        (VERCEL, [npm, "test", "--silent"]),
    ]


def main(parts: Sequence[str]) -> int:
    """Run the steps one after the other; return the first exit code that is not 0."""
    with running_service() as service:
        environment = {**os.environ, **service.environment, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
        for folder, command in (step for part in parts for step in steps(part)):
            if code := _run(folder, command, environment):
                return code
    return 0


def _run(folder: Path, command: Sequence[str], environment: Mapping[str, str]) -> int:
    shown = " ".join([Path(command[0]).name, *command[1:]])
    print(f"{folder.relative_to(ROOT)}: {shown}", flush=True)
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode  # noqa: S603 - our own tools


if __name__ == "__main__":
    if unknown := set(sys.argv[1:]).difference(PARTS):
        sys.exit(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    sys.exit(main(sys.argv[1:] or PARTS))
