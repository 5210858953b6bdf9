"""Set-up of commands: settings with readable errors, the owner's login, logging, and garbage collection."""

from __future__ import annotations

import asyncio
import difflib
import gc
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, get_args

from pydantic import SecretStr, ValidationError

from app import logs
from app.command_line.terminal import CommandFailed, warn
from app.db.embedded.server import data_dir, holds_store, start_embedded
from app.db.login import Login
from app.settings import Settings

_PREFIX = "TM_"

_NOT_SETTINGS = frozenset({"TM_URL", "TM_API_KEY"})
"""Read by the commands that talk to a running service."""

_OF_A_STORE = frozenset({"TM_DATABASE_URL", "TM_MIGRATION_DATABASE_URL", "TM_DATA_DIR"})
"""Settings that name a store."""

_OF_PROVIDERS = ("embedding", "rerank", "llm")
"""How the settings of model providers begin. They are read where the provider is another than the default."""


def load_settings(**given: Any) -> Settings:  # noqa: ANN401 - each has its field's type
    """Return the settings from the environment; values of `given` that are not None override them.

    Settings that are unknown or that nothing reads are warned of, once in a process. Raises CommandFailed with a line
    for every invalid setting.
    """
    _warn_of_unknown_settings()
    try:
        settings = Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        raise CommandFailed("\n       ".join(_complaints(error))) from None
    _warn_of_unread_settings(settings)
    return settings


def settings_of_a_store(*, owner_alone: bool = False) -> Settings:
    """Return the settings for a command on an existing store; only `serve` and `migrate` create one.

    With `owner_alone` the command uses the owner's login alone. Raises CommandFailed as `load_settings` does, and where
    the embedded database does not exist: a forgotten TM_DATA_DIR must not create an empty store, and one that nobody
    named must not be opened in place of the service that TM_URL names.
    """
    settings = load_settings()
    if os.environ.get("TM_URL") and not _OF_A_STORE & {name for name, value in os.environ.items() if value}:
        raise CommandFailed(
            "TM_URL names a service, and this works on a database alone: name it with TM_DATABASE_URL or TM_DATA_DIR, "
            "or unset TM_URL"
        )
    folder = data_dir(settings).expanduser()
    login = Login.of_owner(settings) if owner_alone else Login.of_service(settings)
    if login is None and not holds_store(folder):
        raise CommandFailed(
            f"there is no store in {folder}. Set TM_DATA_DIR to the folder of your store (`typed-memory serve` "
            "prints it), or TM_DATABASE_URL to its database; `typed-memory serve` creates a new one"
        )
    return settings


@asynccontextmanager
async def owner_login(settings: Settings) -> AsyncIterator[Login]:
    """Yield the owner's login; of the embedded server, which runs for as long, if none is configured."""
    configured = Login.of_owner(settings)
    if configured is not None:
        yield configured
        return
    server = await asyncio.to_thread(start_embedded, data_dir(settings))
    try:
        yield Login.embedded(server.url, settings)
    finally:
        await asyncio.to_thread(server.release)


def service_login(settings: Settings) -> str | None:
    """Return the service's login where it is another than the owner's."""
    given = settings.database_url if settings.migration_database_url is not None else None
    return None if given is None else given.get_secret_value()


@cache
def _warn_once(text: str) -> None:
    warn(text)


def _warn_of_unknown_settings() -> None:
    """Print a warning for each unknown TM_ variable, with a similar known name."""
    known = {_variable(name) for name in Settings.model_fields}
    for name in sorted(os.environ):
        if name.startswith(_PREFIX) and name not in known | _NOT_SETTINGS and not name.startswith("TM_TEST_"):
            close = difflib.get_close_matches(name, known, n=1)
            _warn_once(f"{name} is no setting" + (f"; did you mean {close[0]}?" if close else " and has no effect"))


def _warn_of_unread_settings(settings: Settings) -> None:
    """Print a warning for settings of a model provider where none is chosen, with the setting that chooses it."""
    for prefix in _OF_PROVIDERS:
        provider = f"{prefix}_provider"
        field = Settings.model_fields[provider]
        unread = [name for name in settings.model_fields_set if name.startswith(f"{prefix}_") and name != provider]
        if unread and getattr(settings, provider) == field.default:
            others = " or ".join(name for name in get_args(field.annotation) if name != field.default)
            _warn_once(
                f"{', '.join(sorted(map(_variable, unread)))} {'has' if len(unread) == 1 else 'have'} no effect with "
                f"{_variable(provider)}={field.default}: set that to {others}"
            )


def _variable(name: str) -> str:
    """Return the environment variable of a setting."""
    return f"{_PREFIX}{name.upper()}"


def configure_logs(settings: Settings) -> None:
    """Send logs to standard error: readable in a terminal, else in the configured format."""
    style = settings.log_format
    if "log_format" not in settings.model_fields_set and sys.stderr.isatty():
        style = "console"
    logs.configure(style, settings.log_level)


_IN_OTHER_WORDS = {
    "Extra inputs are not permitted": "there is no such member",
    "valid dictionary": "it should be a JSON object",
    "valid tuple": "it should be a JSON list",
}
"""Messages of pydantic about settings in JSON, and what they mean there."""


def _plain(message: str) -> str:
    """Return pydantic's message without redundant words."""
    said = message.removeprefix("Value error, ").replace("Input should", "it should")
    for theirs, ours in _IN_OTHER_WORDS.items():
        if theirs in said:
            return ours
    return said.partition(", unable to ")[0]


def _complaints(error: ValidationError) -> Iterator[str]:
    for one in error.errors(include_url=False):
        name, *members = map(str, one["loc"] or ("",))
        info = Settings.model_fields.get(name)
        secret = info is not None and SecretStr in (info.annotation, *get_args(info.annotation))
        given = "" if secret else f", not {str(one['input'])[:60]!r}"
        purpose = f". What it is: {info.description}" if info is not None and info.description else ""
        place = ".".join((_variable(name), *members))
        yield f"{place}: {_plain(one['msg'])}{given}{purpose}"


_YOUNG = 50_000
"""New objects before a young collection; a request makes thousands, and reference counting frees nearly all."""


def freeze_garbage_collector() -> None:
    """Exclude all present objects from later garbage collections; call it once, when the process is ready.

    A full collection visits every container of the process, most of which belong to libraries, routes and models and
    never become garbage. It took 20 ms of some request: the p95 of a batch of 250 was 580 ms with it and 360 without.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, *gc.get_threshold()[1:])
