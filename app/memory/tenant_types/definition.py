"""The model of a tenant's definition of a type, and its faults; `compiler` checks the meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from app.errors import InvalidInput
from app.memory.fields import Name, storable, visible
from app.memory.spec import GroupName
from app.model import Category, ScopeKind

LONGEST_LINE = 500
"""Most characters of a definition, a description or an utterance: they are part of every extraction's prompt."""

LARGEST = 64_000
"""Most characters of a definition as JSON."""

MOST_EXAMPLES = 8


def _line(text: str) -> str:
    return " ".join(text.split())


Line = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_LINE),
    AfterValidator(storable),
    AfterValidator(visible),
    AfterValidator(_line),
]
"""Text that is joined into one line."""

TypeName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,62}$")]
"""A type's name: lower-case letters, digits and underscores."""

FieldName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,62}$")]
"""A field of the payload."""

Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]


def _word(text: str) -> str:
    if re.fullmatch(r"[\w'-]+", text) is None:
        raise ValueError("must be one word")
    return text.casefold()


Hint = Annotated[str, StringConstraints(strip_whitespace=True, min_length=2, max_length=40), AfterValidator(_word)]

Payload = Annotated[dict[str, JsonValue], Field(max_length=64)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MentionIn(_Part):
    """A field whose value is the name of a person or a thing."""

    entity_type: Name | None = Field(default=None, description="What kind of thing it names.", examples=["person"])
    creates: bool = Field(
        default=True, strict=True, description="A name that is not known becomes an entity; else it stays plain text."
    )


class EndingKeyIn(_Part):
    """The fields by which endings find memories: `ends: true` with the same `under` ends the memory."""

    under: FieldName = Field(description="The field under which a value is held.")
    value: FieldName = Field(description="The field that holds it; an ending may leave it out.")


class ImportanceIn(_Part):
    """Importance by the value of a field with an `enum`."""

    field: FieldName
    values: dict[str, Fraction] = Field(min_length=1, max_length=50)
    otherwise: Fraction = 0.5


class ExampleIn(_Part):
    """An utterance and its payloads, shown to the model and used as a test of the definition."""

    utterance: Line = Field(examples=["Acme opened ticket 4711: the export fails, it's urgent."])
    payloads: list[Payload] = Field(min_length=1, max_length=3)


class Definition(_Part):
    """A memory type of a tenant's own."""

    name: TypeName = Field(examples=["ticket"])
    definition: Line = Field(
        description="What such a memory is, in a sentence, so that a model knows one when it sees it.",
        examples=["A support ticket that a customer has opened, and how far it has come."],
    )
    payload: dict[str, JsonValue] = Field(
        description="The fields, as a JSON Schema of an object: strings (`maxLength`, `minLength`, `enum`, `format` "
        "`date` or `date-time`), integers and numbers (`minimum`, `maximum` and their exclusive forms), booleans, and "
        "arrays of these (`minItems`, `maxItems`); `required` and `description`.",
        examples=[
            {
                "type": "object",
                "properties": {"customer": {"type": "string"}, "number": {"type": "integer"}},
                "required": ["customer", "number"],
            }
        ],
    )
    render: str = Field(
        min_length=1,
        max_length=2000,
        description="The sentence a memory reads as. `{field}` stands for a field; what stands in `[...]` is left out "
        "where a field in it is missing. Write `{{`, `}}`, `[[`, `]]` for the characters themselves.",
        examples=["{customer} has ticket {number}[, priority {priority}]"],
    )
    slot: list[FieldName] = Field(
        default_factory=list,
        max_length=3,
        description="Required fields that together name a place for one value at a time; without one, memories add up.",
    )
    value: list[FieldName] | None = Field(
        default=None,
        max_length=32,
        description="The fields whose values compete for the slot; by default all that are not in it.",
    )
    on_conflict: Literal["accumulate", "latest_statement_wins", "only_removed", "one_identity"] | None = Field(
        default=None,
        description="What another value for a taken slot does. `latest_statement_wins` (the default with a slot): "
        "replaces it; `only_removed`: contradicts it, until it is ended; `one_identity`: is the same thing again.",
    )
    subject: FieldName | None = Field(
        default=None,
        description="The field that says whom or what it is about; where it is optional, by default the user.",
    )
    mentions: dict[FieldName, MentionIn] = Field(
        default_factory=dict, max_length=8, description="Fields that name people and things, which become entities."
    )
    event_time: FieldName | None = Field(
        default=None, description="The field of format `date` or `date-time` that says when it happened."
    )
    distinct_by: list[FieldName] | None = Field(
        default=None,
        max_length=32,
        description="Fields in which two memories must agree to be duplicates, beside their words; by default the "
        "slot's, and all but free text.",
    )
    held: EndingKeyIn | None = None
    prior: float = Field(default=0.10, gt=0, le=0.2, allow_inf_nan=False, strict=True)
    half_life_days: float | None = Field(default=90, gt=0, le=36_500, allow_inf_nan=False, strict=True)
    floor: Fraction = 0.0
    category: Literal["episodic", "semantic", "procedural", "control"] = Category.SEMANTIC.value
    default_scope: ScopeKind = ScopeKind.USER
    group: GroupName = "Facts"
    hints: list[Hint] = Field(
        default_factory=list, max_length=20, description="Words of a question that ask for this type."
    )
    aliases: list[TypeName] = Field(default_factory=list, max_length=10)
    importance: Fraction | ImportanceIn = 0.5
    asked_by_questions: bool = Field(default=False, strict=True)
    dedup_by_meaning: bool = Field(default=True, strict=True)
    extracted: bool = Field(default=True, strict=True, description="A language model may propose it from a turn.")
    examples: list[ExampleIn] = Field(min_length=1, max_length=MOST_EXAMPLES)

    def value_fields(self, fields: Iterable[str]) -> tuple[str, ...]:
        """Return the fields of the slot's value: those that the definition names, else all that are not in the slot."""
        if self.value is not None:
            return tuple(self.value)
        return tuple(sorted(name for name in fields if name not in self.slot))

    def text(self) -> str:
        """Return the definition as canonical JSON."""
        return self.model_dump_json(exclude_defaults=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionError:
    """A fault: its place as a JSON pointer into the definition, and a message with the remedy."""

    pointer: str
    message: str


class InvalidDefinition(InvalidInput):
    """A definition is invalid; `faults` has all faults, at least one."""

    def __init__(self, faults: Sequence[DefinitionError]) -> None:
        """Build the error from the faults."""
        super().__init__(f"{faults[0].pointer}: {faults[0].message}")
        self.faults = tuple(faults)


def pointer(*steps: str | int) -> str:
    """Return the JSON pointer (RFC 6901) of a path."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)
