#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the seeds in corpus/: the messages that clients and servers exchange
when they connect, valid ones and ones with one invalid field.
"""
import pathlib
import struct


def field(kind, value):
    return struct.pack("<BH", kind, len(value)) + value


def hello(*fields, magic=0x4855, version=1, flags=1, end=0x1122334400100001):
    return struct.pack("<HBBQ", magic, version, flags, end) + b"".join(fields)


ADDRESS = field(1, b"CU\1\0" + b"address" * 8)
CLIENT_ID = field(2, struct.pack("<Q", 4711))

SEEDS = {
    "client": hello(ADDRESS, CLIENT_ID),
    "server": hello(ADDRESS, flags=0),
    "empty": b"",
    "header_only": hello(),
    "other_magic": hello(ADDRESS, magic=0x1234),
    "newer": hello(ADDRESS, field(77, b"later"), version=9),
    "no_end": hello(ADDRESS, end=0),
    "two_addresses": hello(ADDRESS, ADDRESS),
    "empty_address": hello(field(1, b"")),
    "id_too_short": hello(ADDRESS, field(2, b"1234567")),
    "field_cut": hello(ADDRESS) + struct.pack("<BH", 2, 1000),
    "half_a_field": hello(ADDRESS) + b"\2",
}

if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent / "corpus"
    folder.mkdir(exist_ok=True)
    for name, data in SEEDS.items():
        (folder / name).write_bytes(data)
