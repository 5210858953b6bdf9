"""Each file is well formed; its address or program lists the tools. The agents that read them are not run."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from service import ROOT, Service

FOLDER = Path(__file__).resolve().parents[1] / "mcp"
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix in {".json", ".toml"})
TABLES = {"mcpServers", "servers", "mcp_servers", "context_servers"}
TOOLS = {"store_memory", "recall", "get_job", "forget", "review_pending"}


def server_of(path: Path, service: Service) -> dict[str, Any]:
    """Return what the file says of the server, with the service's address and key in the placeholders' place."""
    text = path.read_text().replace("http://127.0.0.1:8700", service.url).replace("tm_...", service.key)
    tables = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    (name,) = tables
    assert name in TABLES
    server: dict[str, Any] = tables[name]["typed-memory"]
    return server


async def tools_of(server: dict[str, Any]) -> set[str]:
    if "command" in server:
        assert server["command"] == "typed-memory"
        program = str(ROOT / ".venv" / "bin" / "python")
        arguments = ["-m", "app.cli", *server["args"]]
        transport = stdio_client(StdioServerParameters(command=program, args=arguments, env=server["env"], cwd=ROOT))
        async with Client(transport) as agent:
            return {one.name for one in (await agent.list_tools()).tools}
    (url,) = (server[name] for name in ("url", "httpUrl", "serverUrl") if name in server)
    async with (
        httpx2.AsyncClient(headers=server["headers"]) as http,
        Client(streamable_http_client(url, http_client=http)) as agent,
    ):
        return {one.name for one in (await agent.list_tools()).tools}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
async def test_the_configuration_leads_to_the_tools(path: Path, service: Service) -> None:
    assert await tools_of(server_of(path, service)) >= TOOLS


def test_every_configuration_is_listed() -> None:
    readme = (FOLDER / "README.md").read_text()
    assert [path.name for path in FILES if f"]({path.name})" not in readme] == []
