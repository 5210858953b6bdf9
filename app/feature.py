"""The declarations of features: each folder of `app/features` makes one, FEATURE, in its `feature.py`.

Nothing in the core imports a feature: they are found by their folders.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from fastapi import APIRouter

from app.errors import ConfigurationError
from app.jobs.handler import Handler
from app.jobs.handler import discover as core_handlers
from app.jobs.schedules import SCHEDULES, Schedule
from app.runtime import Resources, Runtime
from app.services.query import QuestionLog

PACKAGE: Final = "app.features"


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


@cache
def discover() -> tuple[FeatureSpec, ...]:
    """Return the declarations of all features, in the order of their names.

    Raises ConfigurationError for a folder whose `feature.py` defines none.
    """
    package = importlib.import_module(PACKAGE)
    return tuple(_declared(one.name) for one in pkgutil.iter_modules(package.__path__) if one.ispkg)


def _declared(name: str) -> FeatureSpec:
    declared = getattr(importlib.import_module(f"{PACKAGE}.{name}.feature"), "FEATURE", None)
    if not isinstance(declared, FeatureSpec):
        raise ConfigurationError(f"app/features/{name}/feature.py defines no FEATURE: add FEATURE = FeatureSpec(...)")
    return declared


def routers() -> list[APIRouter]:
    """Return the routes of all features."""
    return [router for one in discover() for router in one.routers()]


def handlers() -> Mapping[str, Handler]:
    """Return the handlers of all kinds of jobs, the core's among them, by kind."""
    return {**core_handlers(), **{handler.kind: handler for one in discover() for handler in one.handlers}}


def schedules(runtime: Runtime) -> tuple[Schedule, ...]:
    """Return all schedules, the core's among them."""
    return (*SCHEDULES, *(schedule for one in discover() for schedule in one.schedules(runtime)))


def streamed() -> frozenset[str]:
    """Return the paths whose bodies are read as they come."""
    return frozenset().union(*(one.streamed for one in discover()))


def question_log(known: Sequence[FeatureSpec], base: Resources) -> QuestionLog | None:
    """Return what notes questions, None where no feature does."""
    return next((one.question_log(base) for one in known if one.question_log is not None), None)
