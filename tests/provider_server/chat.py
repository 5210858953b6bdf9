"""Chat models on the wire: OpenAI's `/v1/chat/completions` and Anthropic's `/v1/messages`.

What they say by themselves is small and always the same: to a turn, the memories that the script has for words
in it, or none; to doubts, what the script `says` of the memory; to pairs of sentences, whether their words are the
same ones; to a name, the first entity that has it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal

from tests.provider_server.orders import Asked, Json, Refused
from tests.provider_server.strict import violations

OPENAI: Final = "/v1/chat/completions"
ANTHROPIC: Final = "/v1/messages"

_BLOCK: Final = re.compile(r"^\[([^\n]+) ([0-9a-f]{16})\]\n(.*?)\n\[end \2\]$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the model says, why it stops, and whether it writes text although it was given a tool."""

    text: str
    stop: Literal["finished", "length", "refused"] = "finished"
    as_text: bool = False


def chat_completions(asked: Asked) -> Json:
    """Answer OpenAI's `POST /v1/chat/completions`."""
    return envelope(asked, scripted(asked))


def messages(asked: Asked) -> Json:
    """Answer Anthropic's `POST /v1/messages`."""
    return envelope(asked, scripted(asked))


def envelope(asked: Asked, said: Said) -> Json:
    """Return what is said in the format of the route; Refused where the real one would refuse the request."""
    return {OPENAI: _completion, ANTHROPIC: _message}[asked.path](asked, said)


def memory(given: Mapping[str, Any], turn: str) -> Json:
    """Return a memory as a model answers it; what is not given is the plainest there is."""
    plain = {"quote": turn, "speech_act": "assertion", "confidence": 0.9, "importance": 0.5, "topic": None}
    return {**plain, **given}


def scripted(asked: Asked) -> Said:
    """Return what the model says unless it is told to misbehave."""
    labels = [label for label, _ in blocks(asked)]
    if "claim 1" in labels:
        return Said(text=json.dumps({"verdicts": list(_verdicts(asked))}))
    if any(map(_is_turn, labels)):
        told = {"forget": _forgotten(asked), "memories": _script(asked)}
        return Said(text=json.dumps(told, ensure_ascii=False))
    if "question" in labels:
        return Said(text=json.dumps({"forms": _forms(asked)}))
    if '{"questions"' in system_of(asked):
        return Said(text=json.dumps({"questions": [_questions(text) for _, text in blocks(asked)]}))
    if "sentence" in labels:
        return Said(text=json.dumps({"choice": _choice(asked)}))
    return Said(text=json.dumps({"same": _same(asked)}))


UNUSABLE: Final = (
    "A sentence.",
    "Does it cost 4711 or what?",
    "Is that of Zebulon or of somebody?",
    "Why?",
    "x " * 200 + "?",
)
"""What a model may not write of a memory or a question: no question, a number or name of its own, too short or long."""


def _questions(text: str) -> list[str]:
    plain = text.rstrip(".")
    asked = [
        f"What does it mean that {plain}?",
        f"Who says that {plain}?",
        f"Since when {plain}?",
        f"Why is it {plain}?",
    ]
    return [*UNUSABLE, asked[0], asked[0], *asked[1:]]


def _forms(asked: Asked) -> list[str]:
    [(_, question)] = blocks(asked)
    told = [one["form"] for words, given in asked.script.items() if words in question for one in given]
    return [*UNUSABLE, question, *told]


def turn_of(asked: Asked) -> str:
    """Return the turn that the request is about."""
    return "\n".join(_turns(asked))


def system_of(asked: Asked) -> str:
    """Return the instructions of the request."""
    if asked.path == OPENAI:
        return str(asked.body["messages"][0]["content"])
    return "".join(one["text"] for one in asked.body["system"])


def blocks(asked: Asked) -> list[tuple[str, str]]:
    """Return what stands between marked lines in the first message from the user, with the marks' labels."""
    first = next(one["content"] for one in asked.body["messages"] if one["role"] == "user")
    return [(label, text) for label, _, text in _BLOCK.findall(first)]


