"""What `typed-memory new-type` writes: a type's file, its migration and its test, complete and working."""

from __future__ import annotations

import re

from app.commands.type_shapes import Request, shape_of

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


_PARTS = ("imports", "holds", "fields", "render", "methods", "half_life", "category", "on_conflict", "group")
