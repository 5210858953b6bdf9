"""`typed-memory` before any of its commands: what it imports, and what it says about names."""

from __future__ import annotations

import os
import subprocess

import pytest

from app.cli import MODULES, load, read_help
from tests.commands.program import PROGRAM

SERVER = "sqlalchemy"


def run(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1", **env}
    command = (*PROGRAM, *arguments)
    return subprocess.run(command, capture_output=True, text=True, env=settings, timeout=60, check=False)  # noqa: S603


def test_the_shell_completes_a_client_command_without_the_import_of_the_server() -> None:
    words = {"COMP_WORDS": "typed-memory reca", "COMP_CWORD": "1", "_TYPED_MEMORY_COMPLETE": "complete_bash"}
    done = run(**words)
    assert done.stdout.split() == ["recall"]
    assert SERVER not in done.stderr


def test_the_version_is_printed_without_the_import_of_the_server() -> None:
    done = run("--version")
    assert done.returncode == 0
    assert SERVER not in done.stderr


def test_the_commands_are_listed_without_the_import_of_the_server() -> None:
    done = run("--help")
    assert "Store an utterance" in done.stdout
    assert SERVER not in done.stderr


@pytest.mark.parametrize("name", MODULES)
def test_a_command_is_listed_with_the_help_that_it_prints(name: str) -> None:
    assert read_help(name) == load(name).help


def test_a_group_without_a_command_prints_its_help() -> None:
    done = run("limits")
    assert done.returncode == 2
    assert "Show and set limits of tenants and keys." in done.stderr


def test_a_misspelled_command_is_answered_with_those_like_it() -> None:
    done = run("remeber", "I ski.")
    assert done.returncode == 2
    assert "Did you mean 'remember'" in done.stderr


def test_examples_are_printed_on_lines_that_can_be_copied() -> None:
    done = run("keys", "create", "--help", COLUMNS="50")
    assert "    typed-memory keys create reports --role read --expires 90d\n" in done.stdout


def test_a_misspelled_setting_is_told_by_a_command_on_the_store() -> None:
    done = run("keys", "list", TM_DATA_DIR="/nonexistent", TM_DATABASE_ULR="postgresql://db/memory")
    assert done.returncode == 1
    assert "TM_DATABASE_ULR is no setting; did you mean TM_DATABASE_URL?" in done.stderr


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"TM_LLM_MODEL": "m", "TM_LLM_API_KEY": "k", "TM_LLM_BASE_URL": ""},
            "TM_LLM_API_KEY, TM_LLM_MODEL have no effect with TM_LLM_PROVIDER=rules: set that to openai or anthropic",
        ),
        (
            {"TM_EMBEDDING_MODEL": "m"},
            "TM_EMBEDDING_MODEL has no effect with TM_EMBEDDING_PROVIDER=wordllama: set that to openai or fastembed",
        ),
        (
            {"TM_RERANK_BASE_URL": "http://127.0.0.1"},
            "TM_RERANK_BASE_URL has no effect with TM_RERANK_PROVIDER=none: set that to cohere or tei or fastembed",
        ),
        ({"TM_LLM_PROVIDER": "openai", "TM_LLM_MODEL": "m", "TM_EMBEDDING_PROVIDER": "wordllama"}, None),
    ],
)
def test_settings_that_the_provider_does_not_read_are_told(given: dict[str, str], told: str | None) -> None:
    done = run("keys", "list", TM_DATA_DIR="/nonexistent", **given)
    warned = [line for line in done.stderr.splitlines() if "no effect" in line]
    assert [one.removeprefix("warning: ") for one in warned] == ([] if told is None else [told])


def test_fields_without_a_type_are_refused() -> None:
    done = run("remember", "I ski.", "--fields", "{}")
    assert done.returncode == 1
    assert "--fields goes with --type" in done.stderr
