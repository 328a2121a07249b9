#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the seeds of the fuzz target: streams of each kind, most of them
valid."""
import pathlib
import struct
import sys

KEY, ID = 0x1122334455667788, 0x0102030405060708
AM, PUT, GET, DATA, PUT_ACK, CLOSE, YES, NO = range(1, 9)


def frame(kind, payload=b"", am_id=0):
    pad = bytes(-len(payload) % 8)
    return struct.pack("<BBHI", kind, am_id, 0, len(payload)) + payload + pad


def put(offset, data):
    return frame(PUT, struct.pack("<QQ", KEY, offset) + data)


def get(offset, length):
    return frame(GET, struct.pack("<QQQ", KEY, offset, length))


def hello(kind, src, dst, path=0):
    return struct.pack("<IBBBBQQHHI", 0x54584355, 1, 0, kind, path, src, dst,
                       0, 0, 1)


def cm(kind, dev=b"", priv=b""):
    return struct.pack("<IBBBBII", 0x43584355, 1, 0, kind, len(dev), 0,
                       len(priv)) + dev + priv


DEV = struct.pack("<BBQ4B", 4, 1, 42, 127, 0, 0, 1)
PEER, STRANGER, CLIENT, SERVER = b"\0", b"\1", b"\2", b"\3"
SEEDS = {
    "am": PEER + b"\0" + b"".join(frame(AM, bytes(range(n)), n)
                                  for n in range(32)),
    "am-in-pieces": PEER + b"\5" + frame(AM, b"x" * 300, 3) * 3,
    "put": PEER + b"\0" + put(0, b"a" * 64) + put(4000, b"b" * 96) +
    frame(PUT_ACK, struct.pack("<Q", 2)),
    "put-in-pieces": PEER + b"\x0b" + put(8, b"c" * 333) + frame(AM, b"y", 1),
    "get": PEER + b"\0" + get(0, 4096) + get(1, 1) + frame(AM, b"z" * 9, 2),
    "data": PEER + b"\x11" + frame(DATA, b"d" * 1000) + frame(DATA, b"d" * 24)
    + frame(DATA, b"e" * 100) + frame(PUT_ACK, struct.pack("<Q", 3)),
    "close": PEER + b"\0" + frame(CLOSE) + frame(AM, b"", 1) + frame(CLOSE),
    "hello": STRANGER + b"\0" + hello(1, 5, ID) + frame(AM, b"hi", 1) +
    frame(CLOSE),
    "hello-self": STRANGER + b"\7" + hello(1, ID, ID) + frame(CLOSE),
    "hello-wrong": STRANGER + b"\0" + hello(1, 5, 6),
    "cm-request": CLIENT + b"\0" + cm(1, DEV, b"private data"),
    "cm-request-in-pieces": CLIENT + b"\3" + cm(1, DEV, b"p" * 100),
    "cm-accept": SERVER + b"\0" + cm(2, DEV, b"answer") + cm(5),
    "cm-left": SERVER + b"\0" + cm(2, DEV, b"answer") + cm(6),
    "cm-reject": SERVER + b"\0" + cm(3),
}

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                      pathlib.Path(__file__).parent / "corpus")
folder.mkdir(exist_ok=True)
for name, data in SEEDS.items():
    (folder / name).write_bytes(data)
