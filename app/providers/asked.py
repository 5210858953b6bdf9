"""One question to a chat model, whose answer is one member of a JSON object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from app.errors import ProviderProtocolError
from app.providers.answers import NotJson, json_object
from app.providers.chat import ChatModel, ChatObserver, Prompt, Reply, Stop, metered

Read = TypeVar("Read")


class Unusable(ValueError):
    """What was answered is not what was asked for; the message says how, without quoting it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked: `key` names the answer's member, `purpose` what is counted, `failure` what to say of no answer."""

    prompt: Prompt
    key: str
    purpose: str
    failure: str


async def ask(
    chat: ChatModel, question: Question, read: Callable[[object], Read], *, observer: ChatObserver | None
) -> Read:
    """Return what `read` makes of the answer's member; it raises Unusable for one that is no good.

    Raises ProviderError when the model can't be asked, ProviderProtocolError when its answer can't be used.
    """
    with metered(observer, question.purpose) as meter:
        reply = await chat.complete(question.prompt, temperature=0.0, expires_at=chat.expires_at())
        meter.add(reply.usage)
        try:
            return read(_member(reply, question.key))
        except (NotJson, Unusable) as error:
            raise ProviderProtocolError(f"{chat.name} {question.failure}: {error}") from None


def _member(reply: Reply, key: str) -> object:
    if reply.stop is not Stop.FINISHED:
        raise Unusable(f"no whole answer ({reply.stop})")
    return json_object(reply.text, key)[key]
