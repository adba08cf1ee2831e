"""Alpaca's own MCP server, unmodified, behind rails proxy, on the fake broker: driven by the
Python client and by the Inspector's command line."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

from mcp import ClientSession, StdioServerParameters, stdio_client

from desk import NODE_MODULES, RAILS, ROOT

SERVER = ROOT / ".peers" / "alpaca" / "bin" / "alpaca-mcp-server"
ORDER = {"symbol": "AAPL", "side": "buy", "qty": "2", "type": "limit", "limit_price": "200.10", "time_in_force": "day"}


class Proxied:
    """A fake broker, and the settings of a proxy in front of Alpaca's server for it."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rails-peers-"))
        self.fake = subprocess.Popen(
            [RAILS, "fake-broker", "--json", "--proxy", "--always-open", "--at", "2026-03-18T11:00:00-04:00", "--listen", "127.0.0.1:0",
             "--keys", self.folder / "keys"], stdout=subprocess.PIPE, text=True)
        told = json.loads(self.document())
        self.options = ["--data", str(self.folder / "data"), "--limits", str(self.folder / "limits.yaml")]
        self.settings = {
            "command": str(RAILS), "args": ["proxy", *self.options, "--clock", "broker", "--", str(SERVER)],
            "env": {
                "PATH": os.environ["PATH"], "HOME": str(self.folder), "ALPACA_API_KEY": told["key"], "ALPACA_SECRET_KEY": told["secret"],
                "HTTPS_PROXY": told["proxy"], "SSL_CERT_FILE": told["authority"], "FASTMCP_LOG_LEVEL": "CRITICAL",
            },
        }
        return self

    def document(self):
        text = ""
        for line in self.fake.stdout:
            text += line
            if line.startswith("}") or text.startswith("{") and text.rstrip().endswith("}") and "\n" not in text.rstrip():
                break
        return text

    def ledger(self):
        """Ends the fake broker, verifies the journal, and returns what the broker's books say."""
        self.fake.send_signal(signal.SIGINT)
        out, _ = self.fake.communicate(timeout=20)
        done = subprocess.run([RAILS, "audit-verify", *self.options], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(out)

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            self.fake.kill()
        self.fake.wait(timeout=20)
        shutil.rmtree(self.folder, ignore_errors=True)


async def test_python_client():
    with Proxied() as p:
        async with stdio_client(StdioServerParameters(**p.settings)) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            tools = {tool.name for tool in (await session.list_tools()).tools}
            assert "place_stock_order" in tools and "close_all_positions" not in tools, tools
            placed = await session.call_tool("place_stock_order", ORDER)
            assert not placed.is_error and placed.meta["broker-rails/decision"]["result"] == "accepted", placed
            for tool, arguments, code in (
                ("place_stock_order", {**ORDER, "qty": "5000"}, "DENIED max_order_qty"),
                ("place_stock_order", {"symbol": "AAPL", "side": "buy", "notional": "100"}, "DENIED not_judged"),
                ("close_all_positions", {}, "DENIED class_denied"),
            ):
                refused = await session.call_tool(tool, arguments)
                assert refused.is_error and refused.content[0].text.startswith(code), refused
        ledger = p.ledger()
    assert [(o["quantity"], o["filled"]) for o in ledger["orders"]] == [("2", "2")], ledger


def test_inspector():
    with Proxied() as p:
        settings = p.folder / "mcp.json"
        settings.write_text(json.dumps({"mcpServers": {"rails": p.settings}}))

        def inspect(*arguments, code=0):
            command = [NODE_MODULES / ".bin" / "mcp-inspector", "--cli", "--config", settings, "--server", "rails", *arguments]
            done = subprocess.run(command, capture_output=True, text=True, timeout=90)
            assert done.returncode == code, f"exit {done.returncode}, want {code}\n{done.stdout}{done.stderr}"
            return json.loads(done.stdout)

        def call(tool, arguments, code=0):
            pairs = [f"{name}={json.dumps(value)}" for name, value in arguments.items()]
            return inspect("--method", "tools/call", "--tool-name", tool, "--tool-arg", *pairs, code=code)

        listed = inspect("--method", "tools/list")
        assert "place_stock_order" in {tool["name"] for tool in listed["tools"]}
        placed = call("place_stock_order", ORDER)
        assert placed["structuredContent"]["data"]["filled_qty"] == "2", placed
        refused = call("place_stock_order", {**ORDER, "limit_price": "290.00"}, code=5)
        assert "DENIED limit_price_collar" in refused["content"][0]["text"], refused
        ledger = p.ledger()
    assert [(o["quantity"], o["filled"]) for o in ledger["orders"]] == [("2", "2")], ledger
