"""The floor of a write over HTTP: the service's pipelines behind bare FastAPI routes, in a process of their own.

The routes check the same bodies, run the same stages and transactions and answer what was recorded. They have no key,
limits, idempotency, screening, log or metrics.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel, SecretStr
from starlette.responses import Response

from app.api.memories import bodies
from app.api.memories.answers import WriteResultOut
from app.api.turn_bodies import TurnsBody, turns_from_body, turns_given
from app.api.turns import TurnOut, TurnsResult
from app.assembly import build_runtime
from app.command_line.configuration import freeze_garbage_collector
from app.errors import TypedMemoryError
from app.http.models import json_answer
from app.memory.registry import Registry, discover
from app.memory.spec import MemoryType
from app.model import Actor
from app.runtime import Runtime
from app.settings import Settings
from bench.world import tenant_id

_ACTOR = Actor(tenant_id=tenant_id(0), key_id=None, name="bench")

_Handler = Callable[..., Awaitable[Response]]


def application(runtime: Runtime, types: Registry) -> FastAPI:
    """Return the routes: one for each type's writes, one for batches, and one for turns."""
    api, checked = FastAPI(), bodies.build(types)
    api.post("/turns")(_turns(runtime))
    api.post("/memories/batch")(_batch_write(runtime, types, checked.batch))
    for spec in types:
        api.post(f"/memories/typed/{spec.name}")(_typed_write(runtime, spec, checked.single[spec.name]))
    return api


def _typed_write(runtime: Runtime, spec: MemoryType, body_type: type[bodies.WriteFields]) -> _Handler:
    async def write(body: bodies.WriteFields) -> Response:
        candidate = bodies.candidate_from_body(spec, body, runtime.clock())
        [outcome] = await runtime.memories.pipeline.write(_ACTOR, [candidate])
        if isinstance(outcome, TypedMemoryError):
            raise outcome
        return json_answer(WriteResultOut.answer(outcome, runtime.clock()))

    write.__annotations__["body"] = body_type
    return write


def _batch_write(runtime: Runtime, types: Registry, body_type: type[BaseModel]) -> _Handler:
    async def write(body: Any) -> Response:  # noqa: ANN401
        candidates = bodies.candidates_from_batch(body.memories, types, runtime.clock())
        outcomes = await runtime.memories.pipeline.write(_ACTOR, candidates)
        return json_answer({"results": [WriteResultOut.answer(one, runtime.clock()) for one in outcomes]})

    write.__annotations__["body"] = body_type
    return write


def _turns(runtime: Runtime) -> _Handler:
    async def receive(body: TurnsBody) -> Response:
        given = turns_given(body)
        turns = turns_from_body(body, given, runtime.clock())
        metadata = [one.turn.metadata for one in given.placed]
        await runtime.turns.receive(_ACTOR, turns, metadata)
        received = [TurnOut.answer(turn, metadata=about) for turn, about in zip(turns, metadata, strict=True)]
        return json_answer(TurnsResult.answer(None, turns=received))

    receive.__annotations__["body"] = TurnsBody
    return receive


async def _serve(config: uvicorn.Config) -> None:
    settings = Settings(database_url=SecretStr(os.environ["TM_DATABASE_URL"]), auto_migrate=False)
    async with build_runtime(settings) as runtime:
        config.app = application(runtime, discover())
        freeze_garbage_collector()
        await uvicorn.Server(config).serve()


def main() -> None:
    """Serve on the database of TM_DATABASE_URL, on the port that the command line names."""
    given: dict[str, Any] = {"host": "127.0.0.1", "port": int(sys.argv[1]), "http": "httptools", "log_level": "error"}
    config = uvicorn.Config("", access_log=False, **given)
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(_serve(config))


if __name__ == "__main__":
    main()
