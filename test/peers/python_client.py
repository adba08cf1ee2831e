"""The Python client: initialize, list, an order that fills, an order that is denied."""

import contextlib

import httpx2
from mcp import ClientSession, MCPError, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from desk import Desk, assert_denied, assert_filled, buy, tools_expected


@contextlib.asynccontextmanager
async def over_stdio(desk):
    server = desk.stdio()
    async with stdio_client(StdioServerParameters(command=server["command"], args=server["args"])) as (read, write):
        async with ClientSession(read, write) as session:
            yield session


@contextlib.asynccontextmanager
async def over_shim(desk):
    with desk.socket() as server:
        async with stdio_client(StdioServerParameters(command=server["command"], args=server["args"])) as (read, write):
            async with ClientSession(read, write) as session:
                yield session


@contextlib.asynccontextmanager
async def over_http(server):
    async with httpx2.AsyncClient(headers=server["headers"]) as http:
        async with streamable_http_client(server["url"], http_client=http) as (read, write):
            async with ClientSession(read, write) as session:
                yield session


async def trade(desk, session):
    hello = await session.initialize()
    assert hello.server_info.name == "broker-rails", hello
    assert {tool.name for tool in (await session.list_tools()).tools} == tools_expected()
    ask = (await session.call_tool("get_quote", {"symbol": "AAPL"})).structured_content["ask"]

    before = desk.messages()
    placed = await session.call_tool("place_order", buy(ask, "7"))
    assert not placed.is_error and placed.structured_content["status"] == "filled", placed
    assert_filled(desk, "7", before)

    before = desk.messages()
    refused = await session.call_tool("place_order", buy(ask, "5000"))
    assert refused.is_error and refused.content[0].text.startswith("DENIED max_order_qty"), refused
    assert refused.meta["broker-rails/decision"]["verdict"] == "denied", refused.meta
    assert_denied(desk, ["max_order_qty"], before)

    refusals = len(desk.entries("refusal"))
    try:
        await session.call_tool("set_limits", {"max_order_qty": "1000000"})
    except MCPError as error:
        assert error.error.code == -32602, error
    else:
        raise AssertionError("a tool that does not exist answered")
    assert [r["code"] for r in desk.entries("refusal")[refusals:]] == ["unknown_tool"]
    assert desk.messages() == before


async def test_stdio():
    with Desk() as desk:
        async with over_stdio(desk) as session:
            await trade(desk, session)


async def test_shim():
    with Desk() as desk:
        async with over_shim(desk) as session:
            await trade(desk, session)


async def test_http():
    with Desk() as desk, desk.http() as server:
        async with over_http(server) as session:
            await trade(desk, session)


async def test_http_stateless():
    with Desk() as desk, desk.http(stateless=True) as server:
        async with over_http(server) as session:
            await trade(desk, session)


async def test_http_with_token():
    with Desk() as desk, desk.http(token=True) as server:
        async with over_http(server) as session:
            await trade(desk, session)
