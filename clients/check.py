"""Check the clients and the examples against a real service: generated files, types, tests.

python clients/check.py [python] [typescript] [examples]

Steps with npm run beside the others. Where npm's registry does not answer, they are left out.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from service import ROOT, running_service

CLIENTS: Final = ROOT / "clients"
TYPESCRIPT: Final = CLIENTS / "typescript"
VERCEL: Final = CLIENTS / "vercel-ai"
EXAMPLES: Final = ROOT / "examples"
VERCEL_EXAMPLE: Final = EXAMPLES / "vercel-ai"
BIN: Final = Path(sys.executable).parent
PARTS: Final = ("python", "typescript", "examples")

NO_ANSWER: Final = re.compile(
    r"^npm error code ("
    r"E(?:AI_AGAIN|CONN\w+|HOSTUNREACH|NETUNREACH|NOTFOUND|PIPE|PROTO|TIMEDOUT|407|50[234])|ERR_SOCKET_TIMEOUT|FETCH_ERROR)$",
    re.MULTILINE,
)
"""npm's codes for a registry that cannot be reached; what the registry refuses or lacks has others."""


@dataclass(frozen=True, slots=True)
class Step:
    """A command, and the folder it runs in."""

    folder: Path
    command: tuple[str, ...]

    @property
    def label(self) -> str:
        """The command as it is shown."""
        return f"{self.folder.relative_to(ROOT)}: {' '.join([Path(self.command[0]).name, *self.command[1:]])}"


def steps(part: str) -> list[Step]:
    """Return the commands that check a part."""
    generated = _python(CLIENTS, "codegen", "--check")
    installed = _npm(TYPESCRIPT, "ci", "--prefer-offline", "--loglevel=error")
    built = [
        _npm(TYPESCRIPT, "run", "--silent", "build"),
        _npm(VERCEL, "ci", "--prefer-offline", "--loglevel=error"),
        _npm(VERCEL, "run", "--silent", "build"),
    ]
    if part == "python":
        return [
            generated,
            _python(CLIENTS / "python", "mypy", "typed_memory_client", "tests", "../codegen", "../check.py"),
            _python(CLIENTS / "python", "pytest", "tests"),
        ]
    if part == "typescript":
        return [
            generated,
            installed,
            _npm(TYPESCRIPT, "run", "--silent", "generate", "--", "--check"),
            _npm(TYPESCRIPT, "run", "--silent", "typecheck"),
            _npm(TYPESCRIPT, "test", "--silent"),
            *built,
            _npm(VERCEL, "run", "--silent", "typecheck"),
            _npm(VERCEL, "test", "--silent"),
        ]
    return [
        _python(EXAMPLES, "mypy"),
        _python(EXAMPLES, "pytest", "tests"),
        installed,
        *built,
        _npm(VERCEL_EXAMPLE, "ci", "--prefer-offline", "--loglevel=error"),
        _npm(VERCEL_EXAMPLE, "run", "--silent", "typecheck"),
        _npm(VERCEL_EXAMPLE, "test", "--silent"),
    ]


def _python(folder: Path, *arguments: str) -> Step:
    return Step(folder, (sys.executable, "-m", *arguments))


def _npm(folder: Path, *arguments: str) -> Step:
    return Step(folder, (str(BIN / "npm"), *arguments))


def main(parts: Sequence[str]) -> int:
    """Run the steps, those with npm beside the others; return 1 if one failed."""
    wanted = list(dict.fromkeys(step for part in parts for step in steps(part)))
    with_npm = [step for step in wanted if step.folder in {TYPESCRIPT, VERCEL, VERCEL_EXAMPLE}]
    without = [step for step in wanted if step not in with_npm]
    with running_service() as service, ThreadPoolExecutor() as pool:
        environment = {
            **os.environ,
            **service.environment,
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            # A home folder need not be there, nor be writable.
            "npm_config_cache": str(ROOT / ".venv-clients" / "npm-cache"),
            "npm_config_fetch_retry_maxtimeout": "10000",
        }
        problems = [found for found in pool.map(partial(run, environment=environment), (without, with_npm)) if found]
    print(*problems, sep="\n", end="\n" if problems else "")
    return int(any(problem.startswith("FAILED") for problem in problems))


def run(wanted: Sequence[Step], environment: Mapping[str, str]) -> str | None:
    """Run steps until one fails; return what failed or was left out."""
    for number, step in enumerate(wanted):
        started = time.monotonic()
        result = subprocess.run(  # noqa: S603 - our own tools
            step.command,
            cwd=step.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        # One call: another thread prints, too.
        print(f"{step.label} ({time.monotonic() - started:.0f} s)\n{result.stdout}", end="", flush=True)
        if result.returncode == 0:
            continue
        if "ci" in step.command and (code := NO_ANSWER.search(result.stdout)):
            rest = "".join(f"\n  {later.label}" for later in wanted[number:])
            return f"LEFT OUT, because npm's registry does not answer ({code[1]}):{rest}"
        return f"FAILED: {step.label}"
    return None


if __name__ == "__main__":
    if unknown := set(sys.argv[1:]).difference(PARTS):
        sys.exit(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    sys.exit(main(sys.argv[1:] or PARTS))
