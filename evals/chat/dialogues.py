"""The dialogues of `make chat`: chats that a service remembers, and pairs of statements of which the second holds.

A chat is a JSON object: `sessions` in order of time, `turns` as `[session, role, text]`, `questions` with the
patterns (regular expressions, in any letter case) of what an answer needs (`need`), of what else a prompt may have
(`may`) and of values that were replaced (`replaced`), and the assistant's `reply`. A change is an object with two
`turns` or more, a `question`, and a piece of text of the `new` and of the `old` statement; where the second turn
changes nothing, of what `stays`. A turn that is not the user's is written as `[role, text]`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeAlias

from pydantic import BaseModel, ConfigDict, TypeAdapter

FOLDER: Final = Path(__file__).resolve().parents[1] / "dialogues"


class Half(StrEnum):
    """The dialogues to tune on, and those that nobody looks at while tuning."""

    DEV = "dev"
    HELD = "held"


class ChatQuestion(BaseModel):
    """A question or remark of the user, what an answer needs, and what its prompt may have."""

    model_config = ConfigDict(frozen=True)

    question: str
    need: tuple[str, ...]
    may: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    reply: str = "Sure, one moment."


class Chat(BaseModel):
    """A chat and the messages after it; `keep`: these are remembered too, as a chat loop does."""

    model_config = ConfigDict(frozen=True)

    sessions: tuple[str, ...]
    turns: tuple[tuple[str, str, str], ...]
    questions: tuple[ChatQuestion, ...]
    keep: bool = True


Told: TypeAlias = str | tuple[str, str]
"""A turn of the user, or the role and text of another's."""


class Change(BaseModel):
    """A statement and its change, told in other words, with a question whose answer is new."""

    model_config = ConfigDict(frozen=True)

    id: str
    turns: tuple[Told, ...]
    question: str
    new: str
    old: str


class Unchanged(BaseModel):
    """A statement, another one that changes nothing of it, a question, and a piece of text of the first."""

    model_config = ConfigDict(frozen=True)

    id: str
    turns: tuple[Told, ...]
    question: str
    stays: str


_UNCHANGED: Final = TypeAdapter(tuple[Unchanged, ...])
_CHANGES: Final = TypeAdapter(tuple[Change, ...])


def load_chats(half: Half) -> dict[str, Chat]:
    """Return the chats of a half, by name."""
    files = sorted((FOLDER / half / "chats").glob("*.json"))
    return {file.stem: Chat.model_validate_json(file.read_bytes()) for file in files}


def load_changes(half: Half) -> Sequence[Change]:
    """Return the changes of a half."""
    return _CHANGES.validate_json((FOLDER / half / "updates.json").read_bytes())


def load_unchanged(half: Half) -> Sequence[Unchanged]:
    """Return the statements of a half that later ones do not change; the held half has none."""
    file = FOLDER / half / "unchanged.json"
    return _UNCHANGED.validate_json(file.read_bytes()) if file.exists() else ()


def load_file(path: Path) -> Chat | Sequence[Change]:
    """Load a file of either form: a chat is an object, changes are a list. ValueError where it is neither."""
    content = json.loads(path.read_bytes())
    return _CHANGES.validate_python(content) if isinstance(content, list) else Chat.model_validate(content)
