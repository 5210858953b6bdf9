"""What a new type is made of, by its kind: the parts that its file's template is filled with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


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


def shape_of(request: Request) -> Shape:
    """Return what the type is made of: by default, sentences that add up."""
    if request.slot is not None:
        return _slotted(request, request.slot)
    return _event(request) if request.event else _note(request)


def _note(request: Request) -> Shape:
    return Shape(
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


def _slotted(request: Request, slot: str) -> Shape:
    return Shape(
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


def _event(request: Request) -> Shape:
    return Shape(
        imports=_imports(
            "accumulate",
            "Payload",
            "Person, Sentence",
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


def _imports(
    policy: str, spec: str, strings: str, model: str, memory: str = "", *, before: str = "", calendar: str = ""
) -> str:
    return (
        f"\n{before}from pydantic import Field\n\n"
        f"from app.memory import {memory}vocabulary\n{calendar}"
        f"from app.memory.conflict import {policy}\n"
        f"from app.memory.spec import Example, MemoryType, {spec}\n"
        f"from app.memory.strings import {strings}\n"
        f"from app.model import {model}"
    )


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
