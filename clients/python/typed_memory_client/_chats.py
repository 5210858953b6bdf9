"""What OpenAI's and Anthropic's requests and answers say, and where a request has its instructions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from typed_memory_client.tools import as_prompt

_LONGEST: Final = 32_000
"""Most characters of a turn."""

_MOST: Final = 20
"""Most of the last messages that a question is read from."""

_INSTRUCTIONS: Final = frozenset({"system", "developer"})
_TEXTS: Final = frozenset({"text", "input_text", "output_text"})
_SPEAKERS: Final = frozenset({"user", "assistant"})


@dataclass(frozen=True)
class Format:
    """A way to ask a model: the end of its path, the field with the messages, the one with the instructions.

    Without a field of their own the instructions are the first message.
    """

    path: str
    messages: str
    instructions: str | None


FORMATS: Final = (
    Format("/chat/completions", "messages", None),
    Format("/responses", "input", "instructions"),
    Format("/messages", "messages", "system"),
)


@dataclass(frozen=True)
class Asked:
    """The last messages with words, of which one at least is the user's, and whether that is the request's last."""

    messages: Sequence[Mapping[str, str]]
    is_new: bool

    def said(self, answer: str) -> list[Mapping[str, str]]:
        """Return what is to be remembered: what the user said now, and what the model answered."""
        question = [self.messages[-1]] if self.is_new else []
        return [*question, {"role": "assistant", "content": answer[:_LONGEST]}] if answer.strip() else question


def read_request(kind: Format, body: Mapping[str, Any]) -> Asked | None:
    """Return what a request asks; None where it has no words of the user."""
    given = body.get(kind.messages)
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else list(given or [])
    spoken = [(one, _text(_field(one, "content"))) for one in messages if _field(one, "role") in _SPEAKERS]
    said = [{"role": str(_field(one, "role")), "content": text[:_LONGEST]} for one, text in spoken if text.strip()]
    if not any(one["role"] == "user" for one in said):
        return None
    last = messages[-1]
    # A tool's result comes in the user's name, too, but has no words of the user.
    is_new = _field(last, "role") == "user" and bool(_text(_field(last, "content")).strip())
    return Asked(messages=said[-_MOST:], is_new=is_new)


def with_known(kind: Format, body: Mapping[str, Any], known: str) -> dict[str, Any]:
    """Return the request with what is known at the end of its instructions."""
    block = as_prompt(known)
    if kind.instructions is not None:
        return {**body, kind.instructions: _with_text(body.get(kind.instructions), block)}
    messages = list(body[kind.messages])
    if _field(messages[0], "role") in _INSTRUCTIONS:
        first = {**messages[0], "content": _with_text(messages[0].get("content"), block)}
        return {**body, kind.messages: [first, *messages[1:]]}
    return {**body, kind.messages: [{"role": "system", "content": block}, *messages]}


def read_answer(result: object) -> str:
    """Return the words of an answer: an object of the libraries, or its JSON."""
    for choice in _list(_field(result, "choices")):
        return _text(_field(_field(choice, "message"), "content"))
    items = [one for one in _list(_field(result, "output")) if _field(one, "type") == "message"]
    return "".join(_text(_field(one, "content")) for one in items) or _text(_field(result, "content"))


def read_piece(event: object) -> str:
    """Return the words that an event of a stream adds to the answer."""
    for choice in _list(_field(event, "choices")):
        if not _field(choice, "index"):
            return _text(_field(_field(choice, "delta"), "content"))
    delta = _field(event, "delta")
    kind = _field(event, "type")
    if kind == "response.output_text.delta":
        return _text(delta)
    return _text(_field(delta, "text")) if kind == "content_block_delta" else ""


def _with_text(given: object, block: str) -> object:
    if isinstance(given, str) and given:
        return f"{given}\n\n{block}"
    if isinstance(given, (list, tuple)) and given:
        return [*given, {"type": "text", "text": block}]
    return block


def _text(content: object) -> str:
    """Return the words of a message's content: a text, or parts of which some are."""
    if isinstance(content, str):
        return content
    return "\n".join(str(_field(part, "text")) for part in _list(content) if _field(part, "type") in _TEXTS)


def _list(value: object) -> Iterable[Any]:
    return value if isinstance(value, (list, tuple)) else ()


def _field(value: object, name: str) -> Any:  # noqa: ANN401 - JSON, or an object that stands for it
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
