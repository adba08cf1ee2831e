"""Runs every test with parts that are not ours, and says how many passed."""

import asyncio
import inspect
import sys
import time
import traceback

import conformance
import inspector
import proxy
import python_client


def tests():
    for module in (inspector, python_client, proxy, conformance):
        for name, test in vars(module).items():
            if name.startswith("test_"):
                yield f"{module.__name__}.{name}", test


def main(patterns):
    passed = failed = 0
    for name, test in tests():
        if patterns and not any(p in name for p in patterns):
            continue
        started = time.monotonic()
        try:
            if inspect.iscoroutinefunction(test):
                asyncio.run(asyncio.wait_for(test(), timeout=120))
            else:
                test()
        except Exception:
            failed += 1
            traceback.print_exc()
            print(f"--- FAIL: {name}")
        else:
            passed += 1
            print(f"--- ok: {name} ({time.monotonic() - started:.1f} s)")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
