"""`typed-memory mcp`: a running service's tools for an agent that speaks MCP over standard input and output."""

from __future__ import annotations

import asyncio
import logging
import sys

import httpx2
import typer
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams

from app.commands.connect import target
from app.commands.options import ApiKey, Url
from app.commands.terminal import CommandFailed

SECONDS = 60.0
"""How long a tool may take."""


def mcp(url: Url = None, key: ApiKey = None) -> None:
    """Hand the tools of a running service to an agent, over standard input and output.

    They are the tools that the service has at /mcp, with the rights of the key. Start the service first.

    For example, in an agent's configuration:

      {"command": "typed-memory", "args": ["mcp"], "env": {"TM_API_KEY": "tm_..."}}
    """
    address, secret = target(url, key)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    asyncio.run(_serve(address.rstrip("/"), secret))


async def _serve(address: str, secret: str) -> None:
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {secret}"}, timeout=SECONDS)
    async with http:
        await _check(http, address)
        async with Client(streamable_http_client(f"{address}/mcp", http_client=http)) as service:
            server = _relay(service)
            async with stdio_server() as (reading, writing):
                await server.run(reading, writing, server.create_initialization_options())


async def _check(http: httpx2.AsyncClient, address: str) -> None:
    """Raise CommandFailed, saying what to do, unless the service answers and takes the key."""
    ping = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
    accepted = {"Accept": "application/json, text/event-stream"}
    try:
        answer = await http.post(f"{address}/mcp", json=ping, headers=accepted)
    except httpx2.HTTPError:
        raise CommandFailed(
            f"nothing answers at {address}: start it with `typed-memory serve`, or give --url"
        ) from None
    if answer.status_code in {401, 403}:
        raise CommandFailed(f"{address} refuses the key: give one with --key or TM_API_KEY")
    if answer.is_error:
        raise CommandFailed(f"{address} does not speak MCP (it answered {answer.status_code}): is it Typed Memory?")


def _relay(service: Client) -> Server[None]:
    """Return a server that passes on what it is asked."""

    async def list_tools(_: ServerRequestContext[None], given: PaginatedRequestParams | None) -> ListToolsResult:
        return await service.list_tools(cursor=None if given is None else given.cursor)

    async def call_tool(_: ServerRequestContext[None], given: CallToolRequestParams) -> CallToolResult:
        return await service.call_tool(given.name, given.arguments)

    served = service.server_info
    return Server(
        "typed-memory" if served is None else served.name,
        version="" if served is None else served.version,
        title=None if served is None else served.title,
        instructions=service.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def register(cli: typer.Typer) -> None:
    """Add the command to the program."""
    cli.command()(mcp)
