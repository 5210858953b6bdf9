"""What `typed-memory new-type` writes: a type's file, its migration and its test, complete and working."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

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

import sqlalchemy as sa
from alembic import op

from migrations import live

revision = "{revision}"
down_revision = "{down_revision}"
branch_labels = None
depends_on = None

memory_types = sa.table("memory_types", sa.column("name", sa.Text), sa.column("description", sa.Text))

ROW = {{
    "name": "{name}",
    "description": "{definition}",
}}
INDEXES: dict[str, str] = {{}}


def upgrade() -> None:
    live.create_indexes(INDEXES)
    op.bulk_insert(memory_types, [ROW])


def downgrade() -> None:
    live.drop_indexes(INDEXES)
    live.remove_type(ROW["name"])
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the new type is to be; `slot` is the field that has one value at a time, `event`: it has a date."""

    name: str
    definition: str
    example: str
    slot: str | None
    event: bool
    revision: str
    down_revision: str

    @property
    def words(self) -> str:
        """Return the name as it is said."""
        return self.name.replace("_", " ")

    @property
    def camel(self) -> str:
        """Return the name as classes have it."""
        return "".join(word.capitalize() for word in self.name.split("_"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What differs from one kind of type to another: parts of the type's file, and what its test expects."""

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


def type_file(request: Request) -> str:
    """Return the text of the type's file."""
    shape = shape_of(request)
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
    """Return the text of the migration."""
    return MIGRATION.format(
        name=request.name,
        definition=request.definition,
        revision=request.revision,
        down_revision=request.down_revision,
    )


def test_file(request: Request) -> str:
    """Return the text of the type's test."""
    shape = shape_of(request)
    field, value = shape.other
    return TEST_FILE.format(
        name=request.name,
        test="test_another_value_replaces_it" if shape.replaces else "test_another_one_is_kept_beside_it",
        other=f'"{field}": "{value}"',
        supersedes='== first["id"]' if shape.replaces else "is None",
        status="superseded" if shape.replaces else "active",
    )


def shape_of(request: Request) -> Shape:
    """Return what the type is made of: by default, sentences that add up."""
    if request.slot is not None:
        return _slotted(request, request.slot)
    return _event(request) if request.event else _note(request)


def _note(request: Request) -> Shape:
    return Shape(
        imports=_imports("accumulate", "Payload, Person, Sentence", "Category, Mention"),
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


def _slotted(request: Request, slot: str) -> Shape:
    return Shape(
        imports=_imports("latest_statement_wins", "Name, Payload, Person, Refs", "Category, Mention", "normalise, "),
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


def _event(request: Request) -> Shape:
    return Shape(
        imports=_imports(
            "accumulate",
            "Payload, Person, Sentence",
            "Category, EventTime, Mention, Precision",
            before="from datetime import datetime, tzinfo\n\n",
            calendar="from app.memory.calendar import When, covered, day_start\n",
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


def _imports(policy: str, spec: str, model: str, memory: str = "", *, before: str = "", calendar: str = "") -> str:
    return (
        f"\n{before}from pydantic import Field\n\n"
        f"from app.memory import {memory}vocabulary\n{calendar}"
        f"from app.memory.conflict import {policy}\n"
        f"from app.memory.spec import Example, MemoryType, {spec}\n"
        f"from app.model import {model}"
    )


_PARTS = ("imports", "holds", "fields", "render", "methods", "half_life", "category", "on_conflict", "group")

_TEXT = '    text: Sentence = Field(alias="content", description="What is to be remembered.")'

_WHEN = '    happened_at: When | None = Field(default=None, description="When: a date, or a date and time.")'

_SLOT_FIELDS = """    {slot}: Name = Field(description="What has one value at a time.")
    held: Name = Field(alias="value", description="The value it has.")"""

_SLOT_METHODS = '''
    def slot(self, refs: Refs) -> str | None:
        """Return what has one value at a time: another value replaces the one before."""
        return f"{{refs['subject'].id}}|{{normalise.key(self.{slot})}}"

    def value(self, refs: Refs) -> str | None:  # noqa: ARG002
        """Return the value it has."""
        return normalise.name(self.held)

    def distinct_by(self) -> tuple[str, ...]:
        """Return what must be the same for two memories to be the same."""
        return (normalise.key(self.{slot}), normalise.name(self.held))
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
