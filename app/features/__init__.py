"""The features: what a write or a question can do without, a folder each, which can be removed.

A folder's `feature.py` defines FEATURE, by which the service finds it; nothing in the core imports a feature.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache

from fastapi import APIRouter

from app.errors import ConfigurationError
from app.feature import FeatureSpec
from app.jobs.handler import Handler
from app.jobs.handler import discover as core_handlers
from app.jobs.schedules import SCHEDULES, Schedule
from app.runtime import Resources, Runtime
from app.services.query import QuestionLog


@cache
def discover() -> tuple[FeatureSpec, ...]:
    """Return the declarations of all features, in the order of their names.

    Raises ConfigurationError for a folder whose `feature.py` defines none.
    """
    return tuple(_declared(one.name) for one in pkgutil.iter_modules(__path__) if one.ispkg)


def _declared(name: str) -> FeatureSpec:
    declared = getattr(importlib.import_module(f"{__name__}.{name}.feature"), "FEATURE", None)
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
