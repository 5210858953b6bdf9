"""`typed-memory new-type`: write the files of a new memory type into a checkout of the source.

A type's module, its migration and its test are made from `templates/*.tmpl`, complete and working.
"""

from __future__ import annotations

import keyword
import os
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer
from alembic.script import ScriptDirectory

import app
from app.api.memories.answers import MemoryOut
from app.api.memories.bodies import WriteFields
from app.command_line.terminal import CommandFailed, say
from app.db import migrate
from app.main import create_app
from app.memory.registry import discover
from app.memory.spec import Payload, class_name
from app.settings import Settings


def type_file(kind: str, values: Mapping[str, str]) -> str:
    """Return the source of the module of a type of this kind."""
    text = _template(f"{kind}.py.tmpl")
    imports, cls = text.partition("\nclass ")[0], values["cls"]
    taken = re.search(rf"\b{cls}\b", imports)
    return _filled(text, {**values, "cls": f"{cls}Payload" if taken else cls})


def test_file(kind: str, values: Mapping[str, str]) -> str:
    """Return the source of the type's test."""
    replaces = kind == "slot"
    said = {
        "other": _OTHERS[kind],
        "test": "test_another_value_replaces_it" if replaces else "test_another_one_is_kept_beside_it",
        "supersedes": '== first["id"]' if replaces else "is None",
        "status": "superseded" if replaces else "active",
    }
    return _filled(_template("test.py.tmpl"), {**values, **said})


def _template(name: str) -> str:
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8")


def _filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"@(\w+)@", lambda found: values[found[1]], text)


_OTHERS = {
    "note": '"content": "Something else altogether, which nobody has said so far."',
    "slot": '"value": "another value"',
    "event": '"happened_at": "2026-06-21"',
}
"""A field with which a second memory of a kind is another one."""

_SNAKE_CASE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")

_LONGEST_NAME = 30

_LONGEST_TEXT = 90

_FEWEST_WORDS = 5

_FOLDERS = ("app/memory/types", "migrations/versions", "tests/api")


def new_type(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The type's name, in snake_case.")],
    *,
    slot: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="One value at a time for each FIELD: a second value replaces the first."),
    ] = None,
    event: Annotated[bool, typer.Option("--event", help="Its memories are events with a date.")] = False,
    definition: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A sentence that says what is of this type and what is not.")
    ] = None,
    example: Annotated[
        str | None, typer.Option(metavar="TEXT", help="An utterance from which such a memory is extracted.")
    ] = None,
) -> None:
    """Add a memory type to a checkout of the source: its module, its migration and its test, which work unchanged.

    Without --slot and --event its memories are sentences and accumulate. Nothing is overwritten, and no database is
    needed. docs/adding-a-type.md explains the next steps.

    For example:

      typed-memory new-type allergy --slot allergen
      typed-memory new-type visit --event --example "I was at the dentist's on Monday."
    """
    root = _checkout()
    _check_name(name)
    if slot is not None:
        _check_slot(slot, event=event)
    down_revision, revision = _revisions()
    words = name.replace("_", " ")
    kind = "slot" if slot is not None else "event" if event else "note"
    values = {
        "name": name,
        "words": words,
        "cls": class_name(name),
        "definition": _sentence("--definition", definition or f"Say here what is {words}, and what is not."),
        "example": _utterance(example or f"Say here what somebody would say of {words}."),
        "slot": slot or "",
        "slot_words": (slot or "").replace("_", " "),
        "revision": revision,
        "down_revision": down_revision,
    }
    written = {
        f"app/memory/types/{name}.py": type_file(kind, values),
        f"migrations/versions/{revision}_{name}.py": _filled(_template("migration.py.tmpl"), values),
        f"tests/api/test_type_{name}.py": test_file(kind, values),
    }
    _write(root, written)
    _tell(name, written)


def _checkout() -> Path:
    """Return the root of the checkout that this program runs from; raise CommandFailed if it can't be written."""
    root = Path(app.__file__).parents[1]
    advice = "clone the source, run `make lint` there once, and then .venv/bin/typed-memory new-type"
    if not all((root / folder).is_dir() for folder in _FOLDERS) or not (root / "pyproject.toml").is_file():
        raise CommandFailed(f"a new type is added to the source, and {root} is an installed copy of it: {advice}")
    for folder in _FOLDERS:
        if not os.access(root / folder, os.W_OK):
            raise CommandFailed(f"{root / folder} is not writable: make it so, or {advice}")
    return root


