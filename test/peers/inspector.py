"""The MCP Inspector's command line: lists tools, fills an order, is refused one."""

import json
import subprocess

from desk import NODE_MODULES, Desk, assert_denied, assert_filled, buy, tools_expected

# Exit codes of the Inspector: 5 is a tool result with isError.
OK, TOOL_ERROR = 0, 5


def inspect(desk, server, *arguments, code=OK):
    settings = desk.folder / "mcp.json"
    settings.write_text(json.dumps({"mcpServers": {"rails": server}}))
    command = [NODE_MODULES / ".bin" / "mcp-inspector", "--cli", "--config", settings, "--server", "rails", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, f"exit {done.returncode}, want {code}\n{done.stdout}{done.stderr}"
    return json.loads(done.stdout)


def call(desk, server, tool, arguments, code=OK):
    # Quoted twice, so that the Inspector passes each as text.
    pairs = [f"{name}={json.dumps(value)}" for name, value in arguments.items()]
    return inspect(desk, server, "--method", "tools/call", "--tool-name", tool, "--tool-arg", *pairs, code=code)


def trade(desk, server):
    listed = inspect(desk, server, "--method", "tools/list", "--strict")
    assert {tool["name"] for tool in listed["tools"]} == tools_expected()
    ask = call(desk, server, "get_quote", {"symbol": "AAPL"})["structuredContent"]["ask"]

    before = desk.messages()
    placed = call(desk, server, "place_order", buy(ask, "5"))["structuredContent"]
    assert placed["status"] == "filled" and placed["filled"] == "5", placed
    assert_filled(desk, "5", before)

    before = desk.messages()
    refused = call(desk, server, "place_order", buy(ask, "5000"), code=TOOL_ERROR)
    text = refused["content"][0]["text"]
    assert text.startswith("DENIED max_order_qty decision=paper/") and "5000" in text, text
    assert_denied(desk, ["max_order_qty", "max_order_notional"], before)


def test_stdio():
    with Desk() as desk:
        trade(desk, desk.stdio())


def test_http():
    with Desk() as desk, desk.http() as server:
        trade(desk, server)


def test_http_stateless():
    with Desk() as desk, desk.http(stateless=True) as server:
        trade(desk, server)


def test_http_with_token():
    with Desk() as desk, desk.http(token=True) as server:
        trade(desk, server)
        stranger = dict(server, headers={})
        settings = desk.folder / "stranger.json"
        settings.write_text(json.dumps({"mcpServers": {"rails": stranger}}))
        done = subprocess.run(
            [NODE_MODULES / ".bin" / "mcp-inspector", "--cli", "--config", settings, "--server", "rails", "--method", "tools/list"],
            capture_output=True, text=True, timeout=60)
        assert done.returncode != OK, "a stranger was served"
