"""An account of its own in a temporary folder, a server on it, and what both books say."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile
import threading
from decimal import Decimal

ROOT = pathlib.Path(__file__).resolve().parents[2]
RAILS = ROOT / ".bin" / "rails"
NODE_MODULES = ROOT / ".peers" / "npm" / "node_modules"
TOKEN = "0123456789abcdef0123456789abcdef0123456789abcdef"


class Desk:
    """One account. Use it in a with statement: its end verifies the journal."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rails-peers-"))
        self.data, self.limits = self.folder / "data", self.folder / "limits.yaml"
        self.options = ["--data", str(self.data), "--limits", str(self.limits)]
        self.rails("init", "--yes")
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.rails("audit-verify")
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def rails(self, *arguments):
        done = subprocess.run([RAILS, *arguments, *self.options], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, f"rails {arguments}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def stdio(self):
        """What a client's settings say to start the server itself."""
        return {"command": str(RAILS), "args": ["serve", *self.options]}

    @contextlib.contextmanager
    def socket(self):
        """Serves on a socket and yields what a client's settings say to reach it."""
        folder = self.folder / "run"
        folder.mkdir(mode=0o700)
        server = subprocess.Popen([RAILS, "serve", "--listen", f"unix:{folder / 's'}", *self.options], stderr=subprocess.PIPE, text=True)
        try:
            while "agents at " not in (line := server.stderr.readline()):
                assert line, "the server ended before it listened"
            yield {"command": str(RAILS), "args": ["shim", "--socket", str(folder / "s")]}
        finally:
            server.terminate()
            server.communicate(timeout=60)

    @contextlib.contextmanager
    def http(self, stateless=False, token=False):
        """Serves over HTTP and yields the settings to reach it."""
        arguments = ["serve", "--transport", "streamable-http", "--port", "0", *self.options]
        if stateless:
            arguments.append("--stateless")
        headers = {}
        if token:
            tokens = self.folder / "tokens"
            tokens.touch(mode=0o600)
            tokens.write_text(f"peer:{TOKEN}\n")
            arguments += ["--token-file", str(tokens)]
            headers = {"Authorization": f"Bearer {TOKEN}"}
        with serving([RAILS, *arguments], "stderr") as base:
            yield {"type": "streamable-http", "url": base + "/mcp", "headers": headers}

    def entries(self, kind):
        """The bodies of the journal's entries of a kind, in order."""
        with contextlib.closing(sqlite3.connect(f"file:{self.data}/journal.db?mode=ro", uri=True)) as db:
            rows = db.execute("SELECT bytes FROM entry WHERE account = 'paper' ORDER BY seq").fetchall()
        found = [json.loads(row[0]) for row in rows]
        return [entry["body"] for entry in found if entry["kind"] == kind]

    def ledger(self, query):
        with contextlib.closing(sqlite3.connect(f"file:{self.data}/paper.db?mode=ro", uri=True)) as db:
            return db.execute(query).fetchall()

    def messages(self):
        """How many messages ever reached the broker."""
        return self.ledger("SELECT count(*) FROM messages")[0][0]

    def held(self, symbol):
        rows = self.ledger(f"SELECT quantity FROM positions WHERE symbol = '{symbol}'")
        return Decimal(rows[0][0]) if rows else Decimal(0)


@contextlib.contextmanager
def serving(command, stream):
    """Runs a server until the block ends, and yields the address that it names."""
    process = subprocess.Popen(command, text=True, stdin=subprocess.DEVNULL, **{stream: subprocess.PIPE})
    try:
        output, said = getattr(process, stream), []
        for line in output:
            said.append(line)
            if match := re.search(r"http://[^\s/]+", line):
                break
        else:
            raise AssertionError(f"{command[0]} did not come up: {said}")
        # What it says from here on must not fill the pipe.
        threading.Thread(target=output.read, daemon=True).start()
        yield match.group()
    finally:
        process.terminate()
        code = process.wait(timeout=20)
    assert code == 0, f"{command[0]} ended with {code}"


def marketable(ask):
    """A limit a little through the ask, within the shipped collar."""
    return str((Decimal(ask) * Decimal("1.003")).quantize(Decimal("0.01")))


def buy(ask, quantity):
    return {
        "symbol": "AAPL", "side": "buy", "order_type": "limit", "quantity": quantity,
        "limit_price": marketable(ask), "time_in_force": "day",
    }


def tools_expected():
    return {
        "get_quote", "get_positions", "get_account", "get_orders", "get_limits", "market_context",
        "recent_decisions", "check_order", "place_order", "replace_order", "cancel_order",
    }


def assert_filled(desk, quantity, messages_before):
    """The order was judged, recorded, sent once, and filled, in both books."""
    decision = desk.entries("decision")[-1]
    assert decision["verdict"] == "allowed", decision
    assert desk.messages() == messages_before + 1
    assert desk.held("AAPL") == Decimal(quantity)
    assert [o["result"] for o in desk.entries("outcome")][-1] == "accepted"
    fills = [Decimal(f["quantity"]) for f in desk.entries("fill")]
    assert fills and sum(fills) == Decimal(quantity), fills


def assert_denied(desk, rails, messages_before):
    """The order was judged and recorded, and nothing was sent."""
    decision = desk.entries("decision")[-1]
    assert decision["verdict"] == "denied", decision
    denying = {f["rail"] for f in decision["findings"] if f["status"] == "deny"}
    assert denying >= set(rails), denying
    assert desk.messages() == messages_before
