"""`typed-memory new-type`: write the files of a new memory type into a checkout of the source.

A type's module, its migration and its test are made from `templates/*.tmpl`, complete and working.
"""

from __future__ import annotations

import keyword
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The options of a new type; `slot` is the field that has one value at a time, `event` says that it has a date."""

    name: str
    definition: str
    example: str
    slot: str | None
    event: bool
    revision: str
    down_revision: str

    @property
    def words(self) -> str:
        """Return the name as words."""
        return self.name.replace("_", " ")

    @property
    def camel(self) -> str:
        """Return the name in camel case."""
        return class_name(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeParts:
    """The parts of the files that depend on the kind of type."""

    imports: str
    holds: str
    fields: str
    render: str
    methods: str
    half_life: str
    category: str
    on_conflict: str
    group: str
    payload: Mapping[str, str]
    other: tuple[str, str]
    replaces: bool


def parts_of(request: Request) -> TypeParts:
    """Return the parts for the type's kind; by default, memories are sentences and accumulate."""
    if request.slot is not None:
        return _slotted(request, request.slot)
    return _event(request) if request.event else _note(request)


def _note(request: Request) -> TypeParts:
    return TypeParts(
        imports=_imports("accumulate", "Payload", "Person, Sentence", "Category, Mention"),
        holds="Whom it is about, and what is to be remembered.",
        fields=_TEXT,
        render="self.text",
        methods="",
        half_life="180",
        category="SEMANTIC",
        on_conflict="accumulate",
        group="Facts",
        payload={"subject": "user", "content": request.example},
        other=("content", "Something else altogether, which nobody has said so far."),
        replaces=False,
    )


def _slotted(request: Request, slot: str) -> TypeParts:
    return TypeParts(
        imports=_imports("latest_statement_wins", "Payload, Refs", "Name, Person", "Category, Mention", "normalise, "),
        holds="Whom it is about, and what has one value at a time.",
        fields=_SLOT_FIELDS.format(slot=slot),
        render=f'f"{{self.subject_name}} has {request.words} {{self.{slot}}}: {{self.held}}"',
        methods=_SLOT_METHODS.format(slot=slot),
        half_life="180",
        category="SEMANTIC",
        on_conflict="latest_statement_wins",
        group="Facts",
        payload={"subject": "user", slot: f"some {slot.replace('_', ' ')}", "value": "some value"},
        other=("value", "another value"),
        replaces=True,
    )


def _event(request: Request) -> TypeParts:
    return TypeParts(
        imports=_imports(
            "accumulate",
            "Payload",
            "Person, Sentence",
            "Category, EventTime, Mention, Precision",
            before="from datetime import datetime, tzinfo\n\n",
            calendar="from app.memory.calendar import StatedTime, covered, day_start\n",
        ),
        holds="Whom it is about, what happened, and when.",
        fields=f"{_TEXT}\n{_WHEN}",
        render='self.text if self.happened_at is None else f"{self.text} (on {self.happened_at:%Y-%m-%d})"',
        methods=_EVENT_METHODS,
        half_life="30",
        category="EPISODIC",
        on_conflict="accumulate",
        group="Events",
        payload={"subject": "user", "content": request.example, "happened_at": "2026-05-09"},
        other=("happened_at", "2026-06-21"),
        replaces=False,
    )


def _imports(
    policy: str, spec: str, strings: str, model: str, memory: str = "", *, before: str = "", calendar: str = ""
) -> str:
    return (
        f"\n{before}from pydantic import Field\n\n"
        f"from app.memory import {memory}vocabulary\n{calendar}"
        f"from app.memory.fields import {strings}\n"
        f"from app.memory.slots import {policy}\n"
        f"from app.memory.spec import Example, MemoryType, {spec}\n"
        f"from app.model import {model}"
    )


_TEXT = '    text: Sentence = Field(alias="content", description="What is to be remembered.")'

_WHEN = '    happened_at: StatedTime | None = Field(default=None, description="When: a date, or a date and time.")'

_SLOT_FIELDS = """    {slot}: Name = Field(description="What has one value at a time.")
    held: Name = Field(alias="value", description="The value it has.")"""

_SLOT_METHODS = '''
    def slot(self, refs: Refs) -> str | None:
        """Return what has one value at a time: another value replaces the one before."""
        return f"{{refs['subject'].id}}|{{normalise.normalise_key(self.{slot})}}"

    def value(self, refs: Refs) -> str | None:  # noqa: ARG002
        """Return the value it has."""
        return normalise.normalise_name(self.held)

    def distinct_by(self) -> tuple[str, ...]:
        """Return what must be the same for two memories to be the same."""
        return (normalise.normalise_key(self.{slot}), normalise.normalise_name(self.held))
'''

_EVENT_METHODS = '''
    def distinct_by(self) -> tuple[str, ...]:
        """Return when it was: the same thing at another time is another one."""
        return (str(self.happened_at),)

    def event_time(self, zone: tzinfo) -> EventTime | None:
        """Return the range it covers, in the caller's time zone."""
        if self.happened_at is None:
            return EventTime(at=None, precision=Precision.UNKNOWN, lower=None, upper=None)
        precision = Precision.EXACT if isinstance(self.happened_at, datetime) else Precision.DAY
        at = day_start(self.happened_at, zone)
        lower, upper = covered(at, precision, zone)
        return EventTime(at=at, precision=precision, lower=lower, upper=upper)
'''

