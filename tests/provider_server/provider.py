"""A model provider to test against: a real server, its own process, well- or ill-behaved on demand.

    python -m tests.provider_server.provider --port 0

prints its port, then serves until it is killed. `POST /_control` says how the next `times` requests to a
model route are answered (all of them when it is left out), `POST /_script` which memories a chat model finds in a
turn that has certain words in it, `GET /_seen` what was asked so far. `POST /_recover` forgets the orders and lets go
of slow answers, `POST /_reset` forgets everything. A new route is one function from what is asked to an answer, in
ROUTES; a new behaviour one in BEHAVIOURS, or in `sayings.SAYINGS` when it is a chat model's.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import math
import random
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from tests.provider_server import chat
from tests.provider_server.batches import Batches
from tests.provider_server.http1 import Reply, Request, json_reply, serve_connection
from tests.provider_server.orders import Asked, Json, Order, Refused
from tests.provider_server.sayings import SAYINGS

DEFAULT_DIMENSIONS: Final = 64

Route = Callable[[Asked], Json]


def vector_of(text: str, dimensions: int) -> list[float]:
    """Return a bag of words' vector: texts that share words are similar, the same text is the same vector.

    Not of unit length, so that normalising shows.
    """
    total = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()) or [text]:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        chance = random.Random(seed)  # noqa: S311
        total = [sum_ + chance.gauss(0, 1) for sum_ in total]
    return total


def embeddings(asked: Asked) -> Json:
    """Answer OpenAI's `POST /v1/embeddings`, last text first: clients must go by the index."""
    body = asked.body
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    dimensions = body.get("dimensions", DEFAULT_DIMENSIONS)
    rows = [
        {"object": "embedding", "index": number, "embedding": vector_of(text, dimensions)}
        for number, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return {"object": "list", "data": rows[::-1], "model": body["model"], "usage": usage}


def overlap(question: str, text: str) -> float:
    """Return a reranker's score of a text: the share of the question's words that it has."""
    asked, said = set(re.findall(r"\w+", question.lower())), set(re.findall(r"\w+", text.lower()))
    return len(asked & said) / max(1, len(asked))


def rerank_results(asked: Asked) -> Json:
    """Answer Cohere's, Jina's and vLLM's `POST /rerank`, best first, with the documents, as Jina does."""
    body = asked.body
    scored = [(overlap(body["query"], text), place, text) for place, text in enumerate(body["documents"])]
    best = sorted(scored, key=lambda one: -one[0])[: body["top_n"]]
    results = [{"index": place, "relevance_score": score, "document": {"text": text}} for score, place, text in best]
    return {"model": body["model"], "results": results, "usage": {"total_tokens": 1}}


def rerank_texts(asked: Asked) -> Any:
    """Answer TEI's `POST /rerank`, which refuses over 32 texts."""
    body = asked.body
    if len(body["texts"]) > LARGEST_BATCH:
        raise Refused(413, {"error": "batch size > maximum allowed batch size 32", "error_type": "Validation"})
    scored = [(overlap(body["query"], text), place) for place, text in enumerate(body["texts"])]
    return [{"index": place, "score": score} for score, place in sorted(scored, reverse=True)]


LARGEST_BATCH: Final = 32

ROUTES: Final[Mapping[str, Route]] = {
    "/v1/embeddings": embeddings,
    "/v1/rerank": rerank_results,
    "/rerank": rerank_texts,
    **chat.ROUTES,
}


def _ok(answer: Json, _: Order) -> Reply:
    return json_reply(answer)


def _error(_: Json, order: Order) -> Reply:
    headers = {} if order.retry_after is None else {"Retry-After": order.retry_after}
    body = {"error": {"message": "told to fail"}} if order.body is None else order.body
    return json_reply(body, order.status, headers)


def _rate_limit(answer: Json, order: Order) -> Reply:
    retry_after = "0" if order.retry_after is None else order.retry_after
    return _error(answer, Order(status=429, retry_after=retry_after, body=order.body))


def _cut(answer: Json, _: Order) -> Reply:
    reply = json_reply(answer)
    return Reply(body=reply.body, cut_after=len(reply.body) // 2)


def _garbage(_: Json, __: Order) -> Reply:
    return Reply(body=b"<html>not a model</html>", headers={"Content-Type": "text/html"})


def _truncated(answer: Json, _: Order) -> Reply:
    whole = json_reply(answer).body
    return Reply(body=whole[: len(whole) // 2])


def _wrong_shape(answer: Json, _: Order) -> Reply:
    first, *others = answer["data"]
    return json_reply({**answer, "data": [{**first, "embedding": first["embedding"][:-1]}, *others]})


def _nan(answer: Json, _: Order) -> Reply:
    first, *others = answer["data"]
    broken = [math.nan, *first["embedding"][1:]]
    return json_reply({**answer, "data": [{**first, "embedding": broken}, *others]})


def _zero(answer: Json, _: Order) -> Reply:
    first, *others = answer["data"]
    return json_reply({**answer, "data": [{**first, "embedding": [0.0] * len(first["embedding"])}, *others]})


def _wrong_count(answer: Json, _: Order) -> Reply:
    return json_reply({**answer, "data": answer["data"][1:]})


BEHAVIOURS: Final[Mapping[str, Callable[[Json, Order], Reply]]] = {
    "ok": _ok,
    "slow": _ok,
    "error": _error,
    "rate_limit": _rate_limit,
    "cut": _cut,
    "garbage": _garbage,
    "truncated": _truncated,
    "wrong_shape": _wrong_shape,
    "nan": _nan,
    "zero": _zero,
    "wrong_count": _wrong_count,
}


@dataclass(slots=True)
class Provider:
    """The server's state: its orders, and what it has seen."""

    orders: list[Order] = field(default_factory=list)
    seen: list[Json] = field(default_factory=list)
    script: Json = field(default_factory=dict)
    released: asyncio.Event = field(default_factory=asyncio.Event)
    batches: Batches = field(default_factory=Batches)
    in_flight: int = 0
    most_in_flight: int = 0
    connections: int = 0
    open_connections: int = 0

    async def handle(self, request: Request) -> Reply:
        """Answer any request."""
        if request.path == "/_control":
            self.orders.append(Order(**json.loads(request.body)))
            return json_reply({})
        if request.path == "/_batches":
            if request.body:
                self.batches.manner = json.loads(request.body)
            return json_reply(self.batches.report())
        if request.path == "/_script":
            self.script |= json.loads(request.body)
            return json_reply({})
        if request.path in {"/_recover", "/_reset"}:
            self.orders = []
            if request.path == "/_reset":
                self.seen, self.script, self.most_in_flight = [], {}, 0
                self.batches = Batches()
            self.released.set()
            self.released = asyncio.Event()
            return json_reply({})
        if request.path == "/_seen":
            return json_reply(self._report())
        return await self._model(request)

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection, counted."""
        self.connections += 1
        self.open_connections += 1
        try:
            await serve_connection(reader, writer, self.handle)
        finally:
            self.open_connections -= 1

    def _report(self) -> Json:
        return {
            "requests": self.seen,
            "count": len(self.seen),
            "most_in_flight": self.most_in_flight,
            "connections": self.connections,
            "open_connections": self.open_connections,
        }

    async def _model(self, request: Request) -> Reply:
        batched = self.batches.handle(request, lambda body: self._completed(body, request.headers))
        if batched is not None:
            return batched
        route = ROUTES.get(request.path)
        if route is None:
            return json_reply({"error": {"code": "not_found"}}, 404)
        asked = Asked(
            path=request.path, body=json.loads(request.body), headers=request.headers, script=dict(self.script)
        )
        self._note(asked)
        order = self._next_order(request.body.decode())
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if order.behaviour == "slow":
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.released.wait(), order.delay)
            if order.behaviour in SAYINGS:
                whole = chat.envelope(asked, SAYINGS[order.behaviour](asked, order))
                if asked.body.get("stream") and not order.whole:
                    return Reply(body=chat.events(asked, whole), headers={"Content-Type": "text/event-stream"})
                return json_reply(whole)
            return BEHAVIOURS[order.behaviour](route(asked), order)
        except Refused as refused:
            return json_reply(refused.body, refused.status)
        finally:
            self.in_flight -= 1

    def _completed(self, body: Json, headers: Mapping[str, str]) -> Json:
        """Answer a request of a batch."""
        return chat.chat_completions(
            Asked(path=chat.OPENAI, body=body, headers=dict(headers), script=dict(self.script))
        )

    def _note(self, asked: Asked) -> None:
        """Keep what was asked; Anthropic's own headers where there are any."""
        others = ("x-api-key", "anthropic-version")
        noted = {"path": asked.path, "body": asked.body, "authorization": asked.headers.get("authorization")}
        self.seen.append(noted | {name: asked.headers[name] for name in others if name in asked.headers})

    def _next_order(self, asked: str) -> Order:
        """Return the oldest order that still has requests to it; the newest lasting one otherwise."""
        for number, order in enumerate(self.orders):
            if order.times and order.words in asked:
                spent = Order(**{**_fields(order), "times": order.times - 1})
                self.orders[number] = spent
                return order
        lasting = [order for order in self.orders if order.times is None and order.words in asked]
        return lasting[-1] if lasting else Order()


def _fields(order: Order) -> Json:
    return {name: getattr(order, name) for name in Order.__slots__}


async def serve(port: int) -> None:
    """Serve on the loopback interface; port 0 takes a free one, and the first line printed is its number."""
    provider = Provider()
    server = await asyncio.start_server(partial(Provider.connection, provider), "127.0.0.1", port)
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201
    await server.serve_forever()


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(parser.parse_args().port))


if __name__ == "__main__":
    main()
