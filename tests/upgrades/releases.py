"""The releases so far (`.ci/releases.toml`), and their code, taken out of the history."""

from __future__ import annotations

import io
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.commands.program import ROOT

LIST = ".ci/releases.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """What was released, and the newest migration it has."""

    version: str
    schema: str


def releases() -> list[Release]:
    """All of them, oldest first."""
    listed = tomllib.loads((ROOT / LIST).read_text()).get("release", [])
    return [Release(**one) for one in listed]


def git(*arguments: str) -> bytes:
    """Ask git about this checkout; skip the test where there is no history to ask about."""
    program = shutil.which("git")
    if program is None or not (ROOT / ".git").exists():
        pytest.skip("the previous release comes out of the history: install git, and work in a clone")
    asked = subprocess.run(  # noqa: S603 - git, on our own repository
        [program, "-c", "safe.directory=*", *arguments], cwd=ROOT, capture_output=True, check=False
    )
    assert asked.returncode == 0, asked.stderr.decode()
    return asked.stdout


def commit_of(release: Release) -> str:
    """Return the commit that added the release to the list; skip the test where the history is cut off."""
    if git("rev-parse", "--is-shallow-repository").strip() == b"true":
        pytest.skip(f"release {release.version} is not in this checkout's history: run `git fetch --unshallow`")
    added = git("log", "--format=%H", f'-Sversion = "{release.version}"', "--", LIST).split()
    assert added, f"no commit adds release {release.version} to {LIST}: commit it"
    commit = added[0].decode()
    if git("show", "--name-only", "--format=", commit).split() != [LIST.encode()]:
        pytest.skip(f"release {release.version} is one commit with others in this history, so its code can't be had")
    return commit


def check_out(release: Release, folder: Path) -> None:
    """Put the release's code into the folder."""
    archive = git("archive", "--format=zip", commit_of(release), "app", "migrations", "pyproject.toml")
    with ZipFile(io.BytesIO(archive)) as files:
        files.extractall(folder)
