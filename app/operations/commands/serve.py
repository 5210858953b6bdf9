"""`typed-memory serve`: run the HTTP service until it is stopped."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Annotated, Any, cast

import typer
import uvicorn
from starlette.applications import Starlette

from app import connection_strings
from app.command_line.configuration import configure_logs, freeze_garbage_collector, load_settings
from app.command_line.terminal import CommandFailed, say
from app.db.embedded.server import KEY_FILE, data_dir
from app.http.admission import Admission
from app.main import create_app
from app.operations.commands.web_server import acceptors, http_options, http_protocol, serve_by_processes
from app.settings import Settings


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on. [TM_HOST, 127.0.0.1]")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port; 0 takes a free one. [TM_PORT, 8700]")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=256, help="Processes that serve; one a core. [TM_WEB_WORKERS, 1]")
    ] = None,
) -> None:
    """Run the service until Ctrl-C.

    Without TM_DATABASE_URL it starts its own Postgres and keeps everything in TM_DATA_DIR. The first start
    prints the first API key, once. Every setting is an environment variable, TM_...: docs/operations.md lists them.

    For example:

      typed-memory serve
      typed-memory serve --port 8080
      typed-memory serve --workers 4
      TM_DATABASE_URL=postgresql://user:password@host/memories typed-memory serve
    """
    settings = load_settings(host=host, port=port, web_workers=workers)
    configure_logs(settings)
    with ExitStack() as closing:
        listeners = [closing.enter_context(_bind(settings.host, settings.port, "TM_PORT"))]
        if settings.operations_port is not None:
            listeners.append(
                closing.enter_context(_bind(settings.host, settings.operations_port, "TM_OPERATIONS_PORT"))
            )
            settings = settings.model_copy(update={"operations_port": _port_of(listeners[1])})
        _serve(settings, listeners)


def _serve(settings: Settings, listeners: list[socket.socket]) -> None:
    """Serve on bound sockets, by one process or several, until a signal arrives."""
    if settings.web_workers > 1:
        asyncio.run(
            serve_by_processes(settings, listeners, lambda first_key: _announce(listeners, settings, first_key))
        )
        return
    app = create_app(settings)
    config = uvicorn.Config(
        app, lifespan="off", http=http_protocol(settings, app.state.admission), **http_options(settings)
    )
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(_run(app, config, settings, listeners))


class Server(uvicorn.Server):
    """uvicorn's server, with an announcement after its start and without its signal handlers."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen, then announce it."""
        await super().startup(sockets)
        freeze_garbage_collector()
        self._announce()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Install no signal handlers, because uvicorn would raise signals again before the runtime is closed."""
        yield

    def stop(self) -> None:
        """Finish open requests and stop; on a second call, stop without waiting."""
        self.force_exit = self.should_exit
        self.should_exit = True


async def _run(app: Starlette, config: uvicorn.Config, settings: Settings, listeners: list[socket.socket]) -> None:
    """Open the runtime, serve, and close the runtime, in this order whenever a signal arrives."""
    server = Server(config, announce=lambda: _announce(listeners, settings, app.state.runtime.first_key))
    task = cast("asyncio.Task[Any]", asyncio.current_task())
    loop = asyncio.get_running_loop()
    admission: Admission = app.state.admission
    opening = True

    def stop() -> None:
        # The start of an embedded server is awaited, because its release needs it. Waiting for the network is
        # cancelled.
        if opening and (settings.database_url is not None or server.should_exit):
            task.cancel()
        server.stop()

    def drain() -> None:
        if opening or admission.draining or not settings.pre_stop_delay:
            stop()
            return
        admission.draining = True
        loop.call_later(settings.pre_stop_delay, stop)

    loop.add_signal_handler(signal.SIGINT, stop)
    loop.add_signal_handler(signal.SIGTERM, drain)
    try:
        async with app.router.lifespan_context(app):
            opening = False
            if not server.should_exit:
                await server.serve(acceptors(listeners))
    except asyncio.CancelledError:
        if not server.should_exit:
            raise


def _bind(host: str, port: int, setting: str) -> socket.socket:
    """Return a socket that is bound to the address; call it first, so that a taken port is reported at once."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise CommandFailed(_not_here(host)) from error
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # A bound port that nobody listens on can be bound again, so the check is to listen.
        listener.listen()
    except OSError as error:
        listener.close()
        raise CommandFailed(_refusal(error, host, port, setting)) from error
    return listener


def _refusal(error: OSError, host: str, port: int, setting: str) -> str:
    named = "--port or TM_PORT" if setting == "TM_PORT" else setting
    match error.errno:
        case errno.EADDRINUSE:
            return (
                f"port {port} of {host} is taken, perhaps by another `typed-memory serve`: stop that program, "
                f"or choose another port with {named} (0 takes a free one)"
            )
        case errno.EACCES:
            return f"you may not listen on port {port}: choose one above 1023 with {named}"
        case errno.EADDRNOTAVAIL:
            return _not_here(host)
        case _:
            return f"can't listen on port {port} of {host}: {error.strerror}"


def _not_here(host: str) -> str:
    return f"{host!r} is no address of this machine: use 127.0.0.1, or 0.0.0.0 for all, with --host or TM_HOST"


def _port_of(listener: socket.socket) -> int:
    port: int = listener.getsockname()[1]
    return port


def _url(host: str, listener: socket.socket) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104 - shown, not bound
    return f"http://{f'[{shown}]' if ':' in shown and not shown.startswith('[') else shown}:{_port_of(listener)}"


def _announce(listeners: Sequence[socket.socket], settings: Settings, first_key: str | None) -> None:
    url = _url(settings.host, listeners[0])
    line = partial("  {:<7} {}".format)
    say("Typed Memory is ready.")
    say()
    say(line("URL", url))
    say(line("docs", f"{_url(settings.host, listeners[-1])}/docs"))
    say(line("console", f"{url}/admin"))
    say(line("data", _where(settings)))
    say(line("key", _key(settings, first_key)))
    say()
    if first_key is not None:
        kept = f", but {_kept(settings)}" if _kept(settings) else ""
        say(f"This is the first start: the key is not shown again{kept}. To use it in this shell:")
        say()
        say(f"export TM_URL={url}")
        say(f"export TM_API_KEY={first_key}")
        say()


def _where(settings: Settings) -> str:
    if settings.database_url is None:
        return f"{data_dir(settings)} (embedded Postgres)"
    return f"Postgres at {connection_strings.read(settings.database_url.get_secret_value()).place}"


def _kept(settings: Settings) -> str:
    """Return where the first key is kept; empty if it is not: only the embedded database has a file for it."""
    if settings.database_url is not None or not (file := data_dir(settings) / KEY_FILE).exists():
        return ""
    return f"kept in {file}"


def _key(settings: Settings, first_key: str | None) -> str:
    if first_key is not None:
        return first_key
    if settings.bootstrap_key is not None:
        return "the one in TM_BOOTSTRAP_KEY"
    return f"made at the first start; {_kept(settings) or '`typed-memory keys create` makes another'}"
