"""An agent behind rails proxy, in front of Alpaca's own MCP server, unmodified, on a fake
broker: an order passes, six other attempts are stopped, the journal explains each, and the
broker's ledger agrees. It needs no account and no keys, and asks nobody but this machine.

Run it with: make proxy-demo
"""

import asyncio
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

RAILS = os.environ["RAILS"]
SERVER = str(pathlib.Path(sys.executable).parent / "alpaca-mcp-server")
BOLD, DIM, PLAIN = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if sys.stdout.isatty() else ("", "", "")

ORDER = {"symbol": "AAPL", "side": "buy", "qty": "2", "type": "limit", "limit_price": "200.10", "time_in_force": "day"}
ATTEMPTS = [
    ("5,000 shares at once", "place_stock_order", {**ORDER, "qty": "5000"}, "max_order_qty"),
    ("a price far through the market", "place_stock_order", {**ORDER, "qty": "1", "limit_price": "260"}, "limit_price_collar"),
    ("an order sized in money", "place_stock_order", {"symbol": "AAPL", "side": "buy", "notional": "90000"}, "not_judged"),
    ("the same order once more", "place_stock_order", ORDER, "duplicate_order"),
    ("everything sold at once", "close_all_positions", {}, "class_denied"),
    ("the account's own settings", "update_account_config", {"body": {"max_margin_multiplier": "4"}}, "class_denied"),
]


@contextlib.contextmanager
def fake_broker(folder):
    """Runs the fake broker, and yields the environment of its clients and, at the end, its ledger."""
    at = ["--at", "2026-03-18T11:00:00-04:00"]
    process = subprocess.Popen(
        [RAILS, "fake-broker", "--json", "--proxy", "--always-open", *at, "--listen", "127.0.0.1:0", "--keys", str(folder / "keys")],
        stdout=subprocess.PIPE, text=True)
    decoder, text, ledger = json.JSONDecoder(), "", {}
    try:
        while not text.rstrip().endswith("}"):
            text += process.stdout.readline()
        told, _ = decoder.raw_decode(text.lstrip())
        environment = {
            **os.environ, "ALPACA_API_KEY": told["key"], "ALPACA_SECRET_KEY": told["secret"],
            "HTTPS_PROXY": told["proxy"], "SSL_CERT_FILE": told["authority"], "FASTMCP_SHOW_SERVER_BANNER": "false", "FASTMCP_LOG_LEVEL": "CRITICAL",
        }
        yield environment, ledger
    finally:
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=20)
        ledger.update(decoder.raw_decode(rest.lstrip())[0])


def rails(options, *arguments):
    done = subprocess.run([RAILS, *arguments, *options], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"rails {arguments}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def title(text):
    print(f"\n{BOLD}{text}{PLAIN}")


def shown(text, most=6):
    for line in text.splitlines()[:most]:
        print(f"{DIM}    | {line[:150]}{PLAIN}")


async def agent(session, ids):
    await session.initialize()
    tools = {tool.name for tool in (await session.list_tools()).tools}
    title(f"The agent sees {len(tools)} of the server's tools; those that nobody could judge are not among them")
    assert "place_stock_order" in tools and "close_all_positions" not in tools, tools
    quote = await session.call_tool("get_stock_latest_quote", {"symbols": "AAPL"})
    print("    reads are passed on as they are:", json.dumps(quote.structuredContent["data"]["quotes"]["AAPL"])[:80])

    title("An order inside the limits: buy 2 AAPL at 200.10 at the most")
    placed = await session.call_tool("place_stock_order", ORDER)
    assert not placed.isError, placed
    decision = placed.meta["broker-rails/decision"]
    order = placed.structuredContent["data"]
    print(f"    {order['status']}, {order['filled_qty']} at {order['filled_avg_price']}; decision {decision['decision']}, sent as {order['client_order_id']}")
    assert order["client_order_id"] == decision["client_order_id"]

    for i, (what, tool, arguments, code) in enumerate(ATTEMPTS, 1):
        title(f"Attempt {i}: {what}")
        refused = await session.call_tool(tool, arguments)
        assert refused.isError, refused
        text = refused.content[0].text
        shown(text, 2)
        assert code in text, f"{code} did not stop it: {text}"
        ids.append(re.search(r"decision=(\S+)", text)[1])


async def run(folder):
    options = ["--data", str(folder / "data"), "--limits", str(folder / "limits.yaml")]
    ids = []
    with fake_broker(folder) as (environment, ledger):
        proxy = StdioServerParameters(
            command=RAILS, args=["proxy", *options, "--profile", "alpaca-v2", "--clock", "broker", "--", SERVER], env=environment)
        with open(folder / "log", "w") as log:
            async with stdio_client(proxy, errlog=log) as (read, write), ClientSession(read, write) as session:
                await agent(session, ids)

    title("What the journal says of each")
    for id in ids:
        lines = rails(options, "explain", id).splitlines()
        shown("\n".join(lines[:1] + [line for line in lines[1:] if re.match("reason |.* deny |deny ", line)]), 4)
    shown(rails(options, "audit-verify"), 8)

    title("What the broker's ledger says")
    print(f"    cash {ledger['cash']}, {ledger['fills']} fill")
    for order in ledger["orders"]:
        print(f"    {order['side']} {order['quantity']} {order['symbol']}, filled {order['filled']}, {order['status']}, as {order['client_order_id']}")
    held = json.loads(rails(options, "positions", "--json"))
    assert [o["filled"] for o in ledger["orders"]] == ["2"], ledger
    assert [(p["symbol"], p["quantity"]) for p in held["positions"]] == [("AAPL", "2")], held
    assert ledger["positions"] == [{"symbol": "AAPL", "quantity": "2"}], ledger
    print("\nOne order passed, six attempts were stopped, and both books agree.")


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="rails-proxy-demo-"))
    try:
        asyncio.run(run(folder))
    except BaseException:
        with contextlib.suppress(OSError):
            print((folder / "log").read_text()[-3000:], file=sys.stderr)
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
