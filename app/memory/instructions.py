"""Instructions for extraction in plain words: what to remember and what never, of a tenant and of a request."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from app.english.secrets import find_secrets
from app.memory import normalise, vocabulary
from app.memory.fields import printable, storable, visible
from app.memory.registry import Registry
from app.memory.spec import MemoryType

LONGEST = 2_000
"""Most characters of the instructions themselves."""

LARGEST = 4_000
"""Most characters of all together: a model reads them with every turn."""

MOST_ENTRIES = 50

_MARKER: Final = re.compile(
    r"^[^\S\n]*\[[^\[\]\n]+\][^\S\n]*$|\[[^\[\]\n]*\b[0-9a-f]{8,}\s*\]", re.MULTILINE | re.IGNORECASE
)
"""A line in brackets, or brackets that end in a code: what marks off the texts in a prompt."""

_LAYOUT: Final = "\n\t"


def _paragraphs(text: str) -> str:
    text = text.replace("\r\n", "\n")
    if any(unicodedata.category(one) == "Cc" and one not in _LAYOUT for one in text):
        raise ValueError("must not contain control characters other than line ends and tabs")
    return text


def _unmarked(text: str) -> str:
    if _MARKER.search(text):
        raise ValueError("must not hold a line in brackets or a code in brackets: these mark off texts in the prompt")
    return text


def _without_secrets(text: str) -> str:
    kinds = list(dict.fromkeys(kind for kind, _, _ in find_secrets(text)))
    if kinds:
        raise ValueError(f"must not hold secrets, as it goes to the language model: it holds {', '.join(kinds)}")
    return text


Words = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST),
    AfterValidator(storable),
    AfterValidator(visible),
    AfterValidator(_paragraphs),
    AfterValidator(_unmarked),
    AfterValidator(_without_secrets),
]

Entry = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    AfterValidator(storable),
    AfterValidator(visible),
    AfterValidator(printable),
    AfterValidator(_unmarked),
    AfterValidator(_without_secrets),
]


class ExtractionInstructions(BaseModel):
    """Instructions of what to remember and what never, in plain words and by names."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    instructions: Words | None = Field(
        default=None,
        description="What to remember and how, in plain words, for the language model. They choose among what may be "
        "remembered: grounding, guards and types stay as they are. The built-in rules read no words.",
        examples=["Remember what customers say of their machines. Leave out our own staff."],
    )
    include: tuple[Entry, ...] = Field(
        default=(),
        max_length=MOST_ENTRIES,
        description="What to remember above all, in a few words each; nothing else is left out for it.",
        examples=[["serial numbers of machines"]],
    )
    exclude: tuple[Entry, ...] = Field(
        default=(),
        max_length=MOST_ENTRIES,
        description="What never to remember, in a few words each. The name of a memory type, a predicate, a preference "
        "key (or the beginning of one) or a topic holds for every proposal, whoever makes it; other words are for "
        "the language model.",
        examples=[["medication", "works-at", "what they think of colleagues"]],
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        size = sum(map(len, (self.instructions or "", *self.include, *self.exclude)))
        if size > LARGEST:
            raise ValueError(f"must have {LARGEST:,} characters at most, all together, and has {size:,}")
        both = sorted(set(map(_folded, self.include)) & set(map(_folded, self.exclude)))
        if both:
            raise ValueError(f"must not include what it excludes: {', '.join(both)}")
        return self

    def __bool__(self) -> bool:
        """Return whether it says anything."""
        return bool(self.instructions or self.include or self.exclude)


def included(given: Sequence[ExtractionInstructions]) -> tuple[str, ...]:
    """Return what all of these include, each once, without what one of them excludes."""
    never = set(map(_folded, excluded(given)))
    found = _entries(entry for each in given for entry in each.include)
    return tuple(one for one in found if _folded(one) not in never)


def excluded(given: Sequence[ExtractionInstructions]) -> tuple[str, ...]:
    """Return what any of these excludes, each once."""
    return _entries(entry for each in given for entry in each.exclude)


def named(entries: Sequence[str], types: Registry) -> tuple[str, ...]:
    """Return those of some entries that name a memory type or a predicate of the vocabulary."""
    known = vocabulary.PREDICATES
    return tuple(one for one in entries if types.find(_folded(one)) is not None or vocabulary.predicate(one) in known)


def excluding(
    given: Sequence[ExtractionInstructions], spec: MemoryType, payload: Mapping[str, object], topic: str | None
) -> str | None:
    """Return the entry that excludes a memory of a type with these fields, None if none does.

    An entry means the type itself, what the type files a belief under (a predicate, a key, or a beginning of it up to
    a dot), or the topic.
    """
    under = None if spec.held is None else payload.get(spec.held.under)
    for one in excluded(given):
        if _folded(one) in {spec.name, *spec.aliases} or (topic is not None and _folded(one) == _folded(topic)):
            return one
        if isinstance(under, str) and _means(one, under):
            return one
    return None


def _means(entry: str, key: str) -> bool:
    alike = normalise.known_key(entry, (key,)) == key or vocabulary.predicate(entry) == vocabulary.predicate(key)
    return alike or key.casefold().startswith(f"{entry.casefold()}.")


def _entries(entries: Iterable[str]) -> tuple[str, ...]:
    """Return entries in their order, each as it is first written."""
    found: dict[str, str] = {}
    for one in entries:
        found.setdefault(_folded(one), one)
    return tuple(found.values())


def _folded(entry: str) -> str:
    return normalise.normalise_name(entry)
