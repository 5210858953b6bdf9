"""Structured logs: one event a line, as JSON or for the console, without keys and content."""

from __future__ import annotations

import logging
import logging.config
import sys
import traceback
from typing import Literal

import structlog

_OUR_FAULTS = (AssertionError, AttributeError, ImportError, NameError, NotImplementedError, TypeError)
"""Errors whose messages are about code; messages of others may quote content of a request."""

_QUIET = ("uvicorn.access", "httpx", "httpcore", "alembic", "pgqueuer")
"""Loggers of libraries whose messages the service's own replace."""


def _described(error: BaseException) -> dict[str, object]:
    """Return an error's types and places for the log, without messages that may quote content."""
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.append(link)
        link = link.__cause__ or link.__context__
    return {
        "error": [_named(one) for one in chain],
        # Not "stack", which the console's renderer takes for a text of its own.
        "frames": [
            f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)
        ],
    }


def _describe_exception(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Put `_described` in place of an event's exception, also of a library's, whose trace would have the message."""
    given = event.pop("exc_info", None)
    if given is True:
        given = sys.exc_info()
    error = given[1] if isinstance(given, tuple) else given
    return {**event, **_described(error)} if isinstance(error, BaseException) else event


def _named(error: BaseException) -> str:
    name = f"{type(error).__module__}.{type(error).__qualname__}"
    return f"{name}: {error}" if isinstance(error, _OUR_FAULTS) else name


def configure(style: Literal["json", "console"], level: str) -> None:
    """Send our events and those of libraries to standard error in one format."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        _describe_exception,
    ]
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer() if style == "json" else structlog.dev.ConsoleRenderer()
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level)),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {
                "ours": {
                    "()": structlog.stdlib.ProcessorFormatter,
                    "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
                    "foreign_pre_chain": shared,
                }
            },
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "ours"}},
            "root": {"handlers": ["stderr"], "level": level},
            "loggers": {name: {"level": "WARNING", "propagate": True} for name in _QUIET},
        }
    )
