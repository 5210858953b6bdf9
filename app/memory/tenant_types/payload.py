"""The payload class of tenants' own types, driven by the definition, and templates of sentences.

A template has text, `{field}`, and `[parts]` that are left out if one of their fields is missing. Nothing in it is
evaluated: a name in braces is replaced by that field's value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, tzinfo
from typing import ClassVar, Final

from pydantic import ConfigDict

from app.memory import normalise, vocabulary
from app.memory.calendar import covered, day_start
from app.memory.spec import Payload, Refs
from app.model import EventTime, Mention, Precision

_TOKEN: Final = re.compile(r"\{\{|\}\}|\[\[|\]\]|\{([^{}\[\]]*)\}|[{}\[\]]|[^{}\[\]]+")

_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateToken:
    """A run of text, or the name of a field."""

    text: str = ""
    field: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Several tokens; an `optional` part is left out if one of its fields is missing."""

    pieces: tuple[TemplateToken, ...]
    optional: bool

    @property
    def fields(self) -> tuple[str, ...]:
        """Return the names of the part's fields."""
        return tuple(piece.field for piece in self.pieces if piece.field is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A parsed template."""

    parts: tuple[Part, ...]

    @property
    def always(self) -> frozenset[str]:
        """Return the fields outside of optional parts."""
        return frozenset(field for part in self.parts if not part.optional for field in part.fields)

    @property
    def fields(self) -> frozenset[str]:
        """Return every field of the template."""
        return frozenset(field for part in self.parts for field in part.fields)

    def filled(self, values: Mapping[str, str]) -> str:
        """Return the sentence, on one line, for the values of the fields that are present."""
        shown = (part for part in self.parts if not part.optional or all(name in values for name in part.fields))
        told = "".join(
            piece.text if piece.field is None else values.get(piece.field, "")
            for part in shown
            for piece in part.pieces
        )
        return " ".join(told.split())


class TemplateError(ValueError):
    """A text is no template; the message says where and why."""


def read(text: str) -> Template:
    """Return the template of a text, or raise TemplateError."""
    parts: list[Part] = []
    pieces: list[TemplateToken] = []
    opened: int | None = None
    for token in _TOKEN.finditer(text):
        found, at = token[0], token.start() + 1
        match found:
            case "{{" | "}}" | "[[" | "]]":
                pieces.append(TemplateToken(text=found[0]))
            case "[" if opened is None:
                parts, pieces, opened = [*parts, Part(pieces=tuple(pieces), optional=False)], [], at
            case "]" if opened is not None:
                part = Part(pieces=tuple(pieces), optional=True)
                if not part.fields:
                    raise TemplateError(
                        f"the optional part at character {opened} names no field: it would always be shown"
                    )
                parts, pieces, opened = [*parts, part], [], None
            case "[":
                raise TemplateError(
                    f"the [ at character {at} stands in the part that begins at {opened}: close that first"
                )
            case "{" | "}" | "]":
                raise TemplateError(
                    f"the {found} at character {at} has no partner: write {found * 2} for the character"
                )
            case _:
                pieces.append(_piece(token, at))
    if opened is not None:
        raise TemplateError(f"the [ at character {opened} is never closed: write [[ for the character itself")
    return Template(parts=(*parts, Part(pieces=tuple(pieces), optional=False)))


def _piece(token: re.Match[str], at: int) -> TemplateToken:
    name = token[1]
    if name is None:
        return TemplateToken(text=token[0])
    if _NAME.fullmatch(name) is None:
        raise TemplateError(
            f"{{{name[:40]}}} at character {at} is no name of a field: nothing else may stand in braces"
        )
    return TemplateToken(field=name)


ATTRIBUTE: Final = "own_{}"
"""The attribute of a field in the payload's class, where its own name might be a method's."""

_SUBJECT: Final = "subject"

_TAKEN: Final = frozenset({_SUBJECT, "from", "identity", "object", "speaker"})
"""Roles with a meaning of their own."""

_LONGEST_KEY: Final = 1_000
"""Most bytes of a slot, or of its value, that is stored as it is; an index takes a few thousand."""

_LONGEST_NAME: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class NameField:
    """A field with names of people or things."""

    field: str
    entity_type: str | None = None
    creates: bool = True

    @property
    def role(self) -> str:
        """Return the role of the field's mention, or the prefix of the roles of several names."""
        return f"{self.field}_" if self.field in _TAKEN else self.field


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRoles:
    """The meaning of a type's fields, by their names."""

    template: Template
    fields: tuple[str, ...]
    subject: str | None = None
    mentions: tuple[NameField, ...] = ()
    slot: tuple[str, ...] = ()
    value: tuple[str, ...] = ()
    distinct_by: tuple[str, ...] = ()
    event_time: str | None = None
    importance: float = 0.5
    weighed_by: str | None = None
    weights: Mapping[str, float] = field(default_factory=dict)


class TenantPayload(Payload):
    """A payload whose class is made from a definition; `plan` belongs to the class."""

    model_config = ConfigDict(populate_by_name=False)

    plan: ClassVar[FieldRoles]

    def field_value(self, name: str) -> object:
        """Return a field's value, None if it is missing."""
        return getattr(self, ATTRIBUTE.format(name))

    def render(self) -> str:
        """Return the template filled with the fields."""
        given = ((name, as_text(self.field_value(name))) for name in self.plan.fields)
        return self.plan.template.filled({name: text for name, text in given if text})

    def mentions(self) -> tuple[Mention, ...]:
        """Return the subject, and the names in fields that hold names."""
        return tuple(self._mentions())

    def _mentions(self) -> Iterator[Mention]:
        about, how = self.subject(), {one.field: one for one in self.plan.mentions}
        if about is not None:
            named = how.get(str(self.plan.subject), NameField(field=_SUBJECT))
            kind = "person" if about == vocabulary.USER else named.entity_type
            yield Mention(role=_SUBJECT, name=about, entity_type=kind, creates=named.creates)
        for one in self.plan.mentions:
            value = None if one.field == self.plan.subject else self.field_value(one.field)
            several = isinstance(value, tuple)
            for place, name in enumerate(value if isinstance(value, tuple) else (value,)):
                if name is not None:
                    role = f"{one.role}_{place}" if several else one.role
                    yield Mention(role=role, name=str(name), entity_type=one.entity_type, creates=one.creates)

    def subject(self) -> str | None:
        """Return the subject: the user, if the field for it is missing."""
        if self.plan.subject is None:
            return None
        value = self.field_value(self.plan.subject)
        return vocabulary.USER if value is None else str(value)

    def slot(self, refs: Refs) -> str | None:
        """Return the key of the slot's fields."""
        return _key(self._part(name, refs, normalise.sentence) for name in self.plan.slot) or None

    def value(self, refs: Refs) -> str | None:
        """Return the key of the value's fields."""
        if not self.plan.slot:
            return None
        return _key(self._part(name, refs, normalise.value) for name in self.plan.value)

    def distinct_by(self) -> tuple[str, ...]:
        """Return the fields in which duplicates must agree."""
        return tuple(_normal(self.field_value(name), normalise.value) for name in self.plan.distinct_by)

    def weight(self) -> float:
        """Return the importance, in 0..1."""
        chosen = None if self.plan.weighed_by is None else self.field_value(self.plan.weighed_by)
        return self.plan.importance if chosen is None else self.plan.weights.get(str(chosen), self.plan.importance)

    def _part(self, name: str, refs: Refs, compared: Callable[[str], str]) -> str:
        """Return a field as a part of a key: the entity that it certainly names, else its value."""
        if name == self.plan.subject:
            return str(refs[_SUBJECT].id) if _SUBJECT in refs else _normal(self.subject(), compared)
        named = next((one for one in self.plan.mentions if one.field == name and one.creates), None)
        if named is not None and named.role in refs:
            return str(refs[named.role].id)
        return _normal(self.field_value(name), compared)


class EventField(TenantPayload):
    """A payload with a field for the time of an event."""

    def event_time(self, zone: tzinfo) -> EventTime | None:
        """Return the time of its field, with the precision of a day or of an instant."""
        value = self.field_value(str(self.plan.event_time))
        if not isinstance(value, date):
            return EventTime(at=None, precision=Precision.UNKNOWN, lower=None, upper=None)
        precision = Precision.EXACT if isinstance(value, datetime) else Precision.DAY
        at = day_start(value, zone)
        lower, upper = covered(at, precision, zone)
        return EventTime(at=at, precision=precision, lower=lower, upper=upper)


def as_text(value: object) -> str:
    """Return a field's value as text for a sentence, empty for a missing one."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.15g}"
        case datetime():
            return value.isoformat(sep=" ", timespec="minutes")
        case tuple():
            return ", ".join(map(as_text, value))
        case _:
            return " ".join(str(value).split())


def _normal(value: object, compared: Callable[[str], str]) -> str:
    return "" if value is None else compared(as_text(value))


def _key(parts: Iterator[str]) -> str:
    """Return parts as one key that differs for different lists of parts; very long keys are a digest."""
    told = [part.replace("%", "%25").replace("|", "%7C") for part in parts]
    joined = "|".join(told)
    return joined if len(joined.encode()) <= _LONGEST_KEY else normalise.digest(*told).hex()