def _check_name(name: str) -> None:
    camel = class_name(name)
    if not _SNAKE_CASE.fullmatch(name) or keyword.iskeyword(name) or keyword.iskeyword(camel):
        raise CommandFailed(f"{name!r} can't name a type: use snake_case, such as pet_peeve, and no keyword of Python")
    if len(name) > _LONGEST_NAME:
        raise CommandFailed(f"{name!r} is too long: indexes are named after it; use at most {_LONGEST_NAME} characters")
    taken = discover().find(name)
    if taken is not None:
        raise CommandFailed(f"app/memory/types/{taken.name}.py is called {name!r} already: use another name")
    document = create_app(Settings.model_construct()).openapi()
    schemas = {camel, f"{camel}Write", f"{camel}Item", f"Scored{camel}"} & document["components"]["schemas"].keys()
    if schemas or f"/memories/typed/{name}" in document["paths"]:
        what = ", ".join(sorted(schemas)) or f"the route /memories/typed/{name}"
        raise CommandFailed(f"{name!r} is taken: the API has {what} already; use another name")


def _check_slot(slot: str, *, event: bool) -> None:
    if event:
        raise CommandFailed("events accumulate and have no slot: give --slot or --event, not both")
    if not _SNAKE_CASE.fullmatch(slot) or keyword.iskeyword(slot):
        raise CommandFailed(f"{slot!r} can't name a field: use snake_case, such as allergen, and no keyword of Python")
    if len(slot) > _LONGEST_NAME:
        raise CommandFailed(f"{slot!r} is too long: use at most {_LONGEST_NAME} characters")
    ours = {"subject_name", "held", "type", "memory_type", "score", *WriteFields.model_fields, *MemoryOut.model_fields}
    if slot in ours or hasattr(Payload, slot):
        raise CommandFailed(f"every memory has {slot!r}: use another name for the field")


def _revisions() -> tuple[str, str]:
    """Return the newest migration, and the next number."""
    scripts = ScriptDirectory(str(migrate.MIGRATIONS))
    heads = scripts.get_heads()
    if len(heads) != 1:
        raise CommandFailed(f"the migrations {', '.join(sorted(heads))} follow the same one: put them in line first")
    newest = max(int(script.revision) for script in scripts.walk_revisions())
    return heads[0], f"{newest + 1:04d}"


def _sentence(option: str, text: str) -> str:
    """Return the text as a sentence for a string literal, or raise CommandFailed."""
    said = text.strip()
    if not said or not said.isprintable() or '"' in said or "\\" in said:
        raise CommandFailed(f"{option} must be one line without double quotes and backslashes: write {option} 'It ...'")
    said = f"{said[0].upper()}{said[1:]}"
    if not said.endswith((".", "!", "?")):
        said += "."
    if len(said) > _LONGEST_TEXT:
        raise CommandFailed(f"{option} has {len(said)} characters: say it in {_LONGEST_TEXT}, and the rest in the file")
    return said


def _utterance(text: str) -> str:
    said = _sentence("--example", text)
    if len(said.split()) < _FEWEST_WORDS:
        raise CommandFailed(f"--example needs {_FEWEST_WORDS} words or more: shorter turns are skipped")
    return said


def _write(root: Path, written: Mapping[str, str]) -> None:
    """Write all of the files, or none if one exists."""
    there = [path for path in written if (root / path).exists()]
    if there:
        raise CommandFailed(f"{', '.join(there)}: exists already; move it away, or use another name")
    for path, text in written.items():
        with (root / path).open("x", encoding="utf-8") as file:
            file.write(text)


def _tell(name: str, written: Mapping[str, str]) -> None:
    kind, migration, test = written
    say(f"Wrote {kind}\n      {migration}\n      {test}\n")
    say("They work as they are. Next:")
    say(f"  1. In {kind}, say what the type holds, how it reads and how it fades.")
    say(f"  2. In {migration}, name the indexes it needs, if any.")
    say(f"  3. Give {name} a row in the table of types of docs/concepts.md.")
    say("  4. make openapi")
    say(f'  5. make test ARGS="tests/memory/test_types.py {test}", and in the end make check')
    say("docs/adding-a-type.md goes through this word for word.")
