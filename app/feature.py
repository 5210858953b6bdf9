"""The declaration of a feature, which each folder of `app/features` makes in its `feature.py`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from fastapi import APIRouter

from app.jobs.handler import Handler
from app.jobs.schedules import Schedule
from app.runtime import Resources, Runtime
from app.services.query import QuestionLog


async def _nothing(_runtime: Runtime, _stack: AsyncExitStack) -> None:
    """Start nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureSpec:
    """The declaration of a feature; each part is empty where the feature adds nothing.

    `routers` makes its routes, for each application once. `services` says for each class of its services how one is
    made of the runtime; `Runtime.service` returns it. `handlers` run its kinds of jobs, `schedules` its tasks.
    `question_log` makes what notes questions. `start` opens what runs beside requests, and `gauges` sets metrics before
    they are shown. `streamed` are paths whose bodies may be longer than others'.
    """

    routers: Callable[[], Sequence[APIRouter]] = tuple
    services: Mapping[type, Callable[[Runtime], object]] = field(default_factory=dict)
    handlers: Sequence[Handler] = ()
    schedules: Callable[[Runtime], Sequence[Schedule]] = lambda _: ()
    question_log: Callable[[Resources], QuestionLog] | None = None
    start: Callable[[Runtime, AsyncExitStack], Awaitable[None]] = _nothing
    gauges: Callable[[Runtime], Awaitable[None]] | None = None
    streamed: frozenset[str] = frozenset()
