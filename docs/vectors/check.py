#!/usr/bin/env python3
"""Checks journals of Broker Rails, by docs/journal-format.md and nothing else.

usage: check.py PATH...   a journal.db, a chain.json, or the folder of the vectors

Verifies form, hash, order and chain of every entry, from the bytes as they are stored.
Exit code 0: all pass. 1: the first entry that fails is named.
"""
import base64, datetime, hashlib, json, os, re, sqlite3, sys

HEX = re.compile(r"[0-9a-f]{64}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z")
ACCOUNT = re.compile(r"(?:[!#-)+-.0-\[\]-~]{1,64}|\*)")
DECIMAL = re.compile(r"(?!-0$)-?(?:0|[1-9]\d{0,19})(?:\.\d{0,8}[1-9])?", re.ASCII)
KINDS = set("genesis limits open decision outcome latch fill external mode refusal reconcile recovery".split())


def no(what):
    raise ValueError(what)


def canonical(raw):
    """The one value that these bytes are the canonical form of."""
    value = json.loads(raw.decode("utf-8", "strict"), parse_float=lambda _: no("a fraction"), parse_constant=no)
    if json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode() != raw:
        no("not in canonical form")
    if b"null" in re.sub(rb'"(?:[^"\\]|\\.)*"', b"", raw):
        no("null")
    return value


def entry(account, seq, prev, at, raw):
    """Checks one entry against the one before it, and returns its time."""
    e = canonical(raw)
    if not isinstance(e, dict) or list(e) != "account at body kind limits prev schema seq".split():
        no("members of the envelope")
    if len(raw) > 1 << 20 or type(e["schema"]) is not int or e["schema"] != 1 or e["kind"] not in KINDS:
        no("length, schema or kind")
    if not TIME.fullmatch(e["at"]) or not ACCOUNT.fullmatch(e["account"]) or not isinstance(e["body"], dict):
        no("time, account or body")
    datetime.datetime.strptime(e["at"][:19], "%Y-%m-%dT%H:%M:%S")
    if e["limits"] and not HEX.fullmatch(e["limits"]) or not HEX.fullmatch(e["prev"]):
        no("a fingerprint or hash")
    if e["account"] != account or type(e["seq"]) is not int or (e["seq"], e["prev"]) != (seq, prev) or e["at"] < at:
        no("does not follow the entry before it")
    return e["at"]


def order_id(account, seq, digest):
    text = "broker-rails order id v1\n%s\n%d\n%s" % (account, seq, digest)
    return "br-" + base64.b32encode(hashlib.sha256(text.encode()).digest()[:15]).decode().lower()


def chain(entries):
    heads = {}
    for account, seq, digest, raw, sent in entries:
        last, prev, at = heads.get(account, (0, "0" * 64, ""))
        try:
            at = entry(account, last + 1, prev, at, raw)
            if seq != last + 1 or hashlib.sha256(raw).hexdigest() != digest:
                no("hash or place is not the one stored")
            if sent is not None and sent != order_id(account, seq, digest):
                no("client order id")
        except (ValueError, TypeError) as why:
            sys.exit("%s/%d: %s" % (account, last + 1, why))
        heads[account] = (seq, digest, at)
    return heads


def stored(path):
    if not path.endswith(".json"):
        db = sqlite3.connect("file:%s?mode=ro" % path.replace("?", "%3f").replace("#", "%23"), uri=True)
        rows = db.execute("SELECT account, seq, lower(hex(hash)), bytes FROM entry ORDER BY idx")
        return [(a, s, h, bytes(b), None) for a, s, h, b in rows], \
            {a: (s, h) for a, s, h in db.execute("SELECT account, seq, lower(hex(hash)) FROM head")}
    with open(path, encoding="utf-8") as f:
        return [(v["account"], v["seq"], v["hash"], v["bytes"].encode(), v.get("client_order_id")) for v in json.load(f)], None


def vectors(folder):
    def load(name):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            return json.load(f)
    for v in load("refused.json"):
        try:
            entry("vector", 1, "0" * 64, "", v["bytes"].encode())
        except (ValueError, TypeError):
            continue
        sys.exit("refused.json: %s passes" % v["why"])
    numbers = load("decimals.json")
    for text in numbers["accepted"] + numbers["refused"]:
        if bool(DECIMAL.fullmatch(text)) != (text in numbers["accepted"]):
            sys.exit("decimals.json: %r" % text)
    return os.path.join(folder, "chain.json")


for path in sys.argv[1:] or sys.exit(__doc__):
    entries, kept = stored(vectors(path) if os.path.isdir(path) else path)
    heads = chain(entries)
    if kept is not None and kept != {a: h[:2] for a, h in heads.items()}:
        sys.exit("the table of heads does not agree with the entries")
    for account, (seq, digest, _) in sorted(heads.items()):
        print("%s: %d entries, head %s" % (account, seq, digest))