TYPE_FILE = '''"""{definition}"""

from __future__ import annotations
{imports}


class {cls}(Payload):
    """{holds}"""

    subject_name: Person = Field(default=vocabulary.USER, alias="subject", description="Whom it is about.")
{fields}

    def render(self) -> str:
        """Return a sentence that says it all, to be read on its own."""
        return {render}

    def mentions(self) -> tuple[Mention, ...]:
        """Return whom it is about."""
        return (Mention(role="subject", name=self.subject_name),)

    def subject(self) -> str | None:
        """Return whom it is about."""
        return self.subject_name
{methods}

TYPE = MemoryType(
    name="{name}",
    definition="{definition}",
    payload={cls},
    prior=0.15,
    half_life_days={half_life},
    category=Category.{category},
    on_conflict={on_conflict},
    group="{group}",
    hints=("{words}",),
    examples=(
        Example(
            utterance="{example}",
            payloads=(
                {{
{payload}
                }},
            ),
        ),
    ),
)
'''

MIGRATION = '''"""The {name} memory type."""

from __future__ import annotations

from migrations import live

revision = "{revision}"
down_revision = "{down_revision}"
branch_labels = None
depends_on = None

TYPES = {{
    "{name}": "{definition}",
}}
INDEXES: dict[str, str] = {{}}


def upgrade() -> None:
    live.create_indexes(INDEXES)
    live.add_types(TYPES)


def downgrade() -> None:
    live.drop_indexes(INDEXES)
    live.remove_types(TYPES)
'''

TEST_FILE = '''"""The {name} type over HTTP; what every type keeps to is in tests/memory/test_types.py."""

from __future__ import annotations

import httpx

from app.memory.types.{name} import TYPE
from tests.api.conftest import written

FIELDS = {{**TYPE.examples[0].payloads[0], "user_id": "u1"}}
OTHERS = {{**FIELDS, {other}}}


async def test_it_is_found_by_its_type(client: httpx.AsyncClient) -> None:
    memory = await written(client, TYPE.name, **FIELDS)
    answer = await client.post("/query", json={{"query": memory["content"], "user_id": "u1", "types": [TYPE.name]}})
    assert [one["memory"]["id"] for one in answer.json()["memories"]] == [memory["id"]]


async def {test}(client: httpx.AsyncClient) -> None:
    first = await written(client, TYPE.name, **FIELDS)
    second = await written(client, TYPE.name, **OTHERS)
    assert second["supersedes"] {supersedes}
    assert (await client.get(f"/memories/{{first['id']}}")).json()["status"] == "{status}"
'''


def type_file(request: Request) -> str:
    """Return the source of the type's module."""
    shape = parts_of(request)
    name = request.camel
    return TYPE_FILE.format(
        cls=f"{name}Payload" if re.search(rf"\b{name}\b", shape.imports) else name,
        name=request.name,
        words=request.words,
        definition=request.definition,
        example=request.example,
        payload="\n".join(f'                    "{field}": "{value}",' for field, value in shape.payload.items()),
        **{part: getattr(shape, part) for part in _PARTS},
    )


def migration(request: Request) -> str:
    """Return the source of the migration."""
    return MIGRATION.format(
        name=request.name,
        definition=request.definition,
        revision=request.revision,
        down_revision=request.down_revision,
    )


def test_file(request: Request) -> str:
    """Return the source of the type's test."""
    shape = parts_of(request)
    field, value = shape.other
    return TEST_FILE.format(
        name=request.name,
        test="test_another_value_replaces_it" if shape.replaces else "test_another_one_is_kept_beside_it",
        other=f'"{field}": "{value}"',
        supersedes='== first["id"]' if shape.replaces else "is None",
        status="superseded" if shape.replaces else "active",
    )


_PARTS = ("imports", "holds", "fields", "render", "methods", "half_life", "category", "on_conflict", "group")

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
    request = Request(
        name=name,
        definition=_sentence("--definition", definition or f"Say here what is {words}, and what is not."),
        example=_utterance(example or f"Say here what somebody would say of {words}."),
        slot=slot,
        event=event,
        revision=revision,
        down_revision=down_revision,
    )
    files = {
        f"app/memory/types/{name}.py": type_file(request),
        f"migrations/versions/{revision}_{name}.py": migration(request),
        f"tests/api/test_type_{name}.py": test_file(request),
    }
    _write(root, files)
    _tell(name, files)


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


def _write(root: Path, files: Mapping[str, str]) -> None:
    """Write all of the files, or none if one exists."""
    there = [path for path in files if (root / path).exists()]
    if there:
        raise CommandFailed(f"{', '.join(there)}: exists already; move it away, or use another name")
    for path, text in files.items():
        with (root / path).open("x", encoding="utf-8") as file:
            file.write(text)


def _tell(name: str, files: Mapping[str, str]) -> None:
    kind, migration, test = files
    say(f"Wrote {kind}\n      {migration}\n      {test}\n")
    say("They work as they are. Next:")
    say(f"  1. In {kind}, say what the type holds, how it reads and how it fades.")
    say(f"  2. In {migration}, name the indexes it needs, if any.")
    say(f"  3. Give {name} a row in the table of types of docs/concepts.md.")
    say("  4. make openapi")
    say(f'  5. make test ARGS="tests/memory/test_types.py {test}", and in the end make check')
    say("docs/adding-a-type.md goes through this word for word.")


def register(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command("new-type")(new_type)
