"""A model that speaks OpenAI's wire format and answers about turns as it is recorded that a strong model does.

It answers in the form that the request's JSON schema asks for, and leaves out what that has no place for. A memory
that is referred to is found by its words among the numbered lines of what is known; one that isn't shown can't be
referred to.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from app.providers.schemas import SEVERAL
from evals.truth.stories import RecordedErasure, RecordedMemory, StoryTurn, has_words, words_of
from tests.provider_server import chat
from tests.provider_server.chat import Said
from tests.provider_server.http1 import Reply, Request, json_reply, serve_connection
from tests.provider_server.orders import Asked, Json, Refused

_TURN: Final = re.compile(r"turn(?: \d+)?")
_LINE: Final = re.compile(r"\[(\d+)\] (.*)")


@dataclass(frozen=True, slots=True)
class RecordedModel:
    """Answers about turns by their text: the memories of each."""

    answers: Mapping[str, tuple[RecordedMemory, ...]]
    erasures: Mapping[str, tuple[RecordedErasure, ...]]

    @classmethod
    def of(cls, dialogues: Iterable[Sequence[StoryTurn]]) -> RecordedModel:
        """Return a model that knows these dialogues. ValueError where one text has two answers."""
        told = list(dialogues)
        answers: dict[str, tuple[RecordedMemory, ...]] = {}
        for turns in told:
            for turn in turns:
                key = _key(turn.text)
                if answers.setdefault(key, turn.answer) != turn.answer:
                    raise ValueError(f"two answers about one text: {turn.text}")
        return cls(answers, {_key(turn.text): turn.forget for turns in told for turn in turns})

    def said(self, asked: Asked) -> Said:
        """Return what the model says to a request."""
        blocks = chat.blocks(asked)
        schema = asked.body.get("response_format", {}).get("json_schema", {})
        if schema.get("name") == "doubt":
            verdicts = [{"number": number, "says_exactly_this": yes} for number, yes in self._verdicts(blocks)]
            return _json({"verdicts": verdicts})
        texts = [text for label, text in blocks if _TURN.fullmatch(label)]
        if not texts:
            return chat.scripted(asked)
        if len(asked.body["messages"]) > _FIRST_REQUEST:
            return _json({"forget": [], "memories": []})
        form = AnswerForm.of(schema["schema"], "\n".join(text for label, text in blocks if label == "known"))
        memories = [form.answered(one) for text in texts for one in self.answers.get(_key(text), ())]
        forgotten = [form.erasure(one) for text in texts for one in self.erasures.get(_key(text), ())]
        return _json({"forget": forgotten, "memories": memories})

    def _verdicts(self, blocks: Sequence[tuple[str, str]]) -> Iterator[tuple[int, bool]]:
        """Yield the number of each doubtful claim, and whether its quote says exactly it."""
        parts = dict(blocks)
        for label, text in blocks:
            kind, _, number = label.partition(" ")
            if kind == "claim":
                recorded = self.answers.get(_key(parts.get(f"turn {number}", "")), ())
                yield int(number), _is_exact(json.loads(text), parts.get(f"quote {number}", ""), recorded)


def _is_exact(claim: Mapping[str, Any], quote: str, recorded: Sequence[RecordedMemory]) -> bool:
    same = [one for one in recorded if _key(one.quote) == _key(quote)]
    words = words_of(" ".join(map(str, claim.values())))
    best = max(same, key=lambda one: len(one.words & words), default=None)
    return best is not None and best.exact and claim.get("speech_act", best.speech_act) == best.speech_act


_FIRST_REQUEST: Final = 2
"""Messages of a request that is no correction: the instructions and the turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerForm:
    """What a request's schema takes, and the numbered lines that it shows."""

    payloads: Mapping[str, Mapping[str, Json]]
    lines: Mapping[int, str]

    @classmethod
    def of(cls, schema: Json, known: str) -> AnswerForm:
        """Read the schema of an answer, and the block of what is known."""
        fields = schema["properties"]["memories"]["items"]["properties"]
        kinds = fields["payload"].get("anyOf", [fields["payload"]])
        payloads = {one["properties"]["memory_type"]["enum"][0]: one["properties"] for one in kinds}
        lines = {int(found[1]): found[2] for found in _LINE.finditer(known)}
        return cls(payloads=payloads, lines=lines)

    def answered(self, one: RecordedMemory) -> Json:
        """Return a memory as it is answered, its references as numbers of lines that are shown."""
        return {
            "quote": one.quote,
            "sentence": one.sentence,
            "speech_act": one.speech_act.value,
            "payload": self._payload(one.type, one),
            "confidence": one.confidence,
            "importance": one.importance,
            "topic": one.topic,
            "category": one.category,
            "replaces": self._numbers(one.replaces),
            "ends": self._numbers(one.ends),
            "same_as": next(iter(self._numbers(() if one.same_as is None else (one.same_as,))), None),
            "about": self._numbers(one.about, entities=True),
            "ended": one.ended,
            "valid_from": one.valid_from,
            "valid_until": one.valid_until,
            "ttl_days": one.ttl_days,
        }

    def erasure(self, one: RecordedErasure) -> Json:
        """Return what is to be forgotten, every line with the words that are meant."""
        lines = [number for number, line in self.lines.items() for words in one.lines if has_words(line, words)]
        return {"quote": one.quote, "what": one.what, "lines": lines}

    def _payload(self, kind: str, one: RecordedMemory) -> Json:
        """Return the payload with every field that the schema has for its type."""
        taken = self.payloads[kind]
        given = {"subject": "user", **one.payload} if "subject" in taken else one.payload
        fields = {name: given.get(name) for name in taken}
        if SEVERAL in taken:
            fields[SEVERAL] = one.several
        return {**fields, "memory_type": kind}

    def _numbers(self, references: Sequence[str], *, entities: bool = False) -> list[int]:
        """Return the lines that are meant, one a reference, those that are shown."""
        shown = {number: line for number, line in self.lines.items() if entities or '"memory_type"' in line}
        found = (next((number for number, line in shown.items() if has_words(line, one)), None) for one in references)
        return [one for one in dict.fromkeys(found) if one is not None]


@asynccontextmanager
async def serving(model: RecordedModel) -> AsyncIterator[str]:
    """Serve the model on the loopback interface; yield what the `base_url` setting takes."""
    server = await asyncio.start_server(partial(_connection, model), "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


async def _connection(model: RecordedModel, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    async def handle(request: Request) -> Reply:
        asked = Asked(path=request.path, body=json.loads(request.body), headers=request.headers)
        try:
            whole = chat.envelope(asked, model.said(asked))
        except Refused as refused:
            return json_reply(refused.body, refused.status)
        if asked.body.get("stream"):
            return Reply(body=chat.events(asked, whole), headers={"Content-Type": "text/event-stream"})
        return json_reply(whole)

    await serve_connection(reader, writer, handle)


def _key(text: str) -> str:
    return " ".join(text.split())


def _json(value: object) -> Said:
    return Said(text=json.dumps(value, ensure_ascii=False))