def _verdicts(asked: Asked) -> Iterator[Json]:
    """Yield what the script says of the memories in doubt, by their quotes; nothing of those it says nothing of."""
    told = dict(blocks(asked))
    for number in range(1, 1 + sum(label.startswith("claim ") for label in told)):
        turn, quote = told[f"turn {number}"], told[f"quote {number}"]
        given = (one for words, memories in asked.script.items() if words in turn for one in memories)
        for one in given:
            if "says" in one and one.get("quote", turn) == quote:
                yield {"number": number, "says_exactly_this": one["says"]}


_REFERENCES: Final = ("replaces", "ends", "same_as", "about")


def _referring(given: Mapping[str, Any], asked: Asked) -> Json:
    """Return a memory whose references are numbers: of the lines of what is known that have the words given."""
    lines = next((text.splitlines() for label, text in blocks(asked) if label == "known"), [])

    def number(of: object) -> object:
        found = (re.match(r"\[(\d+)\]", line) for line in lines if str(of) in line)
        return next((int(one[1]) for one in found if one), 99) if isinstance(of, str) else of

    numbered = {
        name: [number(one) for one in given[name]] if isinstance(given[name], list) else number(given[name])
        for name in _REFERENCES
        if name in given
    }
    return {**{name: value for name, value in given.items() if name != "says"}, **numbered}


def _script(asked: Asked) -> list[Json]:
    return [
        memory(_referring(one, asked), turn)
        for turn in _turns(asked)
        for words, memories in asked.script.items()
        if words in turn
        for one in memories
        if "forget" not in one
    ]


def _forgotten(asked: Asked) -> list[Json]:
    """Return what the script says is to be forgotten: `{"forget": words of the lines}`, the turn being the quote."""
    return [
        {"quote": turn, "what": one["what"], "lines": _referring({"ends": one["forget"]}, asked)["ends"]}
        for turn in _turns(asked)
        for words, memories in asked.script.items()
        if words in turn
        for one in memories
        if "forget" in one
    ]


def _turns(asked: Asked) -> list[str]:
    return [text for label, text in blocks(asked) if _is_turn(label)]


def _is_turn(label: str) -> bool:
    return re.fullmatch(r"turn(?: \d+)?", label) is not None


def _same(asked: Asked) -> list[bool]:
    texts = [frozenset(re.findall(r"\w+", text.lower())) for _, text in blocks(asked)]
    return [first == second for first, second in list(pairwise(texts))[::2]]


def _choice(asked: Asked) -> int | None:
    first = next(one["content"] for one in asked.body["messages"] if one["role"] == "user")
    name = json.loads(re.search(r"^The name: (.*)$", first, re.MULTILINE)[1]).lower()  # type: ignore[index]
    entities = [text.lower() for label, text in blocks(asked) if label.startswith("entity")]
    return next((number for number, text in enumerate(entities, start=1) if name in text), None)


def _completion(asked: Asked, said: Said) -> Json:
    for wrong in _wrong_completion(asked.body):
        error = {"message": wrong, "type": "invalid_request_error", "param": None, "code": None}
        raise Refused(400, {"error": error})
    refused = said.stop == "refused"
    content = {"role": "assistant", "content": None if refused else said.text}
    choice = {
        "index": 0,
        "message": {**content, "refusal": "I can't help with that." if refused else None},
        "finish_reason": "length" if said.stop == "length" else "stop",
    }
    given, taken = _tokens(json.dumps(asked.body["messages"])), _tokens(said.text)
    usage = {"prompt_tokens": given, "completion_tokens": taken, "total_tokens": given + taken}
    return {"object": "chat.completion", "model": asked.body["model"], "choices": [choice], "usage": usage}


def _wrong_completion(body: Json) -> Iterator[str]:
    answer = body.get("response_format", {"type": "text"})
    if answer["type"] == "json_schema":
        for one in violations(answer["json_schema"]["schema"]):
            yield f"Invalid schema for response_format '{answer['json_schema']['name']}': {one}"
    if answer["type"] == "json_object" and "json" not in json.dumps(body["messages"]).lower():
        yield "'messages' must contain the word 'json' to use 'response_format' of type 'json_object'."


