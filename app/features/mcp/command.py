"""`typed-memory mcp`: relay a running service's MCP tools to an agent over standard input and output."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeVar

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
)

from app.command_line.service_client import target
from app.command_line.terminal import ApiKey, CommandFailed, Url

SECONDS = 60.0
"""The timeout of a tool call."""

_Answer = TypeVar("_Answer")


def mcp(url: Url = None, key: ApiKey = None) -> None:
    """Offer the tools of a running service to an agent, over standard input and output.

    They are the tools that the service has at /mcp, with the rights of the key. Start the service first.

    For example, in an agent's configuration:

      {"command": "typed-memory", "args": ["mcp"], "env": {"TM_API_KEY": "tm_..."}}
    """
    address, secret = target(url, key)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    asyncio.run(_serve(address.rstrip("/"), secret))


async def _serve(address: str, secret: str) -> None:
    http = httpx2.AsyncClient(
        headers={"Authorization": f"Bearer {secret}"}, timeout=SECONDS, event_hooks={"response": [_refuse]}
    )
    async with http:
        await _check(http, address)
        server = await _relay(_Service(address, http))
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())


class _Refused(Exception):
    """The service answered with a problem; the message is its detail."""


async def _refuse(answer: httpx2.Response) -> None:
    """Raise the detail of a problem, which the SDK would not show."""
    if answer.headers.get("content-type", "").startswith("application/problem+json"):
        await answer.aread()
        refused = str(answer.json().get("detail", answer.status_code))
        if answer.status_code in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            refused = f"it refuses the key: {refused}. Give one with --key or TM_API_KEY"
        raise _Refused(refused)


@dataclass(frozen=True, slots=True)
class _Service:
    """The service behind the relay, which keeps no MCP session.

    Each request has its own client, so that the relay survives a restart of the service.
    """

    address: str
    http: httpx2.AsyncClient

    async def ask(self, question: Callable[[Client], Awaitable[_Answer]]) -> _Answer:
        """Return the service's answer; raise MCPError, with a remedy, when there is none."""
        try:
            async with Client(streamable_http_client(f"{self.address}/mcp", http_client=self.http)) as client:
                return await question(client)
        except ExceptionGroup as group:
            raise MCPError(INTERNAL_ERROR, self._message(_first(group))) from None

    def _message(self, error: Exception) -> str:
        match error:
            case _Refused():
                return str(error)
            case MCPError():
                return error.message
            case httpx2.TimeoutException():
                return f"{self.address} took over {SECONDS:.0f} seconds: try again"
            case httpx2.HTTPError():
                return f"nothing answers at {self.address}: start it with `typed-memory serve`, then try again"
            case _:
                return f"{self.address} could not be understood ({type(error).__name__})"


def _first(group: ExceptionGroup) -> Exception:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, ExceptionGroup) else first


async def _check(http: httpx2.AsyncClient, address: str) -> None:
    """Raise CommandFailed, with a remedy, unless the service answers and accepts the key."""
    ping = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
    accepted = {"Accept": "application/json, text/event-stream"}
    try:
        answer = await http.post(f"{address}/mcp", json=ping, headers=accepted)
    except httpx2.HTTPError:
        raise CommandFailed(
            f"nothing answers at {address}: start it with `typed-memory serve`, or give --url"
        ) from None
    except _Refused as refused:
        raise CommandFailed(f"{address}: {refused}") from None
    if answer.is_error:
        raise CommandFailed(f"{address} does not speak MCP (it answered {answer.status_code}): is it Typed Memory?")


async def _relay(service: _Service) -> Server[None]:
    """Return a server that forwards requests to the service."""

    async def list_tools(_: ServerRequestContext[None], given: PaginatedRequestParams | None) -> ListToolsResult:
        return await service.ask(lambda client: client.list_tools(cursor=None if given is None else given.cursor))

    async def call_tool(_: ServerRequestContext[None], given: CallToolRequestParams) -> CallToolResult:
        try:
            return await service.ask(lambda client: client.call_tool(given.name, given.arguments))
        except MCPError as error:
            return CallToolResult(content=[TextContent(text=error.message)], is_error=True)

    async def list_resources(
        _: ServerRequestContext[None], given: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        return await service.ask(lambda client: client.list_resources(cursor=None if given is None else given.cursor))

    async def list_templates(
        _: ServerRequestContext[None], given: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        cursor = None if given is None else given.cursor
        return await service.ask(lambda client: client.list_resource_templates(cursor=cursor))

    async def read_resource(_: ServerRequestContext[None], given: ReadResourceRequestParams) -> ReadResourceResult:
        return await service.ask(lambda client: client.read_resource(given.uri))

    try:
        served, instructions = await service.ask(_introduced)
    except MCPError as error:
        raise CommandFailed(error.message) from None
    return Server(
        "typed-memory" if served is None else served.name,
        version="" if served is None else served.version,
        title=None if served is None else served.title,
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )


async def _introduced(client: Client) -> tuple[Implementation | None, str | None]:
    return client.server_info, client.instructions
