"""The official conformance suite against our server, with the suite's fixtures added.

No scenario is excluded. Two releases of the suite run: the current one, and the one
that knows protocol version 2026-07-28, which is served without sessions only.
"""

import re
import subprocess
import tempfile

from desk import NODE_MODULES, RAILS, ROOT, serving

SERVER = ROOT / ".bin" / "conformance-server"
CURRENT = NODE_MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
NEXT = NODE_MODULES / "conformance-next" / "dist" / "index.js"


def hold(suite, scenarios, *options, server=()):
    """Every scenario passes, and there are as many as we know the suite to have."""
    with serving([SERVER, *server], "stdout") as base:
        done = subprocess.run(
            ["node", suite, "server", "--url", base + "/mcp", "--suite", "all", *options],
            capture_output=True, text=True, timeout=110)
    summary = done.stdout[done.stdout.find("=== SUMMARY ===") :]
    assert done.returncode == 0, f"exit {done.returncode}\n{summary or done.stdout[-4000:]}{done.stderr[-2000:]}"
    passed, failed = len(re.findall("^✓", summary, re.M)), len(re.findall("^✗", summary, re.M))
    assert failed == 0 and passed == scenarios, summary


def test_current_with_sessions():
    hold(CURRENT, 32)


def test_next_with_sessions():
    hold(NEXT, 33, "--spec-version", "2025-11-25")


def test_next_without_sessions():
    hold(NEXT, 40, "--spec-version", "2026-07-28", server=["-stateless"])


EVERYTHING = ROOT / ".bin" / "everything-server"


def hold_through_proxy(*upstream):
    """The protocol library's own server behind rails proxy: no scenario fails that passes without it."""
    with tempfile.TemporaryDirectory(prefix="rails-peers-") as folder:
        command = [
            RAILS, "proxy", "--data", folder + "/data", "--limits", folder + "/limits.yaml", "--transport", "streamable-http", "--port", "0",
            "--profile", ROOT / "test" / "peers" / "everything.yaml", *upstream,
        ]
        with serving(command, "stderr") as base:
            done = subprocess.run(
                ["node", CURRENT, "server", "--url", base + "/mcp", "--suite", "all"], capture_output=True, text=True, timeout=110)
    summary = done.stdout[done.stdout.find("=== SUMMARY ===") :]
    passed, failed = len(re.findall("^✓", summary, re.M)), len(re.findall("^✗", summary, re.M))
    assert failed == 0 and passed == 32, summary + done.stderr[-2000:]


def test_through_the_proxy():
    hold_through_proxy("--", EVERYTHING)