def _message(asked: Asked, said: Said) -> Json:
    body = asked.body
    for status, kind, wrong in _wrong_message(asked):
        raise Refused(status, {"type": "error", "error": {"type": kind, "message": wrong}})
    content: list[Json] = [{"type": "thinking", "thinking": "", "signature": "x"}]
    stop = {"finished": "end_turn", "length": "max_tokens", "refused": "refusal"}[said.stop]
    if "tools" in body and said.stop == "finished" and not said.as_text:
        use = {"type": "tool_use", "id": "toolu_1", "name": body["tools"][0]["name"], "input": json.loads(said.text)}
        content, stop = [*content, use], "tool_use"
    elif said.stop != "refused":
        content = [*content, {"type": "text", "text": said.text}]
    usage = {
        "input_tokens": _tokens(json.dumps(body["messages"])),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": _tokens(system_of(asked)),
        "output_tokens": _tokens(said.text),
    }
    return {
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": stop,
        "usage": usage,
    }


def _wrong_message(asked: Asked) -> Iterator[tuple[int, str, str]]:
    body, roles = asked.body, [one["role"] for one in asked.body["messages"]]
    if not asked.headers.get("x-api-key"):
        yield 401, "authentication_error", "x-api-key header is required"
    if "anthropic-version" not in asked.headers:
        yield 400, "invalid_request_error", "anthropic-version: header is required"
    if "max_tokens" not in body:
        yield 400, "invalid_request_error", "max_tokens: Field required"
    if roles != ["user", "assistant"] * (len(roles) // 2) + ["user"]:
        yield 400, "invalid_request_error", "messages: roles must alternate and end with the user's"
    if not all(one["content"] for one in body["messages"]):
        yield 400, "invalid_request_error", "messages: text content blocks must be non-empty"
    if "tool_choice" in body and body["tool_choice"]["name"] not in [one["name"] for one in body["tools"]]:
        yield 400, "invalid_request_error", "tool_choice: no such tool"


def events(asked: Asked, whole: Json) -> bytes:
    """Return an answer as the server-sent events of its route, a few letters each, unescaped where JSON allows it."""
    told = [(one.get("type", "chunk"), one) for one in (_chunks if asked.path == OPENAI else _message_events)(whole)]
    return "".join(f"event: {name}\ndata: {json.dumps(one, ensure_ascii=False)}\n\n" for name, one in told).encode()


def _chunks(whole: Json) -> Iterator[Json]:
    [choice] = whole["choices"]
    message = choice["message"]
    if message["refusal"] is not None:
        yield {
            "choices": [{"index": 0, "delta": {"refusal": message["refusal"]}, "finish_reason": None}],
            "usage": None,
        }
    for part in _parts(message["content"] or ""):
        yield {"choices": [{"index": 0, "delta": {"content": part}, "finish_reason": None}], "usage": None}
    yield {"choices": [{"delta": {}, "finish_reason": choice["finish_reason"]}], "usage": None}
    yield {"choices": [], "usage": whole["usage"]}


def _message_events(whole: Json) -> Iterator[Json]:
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    for place, block in enumerate(whole["content"]):
        used = block["type"] == "tool_use"
        yield {"type": "content_block_start", "index": place, "content_block": {"type": block["type"]}}
        for part in _parts(json.dumps(block["input"], ensure_ascii=False) if used else block.get("text", "")):
            delta = {"type": "input_json_delta", "partial_json": part} if used else {"type": "text_delta", "text": part}
            yield {"type": "content_block_delta", "index": place, "delta": delta}
        yield {"type": "content_block_stop", "index": place}
    tokens = {"input_tokens": None, "output_tokens": whole["usage"]["output_tokens"]}
    yield {"type": "message_delta", "delta": {"stop_reason": whole["stop_reason"]}, "usage": tokens}
    yield {"type": "message_stop"}


def _parts(text: str) -> list[str]:
    return [text[start : start + 4] for start in range(0, len(text), 4)]


def _tokens(text: str) -> int:
    return max(1, len(text) // 4)


ROUTES: Final[Mapping[str, Callable[[Asked], Json]]] = {OPENAI: chat_completions, ANTHROPIC: messages}
